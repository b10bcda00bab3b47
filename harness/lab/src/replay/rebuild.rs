//! From the events of a trace to the [`TraceEvent`]s of its sender, and whether that is application-limited.

mod losses;

use super::contents::TraceContents;
use super::event::{Frame, StackMetrics, TraceEvent};

use losses::Losses;
use windlass_adapter::rfc9002::{DEFAULT_MAX_ACK_DELAY, PACKET_THRESHOLD, RttEstimator};
use windlass_adapter::{DeliveryRateState, Silence};
use windlass_controllers::event::{LossTrigger, PacketSent as SentEvent, SpuriousLoss};
use windlass_controllers::{Span, Time};
use windlass_qlog_analysis::flight::{Flight, PacketStatus, Sent};
use windlass_qlog_analysis::model::{Batch, Event, EventKind, Metrics, Packet, PacketType};

/// Most packet number spaces, over all paths, that are followed; packets of others are ignored.
const SPACES: usize = 16;

/// The longest a peer holds an ACK unless it says otherwise (`RFC 9000 §18.2`).
const MAX_ACK_DELAY: Span = DEFAULT_MAX_ACK_DELAY;

/// Longest RTT that is believed, ns: an hour. Longer ones come from a broken clock.
const LONGEST_RTT: u64 = 3_600_000_000_000;

/// Losses logged at most this much later than an ACK frame belong to it, ns: some loggers read
/// the clock for every event.
const SAME_FRAME: u64 = 100_000;

/// How it is known which packets were lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossSource {
    /// The trace logs losses as events.
    Logged,
    /// RFC 9002's thresholds declare them, as the trace logs none.
    Detected,
}

/// One packet number space of one path.
#[derive(Debug)]
struct Space {
    of: (PacketType, u32),
    /// With when each was declared lost, ns.
    flight: Flight<u64>,
    largest: Option<u64>,
    /// No packet with a lower number is in flight.
    settled: u64,
    /// CE count of the latest ACK frame.
    ce: u64,
}

/// Makes [`TraceEvent`]s of the events of one connection, in their order.
#[derive(Debug)]
pub struct Rebuild {
    first: i64,
    now: u64,
    mtu: u32,
    losses_from: LossSource,
    spaces: Vec<Space>,
    in_flight: u64,
    delivered: u64,
    silence: Option<Silence>,
    rtt: RttEstimator,
    delivery_rate: DeliveryRateState,
    losses: Losses,
    limited: Limited,
    /// The frame that is being put together, complete unless `open`.
    frame: Frame,
    open: bool,
    /// Metrics logged while the frame is open.
    pending: Option<StackMetrics>,
}

impl Rebuild {
    /// A connection of which `facts` is known.
    #[must_use]
    pub fn new(contents: &TraceContents) -> Rebuild {
        Rebuild {
            first: contents.first.unwrap_or(0),
            now: 0,
            mtu: contents.mtu(),
            losses_from: if contents.lost > 0 { LossSource::Logged } else { LossSource::Detected },
            spaces: Vec::new(),
            in_flight: 0,
            delivered: 0,
            silence: None,
            rtt: RttEstimator::new(),
            delivery_rate: DeliveryRateState::default(),
            losses: Losses::default(),
            limited: Limited::default(),
            frame: Frame::default(),
            open: false,
            pending: None,
        }
    }

    /// How it is known which packets were lost.
    #[must_use]
    pub fn losses_from(&self) -> LossSource {
        self.losses_from
    }

    /// Takes an event and calls `visit` with every [`TraceEvent`] that is complete by then.
    pub fn on_event(&mut self, batch: &Batch, event: &Event, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        let time = u64::try_from(event.time.saturating_sub(self.first)).unwrap_or(0).max(self.now);
        let belongs = match event.kind {
            EventKind::PacketLost(_) => time <= self.frame.now.0.saturating_add(SAME_FRAME),
            EventKind::PacketSent(_) => false,
            _ => time == self.frame.now.0,
        };
        if self.open && !belongs {
            self.close(visit);
        }
        self.now = time;
        match event.kind {
            EventKind::PacketSent(index) => self.sent(&batch.packets[index as usize], visit),
            EventKind::PacketReceived(index) => self.received(batch, &batch.packets[index as usize], visit),
            EventKind::PacketLost(index) => self.lost(batch, &batch.packets[index as usize]),
            EventKind::MetricsUpdated(index) => self.metrics(&batch.metrics[index as usize], visit),
            EventKind::MtuUpdated(mtu) if (SMALLEST..=LARGEST).contains(&mtu) && mtu != self.mtu => {
                self.mtu = mtu;
                visit(&TraceEvent::Mtu(Time(self.now), mtu));
            }
            _ => {}
        }
    }

