//! What a sender keeps that repairs losses as TCP does: cumulative acknowledgements, duplicates
//! or a scoreboard, one coarse timer (`spec: chan §2.1, §2.2, §3.7, §8.4`; `RFC 6675`).

use std::collections::BTreeMap;

use windlass_controllers::event::LossTrigger;

use super::recovery::{LostBatch, Sent};
use super::scoreboard::Scoreboard;
use super::timers::NEVER;
use crate::scenario::Recovery;

/// The retransmission timeout before there is a sample, ns (`RFC 2988 §2.1`).
const INITIAL: u64 = 3_000_000_000;
/// No timeout is longer, ns.
const LONGEST: u64 = 60_000_000_000;
/// The timeout doubles so often at most: to 64 times itself.
const MAX_BACKOFF: u32 = 6;
/// Duplicate ACKs that mean a loss.
pub(super) const DUPLICATES: u32 = 3;

/// An estimator of round-trip times with gains of 1/8 and 1/4, µs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Estimate {
    smoothed: f64,
    variation: f64,
}

impl Estimate {
    /// After a first sample, whose deviation is taken for `share` of it.
    fn first(sample: f64, share: f64) -> Estimate {
        Estimate { smoothed: sample, variation: share * sample }
    }

    fn add(&mut self, sample: f64) {
        let error = sample - self.smoothed;
        self.smoothed += error / 8.0;
        self.variation += (error.abs() - self.variation) / 4.0;
    }
}

/// Vegas' fine-grained timeout (`spec: chan §3.6 I2, E6; §3.7 L3`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Fine {
    estimate: Option<Estimate>,
    /// The timeout, ns; `None` before the first sample.
    timeout: Option<f64>,
}

impl Fine {
    /// Adds a valid RTT sample, ns (`RFC 6298 §2`).
    pub fn sample(&mut self, sample: u64) {
        let sample = sample as f64;
        match &mut self.estimate {
            None => {
                self.estimate = Some(Estimate::first(sample, 0.25));
                self.timeout = Some(1.5 * sample);
            }
            Some(estimate) => {
                estimate.add(sample);
                self.timeout = Some(17.0 / 16.0 * (estimate.smoothed + 2.0 * estimate.variation));
            }
        }
    }

    /// Whether a packet that left at `sent_at` has been under way for too long.
    pub fn is_over(&self, now: u64, sent_at: u64) -> bool {
        self.timeout.is_some_and(|timeout| now.saturating_sub(sent_at) as f64 >= timeout)
    }

    /// A packet that had been sent `transmissions` times goes out again.
    fn lengthen(&mut self, transmissions: u16) {
        if let Some(timeout) = &mut self.timeout {
            *timeout *= if transmissions > 1 { 2.0 } else { 9.0 / 8.0 };
        }
    }
}

/// What a packet that never arrived died of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// No room in a queue.
    Congestion,
    /// Lost at random on a link.
    Random,
}

/// How a recovery goes on after its first retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flavour {
    /// The next new ACK ends it (`spec: chan §2.1`).
    Reno,
    /// A partial ACK repeats the next packet (`RFC 2582 §3`; `spec: chan §2.2`).
    NewReno,
    /// As Reno, with a timeout of its own (`spec: chan §3.7`).
    Vegas,
    /// The scoreboard says what to repeat (`RFC 6675 §5`).
    Sack,
}

/// Losses that one event reports to the controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// `None` without any.
    pub batch: Option<LostBatch>,
    /// The numbers of the packets.
    pub numbers: Vec<u64>,
}

impl Losses {
    /// Adds packet `number`, for the controller the newest and sent at `sent_at`.
    pub fn add(&mut self, number: u64, packet: &Sent, sent_at: u64) {
        let (bytes, packets) = self.batch.map_or((0, 0), |batch| (batch.bytes, batch.packets));
        self.batch = Some(LostBatch {
            bytes: bytes + u64::from(packet.bytes),
            packets: packets + 1,
            newest: number,
            newest_sent_at: sent_at,
            trigger: LossTrigger::PacketThreshold,
            transmissions: packet.transmissions,
            persistent: false,
        });
        self.numbers.push(number);
    }
}

/// The sending side of TCP. Data is counted in chunks, which stand for segments.
#[derive(Clone, Debug)]
pub(super) struct Tcp {
    min_rto: u64,
    pub flavour: Flavour,
    /// Vegas' own timeout; the others have none.
    pub fine: Option<Fine>,
    /// Scoreboard: what the receiver has acknowledged.
    pub board: Scoreboard,
    /// In recovery until everything before this chunk is acknowledged (`recover` of RFC 2582,
    /// RecoveryPoint of RFC 6675); Reno and Vegas have none.
    pub recovery_point: Option<u64>,
    /// What the scoreboard took for lost, and is not reported to the controller yet.
    pub unanswered: Losses,
    /// Duplicate ACKs since the last new one.
    pub duplicates: u32,
    /// Packets that duplicate ACKs let go beyond the window.
    pub inflation: u32,
    /// New ACKs on which the fine timeout is looked at again (`spec: chan §3.7 L2`).
    pub worried: u32,
    /// The first chunk not sent when the coarse timer expired; no fast retransmission
    /// before that is acknowledged.
    pub recover: Option<u64>,
    /// Time at which a loss last reduced the window, ns.
    pub last_cut: Option<u64>,
    /// Retransmissions that leave whatever the window.
    pub urgent: u32,
    /// The chunk that is timed, and since when.
    timed: Option<(u64, u64)>,
    estimate: Option<Estimate>,
    backoff: u32,
    /// Since when the timer runs.
    pub since: u64,
    /// Why packets never arrived, by number.
    pub causes: BTreeMap<u64, Cause>,
}

