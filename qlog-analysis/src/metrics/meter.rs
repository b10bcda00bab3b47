//! Measuring one connection event by event.

mod packets;
mod totals;

pub use totals::{FlowControlProgress, Progress};

use std::collections::{BTreeMap, VecDeque};

use super::credit::Credit;
use super::delivered::Delivered;
use super::limited::{Condition, Limited, Pace};
use super::measures::Measures;
use super::paths::Paths;
use super::rates::Rates;
use super::space::Space;
use super::statistics::{Distribution, TimeWeighted};
use crate::model::{
    Batch, Event, EventKind, FlowControl, MeasuredRtts, Metrics, PacketType, SchemaVersion, Stream, Vantage,
};

/// Packets of one connection that are remembered, of all spaces.
const PACKETS: usize = 1 << 18;

/// What all connections of a file together may remember: packets, data frames, streams.
const ALTOGETHER: usize = 1 << 19;

/// Connections whose rates and quantiles are as fine as those of one alone.
const FINE: usize = 64;

/// Congestion states with a name of their own; further ones are [`OTHER_STATE`].
pub(crate) const STATES: usize = 64;
/// What congestion states beyond [`STATES`] are called.
pub(crate) const OTHER_STATE: &str = "other";

/// Size of a datagram as long as none was sent, bytes (`RFC 9000 §14.1`).
const DATAGRAM: u32 = 1200;

/// Addresses of a batch among which that of a connection is looked for.
const PEERS: usize = 1024;

/// The congestion state of a sender that has too little to send (`draft-ietf-quic-qlog-quic-events`).
const APP_LIMITED: &str = "application_limited";

/// Takes the events of one connection, in order, and gives its [`Measures`].
#[derive(Clone, Debug)]
pub struct Meter {
    measures: Measures,
    first: Option<i64>,
    last: i64,
    first_packet: Option<i64>,
    last_packet: i64,
    sizes: [u64; 2],
    /// Packet number spaces; one each path that has numbers of its own ([`Paths::numbering`]).
    spaces: BTreeMap<(PacketType, u32), Space>,
    paths: Paths,
    /// The only path that is measured, if one is.
    only: Option<u32>,
    /// A meter for each path, once there are several.
    of_paths: Vec<Meter>,
    /// The latest window and bytes in flight logged for each path in use.
    in_use: Vec<(u32, Option<u64>, Option<u64>)>,
    /// Data frames of packets in flight, and the number of the first.
    streams: VecDeque<Stream>,
    first_stream: u64,
    /// Packets remembered in each space, and data frames of them, at most.
    most: usize,
    /// Bins of rates at most.
    bins: usize,
    /// When the packet sent last left, and how many left with it.
    burst: (i64, u64),
    bursts: u64,
    acknowledged: Delivered,
    received: Delivered,
    goodput: u64,
    received_goodput: u64,
    rates: Option<Rates>,
    /// Counts of packets and of what the trace logs at all.
    sent: u64,
    received_packets: u64,
    coverage: Coverage,
    /// Packets declared lost: an event each, together, and as a running total.
    lost: u64,
    reported_lost: u64,
    total_lost: u64,
    spurious: u64,
    /// Packets inferred to be lost, and those of them that arrived.
    inferred: (u64, u64),
    /// CE marks by the ACKs' counts, and by our recorder's events.
    marks: [u64; 2],
    /// The recorder began with marks of no packet: it tells the network's, and ACKs count more.
    own_marks: bool,
    timeouts: u64,
    /// When the latest probe left, and timeouts by probes.
    probes: (i64, u64),
    reductions: u64,
    blocked: u64,
    /// Flow control of what is sent, and of what is received.
    credit: [Credit; 2],
    limited: Limited,
    datagram: u32,
    measured_rtts: MeasuredRtts,
    /// Latest and smoothed sample of those taken from acknowledgements, ns.
    samples: (i64, i64),
    logged_smoothed: Option<i64>,
    ce: BTreeMap<PacketType, u64>,
    logged_rtt: Distribution,
    measured_rtt: Distribution,
    /// An RTT that was logged is what acknowledgements show.
    rtts_agree: bool,
    latest_sample: Option<i64>,
    cwnd: TimeWeighted,
    /// Since when the window is below what it was, and what it was.
    reduced: Option<(i64, f64)>,
    /// How often it came back to that, and after how long altogether, ns.
    regained: (u64, f64),
    ssthresh: Option<u64>,
    logged_in_flight: TimeWeighted,
    counted_in_flight: TimeWeighted,
    in_flight: u64,
    pacing: TimeWeighted,
    app_limited: TimeWeighted,
    pto_count: u32,
    app_limited_now: Option<bool>,
    state: Option<(String, i64)>,
    recoveries: u64,
}

