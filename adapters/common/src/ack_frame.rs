//! The events of one ACK frame, for all stacks; and whether losses turn out spurious, for senders that see late
//! acknowledgements packet by packet.

use windlass_controllers::event::{EcnCe, OneWay, PacketsAcked, PacketsLost, RttSample};
use windlass_controllers::{Event, EventKind, Span, Time};

/// Newly acknowledged packets of one frame, summed up for stacks that report them one by one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckedPackets {
    bytes: u64,
    packets: u32,
    app_limited: bool,
    /// Of `bytes`, those sent before the latest recovery period. Not its complement: the
    /// processor would wait for both sums to copy them together.
    stale_bytes: u64,
    newest_sent_at: Time,
    /// Bytes that earlier frames or late acknowledgements delivered, and after [`take`](Self::take) this one.
    delivered: u64,
}

impl AckedPackets {
    /// No packet yet, after `delivered` bytes of earlier frames.
    #[must_use]
    #[inline]
    pub fn after(delivered: u64) -> AckedPackets {
        AckedPackets { delivered, ..AckedPackets::default() }
    }

    /// Adds a packet of `bytes`, sent at `sent_at`. `recovery_start` is that of the decision in
    /// force ([`Flow::recovery_start`](crate::Flow::recovery_start)).
    #[inline]
    pub fn add(&mut self, sent_at: Time, bytes: u64, recovery_start: Option<Time>) {
        // One frame's packets; no sum comes near its type's end.
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(1);
        if recovery_start.is_some_and(|start| sent_at <= start) {
            self.stale_bytes = self.stale_bytes.wrapping_add(bytes);
        }
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
    }

    /// Adds a packet of `bytes` that was declared lost before: it was delivered, though it had left the flight already
    /// (`draft-ietf-ccwg-bbr §2.2`: `C.delivered` includes what was sent again for nothing).
    #[inline]
    pub fn add_late(&mut self, bytes: u64) {
        self.delivered = self.delivered.saturating_add(bytes);
    }

    /// Adds `packets` of `bytes` together, the newest of them sent at `newest_sent_at`, `fresh` of the bytes after the
    /// latest recovery period began. A frame that has them is not empty, even if they are none.
    #[inline]
    pub fn add_sum(&mut self, packets: u32, bytes: u64, fresh: u64, newest_sent_at: Time) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets = self.packets.saturating_add(packets.max(1));
        self.stale_bytes = self.stale_bytes.saturating_add(bytes.saturating_sub(fresh));
        self.newest_sent_at = self.newest_sent_at.max(newest_sent_at);
    }

    /// Marks the frame as limited by the application, if `limited`.
    #[inline]
    pub fn app_limited(&mut self, limited: bool) {
        self.app_limited |= limited;
    }

    /// When the newest packet added was sent; `None` if nothing was added.
    #[must_use]
    #[inline]
    pub fn newest_sent_at(&self) -> Option<Time> {
        (!self.is_empty()).then_some(self.newest_sent_at)
    }

    /// True if no packet was added since the frame began.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Bytes delivered by earlier frames and late acknowledgements.
    #[must_use]
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes of the packets added so far that counted as in flight.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The acknowledgements of a frame with the sample `rtt`, with `in_flight` bytes left in flight. The sums
    /// are then empty again and keep only the total delivered.
    #[inline(always)]
    pub fn take(&mut self, in_flight: u64, rtt: Option<RttSample>) -> PacketsAcked {
        let delivered = self.delivered.saturating_add(self.bytes);
        let mut acked = PacketsAcked::new(self.bytes, self.packets, self.newest_sent_at, in_flight, delivered);
        acked.fresh_bytes = self.bytes.saturating_sub(self.stale_bytes);
        acked.app_limited = self.app_limited;
        acked.rtt = rtt;
        *self = AckedPackets::after(delivered);
        acked
    }
}

/// Packets one loss detection declared lost (`RFC 9002 §6.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LostPackets {
    /// Number of packets.
    pub packets: u32,
    /// Their bytes that counted as in flight.
    pub bytes: u64,
    /// Send time of the newest of them.
    pub newest_sent_at: Time,
    /// The largest number among them, where the stack reports numbers.
    pub newest_pn: Option<u64>,
    /// Whether they establish persistent congestion (RFC 9002 §7.6).
    pub persistent: bool,
}

impl LostPackets {
    /// One packet of `bytes`, sent at `newest_sent_at`.
    #[must_use]
    #[inline]
    pub fn one(bytes: u64, newest_sent_at: Time) -> LostPackets {
        LostPackets { packets: 1, bytes, newest_sent_at, ..LostPackets::default() }
    }

