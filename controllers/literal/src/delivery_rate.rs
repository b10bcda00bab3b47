//! Delivery rate samples: draft-ietf-ccwg-bbr §4.1, packet by packet.

use std::collections::BTreeMap;

use windlass_controllers::Time;

use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status};

const WRITES_UNSEEN: Reading = Reading {
    change: "writes unseen",
    section: "draft-ietf-ccwg-bbr §4.1.2.4",
    says: "a write or a timer after there was nothing to send marks the connection as application-limited",
    ours: "stacks report neither: an ACK that finds nothing to send does",
    status: Status::Documented,
};
const BY_INSTANT: Reading = Reading {
    change: "by instant",
    section: "draft-ietf-ccwg-bbr §4.1.3.1",
    says: "each packet has its state; each aggregate, where senders form them",
    ours: "all packets that leave at one instant are an aggregate",
    status: Status::Documented,
};
const NONE_OF_THE_LONG_OVERTAKEN: Reading = Reading {
    change: "none of the long overtaken",
    section: "draft-ietf-ccwg-bbr §4.1.2.3",
    says: "every ACK of new data has a sample, of the newest packet it acknowledges",
    ours: "none of a packet that left more than a round trip before one acknowledged earlier, which is taken for lost (RFC 9002 §6.1.2)",
    status: Status::Documented,
};
const LATE_UNCOUNTED: Reading = Reading {
    change: "late uncounted",
    section: "draft-ietf-ccwg-bbr §4.1.2.3",
    says: "every packet newly acknowledged is delivered and makes a sample, declared lost before or not",
    ours: "one declared lost before is not: most stacks do not report it",
    status: Status::Documented,
};
/// Readings of all that has samples.
pub(crate) const OF_SAMPLES: [Reading; 4] = [WRITES_UNSEEN, BY_INSTANT, NONE_OF_THE_LONG_OVERTAKEN, LATE_UNCOUNTED];

const LIMIT_AT_THE_END: (&str, &str) =
    ("limit at the end", "the application limit is looked for after what an ACK let be lost has left the flight");
const NO_SAMPLE_OF_OLD_PACKETS: (&str, &str) =
    ("no sample of old packets", "an ACK of packets that others overtook has no sample");

pub(crate) const SCHEME: Scheme = Scheme {
    name: "delivery-rate samples",
    text: "bbr",
    document: "draft-ietf-ccwg-bbr §4.1",
    source: include_str!("delivery_rate.rs"),
    readings: &[&OF_SAMPLES],
    mutants: &[
        LIMIT_AT_THE_END,
        NO_SAMPLE_OF_OLD_PACKETS,
        ("flight not begun", "the first packet of a flight keeps the times of the one before"),
        ("without the packet", "tx_in_flight leaves the packet out"),
        ("ACK rate alone", "the interval is that of the ACKs"),
        ("never limited", "no sample is application-limited"),
        ("limited for ever", "the bubble never passes"),
        ("losses of all time", "RS.lost counts what was lost before the packet left"),
        ("first of the ACK", "the oldest packet of an ACK makes the sample"),
        ("send time of the ACK", "first_send_time is when the ACK came"),
        ("one packet an ACK", "C.delivered grows by a packet an ACK"),
        ("delivered when it left", "P.delivered counts the packet"),
    ],
    mended: &[
        ("draft-ietf-ccwg-bbr §4.1.2.4", "the application limit was looked for without what the ACK let be lost"),
        ("draft-ietf-ccwg-bbr §4.1.2.3", "an ACK of packets that others overtook had no sample"),
    ],
    scope: |_| true,
    start: |changes, _| Box::new(Sampler { rate: DeliveryRate::new(changes), acked: false }),
};

/// Per-packet state (§4.1.2.1.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct P {
    pub packet_id: u64,
    pub size: f64,
    pub send_time: Time,
    pub delivered: f64,
    pub lost: f64,
    pub delivered_time: Time,
    pub first_send_time: Time,
    pub is_app_limited: bool,
    pub tx_in_flight: f64,
}