/// Kinds of events seen in the trace so far.
#[derive(Clone, Copy, Debug, Default)]
struct Coverage {
    losses: bool,
    /// Acknowledged ranges of packets received.
    acks: bool,
    marks: bool,
    timeouts: bool,
    pto_count: bool,
    frames: bool,
}

impl Default for Meter {
    fn default() -> Self {
        Meter::new()
    }
}

impl Meter {
    /// A meter before the first event.
    #[must_use]
    pub fn new() -> Self {
        Meter {
            measures: Measures::default(),
            first: None,
            last: 0,
            first_packet: None,
            last_packet: 0,
            sizes: [0; 2],
            spaces: BTreeMap::new(),
            paths: Paths::default(),
            only: None,
            of_paths: Vec::new(),
            in_use: Vec::new(),
            streams: VecDeque::new(),
            first_stream: 0,
            most: PACKETS,
            bins: Rates::BINS,
            burst: (i64::MIN, 0),
            bursts: 0,
            acknowledged: Delivered::default(),
            received: Delivered::default(),
            goodput: 0,
            received_goodput: 0,
            rates: None,
            sent: 0,
            received_packets: 0,
            coverage: Coverage::default(),
            lost: 0,
            reported_lost: 0,
            total_lost: 0,
            spurious: 0,
            inferred: (0, 0),
            marks: [0; 2],
            own_marks: false,
            timeouts: 0,
            probes: (i64::MIN, 0),
            reductions: 0,
            blocked: 0,
            credit: Default::default(),
            limited: Limited::default(),
            datagram: DATAGRAM,
            measured_rtts: MeasuredRtts::default(),
            samples: (0, 0),
            logged_smoothed: None,
            ce: BTreeMap::new(),
            logged_rtt: Distribution::new(),
            measured_rtt: Distribution::new(),
            rtts_agree: false,
            latest_sample: None,
            cwnd: TimeWeighted::default(),
            reduced: None,
            regained: (0, 0.0),
            ssthresh: None,
            logged_in_flight: TimeWeighted::default(),
            counted_in_flight: TimeWeighted::default(),
            in_flight: 0,
            pacing: TimeWeighted::default(),
            app_limited: TimeWeighted::default(),
            pto_count: 0,
            app_limited_now: None,
            state: None,
            recoveries: 0,
        }
    }

    /// Takes as much less memory as is fit for one of `meters` connections of a file.
    pub fn share_memory(&mut self, meters: usize) {
        let meters = meters.max(1);
        self.most = (ALTOGETHER / meters).clamp(64, PACKETS);
        let most = self.most;
        self.spaces.values_mut().for_each(|space| space.flight.limit(most));
        self.streams.shrink_to_fit();
        self.acknowledged.limit(most);
        self.received.limit(most);
        let of_paths = meters * (self.of_paths.len() + 1);
        self.of_paths.iter_mut().for_each(|meter| meter.share_memory(of_paths));
        if meters > FINE {
            self.logged_rtt.coarsen();
            self.measured_rtt.coarsen();
            self.bins = Rates::BINS * FINE / meters;
            self.rates.iter_mut().for_each(|rates| rates.limit(self.bins));
        }
    }

