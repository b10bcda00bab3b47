//! Plain data a network is built from, with when a link may send, beyond that it sends one packet after another at its
//! rate.

use std::iter;

use super::batches::{BatchSpec, Batches};
use super::bucket::{BucketSpec, Shaper};
use super::burst_loss::BurstLoss;
use super::discipline::Gate;
use super::fault::Fault;
use super::out_of_range::{OutOfRange, check};
use super::packet::{LinkId, RouteId};
use super::queue::Queue;
use super::trace::{Opportunities, Trace};
use super::traffic::TrafficSpec;

use windlass_controllers::{Span, Time};

/// Links and the routes over them. Nodes are implied.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Topology {
    /// The links; each is one direction.
    pub links: Vec<LinkSpec>,
    /// The routes: the links a packet passes, in order. An empty route delivers at once.
    pub routes: Vec<Vec<LinkId>>,
    /// Traffic without congestion control; the network sends it by itself.
    pub traffic: Vec<TrafficSpec>,
}

impl Topology {
    /// Adds a link and returns its number.
    pub fn link(&mut self, spec: LinkSpec) -> LinkId {
        self.links.push(spec);
        LinkId((self.links.len() - 1) as u32)
    }

    /// Adds a route over `links`, in order, and returns its number.
    pub fn route(&mut self, links: Vec<LinkId>) -> RouteId {
        self.routes.push(links);
        RouteId((self.routes.len() - 1) as u32)
    }

    /// Sum of the propagation delays along `route` at the start of the run.
    #[must_use]
    pub fn delay(&self, route: RouteId) -> Span {
        self.routes[route.0 as usize].iter().fold(Span::ZERO, |sum, link| sum + self.links[link.0 as usize].delay)
    }

    /// Checks everything [`Network::new`](super::Network::new) relies on.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), TopologyError> {
        for (i, link) in self.links.iter().enumerate() {
            if self.links[..i].iter().any(|other| other.name == link.name) {
                return Err(TopologyError::TwoLinksCalled(link.name.clone()));
            }
            link.check().map_err(|number| TopologyError::BadValue { link: link.name.clone(), number })?;
        }
        for route in &self.routes {
            if let Some(link) = route.iter().find(|link| link.0 as usize >= self.links.len()) {
                return Err(TopologyError::NoSuchLink { link: link.0, links: self.links.len() });
            }
        }
        for (i, traffic) in self.traffic.iter().enumerate() {
            if self.traffic[..i].iter().any(|other| other.name == traffic.name) {
                return Err(TopologyError::TwoTrafficsCalled(traffic.name.clone()));
            }
            if traffic.route.0 as usize >= self.routes.len() {
                return Err(TopologyError::NoSuchRoute { route: traffic.route.0, routes: self.routes.len() });
            }
            traffic.check().map_err(|number| TopologyError::BadTraffic { traffic: traffic.name.clone(), number })?;
        }
        Ok(())
    }
}

/// One direction of a link, and the queue in front of it.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// Unique name; its random numbers depend on it.
    pub name: String,
    /// Rate, bit/s; infinite for a pure delay, which never queues.
    pub rate: f64,
    /// When it may send.
    pub service: Service,
    /// One-way propagation delay, from the end of a packet's transmission to its arrival.
    pub delay: Span,
    /// Probability that a packet is lost after transmission, 0 to 1.
    pub loss: f64,
    /// Loss in bursts besides; `None` for none.
    pub burst_loss: Option<BurstLoss>,
    /// Random delay of each packet, besides the propagation delay.
    pub jitter: Jitter,
    /// Capacity of the queue.
    pub limit: Limit,
    /// Queueing discipline.
    pub queue: Queue,
    /// Whether packets add the time they wait here to [`Packet::waited`](super::Packet::waited)
    /// (`spec: chan §8.1`).
    pub instrumented: bool,
    /// Whether a drop for lack of room puts a congestion-indication mark on every
    /// capable packet waiting (`spec: chan §8.2`).
    pub ci_marking: bool,
    /// Arrivals at the queue to drop, counted from 0 over all flows, ascending.
    pub drop_arrivals: Vec<u64>,
    /// Changes of the link over time, ascending.
    pub changes: Vec<Change>,
    /// Its faults, in any order.
    pub faults: Vec<Fault>,
}