/// The rate sample of an ACK (§4.1.2.1.3); bytes, seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rs {
    pub has_data: bool,
    pub rtt: Option<f64>,
    pub delivery_rate: f64,
    pub is_app_limited: bool,
    pub interval: f64,
    pub delivered: f64,
    pub prior_delivered: f64,
    pub prior_time: Option<Time>,
    pub newly_acked: f64,
    pub tx_in_flight: f64,
    pub lost: f64,
    send_elapsed: f64,
    ack_elapsed: f64,
}

/// Per-connection state (§4.1.2.1.1).
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    pub changes: Changes,
    pub delivered: f64,
    pub delivered_time: Time,
    pub first_send_time: Time,
    pub lost: f64,
    pub inflight: f64,
    pub app_limited: f64,
    /// That of ProbeRTT, for the reading "two bubbles".
    probe_rtt_limited: f64,
    pub min_rtt: Option<f64>,
    last_acked_packet_id: u64,
    /// Of all acknowledged yet.
    newest_send_time: Time,
    /// What left before it is forgotten, for the reading "none of the long overtaken".
    horizon: Time,
    packets: BTreeMap<u64, P>,
    /// Of the first packet of each instant, but with what was in flight after the last.
    aggregates: BTreeMap<Time, P>,
    pub rs: Rs,
}

impl DeliveryRate {
    pub fn new(changes: Changes) -> DeliveryRate {
        DeliveryRate {
            changes,
            delivered: 0.0,
            delivered_time: Time::ZERO,
            first_send_time: Time::ZERO,
            lost: 0.0,
            inflight: 0.0,
            app_limited: 0.0,
            probe_rtt_limited: 0.0,
            min_rtt: None,
            last_acked_packet_id: 0,
            newest_send_time: Time::ZERO,
            horizon: Time::ZERO,
            packets: BTreeMap::new(),
            aggregates: BTreeMap::new(),
            rs: Rs::default(),
        }
    }

    /// §4.1.2.2 OnPacketSent(Packet P).
    pub fn on_packet_sent(&mut self, packet: &Packet, in_flight: u64) {
        // §4.1.2.2 "if (C.inflight == 0) C.first_send_time = C.delivered_time = P.send_time".
        if self.inflight == 0.0 && !self.changes.has("flight not begun") {
            self.first_send_time = packet.sent_at;
            self.delivered_time = packet.sent_at;
        }
        self.inflight = in_flight as f64;
        // §4.1.2.2 "P.tx_in_flight = C.inflight /* includes data in P */", and the other five counts.
        let size = packet.bytes as f64;
        let p = P {
            packet_id: packet.pn,
            size,
            send_time: packet.sent_at,
            delivered: self.delivered + if self.changes.has("delivered when it left") { size } else { 0.0 },
            lost: self.lost,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            is_app_limited: (self.app_limited != 0.0 || self.probe_rtt_limited != 0.0)
                && !self.changes.has("never limited"),
            tx_in_flight: self.inflight - if self.changes.has("without the packet") { size } else { 0.0 },
        };
        self.packets.insert(packet.pn, p);
        self.aggregates.entry(p.send_time).or_insert(p).tx_in_flight = p.tx_in_flight;
    }

    /// The state of `packet`: its own, or that of all packets of an instant as one aggregate (§4.1.3.1).
    fn state(&self, packet: P) -> P {
        let aggregate = self.aggregates.get(&packet.send_time).filter(|_| self.changes.has("by instant"));
        aggregate.map_or(packet, |aggregate| P { packet_id: packet.packet_id, size: packet.size, ..*aggregate })
    }

    /// §4.1.2.4 MarkConnectionAppLimited(): "C.app_limited = max(C.delivered + C.inflight, 1)".
    pub fn mark_app_limited(&mut self) {
        self.app_limited = (self.delivered + self.inflight).max(1.0);
    }

    /// §5.3.4.3 "Ignore low rate samples during ProbeRTT: MarkConnectionAppLimited()".
    pub fn mark_probe_rtt_limited(&mut self) {
        if self.changes.has("two bubbles") {
            self.probe_rtt_limited = (self.delivered + self.inflight).max(1.0);
        } else {
            self.mark_app_limited();
        }
    }