    /// Measures the connection's next event.
    pub fn event(&mut self, batch: &Batch, event: &Event) {
        let path = self.paths.on_event(batch, event);
        let parted = self.of_paths.len();
        if let Some(path) = path {
            self.part_paths(path);
        }
        for (index, meter) in self.of_paths.iter_mut().enumerate() {
            // One that is new has taken note of the event already.
            if index < parted { meter.event(batch, event) } else { meter.measure(batch, event, path) }
        }
        self.measure(batch, event, path);
    }

    /// Measures an event that belongs to `path`, or to the connection as a whole.
    pub(crate) fn measure(&mut self, batch: &Batch, event: &Event, path: Option<u32>) {
        if self.only.is_some() && self.only != path {
            return self.of_another_path(batch, event);
        }
        let now = event.time;
        self.first.get_or_insert(now);
        self.last = self.last.max(now);
        self.measures.events += 1;
        self.latest_sample = None;
        self.limited.begin();
        if self.measures.events == 1 {
            self.begin(batch);
        }
        match event.kind {
            EventKind::PacketSent(index) => self.sent(now, batch, &batch.packets[index as usize]),
            EventKind::PacketReceived(index) => self.packet_received(now, batch, &batch.packets[index as usize]),
            EventKind::PacketLost(index) => self.packet_lost(now, &batch.packets[index as usize]),
            EventKind::MetricsUpdated(index) => {
                let metrics = self.measured_rtts.of(&batch.metrics[index as usize]);
                self.metrics(now, &metrics, path.unwrap_or(0));
            }
            EventKind::CongestionState(index) => {
                let name = batch.name(batch.states[index as usize].new);
                let known = self.measures.states.len() < STATES || self.measures.states.contains_key(name);
                let name = if known { name } else { OTHER_STATE }.to_owned();
                self.enter(now, Some(name));
            }
            EventKind::Controller(name) => {
                self.measures.controller = Some(batch.name(name).to_owned());
                if batch.schema_version != SchemaVersion::Netlog {
                    // Only our recorder names the controller; it logs losses and marks.
                    self.on_logged_loss();
                    self.coverage.marks = true;
                }
            }
            EventKind::EcnCe(packets) => {
                self.coverage.marks = true;
                self.marks[1] += u64::from(packets);
                self.own_marks |= packets == 0;
            }
            EventKind::PacketsLost(packets) => {
                self.on_logged_loss();
                self.reported_lost += u64::from(packets);
            }
            EventKind::TransportParameters(index) => {
                let parameters = &batch.parameters[index as usize];
                self.credit[usize::from(!parameters.remote)].parameters(parameters);
            }
            EventKind::FlowControlSent(index) => self.limit(true, &batch.flow_control[index as usize]),
            EventKind::FlowControlReceived(index) => self.limit(false, &batch.flow_control[index as usize]),
            EventKind::Other(_) if self.measures.peer.is_none() && !batch.peers.is_empty() => {
                self.find_peer(batch, event)
            }
            EventKind::PacketDropped(_)
            | EventKind::PacketsAcked(_)
            | EventKind::SpuriousLoss
            | EventKind::MtuUpdated(_)
            | EventKind::Migrated
            | EventKind::DataDelivered(_)
            | EventKind::HttpFrameCreated(_)
            | EventKind::HttpFrameParsed(_)
            | EventKind::Other(_) => {}
        }
        self.judge(now);
    }

    /// Measures each path on its own as soon as `path` is not the only one: what was before is of the first.
    fn part_paths(&mut self, path: u32) {
        let known = self.paths.known();
        if self.only.is_some() || known.len() < 2 || known.len() == self.of_paths.len() {
            return;
        }
        let new = |path: u32| Meter::of_path(path, &self.paths);
        if self.of_paths.is_empty() {
            let before = known[0];
            let first = self.limited_to(before);
            let bytes = |level: &TimeWeighted| level.last().map(|bytes| bytes as u64);
            self.in_use = vec![(before, bytes(&self.cwnd), bytes(&self.logged_in_flight))];
            self.of_paths = vec![first, new(path)];
        } else {
            self.of_paths.push(new(path));
        }
        self.share_memory(ALTOGETHER / self.most.max(1));
    }