impl Tcp {
    /// `None` if losses are repaired as QUIC does.
    pub fn new(recovery: Recovery) -> Option<Box<Tcp>> {
        let (min_rto, flavour) = match recovery {
            Recovery::Quic => return None,
            Recovery::Reno { min_rto } => (min_rto.0, Flavour::Reno),
            Recovery::NewReno { min_rto } => (min_rto.0, Flavour::NewReno),
            Recovery::Vegas { min_rto } => (min_rto.0, Flavour::Vegas),
            Recovery::Sack { min_rto } => (min_rto.0, Flavour::Sack),
        };
        Some(Box::new(Tcp {
            min_rto,
            flavour,
            fine: (flavour == Flavour::Vegas).then(Fine::default),
            board: Scoreboard::default(),
            recovery_point: None,
            unanswered: Losses::default(),
            duplicates: 0,
            inflation: 0,
            worried: 0,
            recover: None,
            last_cut: None,
            urgent: 0,
            timed: None,
            estimate: None,
            backoff: 0,
            since: 0,
            causes: BTreeMap::new(),
        }))
    }

    /// Everything before this chunk is acknowledged.
    #[inline]
    pub fn edge(&self) -> u64 {
        self.board.edge()
    }

    /// `chunk` leaves at `now` in packet `number`, with `in_flight` bytes under way before it.
    #[inline]
    pub fn sent(&mut self, now: u64, number: u64, chunk: u64, transmissions: u16, in_flight: u64) {
        self.board.sent(chunk, number);
        if in_flight == 0 {
            self.since = now;
        }
        if transmissions == 1 && self.timed.is_none() {
            self.timed = Some((chunk, now));
        }
        self.urgent = self.urgent.saturating_sub(1);
    }

    /// A new ACK of `chunks`: the timer starts anew, and the segment that was timed is a sample
    /// if it is covered. Returns whether the ACK is a partial one, after which NewReno's recovery
    /// goes on: the window is deflated by what it acknowledges, less one packet (`RFC 2582 §3`).
    pub fn renewed(&mut self, now: u64, chunks: u64) -> bool {
        self.since = now;
        if let Some((_, at)) = self.timed.filter(|(chunk, _)| *chunk < self.edge()) {
            self.sample(now - at);
            self.timed = None;
        }
        if self.recovery_point.is_some_and(|point| self.edge() < point) {
            let chunks = u32::try_from(chunks).unwrap_or(u32::MAX);
            self.inflation = self.inflation.saturating_sub(chunks.saturating_sub(1));
            return true;
        }
        self.recovery_point = None;
        self.duplicates = 0;
        self.inflation = 0;
        false
    }

    /// A valid sample of the round-trip time, ns: the timer's backoff ends (`RFC 6298 §2`).
    #[inline]
    pub fn sample(&mut self, sample: u64) {
        let sample = sample as f64;
        match &mut self.estimate {
            None => self.estimate = Some(Estimate::first(sample, 0.5)),
            Some(estimate) => estimate.add(sample),
        }
        self.backoff = 0;
    }

    /// A recovery begins at `now` that lasts until all chunks before `fresh` are acknowledged; its
    /// first retransmission leaves whatever the window (`RFC 6675 §5 step 4`).
    pub fn enter_recovery(&mut self, now: u64, fresh: u64) {
        self.recovery_point = Some(fresh);
        self.urgent = 1;
        self.since = now;
        self.last_cut = Some(now);
    }

    /// A packet is repeated after duplicate ACKs, at `now`, with `outstanding` packets under way.
    pub fn repeats(&mut self, now: u64, transmissions: u16, outstanding: u32) {
        self.since = now;
        // Its ACK would tell nothing (Karn).
        self.timed = None;
        self.urgent += 1;
        self.worried = outstanding.min(2);
        if let Some(fine) = &mut self.fine {
            fine.lengthen(transmissions);
        }
    }

    /// The timer expired; `fresh` is the first chunk never sent.
    pub fn timed_out(&mut self, now: u64, fresh: u64) {
        self.recover = Some(fresh);
        self.recovery_point = None;
        self.unanswered = Losses::default();
        self.board.lose_all();
        self.duplicates = 0;
        self.inflation = 0;
        self.worried = 0;
        self.urgent = 0;
        self.last_cut = Some(now);
        self.timed = None;
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.since = now;
    }

