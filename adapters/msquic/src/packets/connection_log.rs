//! The packet log of one connection.

use std::sync::atomic::Ordering;

use serde::Serialize;
use windlass_abi::msquic::{self, Trace as Event, packet_type, trace as kind};
use windlass_abi::{Rtt, phase};
use windlass_adapter::Frames;
use windlass_controllers::Time;
use windlass_qlog::{LossTrigger, Metrics, Packet, PacketType, RecoveryParameters, Trace};

use super::{Destination, Output};

/// Name of the event that counts the records dropped before it.
const DROPPED: &str = "windlass:dropped";

#[derive(Serialize)]
struct Dropped {
    records: u64,
}

pub(super) struct ConnectionLog {
    destination: Destination,
    /// Dropped records that the log already counts.
    dropped: u64,
    /// Frames of the packet `frames_of`, whose own event comes next.
    frames: Frames,
    frames_of: Option<u64>,
    mtu: u32,
    /// Trigger of the next change of the congestion state.
    trigger: Option<&'static str>,
}

/// A packet type of the interface; an unknown one counts as 1-RTT.
fn type_of(value: u8) -> PacketType {
    match value {
        packet_type::INITIAL => PacketType::Initial,
        packet_type::ZERO_RTT => PacketType::ZeroRtt,
        packet_type::HANDSHAKE => PacketType::Handshake,
        _ => PacketType::OneRtt,
    }
}

fn phase_name(phase: u8) -> Option<&'static str> {
    Some(match phase {
        phase::SLOW_START => "slow_start",
        phase::CONGESTION_AVOIDANCE => "congestion_avoidance",
        phase::RECOVERY => "recovery",
        msquic::phase::STARTUP => "startup",
        msquic::phase::DRAIN => "drain",
        msquic::phase::PROBE_BW => "probe_bw",
        msquic::phase::PROBE_RTT => "probe_rtt",
        _ => return None,
    })
}

impl ConnectionLog {
    pub(super) fn new(destination: Destination, mtu: u32) -> ConnectionLog {
        ConnectionLog { destination, dropped: 0, frames: Frames::default(), frames_of: None, mtu, trigger: None }
    }

    pub(super) fn destination(&self) -> Destination {
        self.destination.clone()
    }

    pub(super) fn flush(&mut self) {
        // The log writer reports its errors.
        let _ = self.destination.trace.lock().flush();
    }

    /// Writes the controller and its initial window, bytes, unless the log has them.
    pub(super) fn record_controller(&mut self, now: Time, controller: &str, mtu: u32, window: u64, has_recorder: bool) {
        self.destination.has_recorder |= has_recorder;
        if std::mem::replace(&mut self.destination.has_controller, true) {
            return;
        }
        let parameters = RecoveryParameters {
            initial_congestion_window: Some(window),
            ..RecoveryParameters::rfc9002(controller, mtu)
        };
        self.destination.trace.lock().recovery_parameters_set(now.since(self.destination.origin).0, &parameters);
    }

    pub(super) fn record(&mut self, now: Time, mtu: u32, event: &Event, frames: &[u8], controller: Option<&str>) {
        if event.kind == kind::STATE {
            self.record_controller(now, controller.unwrap_or("unknown"), mtu, event.cwnd, false);
        }
        let now = now.since(self.destination.origin).0;
        let number = event.number;
        let packet = Packet { kind: type_of(event.packet_type), number, bytes: event.bytes.into(), trigger: None };
        match event.kind {
            kind::FRAMES => {
                self.frames.ack_delay_exponent(event.ack_delay_exponent.into());
                self.frames.read(frames);
                self.frames_of = Some(number);
            }
            kind::SENT | kind::RECEIVED => {
                if self.frames_of.take() != Some(number) {
                    self.frames.clear();
                }
                let shared = self.destination.trace.clone();
                let mut trace = shared.lock();
                self.record_dropped(&mut trace, now);
                let frames: Vec<_> = self.frames.logged().collect();
                if event.kind == kind::SENT {
                    trace.packet_sent(now, &packet, &frames);
                } else {
                    trace.packet_received(now, &packet, &frames);
                }
            }
            kind::LOST => {
                let by =
                    if event.by_threshold != 0 { LossTrigger::ReorderingThreshold } else { LossTrigger::TimeThreshold };
                self.destination.trace.lock().packet_lost(now, packet.kind, number, Some(by));
                self.trigger = Some("loss");
            }
            kind::ECN => self.trigger = Some("ecn"),
            kind::STATE => self.record_state(now, mtu, event),
            _ => {}
        }
    }

    fn record_dropped(&mut self, trace: &mut Trace<Output>, now: u64) {
        let dropped = self.destination.dropped.load(Ordering::Relaxed);
        if dropped > self.dropped {
            trace.private(now, DROPPED, &Dropped { records: dropped - self.dropped });
            self.dropped = dropped;
        }
    }

    fn record_state(&mut self, now: u64, mtu: u32, event: &Event) {
        let shared = self.destination.trace.clone();
        let mut trace = shared.lock();
        if mtu != self.mtu {
            trace.mtu_updated(now, Some(self.mtu), mtu);
            self.mtu = mtu;
        }
        let bytes_in_flight = Some(event.in_flight);
        if self.destination.has_recorder {
            trace.recovery_metrics(now, &Metrics { bytes_in_flight, ..Metrics::default() });
            return;
        }
        if let Some(phase) = phase_name(event.phase) {
            trace.congestion_state(now, phase, self.trigger.take().filter(|_| phase == "recovery"));
        }
        let rtt = Some(&event.rtt).filter(|rtt| rtt.smoothed_ns > 0);
        let nanos = |ns: fn(&Rtt) -> u64| rtt.map(ns);
        let metrics = Metrics {
            cwnd: Some(event.cwnd),
            bytes_in_flight,
            ssthresh: Some(event.ssthresh).filter(|bytes| *bytes != u64::MAX),
            latest_rtt: nanos(|rtt| rtt.latest_ns),
            smoothed_rtt: nanos(|rtt| rtt.smoothed_ns),
            min_rtt: nanos(|rtt| rtt.min_ns),
            rtt_variance: nanos(|rtt| rtt.variation_ns),
            ..Metrics::default()
        };
        trace.recovery_metrics(now, &metrics);
    }
}
