//! Measuring one connection event by event.

use std::collections::{BTreeMap, VecDeque};

use super::delivered::Delivered;
use super::measures::{Level, Measures};
use super::rates::Rates;
use super::statistics::{Distribution, TimeWeighted};
use crate::flight::{Flight, PacketStatus, Sent};
use crate::model::{Batch, Event, EventKind, Metrics, Packet, PacketType, Stream};

/// Data frames of a packet, a part of the meter's store: first and number.
type Streams = (u64, u32);

/// Packet number spaces, one each path, that are followed.
const SPACES: usize = 32;

/// Packets of one connection that are remembered, of all spaces.
const PACKETS: usize = 1 << 18;

/// What all connections of a file together may remember: packets, data frames, streams.
const ALTOGETHER: usize = 1 << 19;

/// Connections whose rates and quantiles are as fine as those of one alone.
const FINE: usize = 64;

/// Congestion states that are told apart; further ones are `other`.
const STATES: usize = 64;

/// Packets less than this after the one before leave with it, ns.
const TOGETHER: i64 = 50_000;

/// Counts of a connection so far, and what its latest event showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Bytes of packets sent.
    pub sent: u64,
    /// Stream data that the peer acknowledged, each byte once.
    pub acknowledged: u64,
    /// Stream data received, each byte once.
    pub received: u64,
    /// Number of packets declared lost.
    pub lost: u64,
    /// CE marks that the peer reported.
    pub marks: u64,
    /// Bytes in flight, counted from packets.
    pub in_flight: u64,
    /// The RTT sample of the latest event, ns, taken from its acknowledgement.
    pub rtt: Option<i64>,
}

