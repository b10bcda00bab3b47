//! Results of a meter: on the way, and at the end.

use super::{APP_LIMITED, Coverage, Meter};
use crate::metrics::credit::Credit;
use crate::metrics::limited::{Change, LimitedBy};
use crate::metrics::measures::{Level, LossSource, Measures};
use crate::metrics::rates::Rates;
use crate::metrics::statistics::{Distribution, TimeWeighted};

/// Counts of a connection so far, and what its latest event showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Bytes of packets sent.
    pub sent: u64,
    /// Stream data that the peer acknowledged, each byte once.
    pub acknowledged: u64,
    /// Stream data received, each byte once.
    pub received: u64,
    /// Packets declared lost: logged, else inferred.
    pub lost: u64,
    /// Whether losses are inferred so far.
    pub inferred: bool,
    /// CE marks that the peer reported.
    pub marks: u64,
    /// Bytes in flight, counted from packets.
    pub in_flight: u64,
    /// The RTT sample of the latest event, ns, taken from its acknowledgement.
    pub rtt: Option<i64>,
    /// Logged: whether the sender has too little to send.
    pub app_limited: Option<bool>,
    /// `DATA_BLOCKED`, `STREAM_DATA_BLOCKED` and kin, of both ends.
    pub blocked: u64,
    /// Flow control of what is sent, and of what is received.
    pub flow_control: [FlowControlProgress; 2],
}

/// Flow control of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowControlProgress {
    /// The limit of the connection, bytes; `None` if it is not logged.
    pub limit: Option<u64>,
    /// Bytes of all streams that count against it.
    pub used: u64,
    /// The limit of the stream that has most data, bytes; `None` if it is not logged.
    pub stream_limit: Option<u64>,
    /// Bytes of that stream.
    pub stream_used: u64,
}

impl Meter {
    /// Packets lost: logged, else inferred; `None` if the trace allows neither.
    fn losses(&self) -> Option<(u64, LossSource)> {
        match self.coverage {
            Coverage { losses: true, .. } => {
                Some((self.lost.max(self.reported_lost).max(self.total_lost), LossSource::Logged))
            }
            Coverage { acks: true, .. } if self.sent > 0 => Some((self.inferred.0, LossSource::Inferred)),
            _ => None,
        }
    }

