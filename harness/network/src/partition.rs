//! A topology cut into parts that run side by side.
//!
//! Each part has links and the ends of routes, and only packets under way cross a cut: what a FIFO link
//! transmits is known when it arrives there, a propagation delay before it reaches the next link. So a part that
//! stands at some time knows everything that reaches it within the least delay of the links that are cut, and may
//! go on so far by itself (conservative synchronisation with a lookahead; Chandy and Misra 1979). Events of one
//! part come in the order in which the whole network has them, so that nothing depends on the cut.

use std::cmp::Reverse;

use windlass_controllers::Span;

use super::link::Entry;
use super::packet::{LinkId, RouteId};
use super::queue::Discipline;
use super::topology::{LinkSpec, Service, Topology};

/// Packets that a part has to carry in a lookahead, at least, so that parts do not wait for each other all the time.
const LEAST_PACKETS: f64 = 400.0;
/// What the ends of a route do for a packet, where a link's work is 1: send it, acknowledge it, take the ACK.
const END_WORK: f64 = 6.0;
/// Bits of a packet where work is reckoned.
const PACKET_BITS: f64 = 12_000.0;
/// As many delays are tried as the least that is cut.
const MOST_DELAYS: usize = 16;
/// Work of the fullest part, of what would be its share, above which a cut is not worth it.
const MOST_UNEVEN: f64 = 1.5;

/// Which part of a network each link and each end of a route belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    links: Vec<u32>,
    routes: Vec<u32>,
    parts: usize,
    /// The least propagation delay between two parts.
    pub lookahead: Span,
}

/// A packet on its way from one part to another.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The part it goes to.
    pub part: u32,
    pub(super) link: LinkId,
    pub(super) entry: Entry,
}

impl Partition {
    /// Cuts `topology` into at most so many parts of about equal work. `ends` are the routes that begin and end in
    /// one place, and are used by so many flows. `None` if it cannot be cut, or it would not be worth it.
    #[must_use]
    pub fn new(topology: &Topology, ends: &[(Vec<RouteId>, usize)], parts: usize) -> Option<Partition> {
        if parts < 2 || topology.links.iter().any(|link| !link.faults.is_empty()) {
            return None;
        }
        let work = Work::new(topology, ends);
        let mut delays: Vec<Span> =
            topology.links.iter().filter(|link| may_be_cut(link)).map(|link| link.delay).collect();
        delays.sort_unstable_by_key(|delay| Reverse(*delay));
        delays.dedup();
        let mut best: Option<(f64, Partition)> = None;
        for lookahead in delays.into_iter().take(MOST_DELAYS) {
            if work.packets_per_s * lookahead.secs() < LEAST_PACKETS * parts as f64 {
                break;
            }
            let Some((uneven, partition)) = work.cut(topology, ends, parts, lookahead) else { continue };
            // A longer lookahead is as good as parts that are a little more even.
            if best.as_ref().is_none_or(|(least, _)| uneven < 0.9 * least) {
                best = Some((uneven, partition));
            }
        }
        best.filter(|(uneven, _)| *uneven <= MOST_UNEVEN).map(|(_, partition)| partition)
    }

    /// Number of parts, at least 2.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The part of a link.
    #[must_use]
    pub fn of_link(&self, link: LinkId) -> u32 {
        self.links[link.0 as usize]
    }

    /// The part of both ends of a route.
    #[must_use]
    pub fn of_route(&self, route: RouteId) -> u32 {
        self.routes[route.0 as usize]
    }
}

/// Whether what a link transmits is known, and stays, when it arrives there.
fn may_be_cut(link: &LinkSpec) -> bool {
    let delays = link.delay > Span::ZERO && !link.jitter.reorders;
    let is_fifo = !matches!(link.queue.discipline(), Discipline::Scheduler(_));
    delays && is_fifo && link.changes.is_empty() && !link.ci_marking && link.service == Service::Steady
}

/// How much there is to do at each link and each end of a route, by the shares of flows that take equal parts.
struct Work {
    /// Of all flows on it, packets a second.
    of_route: Vec<f64>,
    packets_per_s: f64,
}