    /// The same for events of `path` alone from now on.
    pub(crate) fn limited_to(&self, path: u32) -> Meter {
        Meter { only: Some(path), of_paths: Vec::new(), ..self.clone() }
    }

    /// A meter of a further path, which has no event yet.
    pub(crate) fn of_path(path: u32, paths: &Paths) -> Meter {
        Meter { only: Some(path), paths: paths.clone(), ..Meter::new() }
    }

    /// Of events of another path, an ACK may be about packets of this one.
    fn of_another_path(&mut self, batch: &Batch, event: &Event) {
        self.limited.begin();
        if let EventKind::PacketReceived(index) = event.kind {
            self.latest_sample = None;
            let packet = &batch.packets[index as usize];
            if batch.path_acks_of(packet).iter().any(|ack| Some(ack.path) == self.only) {
                self.packet(event.time);
            }
            self.acks(event.time, batch, packet);
            if self.measures.events > 0 {
                self.judge(event.time);
            }
        }
    }

    /// Window and bytes in flight of all paths in use, after `metrics` of one; `None` where `metrics` has none.
    fn of_paths_in_use(&mut self, path: u32, metrics: &Metrics) -> (Option<u64>, Option<u64>) {
        if self.of_paths.is_empty() {
            return (metrics.cwnd, metrics.bytes_in_flight);
        }
        if !self.paths.simultaneous() {
            self.in_use.retain(|(of, ..)| *of == path);
        }
        if !self.in_use.iter().any(|(of, ..)| *of == path) {
            self.in_use.push((path, None, None));
        }
        let (mut cwnd, mut in_flight) = (0_u64, 0_u64);
        for (of, window, bytes) in &mut self.in_use {
            if *of == path {
                (*window, *bytes) = (metrics.cwnd.or(*window), metrics.bytes_in_flight.or(*bytes));
            }
            cwnd = cwnd.saturating_add(window.unwrap_or(0));
            in_flight = in_flight.saturating_add(bytes.unwrap_or(0));
        }
        (metrics.cwnd.map(|_| cwnd), metrics.bytes_in_flight.map(|_| in_flight))
    }

    /// The meters of its paths with their numbers, where there are several.
    pub fn paths(&self) -> impl Iterator<Item = (u32, &Meter)> {
        self.of_paths.iter().filter_map(|meter| Some((meter.only?, meter)))
    }

    /// Congestion window and bytes in flight logged for all paths in use; `None` where they are not logged.
    pub(crate) fn in_use(&self) -> [Option<u64>; 2] {
        [&self.cwnd, &self.logged_in_flight].map(|level| level.last().map(|bytes| bytes as u64))
    }

    /// Applies the header of the trace.
    fn begin(&mut self, batch: &Batch) {
        if matches!(batch.vantage, Vantage::Client | Vantage::Server) {
            let client = batch.vantage == Vantage::Client;
            self.credit[0].sender_is_client(client);
            self.credit[1].sender_is_client(!client);
        }
        if batch.schema_version == SchemaVersion::Netlog {
            self.on_logged_loss();
            self.coverage.timeouts = true;
        }
    }

    /// Logged losses replace inferred ones.
    fn on_logged_loss(&mut self) {
        self.coverage.losses = true;
        self.inferred = (0, 0);
    }

    fn limit(&mut self, sent: bool, limit: &FlowControl) {
        if limit.kind.is_blocked() {
            self.blocked += 1;
        } else {
            self.credit[usize::from(sent)].grant(limit);
        }
    }

