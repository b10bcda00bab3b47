//! quinn's calls.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory as _};
use windlass_adapter::Groups;
use windlass_controllers::{Algorithm, ConfiguredController, Signals};
use windlass_quinn::{Factory, PROVIDES};

use super::estimator::quinn_like_estimator;
use super::path_flow::instant;
use super::{At, Call, Key, Order, Watch};

quinn_like_estimator!(quinn_proto);

/// Estimators of short and long paths, and of none.
fn estimators() -> &'static [RttEstimator] {
    static ALL: OnceLock<Vec<RttEstimator>> = OnceLock::new();
    let micros = [40_000, 0, 1, 10_000_000];
    ALL.get_or_init(|| micros.map(|micros| estimator::settled(Duration::from_micros(micros))).to_vec())
}

/// quinn, with a factory for each peer.
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

/// One path of a connection of quinn's.
pub struct Path(Box<dyn Controller>);

impl super::Path for Path {
    type Kept = ();
    const ORDER: Order = Order::AcksFirst;

    fn sent(&mut self, now: At, bytes: u64, pn: u64, _: Option<bool>) {
        self.0.on_sent(instant(now), bytes, pn);
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        let (path, now) = (self.0.as_mut(), instant(now));
        match *call {
            Call::Acked { packet, app_limited, estimate } => {
                let rtt = &estimators()[usize::from(estimate) % estimators().len()];
                path.on_ack(now, instant(packet.at), packet.bytes, app_limited, rtt);
            }
            Call::AcksEnd { in_flight, app_limited, largest, .. } => {
                path.on_end_acks(now, in_flight, app_limited, largest);
            }
            Call::LossesEnd { bytes, newest, persistent } => {
                path.on_congestion_event(now, instant(newest.at), persistent, bytes);
            }
            Call::Marked { newest, .. } => path.on_congestion_event(now, instant(newest.at), false, 0),
            Call::MtuUpdated(mtu) => path.on_mtu_update(mtu),
            Call::Asked => _ = (path.initial_window(), path.metrics()),
            Call::Sampled { .. } | Call::Lost { .. } | Call::Spurious | Call::MaxAckDelay(_) | Call::Discarded(_) => {}
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
        format!("{:?}", (metrics.congestion_window, metrics.ssthresh, metrics.pacing_rate))
    }

    /// quinn keeps bytes in flight below the window.
    fn least_window(mtu: u16, _: u64) -> u64 {
        2 * u64::from(mtu) + 1
    }
}

/// quinn's own spellings.
mod shim {
    use std::any::Any;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::BytesMut;
    use quinn_proto::congestion::Controller;
    use quinn_proto::{Connection, DatagramEvent, Endpoint, EndpointConfig, RttEstimator, ServerConfig};

    use super::estimator::Capture;

    pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true, None)
    }

    pub(super) fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, peer, None, None, datagram, buffer)
    }

    pub(super) fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<usize> {
        connection.poll_transmit(now, 1, buffer).map(|transmit| transmit.size)
    }

    impl Controller for Capture {
        fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
            self.set(rtt);
        }
        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
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