    /// Whether a packet of `bytes` may leave beyond the window `cwnd`, with which `in_flight`
    /// bytes would be under way.
    #[inline]
    pub fn lets(&self, in_flight: u64, bytes: u64, cwnd: u64) -> bool {
        self.urgent > 0 || in_flight <= cwnd.saturating_add(u64::from(self.inflation) * bytes)
    }

    /// Whether a third duplicate ACK is about what was sent before a timeout.
    pub fn is_going_back(&self) -> bool {
        self.recover.is_some_and(|recover| self.edge() <= recover)
    }

    /// Whether the loss of `chunk` belongs to the present recovery, or to what was sent before a
    /// timeout.
    #[inline]
    pub fn is_answered(&self, chunk: u64) -> bool {
        self.recovery_point.or(self.recover).is_some_and(|point| chunk < point)
    }

    /// When the timer expires; [`NEVER`] with nothing under way.
    pub fn deadline(&self, in_flight: u64) -> u64 {
        if in_flight == 0 {
            return NEVER;
        }
        let rto = self.estimate.map_or(INITIAL, |e| (e.smoothed + 4.0 * e.variation) as u64);
        self.since.saturating_add((rto.max(self.min_rto) << self.backoff).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::Span;

    use super::*;

    const MS: u64 = 1_000_000;

    fn reno() -> Tcp {
        *Tcp::new(Recovery::Reno { min_rto: Span::from_millis(1000) }).unwrap()
    }

    /// `spec: chan §3.6 I2, §3.9`: 1.5 times the first sample, then E6, then L3's factors.
    #[test]
    fn the_fine_timeout_follows_the_samples() {
        let mut fine = Fine::default();
        assert!(!fine.is_over(u64::MAX, 0), "no timeout without a sample");
        fine.sample(100 * MS);
        assert!(fine.is_over(150 * MS, 0) && !fine.is_over(150 * MS - 1, 0));
        fine.sample(100 * MS);
        // 17/16 · (100 + 2 · 18.75) ms.
        assert_eq!(fine.timeout, Some(146_093_750.0));
        fine.lengthen(1);
        assert_eq!(fine.timeout, Some(164_355_468.75));
        fine.lengthen(2);
        assert_eq!(fine.timeout, Some(328_710_937.5));
    }

    /// `spec: chan §8.4`: RTO = max(1 s, srtt + 4·rttvar), doubled up to 64 times and 60 s,
    /// cleared only by a sample of what was sent once.
    #[test]
    fn the_coarse_timer_backs_off_until_a_valid_sample() {
        let mut tcp = reno();
        assert_eq!(tcp.deadline(0), NEVER);
        let covers = |tcp: &mut Tcp, chunk: u64| {
            tcp.board.received(chunk);
            tcp.board.advance();
        };
        tcp.sent(0, 0, 0, 1, 0);
        assert_eq!(tcp.deadline(1000), 3000 * MS);
        covers(&mut tcp, 0);
        tcp.renewed(400 * MS, 1);
        // 400 + 4 · 200 ms from then on.
        assert_eq!(tcp.deadline(1000), 1600 * MS);
        for doubled in [2, 4, 8, 16, 32] {
            tcp.timed_out(0, 5);
            assert_eq!(tcp.deadline(1000), 1200 * MS * doubled);
        }
        tcp.timed_out(0, 5);
        assert_eq!(tcp.deadline(1000), 60_000 * MS);
        tcp.sent(0, 1, 1, 2, 0);
        covers(&mut tcp, 1);
        tcp.renewed(MS, 1);
        assert_eq!(tcp.deadline(1000), 60_001 * MS, "a repeated segment is no sample");
        tcp.sent(MS, 2, 2, 1, 1000);
        covers(&mut tcp, 2);
        tcp.renewed(401 * MS, 1);
        assert!(tcp.deadline(1000) < 2000 * MS);
        assert!(tcp.is_going_back(), "chunks up to 4 were sent before the timeout");
    }

    /// `RFC 2582 §3`: a partial ACK deflates the window by what it acknowledges, less one packet; a
    /// full one ends recovery.
    #[test]
    fn a_partial_acknowledgement_deflates_the_window() {
        let mut tcp = *Tcp::new(Recovery::NewReno { min_rto: Span::from_millis(1000) }).unwrap();
        (0..10).for_each(|chunk| tcp.sent(0, chunk, chunk, 1, 0));
        (tcp.recovery_point, tcp.duplicates, tcp.inflation) = (Some(8), 3, 7);
        assert!(tcp.renewed(MS, 5));
        assert_eq!((tcp.inflation, tcp.duplicates, tcp.recovery_point), (3, 3, Some(8)));
        (0..8).for_each(|chunk| {
            tcp.board.received(chunk);
            tcp.board.advance();
        });
        assert!(!tcp.renewed(MS, 8));
        assert_eq!((tcp.inflation, tcp.duplicates, tcp.recovery_point), (0, 0, None));
    }
}