impl LinkSpec {
    /// A link without loss, jitter, limit or changes.
    #[must_use]
    pub fn new(name: &str, rate: f64, delay: Span) -> LinkSpec {
        LinkSpec {
            name: name.to_owned(),
            rate,
            service: Service::Steady,
            delay,
            loss: 0.0,
            burst_loss: None,
            jitter: Jitter::default(),
            limit: Limit::Unlimited,
            queue: Queue::DropTail,
            instrumented: true,
            ci_marking: false,
            drop_arrivals: Vec::new(),
            changes: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// A link that only delays: no rate limit, no loss.
    #[must_use]
    pub fn pipe(name: &str, delay: Span) -> LinkSpec {
        LinkSpec::new(name, f64::INFINITY, delay)
    }

    /// The same link with a drop-tail queue of `packets`.
    #[must_use]
    pub fn with_limit(self, limit: Limit) -> LinkSpec {
        LinkSpec { limit, ..self }
    }

    fn check(&self) -> Result<(), OutOfRange> {
        for rate in iter::once(self.rate).chain(self.changes.iter().filter_map(|change| change.set.rate)) {
            check(rate >= 1.0, "rate", rate, "at least 1 bit/s")?;
        }
        self.service.check(self.rate)?;
        let steady = self.service == Service::Steady;
        for rate in self.changes.iter().filter_map(|change| change.set.rate) {
            check(steady, "rate of a change", rate, "none, as the link does not send at a steady rate")?;
        }
        for loss in iter::once(self.loss).chain(self.changes.iter().filter_map(|change| change.set.loss)) {
            check((0.0..=1.0).contains(&loss), "loss", loss, "0 to 1")?;
        }
        for pair in self.changes.windows(2) {
            let at = pair[1].at.0 as f64 / 1e9;
            check(
                pair[0].at <= pair[1].at,
                "time of a change",
                at,
                "one not before that of the change listed before it",
            )?;
        }
        for pair in self.drop_arrivals.windows(2) {
            check(pair[0] < pair[1], "arrival to drop", pair[1] as f64, "ascending numbers")?;
        }
        self.burst_loss.map_or(Ok(()), |burst| burst.check())?;
        self.faults.iter().try_for_each(Fault::check)?;
        self.queue.check()
    }
}

/// Random delay added to each packet after its transmission, uniform in `[0, max]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jitter {
    /// Largest random delay; zero for none.
    pub max: Span,
    /// Whether a packet may overtake those before it; otherwise it waits for them.
    pub reorders: bool,
}

/// How much may wait, the packet in transmission not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The queue never overflows.
    Unlimited,
    /// The queue holds this many packets.
    Packets(u64),
    /// The queue holds this many bytes.
    Bytes(u64),
}

/// A change of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Time from which the change holds.
    pub at: Time,
    /// The new values.
    pub set: Set,
}

/// New values; `None` leaves one as it is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Set {
    /// Rate, bit/s. What is in transmission continues at the new rate.
    pub rate: Option<f64>,
    /// Propagation delay of packets whose transmission has not ended. Packets already
    /// under way are not overtaken.
    pub delay: Option<Span>,
    /// Probability of random loss of packets that arrive from now on.
    pub loss: Option<f64>,
    /// Largest random delay of packets that arrive from now on.
    pub jitter: Option<Span>,
}

/// Why a network cannot be built.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum TopologyError {
    /// Two links have the same name.
    #[error("two links are called {0:?}; names must be unique")]
    TwoLinksCalled(String),
    /// A route leads over a link that is not there.
    #[error("a route leads over link number {link}, but there are only {links}")]
    NoSuchLink {
        /// The link number that does not exist.
        link: u32,
        /// Number of links in the topology.
        links: usize,
    },
    /// Names of traffic sources are unique.
    #[error("two traffic sources are called {0:?}; names must be unique")]
    TwoTrafficsCalled(String),
    /// A traffic source uses a route that is not there.
    #[error("a traffic source uses route number {route}, but there are only {routes}")]
    NoSuchRoute {
        /// The route number that does not exist.
        route: u32,
        /// Number of routes in the topology.
        routes: usize,
    },
    /// A number of a traffic source is out of its range.
    #[error("traffic {traffic:?}: {number}")]
    BadTraffic {
        /// Name of the source.
        traffic: String,
        /// The value and its range.
        number: OutOfRange,
    },
    /// A number of a link is out of its range.
    #[error("link {link:?}: {number}")]
    BadValue {
        /// Name of the link.
        link: String,
        /// The value and its range.
        number: OutOfRange,
    },
}

impl std::fmt::Debug for TopologyError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// How a link sends what waits.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Service {
    /// One packet after another at the link's rate.
    #[default]
    Steady,
    /// At the instants of a recording and at no others; the link's rate is its mean.
    Trace(Trace),
    /// At the link's rate in the long run, and faster after a while without packets: a token bucket of `burst` bytes
    /// fills at that rate, and a packet waits until the bucket has its bytes.
    Shaper {
        /// Bytes that pass at once.
        burst: f64,
        /// Rate at which a packet passes then, bit/s; infinite if it takes no time.
        peak: f64,
    },
    /// At its rate, but only now and again.
    Batches(BatchSpec),
}

impl Service {
    /// On a link of `rate`.
    fn check(&self, rate: f64) -> Result<(), OutOfRange> {
        match self {
            Service::Steady => Ok(()),
            Service::Shaper { burst, peak } => {
                BucketSpec { rate, depth: *burst }.check()?;
                check(*peak >= rate, "peak rate", *peak, "the link's rate or more")
            }
            Service::Trace(trace) => trace.check(),
            Service::Batches(spec) => spec.check(),
        }
    }

    /// Rate at which a packet passes once it has started, bit/s, on a link of `rate`.
    pub(super) fn line_rate(&self, rate: f64) -> f64 {
        match self {
            Service::Steady | Service::Batches(_) => rate,
            // A packet leaves with the opportunity that carries its last byte.
            Service::Trace(_) => f64::INFINITY,
            Service::Shaper { peak, .. } => *peak,
        }
    }

    /// What holds packets back on the link called `name` with `rate`, in the run with `seed`.
    pub(super) fn gate(&self, rate: f64, seed: u64, name: &str) -> Option<Box<dyn Gate>> {
        match self {
            Service::Steady => None,
            Service::Trace(trace) => Some(Box::new(Opportunities::new(trace))),
            Service::Shaper { burst, .. } => Some(Box::new(Shaper::new(BucketSpec { rate, depth: *burst }))),
            Service::Batches(spec) => Some(Box::new(Batches::new(*spec, seed, name))),
        }
    }
}