    /// Adds `others`, which left later if they have a number.
    #[inline]
    pub fn add(&mut self, others: LostPackets) {
        self.packets = self.packets.saturating_add(others.packets);
        self.bytes = self.bytes.saturating_add(others.bytes);
        self.newest_sent_at = self.newest_sent_at.max(others.newest_sent_at);
        self.newest_pn = others.newest_pn.or(self.newest_pn);
        self.persistent |= others.persistent;
    }
}

/// The latest loss episode: packets lost that left before its first loss was found. All of them acknowledged
/// after all make it spurious; a loss found later, or of a packet sent later, then begins another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LossEpisode {
    found_at: Time,
    /// Packets declared lost and not acknowledged late.
    outstanding: u32,
    newest_sent_at: Time,
}

impl LossEpisode {
    /// `packets` were declared lost at `now`, the newest of them sent at `newest_sent_at`.
    pub fn on_packets_lost(&mut self, now: Time, newest_sent_at: Time, packets: u32) {
        if self.outstanding == 0 || newest_sent_at > self.found_at {
            *self = LossEpisode { found_at: now, ..LossEpisode::default() };
        }
        self.outstanding = self.outstanding.saturating_add(packets);
        self.newest_sent_at = self.newest_sent_at.max(newest_sent_at);
    }

    /// Whether a packet declared lost at `lost_at` belongs to it.
    #[must_use]
    #[inline]
    pub fn includes(&self, lost_at: Time) -> bool {
        self.outstanding > 0 && lost_at >= self.found_at
    }

    /// `packets` that belong to it are acknowledged. Returns when the newest packet of the episode was
    /// sent if it has proved spurious.
    #[must_use]
    pub fn on_late_acks(&mut self, packets: u32) -> Option<Time> {
        let spurious = packets > 0 && packets >= self.outstanding;
        self.outstanding = self.outstanding.saturating_sub(packets);
        spurious.then_some(self.newest_sent_at)
    }
}

/// Collects what one ACK frame brings besides acknowledgements, and emits it in the contract's order: the RTT
/// sample, CE marks, losses or persistent congestion. The acknowledgements follow; those of a frame without marks and
/// losses carry the sample.
///
/// Where a stack reports a frame in several callbacks, each that comes too late for this order
/// is a frame of its own: quinn and noq report acknowledgements, then losses, then marks, and
/// MsQuic acknowledgements before losses and marks.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckFrame {
    rtt: Option<RttSample>,
    ecn_ce: u32,
    lost: Option<LostPackets>,
}

impl AckFrame {
    /// The RTT sample. It goes along with the acknowledgements, unless marks or losses precede
    /// them.
    #[inline]
    pub fn rtt(&mut self) -> &mut Option<RttSample> {
        &mut self.rtt
    }

    /// Adds CE marks of `packets` packets.
    #[inline]
    pub fn add_ecn_ce(&mut self, packets: u32) {
        self.ecn_ce = self.ecn_ce.saturating_add(packets);
    }

    /// The losses, to be added to.
    #[inline]
    pub fn lost(&mut self) -> &mut LostPackets {
        self.lost.get_or_insert_default()
    }

    /// Bytes declared lost; `None` if no packet was.
    #[must_use]
    #[inline]
    pub fn lost_bytes(&self) -> Option<u64> {
        self.lost.map(|lost| lost.bytes)
    }

    /// Whether it brings marks or losses, which [`emit_congestion`](Self::emit_congestion) emits
    /// before the acknowledgements.
    #[must_use]
    #[inline]
    pub fn is_congested(&self) -> bool {
        self.ecn_ce > 0 || self.lost.is_some()
    }

    /// Emits the sample, marks and losses, and takes them out of the frame. `newest` is when the
    /// newest packet it acknowledges was sent, and its number if known; `in_flight` the bytes in
    /// flight before and after the losses were taken out.
    pub fn emit_congestion(
        &mut self,
        now: Time,
        newest: (Time, Option<u64>),
        in_flight: (u64, u64),
        mut on_event: impl FnMut(&Event),
    ) {
        let mut emit = |kind| on_event(&Event::new(now, kind));
        if let Some(rtt) = self.rtt.take() {
            emit(EventKind::RttSampled(rtt));
        }
        let ecn_ce = std::mem::take(&mut self.ecn_ce);
        if ecn_ce > 0 {
            emit(EventKind::EcnCe(EcnCe::new(ecn_ce, newest.0, in_flight.0).with_newest_pn(newest.1)));
        }
        if let Some(lost) = self.lost.take() {
            let event = PacketsLost::new(lost.bytes, lost.packets, lost.newest_sent_at, in_flight.1)
                .with_newest_pn(lost.newest_pn)
                .with_in_flight_before(in_flight.0);
            emit(if lost.persistent { EventKind::PersistentCongestion(event) } else { EventKind::PacketsLost(event) });
        }
    }
}