    /// Ends the trace: calls `visit` with what is still open.
    pub fn finish(&mut self, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        if self.open {
            self.close(visit);
        }
    }

    fn space(&mut self, of: (PacketType, u32)) -> Option<usize> {
        if let Some(found) = self.spaces.iter().position(|space| space.of == of) {
            return Some(found);
        }
        if self.spaces.len() >= SPACES {
            return None;
        }
        self.spaces.push(Space { of, flight: Flight::default(), largest: None, settled: 0, ce: 0 });
        Some(self.spaces.len() - 1)
    }

    fn sent(&mut self, packet: &Packet, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        let (Some(number), false) = (packet.number, packet.ack_eliciting == Some(false)) else { return };
        let Some(index) = self.space((packet.kind.space(), packet.path)) else { return };
        let bytes = packet.bytes.unwrap_or(0);
        let now = Time(self.now);
        let first = self.in_flight == 0;
        let time = i64::try_from(self.now).unwrap_or(i64::MAX);
        self.spaces[index].flight.sent(number, Sent { time, bytes, status: PacketStatus::InFlight, extra: 0 });
        self.in_flight = self.in_flight.saturating_add(u64::from(bytes));
        self.limited.on_packet_sent(self.now, self.in_flight, self.rtt.smoothed.0);
        self.delivery_rate.sent(now, self.in_flight, first);
        let silence = self.silence.take().map(|silence| (silence, self.rtt.pto(MAX_ACK_DELAY)));
        let sent = SentEvent::new(u64::from(bytes), self.in_flight).with_pn(Some(number));
        visit(&TraceEvent::PacketSent(now, sent, silence));
    }

    /// Opens a frame at the present time unless one is open.
    fn open(&mut self) {
        if !self.open {
            self.open = true;
            let acked = std::mem::take(&mut self.frame.acked);
            self.frame = Frame { now: Time(self.now), acked, ..Frame::default() };
            self.frame.acked.clear();
        }
    }

    fn received(&mut self, batch: &Batch, packet: &Packet, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        let ranges = batch.ranges_of(packet);
        if !packet.acks || ranges.is_empty() {
            return;
        }
        if self.open {
            self.close(visit);
        }
        let space = packet.kind.space();
        if space == PacketType::OneRtt {
            self.discard_handshake();
        }
        let Some(index) = self.space((space, packet.path)) else { return };
        self.open();
        self.acked(index, ranges);
        let Space { largest: before, ce, .. } = &mut self.spaces[index];
        if let Some(ce_count) = packet.ce {
            self.frame.marks = u32::try_from(ce_count.saturating_sub(*ce)).unwrap_or(u32::MAX);
            *ce = ce_count.max(*ce);
        }
        let delay = if space == PacketType::Initial { 0 } else { packet.ack_delay.unwrap_or(0) };
        let delay = Span(u64::try_from(delay).unwrap_or(0)).min(MAX_ACK_DELAY);
        self.frame.ack_delay = delay;
        if let Some((sent_at, number)) = self.frame.newest
            && before.is_none_or(|before| number > before)
        {
            *before = Some(number);
            let latest = self.now.saturating_sub(sent_at.0).min(LONGEST_RTT);
            self.frame.rtt = Some(self.rtt.sample(Time(self.now), Span(latest), delay));
        }
        if self.losses_from == LossSource::Detected {
            self.detect(index);
        }
    }