    /// Totals up to the latest event.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let flow_control = |credit: &Credit| {
            let (stream_limit, stream_used) = credit.largest_stream();
            FlowControlProgress { limit: credit.connection(), used: credit.used(), stream_limit, stream_used }
        };
        Progress {
            sent: self.sizes[0],
            acknowledged: self.goodput,
            received: self.received_goodput,
            lost: self.losses().map_or(0, |(lost, _)| lost),
            inferred: !self.coverage.losses,
            marks: self.marks(),
            in_flight: self.in_flight,
            rtt: self.latest_sample,
            app_limited: self.app_limited_now,
            blocked: self.blocked,
            flow_control: [flow_control(&self.credit[0]), flow_control(&self.credit[1])],
        }
    }

    /// The larger count where ACKs and a recorder report the same marks; the recorder's where ACKs count the sender's own, too.
    fn marks(&self) -> u64 {
        let [acknowledged, recorded] = self.marks;
        if self.own_marks { recorded } else { acknowledged.max(recorded) }
    }

    /// RTTs as logged, or else taken from acknowledgements: where none are logged, or only others than those.
    fn rtts(&self) -> &Distribution {
        let logged = self.logged_rtt.least().is_some() && !self.rtts_differ();
        if logged { &self.logged_rtt } else { &self.measured_rtt }
    }

    /// Whether an RTT that was logged is what acknowledgements show.
    pub(crate) fn rtts_agree(&self) -> bool {
        self.rtts_agree
    }

    /// Whether acknowledgements show other RTTs than all that are logged.
    pub(crate) fn rtts_differ(&self) -> bool {
        !self.rtts_agree && self.logged_rtt.contradicts(&self.measured_rtt)
    }

    /// What limited the sender in gaps that the latest event ended, and since when each, ns.
    pub(crate) fn limited(&self) -> [Option<Change>; 3] {
        self.limited.changes()
    }

    /// What limits the sender in the gap that the latest event leaves open, and since when, ns.
    pub(crate) fn limited_now(&self) -> Option<(i64, LimitedBy)> {
        self.limited.gap(self.last, &self.pace())
    }

    /// What was measured, and the bytes delivered over time.
    #[must_use]
    pub fn finish(mut self) -> (Measures, Rates) {
        let last = self.last;
        self.enter(last, None);
        let mut measures = std::mem::take(&mut self.measures);
        let first = self.first.unwrap_or(0);
        let active = self.first_packet.map(|first| self.last_packet.saturating_sub(first) as f64);
        let rate = |bytes: u64| active.filter(|&span| span > 0.0).map(|span| bytes as f64 * 8e3 / span);
        let known = |count: u64| (count > 0).then_some(count);
        let level = |weighted: TimeWeighted| weighted.finish(last).map(|(mean, min, max)| Level { mean, min, max });
        let rtt = self.rtts();
        let losses = self.losses();
        let pace = self.pace();
        measures.duration = last.saturating_sub(first) as f64 / 1e9;
        measures.packets_sent = known(self.sent);
        measures.packets_received = known(self.received_packets);
        measures.bytes_sent = known(self.sizes[0]);
        measures.bytes_received = known(self.sizes[1]);
        measures.throughput = known(self.sizes[0]).and_then(rate);
        measures.goodput = known(self.goodput).and_then(rate);
        measures.received_goodput = known(self.received_goodput).and_then(rate);
        measures.packets_lost = losses.map(|(lost, _)| lost);
        measures.losses = losses.map(|(_, source)| source);
        let spurious = if self.coverage.losses { self.spurious } else { self.inferred.1 };
        measures.packets_spurious = measures.packets_lost.filter(|_| self.coverage.acks).map(|_| spurious);
        let share = |part: Option<u64>, of: Option<u64>| {
            part.zip(of).filter(|&(_, of)| of > 0).map(|(part, of)| 100.0 * part as f64 / of as f64)
        };
        measures.loss = share(measures.packets_lost, measures.packets_sent);
        measures.spurious = share(measures.packets_spurious, measures.packets_lost);
        measures.marks = self.coverage.marks.then_some(self.marks());
        measures.timeouts = match self.coverage {
            Coverage { pto_count: true, .. } => Some(self.timeouts),
            Coverage { timeouts: true, .. } => Some(self.probes.1),
            _ => None,
        };
        measures.burst_mean = (self.bursts > 0).then(|| self.sent as f64 / self.bursts as f64);
        measures.rtt = rtt.above(0);
        measures.rtt_logged = self.rtts_differ().then(|| self.logged_rtt.above(0)).flatten();
        if self.of_paths.iter().any(Meter::rtts_differ) {
            let mut all = Distribution::new();
            self.of_paths.iter().for_each(|path| path.rtts().add_to(&mut all));
            (measures.rtt, measures.rtt_logged) = (all.above(0), self.logged_rtt.above(0));
        }
        measures.queueing = match self.of_paths.as_slice() {
            [] => rtt.least().and_then(|least| rtt.above(least)),
            // Each path has a least RTT of its own.
            paths => {
                let mut queueing = Distribution::new();
                paths.iter().for_each(|path| path.rtts().add_excess_to(&mut queueing));
                queueing.above(0)
            }
        };
        // The window of another path is no smaller one, nor is what follows a migration.
        let (paths, reductions) = (&self.of_paths, self.reductions);
        let reductions = if paths.is_empty() { reductions } else { paths.iter().map(|path| path.reductions).sum() };
        measures.reductions = self.cwnd.last().map(|_| reductions);
        measures.cwnd = level(self.cwnd);
        measures.ssthresh = self.ssthresh.map(|bytes| bytes as f64);
        let sized = self.sizes[0] > 0;
        measures.in_flight = level(self.logged_in_flight).or(level(self.counted_in_flight).filter(|_| sized));
        measures.pacing_rate = level(self.pacing);
        measures.app_limited = level(self.app_limited).map(|share| 100.0 * share.mean).or_else(|| {
            let limited = measures.states.get(APP_LIMITED)?;
            let all: f64 = measures.states.values().sum();
            (all > 0.0).then(|| 100.0 * limited / all)
        });
        measures.limited = self.limited.finish(last, &pace);
        measures.blocked = self.coverage.frames.then_some(self.blocked);
        let recovering = measures.states.get("recovery").copied();
        measures.recovery_time = recovering.filter(|_| self.recoveries > 0).map(|time| time / self.recoveries as f64);
        let (regained, after) = match self.of_paths.as_slice() {
            [] => self.regained,
            paths => {
                paths.iter().fold((0, 0.0), |(count, after), path| (count + path.regained.0, after + path.regained.1))
            }
        };
        measures.regain_time = (regained > 0).then(|| after / regained as f64 / 1e9);
        let rates = self.rates.unwrap_or_else(|| Rates::new(first));
        measures.settled_after = rates.settled_after();
        (measures, rates)
    }
}