/// The one-way delays of the sample `rtt`, of stacks that know when the peer sent the acknowledgement: `one_way_ns` is the
/// peer's clock then, less ours when the packet was sent.
#[must_use]
pub fn one_way_delays(rtt: &RttSample, one_way_ns: i64) -> OneWay {
    let signed = |span: Span| i64::try_from(span.0).unwrap_or(i64::MAX);
    let forward = one_way_ns.saturating_sub(signed(rtt.ack_delay));
    OneWay::new(forward, signed(rtt.adjusted()).saturating_sub(forward))
}

#[cfg(test)]
mod tests {
    use windlass_controllers::Span;

    use super::*;

    #[test]
    fn counts_fresh_bytes_from_the_recovery_start() {
        let mut packets = AckedPackets::default();
        packets.add(Time(10), 1200, Some(Time(10)));
        packets.add(Time(11), 1000, Some(Time(10)));
        assert_eq!(packets.newest_sent_at(), Some(Time(11)));
        let acked = packets.take(5000, None);
        assert_eq!((acked.bytes, acked.packets, acked.fresh_bytes), (2200, 2, 1000));
        assert_eq!((acked.newest_sent_at, acked.in_flight_before, acked.delivered), (Time(11), 7200, 2200));
        assert!(packets.is_empty());
        packets.add(Time(12), 100, None);
        assert_eq!(packets.take(0, None).delivered, 2300);
    }

    /// All events of a frame.
    fn events(frame: &mut AckFrame) -> Vec<EventKind> {
        let mut events = Vec::new();
        frame.emit_congestion(Time(9), (Time(8), Some(4)), (6000, 4800), |event| events.push(*event));
        assert!(events.iter().all(|event| event.now == Time(9)));
        events.iter().map(|event| event.kind).collect()
    }

    #[test]
    fn the_sample_precedes_marks_and_these_precede_losses() {
        let sample = RttSample::new(Span(40), Span(40), Span(20), Span(40));
        for persistent in [false, true] {
            let mut frame = AckFrame::default();
            frame.lost().add(LostPackets::one(700, Time(5)));
            frame.lost().add(LostPackets::one(500, Time(3)));
            frame.lost().persistent = persistent;
            frame.add_ecn_ce(2);
            *frame.rtt() = Some(sample);
            assert_eq!(frame.lost_bytes(), Some(1200));
            let events = events(&mut frame);
            assert_eq!(events.len(), 3);
            assert_eq!(events[0], EventKind::RttSampled(sample));
            let marks = EcnCe::new(2, Time(8), 6000).with_newest_pn(Some(4));
            assert_eq!(events[1], EventKind::EcnCe(marks));
            let lost = PacketsLost::new(1200, 2, Time(5), 4800).with_in_flight_before(6000);
            let expected =
                if persistent { EventKind::PersistentCongestion(lost) } else { EventKind::PacketsLost(lost) };
            assert_eq!(events[2], expected);
            assert!(!frame.is_congested(), "emitted once");
        }
    }

    #[test]
    fn an_episode_is_spurious_once_all_of_it_has_arrived() {
        let mut episode = LossEpisode::default();
        episode.on_packets_lost(Time(100), Time(50), 2);
        episode.on_packets_lost(Time(110), Time(60), 1);
        assert!(episode.includes(Time(100)) && episode.includes(Time(110)) && !episode.includes(Time(99)));
        assert_eq!([2, 0, 1, 0].map(|packets| episode.on_late_acks(packets)), [None, None, Some(Time(60)), None]);
    }

    /// Losses of the same flight after the first of them proved spurious are an episode of their own.
    #[test]
    fn the_same_flight_may_lose_again_and_be_spurious_again() {
        let mut episode = LossEpisode::default();
        episode.on_packets_lost(Time(100), Time(50), 1);
        assert_eq!(episode.on_late_acks(1), Some(Time(50)));
        assert!(!episode.includes(Time(100)), "settled");
        episode.on_packets_lost(Time(105), Time(60), 1);
        assert!(!episode.includes(Time(100)) && episode.includes(Time(105)));
        assert_eq!(episode.on_late_acks(1), Some(Time(60)));
    }

    #[test]
    fn a_packet_sent_after_the_first_loss_was_found_begins_another() {
        let mut episode = LossEpisode::default();
        episode.on_packets_lost(Time(100), Time(50), 7);
        episode.on_packets_lost(Time(200), Time(101), 1);
        assert!(!episode.includes(Time(100)));
        assert_eq!(episode.on_late_acks(1), Some(Time(101)), "the seven no longer matter");
    }
}
