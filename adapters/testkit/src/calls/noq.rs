//! noq's calls.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory as _};
use windlass_adapter::Groups;
use windlass_controllers::{Algorithm, ConfiguredController, Signals};
use windlass_noq::{Factory, PROVIDES};

use super::estimator::quinn_like_estimator;
use super::path_flow::instant;
use super::{At, Call, Key, Order, Watch};

quinn_like_estimator!(noq_proto);

/// Estimators of short and long paths, and of none.
fn estimators() -> &'static [RttEstimator] {
    static ALL: OnceLock<Vec<RttEstimator>> = OnceLock::new();
    let micros = [40_000, 0, 1, 10_000_000];
    ALL.get_or_init(|| micros.map(|micros| estimator::settled(Duration::from_micros(micros))).to_vec())
}

/// noq, with a factory for each peer.
pub struct Stack<C: ConfiguredController = Algorithm> {
    controller: C,
    groups: Option<Groups<C, Key>>,
    watch: Watch,
    factories: HashMap<Key, Arc<Factory<C>>>,
}

impl<C: ConfiguredController> Stack<C> {
    fn factory(&self, key: Key) -> Factory<C> {
        let watch = self.watch.clone();
        let factory = Factory::new(self.controller.clone()).expect("the stack reports what it needs");
        let factory = factory.origin(instant(0)).seed(1).record_with(move |path| watch.recorder(path));
        match &self.groups {
            Some(groups) => factory.group(groups, key),
            None => factory,
        }
    }
}

impl<C: ConfiguredController> super::Stack<C> for Stack<C> {
    type Path = Path;
    const PROVIDES: Signals = PROVIDES;

    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self {
        Stack { controller, groups: groups.cloned(), watch: watch.clone(), factories: HashMap::new() }
    }

    fn connect(&mut self, now: At, mtu: u16, key: Key) -> Path {
        if !self.factories.contains_key(&key) {
            self.factories.insert(key, Arc::new(self.factory(key)));
        }
        Path(Arc::clone(&self.factories[&key]).build(instant(now), mtu))
    }
}

/// One path of a connection of noq's.
pub struct Path(Box<dyn Controller>);

impl super::Path for Path {
    type Kept = ();
    const ORDER: Order = Order::AcksFirst;

    fn sent(&mut self, now: At, bytes: u64, pn: u64, _: Option<bool>) {
        let size = u16::try_from(bytes).unwrap_or(u16::MAX);
        self.0.on_packet_sent(instant(now), size, pn);
        self.0.on_sent(instant(now), bytes, pn);
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        let (path, now) = (self.0.as_mut(), instant(now));
        match *call {
            Call::Acked { packet, app_limited, estimate } => {
                let rtt = &estimators()[usize::from(estimate) % estimators().len()];
                path.on_ack(now, instant(packet.at), packet.bytes, packet.pn, app_limited, rtt);
            }
            Call::AcksEnd { in_flight, app_limited, largest, .. } => {
                path.on_end_acks(now, in_flight, app_limited, largest);
            }
            Call::Lost { packet, .. } => {
                let size = u16::try_from(packet.bytes).unwrap_or(u16::MAX);
                path.on_packet_lost(size, packet.pn, now);
            }
            Call::LossesEnd { bytes, newest, persistent } => {
                path.on_congestion_event(now, instant(newest.at), persistent, false, bytes, newest.pn);
            }
            Call::Marked { newest, .. } => {
                path.on_congestion_event(now, instant(newest.at), false, true, 0, newest.pn);
            }
            Call::Spurious => path.on_spurious_congestion_event(),
            Call::MtuUpdated(mtu) => path.on_mtu_update(mtu),
            Call::MaxAckDelay(delay) => path.on_ack_frequency_update(1, delay),
            Call::Asked => {
                path.on_cwnd_limited();
                _ = (path.initial_window(), path.metrics());
            }
            Call::Sampled { .. } | Call::Discarded(_) => {}
        }
    }

    fn copy(&self) -> Option<Self> {
        Some(Path(self.0.clone_box()))
    }

    fn window(&self) -> u64 {
        self.0.window()
    }

    fn answers(&self) -> String {
        let metrics = self.0.metrics();
        let pacing = (metrics.pacing_rate, metrics.send_quantum);
        format!("{:?}", (metrics.congestion_window, metrics.ssthresh, pacing))
    }

    fn least_window(mtu: u16, _: u64) -> u64 {
        2 * u64::from(mtu)
    }
}

/// noq's own spellings.
mod shim {
    use std::any::Any;
    use std::net::SocketAddr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::BytesMut;
    use noq_proto::congestion::Controller;
    use noq_proto::{Connection, DatagramEvent, Endpoint, EndpointConfig, FourTuple, RttEstimator, ServerConfig};

    use super::estimator::Capture;

    pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true)
    }

    pub(super) fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, FourTuple::new(peer, None), None, datagram, buffer)
    }

    pub(super) fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<usize> {
        connection.poll_transmit(now, NonZeroUsize::MIN, buffer).map(|transmit| transmit.size)
    }

    impl Controller for Capture {
        fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: u64, _: bool, rtt: &RttEstimator) {
            self.set(rtt);
        }
        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}
        fn on_mtu_update(&mut self, _: u16) {}
        fn window(&self) -> u64 {
            100_000
        }
        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.copy())
        }
        fn initial_window(&self) -> u64 {
            100_000
        }
        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    }
}
