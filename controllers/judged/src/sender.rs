//! The sender that a script drives: it keeps packets and the time, and reports what a script says through the common
//! adapter, as a stack would.

use std::collections::VecDeque;

use windlass_adapter::rfc9002::{DEFAULT_MAX_ACK_DELAY, RttEstimator};
use windlass_adapter::{AckFrame, AckedPackets, Flow, InFlight, LostPackets};
use windlass_controllers::event::{Event, EventKind, IdleRestart, OneWay, PacketSent, SpuriousLoss};
use windlass_controllers::{Algorithm, Decision, Path, Span, Time};

/// When a script begins: late enough that no time before it is needed.
const START: Time = Time(1_000_000_000);

#[derive(Clone, Copy)]
struct Packet {
    pn: u64,
    sent_at: Time,
}

/// What one acknowledgement says besides which packets it is of.
#[derive(Clone, Copy, Default)]
pub struct Frame {
    /// Packets it is of, the oldest in flight.
    pub packets: usize,
    /// CE marks it reports.
    pub marks: u32,
}

/// Which of the packets in flight are lost.
#[derive(Clone, Copy, PartialEq)]
pub enum Which {
    Oldest,
    Newest,
}

/// A sender on a path whose round-trip time the script sets.
pub struct Sender {
    flow: Flow<Algorithm>,
    in_flight: InFlight,
    mtu: u64,
    pub now: Time,
    /// Time from a packet to its acknowledgement; less than that has never passed when one comes.
    pub rtt: Span,
    /// One-way delay that acknowledgements report; half of `rtt` where it is `None`.
    pub delay: Option<Span>,
    /// The window counts as used whatever is in flight, as for tests that call a controller without a sender.
    pub used: bool,
    /// Whether the window had room for more when the latest packet left.
    limited: bool,
    estimator: RttEstimator,
    outstanding: VecDeque<Packet>,
    next_pn: u64,
    delivered: u64,
    newest_lost_at: Time,
}

impl Sender {
    pub fn new(algorithm: Algorithm, mtu: u32) -> Sender {
        let path = Path::new(START, mtu, 1);
        Sender {
            in_flight: InFlight::new(&algorithm),
            flow: Flow::ungrouped(algorithm, &path),
            mtu: u64::from(mtu),
            now: START,
            rtt: Span::from_millis(100),
            delay: None,
            used: false,
            limited: false,
            estimator: RttEstimator::new(),
            outstanding: VecDeque::new(),
            next_pn: 0,
            delivered: 0,
            newest_lost_at: Time::ZERO,
        }
    }

    pub fn decision(&self) -> Decision {
        self.flow.decision()
    }

    pub fn mtu(&self) -> u64 {
        self.mtu
    }

    /// Whole packets that may be sent.
    pub fn room(&self) -> usize {
        (self.flow.cwnd().saturating_sub(self.in_flight.bytes()) / self.mtu) as usize
    }

    pub fn in_flight(&self) -> usize {
        self.outstanding.len()
    }

    /// A state variable under the name the controller gives it.
    pub fn variable(&self, wanted: &str) -> Option<f64> {
        let mut found = None;
        self.flow.inspect(&mut |name, value| {
            if name == wanted {
                found = Some(value);
            }
        });
        found
    }

    fn emit(&mut self, kind: EventKind) {
        self.flow.on_event(&Event::new(self.now, kind));
    }