    /// Sets the condition of the sender from `now` on.
    fn judge(&mut self, now: i64) {
        // Stacks log the bytes in flight when an ACK changes them; packets that left since are not in it.
        let counted = (self.coverage.acks && self.sizes[0] > 0).then_some(self.in_flight as f64);
        let in_flight = counted.or_else(|| self.logged_in_flight.last());
        let condition = match (self.cwnd.last(), in_flight) {
            (Some(_), _) if self.credit[0].blocked() => Condition::Blocked,
            (Some(cwnd), Some(in_flight)) if cwnd - in_flight <= f64::from(self.datagram) => Condition::Full,
            (Some(_), Some(_)) if self.sent > 0 => Condition::Room,
            _ => Condition::Unknown,
        };
        let pace = self.pace();
        self.limited.set(now, condition, || pace);
    }

    fn pace(&self) -> Pace {
        let rtt = self.logged_smoothed.or((self.samples.1 > 0).then_some(self.samples.1));
        Pace {
            rate: self.pacing.last().map(|rate| rate * 1e6),
            window: rtt.map(|rtt| rtt as f64).zip(self.cwnd.last()),
            app_limited: self.app_limited_now == Some(true),
        }
    }

    fn metrics(&mut self, now: i64, metrics: &Metrics, path: u32) {
        let (cwnd, in_flight) = self.of_paths_in_use(path, metrics);
        if let Some(cwnd) = cwnd {
            self.window(now, cwnd as f64);
        }
        self.ssthresh = metrics.ssthresh.or(self.ssthresh);
        if let Some(bytes) = in_flight {
            self.logged_in_flight.set(now, bytes as f64);
        }
        self.logged_smoothed = metrics.smoothed_rtt.filter(|&rtt| rtt > 0).or(self.logged_smoothed);
        if let Some(total) = metrics.lost_packets {
            self.on_logged_loss();
            self.total_lost = self.total_lost.max(total);
        }
        if let Some(rtt) = metrics.latest_rtt.filter(|&rtt| rtt > 0) {
            self.logged_rtt.add(rtt);
            if !self.rtts_agree && self.logged_rtt.agrees_with(&self.measured_rtt) {
                // What was worked out is not needed any more.
                self.rtts_agree = true;
                self.measured_rtt.clear();
            }
        }
        if let Some(rate) = metrics.pacing_rate {
            self.pacing.set(now, rate as f64 / 1e6);
        }
        if let Some(limited) = metrics.app_limited {
            self.app_limited.set(now, f64::from(u8::from(limited)));
            self.app_limited_now = Some(limited);
        }
        if let Some(count) = metrics.pto_count {
            self.coverage.pto_count = true;
            self.timeouts += u64::from(count.saturating_sub(self.pto_count));
            self.pto_count = count;
        }
    }

    fn window(&mut self, now: i64, cwnd: f64) {
        if let Some(before) = self.cwnd.last().filter(|&before| cwnd < before) {
            self.reductions += 1;
            self.reduced.get_or_insert((now, before));
        }
        if let Some((since, _)) = self.reduced.take_if(|(_, before)| cwnd >= *before) {
            self.regained.0 += 1;
            self.regained.1 += now.saturating_sub(since).max(0) as f64;
        }
        self.cwnd.set(now, cwnd);
    }

    /// Keeps the first address of the other end in the batch for the event's connection.
    fn find_peer(&mut self, batch: &Batch, event: &Event) {
        let of_this = |index: u32| batch.events.get(index as usize).is_some_and(|other| other.group == event.group);
        let peer = batch.peers.iter().take(PEERS).find(|peer| of_this(peer.event));
        self.measures.peer = peer.map(|peer| batch.name(peer.address).to_owned());
    }

    /// The present congestion state ends, and `next` begins.
    fn enter(&mut self, now: i64, next: Option<String>) {
        let mut from = now;
        if let Some((state, since)) = self.state.take() {
            from = now.max(since);
            let time = now.saturating_sub(since).max(0) as f64 / 1e9;
            *self.measures.states.entry(state).or_default() += time;
        }
        self.recoveries += u64::from(next.as_deref() == Some("recovery"));
        if let Some(next) = next.as_deref().filter(|_| self.app_limited.last().is_none()) {
            self.app_limited_now = Some(next == APP_LIMITED);
        }
        self.state = next.map(|next| (next, from));
    }
}