    /// §4.1.2.4 "upon each write from the application, before new application data is enqueued".
    pub fn on_write(&mut self) {
        if !self.changes.has("writes unseen") {
            self.mark_app_limited();
        }
    }

    /// §4.1.2.4 "At the beginning of ACK processing, before updating the estimated amount of data in flight", and "At the
    /// beginning of connection timer processing".
    pub fn before_ack(&mut self, frame: &Frame<'_>) {
        let unseen = frame.acked.is_empty() && self.changes.has("writes unseen");
        if frame.app_limited && !unseen && !self.changes.has("limit at the end") {
            self.mark_app_limited();
        }
    }

    /// A packet is lost: C.lost counts it, C.inflight no more.
    pub fn on_lost(&mut self, packet: &Packet) -> Option<P> {
        self.lost += packet.bytes as f64;
        self.inflight -= packet.bytes as f64;
        self.packets.get(&packet.pn).map(|p| self.state(*p))
    }

    /// §4.1.2.3, the ACK's InitRateSample(), UpdateRateSample() for each packet and GenerateRateSample().
    pub fn on_ack(&mut self, frame: &Frame<'_>) {
        // §4.1.2.3 InitRateSample(): "RS.rtt = -1; RS.has_data = false; RS.prior_time = 0; RS.interval = 0;
        // RS.delivery_rate = 0".
        self.rs = Rs::default();
        for packet in frame.acked {
            self.inflight -= packet.bytes as f64;
        }
        for packet in self.newly_acked(frame) {
            self.rs.newly_acked += packet.bytes as f64;
            if let Some(p) = self.packets.remove(&packet.pn) {
                self.update_rate_sample(frame.now, &self.state(p));
            }
        }
        let newest = self.newly_acked(frame).last().copied().copied();
        if let Some(newest) = newest.filter(|newest| newest.sent_at >= self.newest_send_time) {
            self.newest_send_time = newest.sent_at;
            let rtt = frame.now.since(newest.sent_at);
            self.horizon = self.horizon.max(Time(newest.sent_at.0.saturating_sub(rtt.0)));
        }
        self.generate_rate_sample(frame.app_limited);
    }