impl Work {
    fn new(topology: &Topology, ends: &[(Vec<RouteId>, usize)]) -> Work {
        let mut flows = vec![0.0; topology.routes.len()];
        for (routes, count) in ends {
            routes.iter().for_each(|route| flows[route.0 as usize] += *count as f64);
        }
        let mut on_link = vec![0.0; topology.links.len()];
        for (route, flows) in topology.routes.iter().zip(&flows) {
            route.iter().for_each(|link| on_link[link.0 as usize] += flows);
        }
        let share = |links: &[LinkId]| {
            let shares = links.iter().map(|link| topology.links[link.0 as usize].rate / on_link[link.0 as usize]);
            let least = shares.fold(f64::INFINITY, f64::min) / PACKET_BITS;
            if least.is_finite() { least } else { 1.0 }
        };
        let mut of_route: Vec<f64> =
            topology.routes.iter().zip(&flows).map(|(links, flows)| flows * share(links)).collect();
        // Packets and their ACKs come at one rate.
        for (routes, _) in ends {
            let least = routes.iter().map(|route| of_route[route.0 as usize]).fold(f64::INFINITY, f64::min);
            routes.iter().for_each(|route| of_route[route.0 as usize] = least);
        }
        let packets_per_s = of_route.iter().sum::<f64>() / 2.0;
        Work { of_route, packets_per_s }
    }

    /// A cut through links with at least the delay `lookahead`, and the work of its fullest part, of a share; `None`
    /// if all stays in one piece.
    fn cut(
        &self,
        topology: &Topology,
        ends: &[(Vec<RouteId>, usize)],
        parts: usize,
        lookahead: Span,
    ) -> Option<(f64, Partition)> {
        let place = |route: RouteId| topology.links.len() + route.0 as usize;
        let mut pieces = Pieces((0..topology.links.len() + topology.routes.len()).collect());
        for (number, links) in topology.routes.iter().enumerate() {
            let end = place(RouteId(number as u32));
            if let Some(first) = links.first() {
                pieces.join(first.0 as usize, end);
            }
            for (at, link) in links.iter().enumerate() {
                let spec = &topology.links[link.0 as usize];
                if !may_be_cut(spec) || spec.delay < lookahead {
                    pieces.join(link.0 as usize, links.get(at + 1).map_or(end, |next| next.0 as usize));
                }
            }
        }
        for (routes, _) in ends {
            routes.windows(2).for_each(|pair| pieces.join(place(pair[0]), place(pair[1])));
        }
        let mut work = vec![0.0; pieces.0.len()];
        for (number, (links, packets)) in topology.routes.iter().zip(&self.of_route).enumerate() {
            work[pieces.of(place(RouteId(number as u32)))] += packets * END_WORK / 2.0;
            links.iter().for_each(|link| work[pieces.of(link.0 as usize)] += packets);
        }
        let mut order: Vec<usize> = (0..pieces.0.len()).filter(|piece| pieces.of(*piece) == *piece).collect();
        order.sort_by(|a, b| work[*b].total_cmp(&work[*a]).then(a.cmp(b)));
        let mut full = vec![0.0_f64; parts.min(order.len())];
        let mut part_of = vec![0; pieces.0.len()];
        for piece in order {
            let emptiest = (0..full.len()).min_by(|a, b| full[*a].total_cmp(&full[*b]))?;
            full[emptiest] += work[piece];
            part_of[piece] = emptiest as u32;
        }
        full.retain(|work| *work > 0.0);
        if full.len() < 2 {
            return None;
        }
        let uneven = full.iter().fold(0.0, |most: f64, work| most.max(*work)) * parts as f64 / full.iter().sum::<f64>();
        let mut of = |from: usize, to: usize| (from..to).map(|node| part_of[pieces.of(node)]).collect::<Vec<u32>>();
        let links = of(0, topology.links.len());
        let routes = of(topology.links.len(), topology.links.len() + topology.routes.len());
        let parts = 1 + links.iter().chain(&routes).copied().max().unwrap_or(0) as usize;
        Some((uneven, Partition { links, routes, parts, lookahead }))
    }
}

/// Sets of links and ends of routes that are not to be cut from each other.
struct Pieces(Vec<usize>);

impl Pieces {
    fn of(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    /// The lowest node stands for a set.
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
    }
}
