//! s2n-quic's calls.

use std::time::Duration;

use num_rational::Ratio;
use s2n_quic::provider::congestion_controller::{
    CongestionController, Publisher, RandomGenerator, RttEstimator, Timestamp,
};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::time::{Clock as _, clock::NoopClock};
use windlass_adapter::Groups;
use windlass_controllers::{Algorithm, ConfiguredController, Signals};
use windlass_s2n_quic::{Controller, Endpoint, PROVIDES};

use super::watch::datagram;
use super::{At, Call, Key, Order, Watch};

/// Discards what native controllers publish.
pub struct NullPublisher;

impl Publisher for NullPublisher {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

/// Zeros: no controller of ours needs more.
pub struct Zeros;

impl RandomGenerator for Zeros {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// A moment long enough after the origin of s2n-quic's clock.
fn timestamp(at: At) -> Timestamp {
    const START: Duration = Duration::from_secs(80 * 365 * 24 * 3600);
    let distance = Duration::from_nanos(at.unsigned_abs());
    NoopClock.get_time() + if at < 0 { START - distance } else { START + distance }
}

/// An endpoint of s2n-quic's.
pub struct Stack<C: ConfiguredController = Algorithm>(Endpoint<C>);

impl<C: ConfiguredController> super::Stack<C> for Stack<C> {
    type Path = Path<C>;
    const PROVIDES: Signals = PROVIDES;

    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self {
        let watch = watch.clone();
        let endpoint = Endpoint::new(controller).expect("the stack reports what it needs").seed(1);
        let endpoint = endpoint.record_with(move |new| watch.recorder(new.path));
        Stack(match groups {
            Some(groups) => endpoint.group(groups, |peer| peer.ip()),
            None => endpoint,
        })
    }

    fn connect(&mut self, _: At, mtu: u16, key: Key) -> Path<C> {
        Path { controller: self.0.make((key, 443).into(), mtu), rtt: RttEstimator::default(), started: false }
    }
}

/// One path of a connection of s2n-quic's.
pub struct Path<C: ConfiguredController> {
    controller: Controller<C>,
    rtt: RttEstimator,
    started: bool,
}

impl<C: ConfiguredController> super::Path for Path<C> {
    type Kept = <Controller<C> as CongestionController>::PacketInfo;
    const ORDER: Order = Order::LossesFirst;

    fn sent(&mut self, now: At, bytes: u64, _: u64, app_limited: Option<bool>) -> Self::Kept {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.started |= bytes > 0;
        self.controller.on_packet_sent(timestamp(now), bytes, app_limited, &self.rtt, &mut NullPublisher)
    }

    fn call(&mut self, now: At, call: &Call<Self::Kept>) {
        let (controller, time) = (&mut self.controller, timestamp(now));
        match *call {
            Call::Sampled { newest, latest } => {
                let space = PacketNumberSpace::ApplicationData;
                self.rtt.update_rtt(Duration::ZERO, latest, time, true, space);
                controller.on_rtt_update(timestamp(newest.at), time, &self.rtt, &mut NullPublisher);
            }
            Call::AcksEnd { bytes, newest, .. } => {
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                let sent = timestamp(newest.at);
                controller.on_ack(sent, bytes, newest.kept, &self.rtt, &mut Zeros, time, &mut NullPublisher);
            }
            Call::Lost { packet, persistent } => {
                let bytes = u32::try_from(packet.bytes).unwrap_or(u32::MAX);
                controller.on_packet_lost(bytes, packet.kept, persistent, false, &mut Zeros, time, &mut NullPublisher);
            }
            Call::Marked { packets, .. } => controller.on_explicit_congestion(packets, time, &mut NullPublisher),
            Call::MtuUpdated(mtu) => controller.on_mtu_update(mtu, &mut NullPublisher),
            Call::MaxAckDelay(delay) => {
                if let Ok(delay) = delay.try_into() {
                    self.rtt.on_max_ack_delay(delay);
                }
            }
            Call::Discarded(bytes) => {
                controller.on_packet_discarded(usize::try_from(bytes).unwrap_or(usize::MAX), &mut NullPublisher);
            }
            Call::Asked => {
                let asked = (controller.is_congestion_limited(), controller.requires_fast_retransmission());
                _ = (asked, controller.earliest_departure_time());
            }
            Call::Acked { .. } | Call::LossesEnd { .. } | Call::Spurious => {}
        }
    }

    fn copy(&self) -> Option<Self> {
        Some(Path { controller: self.controller.clone(), rtt: self.rtt, started: self.started })
    }

    fn window(&self) -> u64 {
        self.controller.congestion_window().into()
    }

    fn least_window(mtu: u16, least: u64) -> u64 {
        least * datagram(mtu.into())
    }

    fn in_flight(&self) -> Option<u64> {
        Some(self.controller.bytes_in_flight().into())
    }

    fn answers(&self) -> String {
        let controller = &self.controller;
        let limits = (controller.is_congestion_limited(), controller.requires_fast_retransmission());
        format!("{:?}", (limits, controller.earliest_departure_time(), controller.send_quantum()))
    }

    fn has_started(&self) -> bool {
        self.started
    }
}