    /// Sends `packets` full datagrams now, whether the window has room or not.
    pub fn send(&mut self, packets: usize) {
        for left in (0..packets).rev() {
            if let Some(silence) = self.in_flight.sent(self.now, self.mtu, 0) {
                let pto = self.estimator.pto(DEFAULT_MAX_ACK_DELAY);
                let idle: Option<IdleRestart> = silence.end(self.now, Time::ZERO, pto);
                if let Some(idle) = idle.filter(|_| self.estimator.first_sample.is_some()) {
                    self.emit(EventKind::IdleRestart(idle));
                }
            }
            let packet = Packet { pn: self.next_pn, sent_at: self.now };
            self.next_pn += 1;
            self.outstanding.push_back(packet);
            self.limited = !self.used && self.room() > 0;
            if self.flow.wants_packet_sent() {
                let limited = left == 0 && self.limited;
                let sent = PacketSent::new(self.mtu, self.in_flight.bytes());
                self.emit(EventKind::PacketSent(sent.with_pn(Some(packet.pn)).with_app_limited(limited)));
            }
        }
    }

    /// The acknowledgement of the oldest packets in flight. Those that are missing leave first; it comes a round-trip
    /// time after the newest of them left, or now where that is over.
    pub fn acknowledge(&mut self, frame: Frame) {
        self.send(frame.packets.saturating_sub(self.outstanding.len()));
        let limited = self.limited;
        let before = self.in_flight.bytes();
        let mut packets = AckedPackets::after(self.delivered);
        let mut newest = Packet { pn: 0, sent_at: Time::ZERO };
        for packet in self.outstanding.drain(..frame.packets) {
            packets.add(packet.sent_at, self.mtu, self.flow.recovery_start());
            newest = packet;
        }
        packets.app_limited(limited);
        self.now = self.now.max(newest.sent_at + self.rtt);
        let latest = self.now.since(newest.sent_at);
        let sample = self.estimator.sample(self.now, latest, Span::ZERO);
        if frame.marks > 0 {
            let mut marked = AckFrame::default();
            *marked.rtt() = Some(sample);
            marked.add_ecn_ce(frame.marks);
            let (now, flow) = (self.now, &mut self.flow);
            marked.emit_congestion(now, (newest.sent_at, Some(newest.pn)), (before, before), |event| {
                flow.on_event(event);
            });
        }
        let after = before - packets.bytes();
        let mut event = packets.take(after, (frame.marks == 0).then_some(sample));
        self.delivered = event.delivered;
        event.in_flight_before = before;
        event.newest_pn = Some(newest.pn);
        let forward = self.delay.unwrap_or(Span(latest.0 / 2)).0 as i64;
        event.one_way = Some(OneWay::new(forward, latest.0 as i64 - forward));
        self.in_flight.acknowledged(self.now, after, newest.sent_at);
        self.in_flight.fill_delivery_rate(self.now, &mut event, limited);
        self.emit(EventKind::PacketsAcked(event));
    }

    /// `packets` of those in flight are declared lost now; those that are missing leave first. `persistent` has them
    /// establish persistent congestion.
    pub fn lose(&mut self, packets: usize, which: Which, persistent: bool) {
        self.send(packets.saturating_sub(self.outstanding.len()));
        let before = self.in_flight.bytes();
        let mut frame = AckFrame::default();
        for _ in 0..packets {
            let packet = match which {
                Which::Oldest => self.outstanding.pop_front(),
                Which::Newest => self.outstanding.pop_back(),
            };
            let Some(packet) = packet else { break };
            let lost: &mut LostPackets = frame.lost();
            lost.add(LostPackets::one(self.mtu, packet.sent_at));
            lost.newest_pn = lost.newest_pn.max(Some(packet.pn));
            lost.persistent = persistent;
            self.newest_lost_at = self.newest_lost_at.max(packet.sent_at);
        }
        let bytes = frame.lost_bytes().unwrap_or(0);
        self.in_flight.lost(self.now, bytes);
        let (now, flow) = (self.now, &mut self.flow);
        frame.emit_congestion(now, (Time::ZERO, None), (before, before - bytes), |event| {
            flow.on_event(event);
        });
    }

    /// All losses so far turn out to have arrived.
    pub fn take_back_losses(&mut self) {
        self.emit(EventKind::SpuriousLoss(SpuriousLoss::new(self.newest_lost_at)));
    }
}