    /// §4.1.2.3 "for each newly acknowledged packet, the connection calls UpdateRateSample()", by number.
    pub fn newly_acked<'a>(&self, frame: &Frame<'a>) -> Vec<&'a Packet> {
        let late = if self.changes.has("late uncounted") { &[] } else { frame.late };
        let mut packets: Vec<&Packet> = frame.acked.iter().chain(late).collect();
        packets.sort_unstable_by_key(|packet| packet.pn);
        packets
    }

    /// §4.1.2.3 UpdateRateSample(Packet P).
    fn update_rate_sample(&mut self, now: Time, p: &P) {
        // §4.1.2.3 "C.delivered += P.data_length; C.delivered_time = Now()".
        self.delivered += if self.changes.has("one packet an ACK") && self.rs.has_data { 0.0 } else { p.size };
        self.delivered_time = now;
        // §4.1.2.3 IsNewestPacket(): "P.send_time > C.first_send_time || (P.send_time == C.first_send_time &&
        // P.packet_id > RS.last_acked_packet_id)".
        let newest = p.send_time > self.first_send_time
            || (p.send_time == self.first_send_time && p.packet_id > self.last_acked_packet_id);
        // §4.1.2.3 "Update info using the newest packet: if (!RS.has_data || IsNewestPacket(P))".
        let old = self.changes.has("no sample of old packets") && p.send_time < self.newest_send_time
            || self.changes.has("none of the long overtaken") && p.send_time < self.horizon;
        let first = self.changes.has("first of the ACK") && self.rs.has_data;
        if (!self.rs.has_data || newest) && !old && !first {
            self.rs.has_data = true;
            self.rs.prior_delivered = p.delivered;
            self.rs.prior_time = Some(p.delivered_time);
            self.rs.is_app_limited = p.is_app_limited;
            self.rs.send_elapsed = p.send_time.since(p.first_send_time).secs();
            self.rs.ack_elapsed = self.delivered_time.since(p.delivered_time).secs();
            self.last_acked_packet_id = p.packet_id;
            self.first_send_time = if self.changes.has("send time of the ACK") { now } else { p.send_time };
            // §2.3 "RS.tx_in_flight: C.inflight at the time of the transmission of the packet that has just been ACKed";
            // "RS.lost: The volume of data that was declared lost between the transmission and acknowledgment".
            self.rs.tx_in_flight = p.tx_in_flight;
            self.rs.lost = self.lost - if self.changes.has("losses of all time") { 0.0 } else { p.lost };
            // §4.2 "RS.rtt = Now() - P.send_time".
            self.rs.rtt = Some(now.since(p.send_time).secs());
        }
    }

    /// §4.1.2.3 GenerateRateSample().
    fn generate_rate_sample(&mut self, frame_limited: bool) {
        if frame_limited && self.changes.has("limit at the end") {
            self.mark_app_limited();
        }
        // §4.1.2.3 "Clear app-limited field if bubble is ACKed and gone."
        let passed = self.delivered > self.app_limited && !self.changes.has("limited for ever");
        if self.app_limited != 0.0 && passed {
            self.app_limited = 0.0;
        }
        if self.delivered > self.probe_rtt_limited {
            self.probe_rtt_limited = 0.0;
        }
        // §4.1.2.3 "if (RS.prior_time == 0) return /* nothing delivered on this ACK */".
        if self.rs.prior_time.is_none() {
            return;
        }
        // §4.1.2.3 "RS.interval = max(RS.send_elapsed, RS.ack_elapsed)".
        self.rs.interval = if self.changes.has("ACK rate alone") {
            self.rs.ack_elapsed
        } else {
            self.rs.send_elapsed.max(self.rs.ack_elapsed)
        };
        // §4.1.2.3 "RS.delivered = C.delivered - RS.prior_delivered".
        self.rs.delivered = self.delivered - self.rs.prior_delivered;
        // §4.1.2.3 "if (RS.interval < C.min_rtt) return /* no reliable rate sample */".
        let reliable =
            self.min_rtt.is_none_or(|min_rtt| self.rs.interval >= min_rtt) || self.changes.has("any interval");
        // §4.1.2.3 "if (RS.interval != 0) RS.delivery_rate = RS.delivered / RS.interval".
        if reliable && self.rs.interval > 0.0 {
            self.rs.delivery_rate = self.rs.delivered / self.rs.interval;
        }
    }
}

/// The samples alone, beside what the common adapter says of each ACK.
struct Sampler {
    rate: DeliveryRate,
    acked: bool,
}

impl Reference for Sampler {
    fn on_write(&mut self) {
        self.rate.on_write();
    }

    fn on_packet_sent(&mut self, packet: &Packet, in_flight: u64, _app_limited: bool) {
        self.rate.on_packet_sent(packet, in_flight);
        self.acked = false;
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.rate.before_ack(frame);
        for packet in frame.lost {
            self.rate.on_lost(packet);
        }
        self.acked = false;
        if !self.rate.newly_acked(frame).is_empty() {
            self.rate.on_ack(frame);
            self.acked = self.rate.rs.has_data && !frame.acked.is_empty();
        }
    }

    fn on_mtu(&mut self, _now: Time, _bytes: u64) {
        self.acked = false;
    }

    fn expected(&self, _now: Time) -> Expected {
        let rs = &self.rate.rs;
        let variables = if self.acked {
            vec![
                ("RS.prior_delivered", rs.prior_delivered),
                ("RS.delivered", rs.delivered),
                ("RS.interval", rs.interval),
                ("RS.tx_in_flight", rs.tx_in_flight),
                ("RS.lost", rs.lost),
                ("RS.is_app_limited", f64::from(u8::from(rs.is_app_limited))),
            ]
        } else {
            Vec::new()
        };
        Expected { cwnd: f64::NAN, variables, ..Expected::default() }
    }
}
