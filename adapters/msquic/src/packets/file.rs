//! The file of one connection.

use std::sync::atomic::Ordering;

use serde::Serialize;
use windlass_adapter::Frames;
use windlass_controllers::{Span, Time};
use windlass_msquic_abi as abi;
use windlass_qlog::{LossTrigger, Metrics, Packet, PacketType, RecoveryParameters, Trace};

use super::{Output, Place};

/// Name of the event that tells that records are missing before it.
const DROPPED: &str = "windlass:dropped";

#[derive(Serialize)]
struct Dropped {
    records: u64,
}

/// A connection being logged.
pub(super) struct File {
    place: Place,
    /// Records of the file dropped so far that the file tells.
    lost: u64,
    /// What the packet numbered so holds, whose own event comes next.
    held: Option<u64>,
    frames: Frames,
    mtu: u32,
    /// Why the state changes next.
    trigger: Option<&'static str>,
}

/// A type of packet; what MsQuic would not tell counts as 1-RTT.
fn kind(packet_type: u8) -> PacketType {
    match packet_type {
        abi::packet_type::INITIAL => PacketType::Initial,
        abi::packet_type::ZERO_RTT => PacketType::ZeroRtt,
        abi::packet_type::HANDSHAKE => PacketType::Handshake,
        _ => PacketType::OneRtt,
    }
}

fn phase(phase: u8) -> Option<&'static str> {
    Some(match phase {
        abi::phase::SLOW_START => "slow_start",
        abi::phase::CONGESTION_AVOIDANCE => "congestion_avoidance",
        abi::phase::RECOVERY => "recovery",
        abi::phase::STARTUP => "startup",
        abi::phase::DRAIN => "drain",
        abi::phase::PROBE_BW => "probe_bw",
        abi::phase::PROBE_RTT => "probe_rtt",
        _ => return None,
    })
}

impl File {
    pub(super) fn new(place: Place, mtu: u32) -> File {
        File { place, lost: 0, held: None, frames: Frames::default(), mtu, trigger: None }
    }

    pub(super) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Hands over what is not yet.
    pub(super) fn flush(&mut self) {
        // An error of the writer's is the spool's to report.
        let _ = self.place.trace.lock().flush();
    }

    /// Says who controls the connection, unless the file does.
    pub(super) fn name(&mut self, now: Time, controller: &str, mtu: u32, window: u64, recorded: bool) {
        self.place.recorded |= recorded;
        if std::mem::replace(&mut self.place.named, true) {
            return;
        }
        let parameters = RecoveryParameters {
            initial_congestion_window: Some(window),
            ..RecoveryParameters::rfc9002(controller, mtu)
        };
        self.place.trace.lock().recovery_parameters_set(now.since(self.place.origin).0, &parameters);
    }

    /// Writes what happened.
    pub(super) fn tell(&mut self, now: Time, mtu: u32, traced: &abi::Traced, frames: &[u8], controller: Option<&str>) {
        if traced.what == abi::traced::STATE {
            self.name(now, controller.unwrap_or("unknown"), mtu, traced.cwnd.into(), false);
        }
        let now = now.since(self.place.origin).0;
        let number = traced.number;
        let packet = Packet { kind: kind(traced.packet_type), number, bytes: traced.bytes.into(), trigger: None };
        match traced.what {
            abi::traced::FRAMES => {
                self.frames.ack_delay_exponent(traced.ack_delay_exponent.into());
                self.frames.read(frames);
                self.held = Some(number);
            }
            abi::traced::SENT | abi::traced::RECEIVED => {
                if self.held.take() != Some(number) {
                    self.frames.clear();
                }
                let shared = self.place.trace.clone();
                let mut trace = shared.lock();
                self.tell_dropped(&mut trace, now);
                let frames: Vec<_> = self.frames.logged().collect();
                if traced.what == abi::traced::SENT {
                    trace.packet_sent(now, &packet, &frames);
                } else {
                    trace.packet_received(now, &packet, &frames);
                }
            }
            abi::traced::LOST => {
                let by = if traced.by_threshold != 0 {
                    LossTrigger::ReorderingThreshold
                } else {
                    LossTrigger::TimeThreshold
                };
                self.place.trace.lock().packet_lost(now, packet.kind, number, Some(by));
                self.trigger = Some("loss");
            }
            abi::traced::ECN => self.trigger = Some("ecn"),
            abi::traced::STATE => self.state(now, mtu, traced),
            _ => {}
        }
    }

    fn tell_dropped(&mut self, trace: &mut Trace<Output>, now: u64) {
        let dropped = self.place.lost.load(Ordering::Relaxed);
        if dropped > self.lost {
            trace.private(now, DROPPED, &Dropped { records: dropped - self.lost });
            self.lost = dropped;
        }
    }

    fn state(&mut self, now: u64, mtu: u32, traced: &abi::Traced) {
        let shared = self.place.trace.clone();
        let mut trace = shared.lock();
        if mtu != self.mtu {
            trace.mtu_updated(now, Some(self.mtu), mtu);
            self.mtu = mtu;
        }
        let bytes_in_flight = Some(traced.in_flight.into());
        if self.place.recorded {
            trace.recovery_metrics(now, &Metrics { bytes_in_flight, ..Metrics::default() });
            return;
        }
        if let Some(phase) = phase(traced.phase) {
            trace.congestion_state(now, phase, self.trigger.take().filter(|_| phase == "recovery"));
        }
        let rtt = Some(&traced.rtt).filter(|rtt| rtt.smoothed_us > 0);
        let nanos = |us: fn(&abi::Rtt) -> u64| rtt.map(|rtt| Span::from_micros(us(rtt)).0);
        let metrics = Metrics {
            cwnd: Some(traced.cwnd.into()),
            bytes_in_flight,
            ssthresh: Some(traced.ssthresh).filter(|bytes| *bytes != u32::MAX).map(u64::from),
            latest_rtt: nanos(|rtt| rtt.latest_us),
            smoothed_rtt: nanos(|rtt| rtt.smoothed_us),
            min_rtt: nanos(|rtt| rtt.min_us),
            rtt_variance: nanos(|rtt| rtt.variation_us),
            ..Metrics::default()
        };
        trace.recovery_metrics(now, &metrics);
    }
}