    /// Takes the packets that `ranges` acknowledge out of flight.
    fn acked(&mut self, index: usize, ranges: &[(u64, u64)]) {
        let Rebuild { frame, losses, in_flight, delivered, .. } = self;
        for &range in ranges {
            self.spaces[index].flight.range(range, |number, sent| {
                match sent.status {
                    PacketStatus::Acked => return true,
                    PacketStatus::Lost => {
                        *delivered = delivered.saturating_add(u64::from(sent.bytes));
                        losses.on_late_ack(sent.extra);
                    }
                    PacketStatus::InFlight => {
                        *in_flight = in_flight.saturating_sub(u64::from(sent.bytes));
                        let at = Time(u64::try_from(sent.time).unwrap_or(0));
                        frame.acked.push((at, sent.bytes));
                        frame.newest = Some(match frame.newest {
                            Some((newest, largest)) => (newest.max(at), largest.max(number)),
                            None => (at, number),
                        });
                    }
                }
                sent.status = PacketStatus::Acked;
                true
            });
        }
    }

    /// What is in flight of the handshake when 1-RTT packets are acknowledged is discarded
    /// with its keys (`RFC 9002 §6.4`).
    fn discard_handshake(&mut self) {
        let Rebuild { spaces, in_flight, .. } = self;
        for space in spaces.iter_mut().filter(|space| space.of.0 != PacketType::OneRtt) {
            space.flight.range((0, u64::MAX), |_, sent| {
                if sent.status == PacketStatus::InFlight {
                    *in_flight = in_flight.saturating_sub(u64::from(sent.bytes));
                }
                sent.status = PacketStatus::Acked;
                true
            });
        }
    }

    fn lost(&mut self, batch: &Batch, packet: &Packet) {
        let Some(number) = packet.number else { return };
        let kind = if packet.kind == PacketType::Unknown { PacketType::OneRtt } else { packet.kind.space() };
        let Some(index) = self.space((kind, packet.path)) else { return };
        let trigger = match packet.trigger.map(|name| batch.name(name)) {
            Some("reordering_threshold" | "packet_threshold") => LossTrigger::PacketThreshold,
            Some("time_threshold") => LossTrigger::TimeThreshold,
            _ => LossTrigger::Unknown,
        };
        self.open();
        let now = self.now;
        if let Some(sent) = self.spaces[index].flight.get(number).filter(|sent| sent.status == PacketStatus::InFlight) {
            sent.status = PacketStatus::Lost;
            sent.extra = now;
            self.in_flight = self.in_flight.saturating_sub(u64::from(sent.bytes));
            self.losses.add(number, sent, trigger, &self.rtt, MAX_ACK_DELAY);
        }
    }

    /// Declares lost what RFC 9002 does (`§6.1`).
    fn detect(&mut self, index: usize) {
        let Rebuild { spaces, in_flight, losses, rtt, now, .. } = self;
        let space = &mut spaces[index];
        let Some(largest) = space.largest.filter(|largest| *largest > space.settled) else { return };
        let mut found: Vec<(u64, Sent<u64>, LossTrigger)> = Vec::new();
        let late = now.saturating_sub(rtt.loss_delay().0);
        space.flight.range((space.settled, largest - 1), |number, sent| {
            let by_number = largest - number >= PACKET_THRESHOLD;
            if sent.status == PacketStatus::InFlight
                && (by_number || u64::try_from(sent.time).is_ok_and(|time| time <= late))
            {
                sent.status = PacketStatus::Lost;
                sent.extra = *now;
                let trigger = if by_number { LossTrigger::PacketThreshold } else { LossTrigger::TimeThreshold };
                found.push((number, *sent, trigger));
            }
            true
        });
        space.settled = space.settled.max((largest + 1).saturating_sub(PACKET_THRESHOLD));
        for (number, sent, trigger) in found.into_iter().rev() {
            *in_flight = in_flight.saturating_sub(u64::from(sent.bytes));
            losses.add(number, &sent, trigger, rtt, MAX_ACK_DELAY);
        }
    }

    fn metrics(&mut self, metrics: &Metrics, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        if let Some(limited) = metrics.app_limited {
            self.limited.on_app_limited(limited);
        }
        let logged = StackMetrics { cwnd: metrics.cwnd.filter(|cwnd| *cwnd > 0), pacing_rate: metrics.pacing_rate };
        if logged == StackMetrics::default() {
            return;
        }
        if self.open {
            self.pending = Some(self.pending.unwrap_or_default().updated_by(logged));
        } else {
            self.report(logged, visit);
        }
    }

    fn report(&mut self, metrics: StackMetrics, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        self.limited.on_window(metrics.cwnd);
        visit(&TraceEvent::Metrics(Time(self.now), metrics));
    }