/// Takes the events of one connection, in order, and gives its [`Measures`].
#[derive(Clone, Debug)]
pub struct Meter {
    measures: Measures,
    first: Option<i64>,
    last: i64,
    first_packet: Option<i64>,
    last_packet: i64,
    sizes: [u64; 2],
    flights: BTreeMap<(PacketType, u32), Flight<Streams>>,
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
    reported_lost: u64,
    ce: BTreeMap<PacketType, u64>,
    logged_rtt: Distribution,
    measured_rtt: Distribution,
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
    state: Option<(String, i64)>,
    recoveries: u64,
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
            flights: BTreeMap::new(),
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
            reported_lost: 0,
            ce: BTreeMap::new(),
            logged_rtt: Distribution::new(),
            measured_rtt: Distribution::new(),
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
            state: None,
            recoveries: 0,
        }
    }

    /// Takes as much less memory as is fit for one of `meters` connections of a file.
    pub fn share_memory(&mut self, meters: usize) {
        let meters = meters.max(1);
        self.most = (ALTOGETHER / meters).clamp(64, PACKETS);
        let most = self.most;
        self.flights.values_mut().for_each(|flight| flight.limit(most));
        self.streams.shrink_to_fit();
        self.acknowledged.limit(most);
        self.received.limit(most);
        if meters > FINE {
            self.logged_rtt.coarsen();
            self.measured_rtt.coarsen();
            self.bins = Rates::BINS * FINE / meters;
            self.rates.iter_mut().for_each(|rates| rates.limit(self.bins));
        }
    }

    /// Measures the connection's next event.
    pub fn event(&mut self, batch: &Batch, event: &Event) {
        let now = event.time;
        self.first.get_or_insert(now);
        self.last = self.last.max(now);
        self.measures.events += 1;
        self.latest_sample = None;
        match event.kind {
            EventKind::PacketSent(index) => self.sent(now, batch, &batch.packets[index as usize]),
            EventKind::PacketReceived(index) => self.packet_received(now, batch, &batch.packets[index as usize]),
            EventKind::PacketLost(index) => self.lost(now, &batch.packets[index as usize]),
            EventKind::MetricsUpdated(index) => self.metrics(now, &batch.metrics[index as usize]),
            EventKind::CongestionState(index) => {
                let name = batch.name(batch.states[index as usize].new);
                let known = self.measures.states.len() < STATES || self.measures.states.contains_key(name);
                let name = if known { name } else { "other" }.to_owned();
                self.enter(now, Some(name));
            }
            EventKind::Controller(name) => self.measures.controller = Some(batch.name(name).to_owned()),
            EventKind::EcnCe(packets) => self.measures.marks += u64::from(packets),
            EventKind::PacketsLost(packets) => self.reported_lost += u64::from(packets),
            EventKind::Other(_) if self.measures.peer.is_none() && !batch.peers.is_empty() => {
                self.find_peer(batch, event)
            }
            EventKind::PacketDropped(_)
            | EventKind::SpuriousLoss
            | EventKind::MtuUpdated(_)
            | EventKind::DataDelivered(_)
            | EventKind::Other(_) => {}
        }
    }

    fn packet(&mut self, now: i64) {
        self.first_packet.get_or_insert(now);
        self.last_packet = self.last_packet.max(now);
    }

    fn sent(&mut self, now: i64, batch: &Batch, packet: &Packet) {
        self.packet(now);
        self.measures.packets_sent += 1;
        let bytes = packet.bytes.unwrap_or(0);
        self.sizes[0] += u64::from(bytes);
        self.leaves(now);
        // Without frames, every packet counts as one that asks for an ACK.
        if packet.ack_eliciting == Some(false) {
            return;
        }
        let Some(number) = packet.number else { return };
        let key = (packet.kind.space(), packet.path);
        if !self.flights.contains_key(&key) {
            if self.flights.len() >= SPACES {
                return;
            }
            let mut flight = Flight::default();
            flight.limit(self.most);
            self.flights.insert(key, flight);
        }
        let streams = batch.streams_of(packet);
        let room = self.most.saturating_sub(streams.len());
        if self.streams.len() > room {
            // The frames of the oldest packets will not be counted when these are acknowledged.
            let over = self.streams.len() - room;
            self.streams.drain(..over);
            self.first_stream += over as u64;
        }
        let first = self.first_stream + self.streams.len() as u64;
        self.streams.extend(streams);
        let sent = Sent { time: now, bytes, status: PacketStatus::InFlight, extra: (first, streams.len() as u32) };
        self.share_room(key);
        if let Some(flight) = self.flights.get_mut(&key) {
            flight.sent(number, sent);
        }
        self.flies(now, i64::from(bytes));
    }

    /// Makes room for a packet of a space, where several together remember too many.
    fn share_room(&mut self, key: (PacketType, u32)) {
        if self.flights.len() < 2 || self.flights.values().map(Flight::remembered).sum::<usize>() < self.most {
            return;
        }
        let others = self.flights.iter_mut().filter(|(other, _)| **other != key);
        if let Some((_, longest)) =
            others.max_by_key(|(_, flight)| flight.remembered()).filter(|(_, flight)| flight.remembered() > 0)
        {
            longest.halve();
        }
    }

    /// A packet leaves, with the one before or in a burst of its own.
    fn leaves(&mut self, now: i64) {
        let (last, packets) = self.burst;
        if last != i64::MIN && now.saturating_sub(last) < TOGETHER {
            self.burst = (now, packets + 1);
        } else {
            self.bursts += 1;
            self.burst = (now, 1);
        }
        self.measures.burst_max = self.measures.burst_max.max(Some(self.burst.1));
    }

    fn flies(&mut self, now: i64, change: i64) {
        self.in_flight = self.in_flight.saturating_add_signed(change);
        self.counted_in_flight.set(now, self.in_flight as f64);
    }

    fn packet_received(&mut self, now: i64, batch: &Batch, packet: &Packet) {
        self.packet(now);
        self.measures.packets_received += 1;
        self.sizes[1] += u64::from(packet.bytes.unwrap_or(0));
        for frame in batch.streams_of(packet) {
            let new = self.received.add(frame);
            self.received_goodput = self.received_goodput.saturating_add(new);
            if new > 0 && self.goodput == 0 {
                self.deliver(now, new);
            }
        }
        if !packet.acks {
            return;
        }
        let space = packet.kind.space();
        if let Some(ce) = packet.ce {
            let before = self.ce.insert(space, ce).unwrap_or(0);
            self.measures.marks += ce.saturating_sub(before);
        }
        self.acked(now, (space, packet.path), batch.ranges_of(packet));
        self.forget();
    }

    fn acked(&mut self, now: i64, space: (PacketType, u32), ranges: &[(u64, u64)]) {
        let Some(flight) = self.flights.get_mut(&space) else { return };
        let largest = ranges.iter().map(|range| range.1).max();
        if let Some(sent) = largest.and_then(|largest| flight.get(largest))
            && sent.status == PacketStatus::InFlight
        {
            let sample = now.saturating_sub(sent.time);
            if self.logged_rtt.least().is_none() {
                self.measured_rtt.add(sample);
            }
            self.latest_sample = Some(sample);
        }
        let (mut bytes, mut goodput, mut spurious) = (0, 0_u64, 0);
        for &range in ranges {
            flight.range(range, |_, sent| {
                match sent.status {
                    PacketStatus::Acked => return true,
                    PacketStatus::Lost => spurious += 1,
                    PacketStatus::InFlight => bytes += i64::from(sent.bytes),
                }
                sent.status = PacketStatus::Acked;
                let (first, number) = sent.extra;
                let Some(from) = first.checked_sub(self.first_stream) else { return true };
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                for frame in self.streams.iter().skip(from).take(number as usize) {
                    goodput = goodput.saturating_add(self.acknowledged.add(frame));
                }
                true
            });
        }
        self.measures.packets_spurious += spurious;
        if goodput > 0 {
            if self.goodput == 0 {
                // What it received before was the smaller part of the story.
                self.rates = None;
            }
            self.goodput = self.goodput.saturating_add(goodput);
            self.deliver(now, goodput);
        }
        if bytes > 0 {
            self.flies(now, -bytes);
        }
    }

    fn deliver(&mut self, now: i64, bytes: u64) {
        let start = self.first.unwrap_or(now);
        let bins = self.bins;
        let new = || {
            let mut rates = Rates::new(start);
            rates.limit(bins);
            rates
        };
        self.rates.get_or_insert_with(new).add(now, bytes);
    }

    /// Forgets the data frames of packets that are no longer remembered.
    fn forget(&mut self) {
        if self.streams.len() < 4096 {
            return;
        }
        let needed = self.flights.values_mut().filter_map(|flight| Some(flight.oldest()?.extra.0)).min();
        let needed = needed.unwrap_or(self.first_stream + self.streams.len() as u64);
        let unneeded = needed.saturating_sub(self.first_stream) as usize;
        if unneeded > self.streams.len() / 2 {
            self.streams.drain(..unneeded.min(self.streams.len()));
            self.first_stream = needed;
        }
    }

    fn lost(&mut self, now: i64, packet: &Packet) {
        self.measures.packets_lost += 1;
        let Some(number) = packet.number else { return };
        let spaces = match packet.kind {
            PacketType::Unknown => (PacketType::OneRtt, packet.path),
            kind => (kind.space(), packet.path),
        };
        if let Some(sent) = self.flights.get_mut(&spaces).and_then(|flight| flight.get(number))
            && sent.status == PacketStatus::InFlight
        {
            sent.status = PacketStatus::Lost;
            let bytes = i64::from(sent.bytes);
            self.flies(now, -bytes);
        }
    }

    fn metrics(&mut self, now: i64, metrics: &Metrics) {
        if let Some(cwnd) = metrics.cwnd {
            self.window(now, cwnd as f64);
        }
        self.ssthresh = metrics.ssthresh.or(self.ssthresh);
        if let Some(bytes) = metrics.bytes_in_flight {
            self.logged_in_flight.set(now, bytes as f64);
        }
        if let Some(rtt) = metrics.latest_rtt.filter(|&rtt| rtt > 0) {
            if self.logged_rtt.least().is_none() {
                // What was worked out is not needed any more.
                self.measured_rtt.clear();
            }
            self.logged_rtt.add(rtt);
        }
        if let Some(rate) = metrics.pacing_rate {
            self.pacing.set(now, rate as f64 / 1e6);
        }
        if let Some(limited) = metrics.app_limited {
            self.app_limited.set(now, f64::from(u8::from(limited)));
        }
        if let Some(count) = metrics.pto_count {
            self.measures.timeouts += u64::from(count.saturating_sub(self.pto_count));
            self.pto_count = count;
        }
    }

    fn window(&mut self, now: i64, cwnd: f64) {
        if let Some(before) = self.cwnd.last().filter(|&before| cwnd < before) {
            self.measures.reductions += 1;
            self.reduced.get_or_insert((now, before));
        }
        if let Some((since, _)) = self.reduced.take_if(|(_, before)| cwnd >= *before) {
            self.regained.0 += 1;
            self.regained.1 += now.saturating_sub(since).max(0) as f64;
        }
        self.cwnd.set(now, cwnd);
    }

    /// Notes where the other end is, as the batch first tells it of the event's connection.
    fn find_peer(&mut self, batch: &Batch, event: &Event) {
        let of_this = |index: u32| batch.events.get(index as usize).is_some_and(|other| other.group == event.group);
        let peer = batch.peers.iter().find(|peer| of_this(peer.event));
        self.measures.peer = peer.map(|peer| batch.name(peer.address).to_owned());
    }

    /// The present congestion state ends, and `next` begins.
    fn enter(&mut self, now: i64, next: Option<String>) {
        if let Some((state, since)) = self.state.take() {
            let time = now.saturating_sub(since).max(0) as f64 / 1e9;
            *self.measures.states.entry(state).or_default() += time;
        }
        self.recoveries += u64::from(next.as_deref() == Some("recovery"));
        self.state = next.map(|next| (next, now));
    }

    /// What was counted up to the latest event.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            sent: self.sizes[0],
            acknowledged: self.goodput,
            received: self.received_goodput,
            lost: self.measures.packets_lost.max(self.reported_lost),
            marks: self.measures.marks,
            in_flight: self.in_flight,
            rtt: self.latest_sample,
        }
    }

    /// What was measured, and the bytes delivered over time.
    #[must_use]
    pub fn finish(mut self) -> (Measures, Rates) {
        let last = self.last;
        self.enter(last, None);
        let first = self.first.unwrap_or(0);
        let active = self.first_packet.map(|first| self.last_packet.saturating_sub(first) as f64);
        let rate = |bytes: u64| active.filter(|&span| span > 0.0).map(|span| bytes as f64 * 8e3 / span);
        let known = |bytes: u64| (bytes > 0).then_some(bytes);
        let level = |weighted: TimeWeighted| weighted.finish(last).map(|(mean, min, max)| Level { mean, min, max });
        let rtt = if self.logged_rtt.least().is_some() { &self.logged_rtt } else { &self.measured_rtt };
        let mut measures = self.measures;
        measures.duration = last.saturating_sub(first) as f64 / 1e9;
        measures.bytes_sent = known(self.sizes[0]);
        measures.bytes_received = known(self.sizes[1]);
        measures.throughput = known(self.sizes[0]).and_then(rate);
        measures.goodput = known(self.goodput).and_then(rate);
        measures.received_goodput = known(self.received_goodput).and_then(rate);
        measures.packets_lost = measures.packets_lost.max(self.reported_lost);
        let share = |part: u64, of: u64| (of > 0).then(|| 100.0 * part as f64 / of as f64);
        measures.loss = share(measures.packets_lost, measures.packets_sent);
        measures.spurious = share(measures.packets_spurious, measures.packets_lost);
        measures.burst_mean = (self.bursts > 0).then(|| measures.packets_sent as f64 / self.bursts as f64);
        measures.rtt = rtt.above(0);
        measures.queueing = rtt.least().and_then(|least| rtt.above(least));
        measures.cwnd = level(self.cwnd);
        measures.ssthresh = self.ssthresh.map(|bytes| bytes as f64);
        measures.in_flight = level(self.logged_in_flight).or(level(self.counted_in_flight));
        measures.pacing_rate = level(self.pacing);
        measures.app_limited = level(self.app_limited).map(|share| 100.0 * share.mean);
        let recovering = measures.states.get("recovery").copied();
        measures.recovery_time = recovering.filter(|_| self.recoveries > 0).map(|time| time / self.recoveries as f64);
        let (regained, after) = self.regained;
        measures.regain_time = (regained > 0).then(|| after / regained as f64 / 1e9);
        let rates = self.rates.unwrap_or_else(|| Rates::new(first));
        measures.settled_after = rates.settled_after();
        (measures, rates)
    }
}