    /// Completes the frame, with the bookkeeping in the order of the simulator's sender.
    fn close(&mut self, visit: &mut dyn FnMut(&TraceEvent<'_>)) {
        self.open = false;
        let bytes = self.frame.bytes();
        let now = self.frame.now;
        let newest = self.frame.newest.map(|(sent_at, _)| sent_at);
        self.delivered = self.delivered.saturating_add(bytes);
        let (lost, persistent) = self.losses.take_declared(self.in_flight.saturating_add(bytes));
        if let Some(lost) = &lost {
            self.delivery_rate.lost(now, lost.bytes);
        }
        let spurious = self.losses.spurious();
        self.losses.on_losses(now, lost.as_ref(), persistent);
        if persistent {
            self.rtt.restart_min();
        }
        let app_limited = self.limited.is_limited();
        if let Some(newest) = newest
            && let Some(delivered) =
                self.delivery_rate.acknowledged(now, newest, self.delivered, self.in_flight, app_limited)
        {
            self.frame.newest_in_flight = Some(delivered.in_flight);
            self.frame.delivery = Some(delivered.delivery);
        }
        if self.in_flight == 0 && bytes > 0 {
            self.silence.get_or_insert(Silence { since: now, newest_sent_at: newest.unwrap_or_default() });
        }
        self.frame.lost = lost;
        self.frame.persistent = persistent;
        self.frame.spurious = spurious.map(SpuriousLoss::new);
        self.frame.in_flight = self.in_flight;
        self.frame.delivered = self.delivered;
        self.frame.app_limited = app_limited;
        self.frame.min_rtt = self.rtt.min;
        visit(&TraceEvent::Frame(&self.frame));
        if let Some(metrics) = self.pending.take() {
            self.report(metrics, visit);
        }
    }
}

/// Smallest and largest datagram size that is believed, bytes.
const SMALLEST: u32 = 500;
const LARGEST: u32 = 65_535;

/// A sender with less than this part of its window in flight for a whole round trip is
/// application-limited: the window divided by three.
const UNUSED_BELOW: u64 = 3;

/// Application-limited as the stack logs it, or else by the bytes in flight.
#[derive(Debug, Default)]
struct Limited {
    logged: Option<bool>,
    window: Option<u64>,
    /// Most bytes in flight in the previous round trip and in this one.
    peaks: (Option<u64>, u64),
    /// End of the round trip under way, ns.
    round_ends: u64,
}

impl Limited {
    /// The stack logged whether it is application-limited.
    fn on_app_limited(&mut self, limited: bool) {
        self.logged = Some(limited);
    }

    /// The stack logged its window, bytes; `None` leaves the one before.
    fn on_window(&mut self, window: Option<u64>) {
        self.window = window.or(self.window);
    }

    /// A packet sent at `now`, ns, brought the flight to `in_flight` bytes; a round trip takes
    /// `rtt` ns.
    fn on_packet_sent(&mut self, now: u64, in_flight: u64, rtt: u64) {
        if now >= self.round_ends {
            let first = self.round_ends == 0;
            self.peaks = ((!first).then_some(self.peaks.1), 0);
            self.round_ends = now.saturating_add(rtt.max(1));
        }
        self.peaks.1 = self.peaks.1.max(in_flight);
    }

    /// Whether the sender has too little to send.
    fn is_limited(&self) -> bool {
        self.logged.unwrap_or_else(|| match (self.window, self.peaks) {
            (Some(window), (Some(before), now)) => before.max(now) < window / UNUSED_BELOW,
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_used_by_less_than_a_third_for_a_round_trip_is_not_used() {
        let mut limited = Limited::default();
        limited.on_window(Some(30_000));
        limited.on_packet_sent(1, 1200, 100);
        assert!(!limited.is_limited(), "nothing is known yet");
        limited.on_packet_sent(150, 2400, 100);
        assert!(limited.is_limited());
        limited.on_packet_sent(160, 10_000, 100);
        assert!(!limited.is_limited());
        limited.on_packet_sent(300, 1200, 100);
        assert!(!limited.is_limited(), "it was used in the round trip before");
        limited.on_packet_sent(450, 1200, 100);
        assert!(limited.is_limited());
        limited.on_app_limited(false);
        assert!(!limited.is_limited(), "the stack knows better");
    }
}
