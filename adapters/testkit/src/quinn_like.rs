//! Benchmarks of stacks whose congestion-control traits resemble quinn's: quinn and its forks.

/// Defines the modules `native` and `estimator` for the stack whose protocol crate is `$proto`
/// and whose adapter is `$adapter`. The caller has a module `shim` with the functions in which
/// the stacks differ (`endpoint`, `handle`, `transmit`, `acked`, `lost`, `sent`), which implements
/// the stack's `Controller` for `estimator::Capture`, and depends on `bytes`, `rcgen` and `rustls`.
#[macro_export]
macro_rules! quinn_like_bench {
    ($proto:ident, $adapter:ident) => {
        /// A stack's controllers, its own or ours, fed as the stack feeds them.
        mod native {
            use std::hint::black_box;
            use std::sync::Arc;
            use std::time::{Duration, Instant};

            use windlass_controllers::ConfiguredController;

            use super::{estimator, shim};
            use $adapter::{Factory, PROVIDES};
            use $crate::ours;
            use $crate::rounds::{BLOCK, Block, Candidate, FLOWS, compare};
            use $proto::RttEstimator;
            use $proto::congestion::{self, ControllerFactory};

            /// Bytes per datagram.
            pub const MTU: u64 = 1200;
            /// Every RTT sample.
            pub const RTT: Duration = Duration::from_millis(40);
            /// Packets of a flow in flight.
            const IN_FLIGHT: u64 = 100;
            /// Of one flow and the next.
            pub const BETWEEN_ACKS: Duration = Duration::from_micros(200);

            /// The stack's calls for one ACK frame of two packets and the two packets it lets go, on
            /// boxed controllers as the stack holds them. Every block one of them loses one of the two, which
            /// keeps windows in congestion avoidance, at some 50 packets.
            pub struct Native {
                flows: Vec<Box<dyn congestion::Controller>>,
                now: Instant,
                /// Blocks that are complete.
                blocks: usize,
                rtt: RttEstimator,
            }

            impl Native {
                /// Flows with the controllers of `factory`.
                pub fn new(factory: Arc<dyn ControllerFactory>, rtt: RttEstimator) -> Native {
                    let now = Instant::now();
                    let mut flows: Vec<_> = (0..FLOWS).map(|_| factory.clone().build(now, MTU as u16)).collect();
                    for flow in &mut flows {
                        (2..=IN_FLIGHT).step_by(2).for_each(|pn| shim::sent(flow.as_mut(), now, MTU, pn));
                    }
                    Native { flows, now: now + RTT, blocks: 0, rtt }
                }

                /// Sends and acknowledges one block of frames.
                pub fn block(&mut self) -> Block {
                    let start = self.now;
                    let times: [(Instant, Instant); BLOCK] = std::array::from_fn(|i| {
                        let now = start + BETWEEN_ACKS * i as u32;
                        (now, now - RTT)
                    });
                    self.now = start + BETWEEN_ACKS * BLOCK as u32;
                    let losing = self.blocks % FLOWS;
                    // Acknowledged or lost, of each flow.
                    let over = 2 * self.blocks * (BLOCK / FLOWS);
                    self.blocks += 1;
                    let clock = Instant::now();
                    for (i, &(now, sent)) in times.iter().enumerate() {
                        let pn = (over + 2 * (1 + i / FLOWS)) as u64;
                        let controller = black_box(&mut self.flows[i % FLOWS]).as_mut();
                        if i != losing {
                            shim::acked(controller, now, sent, MTU, pn - 1, &self.rtt);
                        }
                        shim::acked(controller, now, sent, MTU, pn, &self.rtt);
                        controller.on_end_acks(now, (IN_FLIGHT - 2) * MTU, false, Some(pn));
                        if i == losing {
                            shim::lost(controller, now, sent, MTU, pn - 1);
                        }
                        shim::sent(controller, now, MTU, pn + IN_FLIGHT);
                    }
                    Block::of(clock.elapsed(), 1, self.flows.iter().map(|flow| flow.window() as f64 / MTU as f64))
                }
            }

            /// A factory of the stack's own with default values.
            pub fn own<F: ControllerFactory + Default + 'static>() -> Arc<dyn ControllerFactory> {
                Arc::new(F::default())
            }

            struct Adapter(RttEstimator);

            impl ours::Runs for Adapter {
                fn run<C: ConfiguredController>(&self, controller: C) -> Box<dyn FnMut() -> Block> {
                    let factory = Factory::new(controller).expect("the stack reports what it needs");
                    let mut flows = Native::new(Arc::new(factory), self.0);
                    Box::new(move || flows.block())
                }
            }

            /// Measures the stack's own NewReno, CUBIC and BBR, and ours beside them.
            pub fn beside(own: [(&'static str, Arc<dyn ControllerFactory>); 3]) {
                let rtt = estimator::settled(RTT);
                let names = own.each_ref().map(|(name, _)| *name);
                let own = own.into_iter().map(|(name, factory)| {
                    let mut flows = Native::new(factory, rtt);
                    Candidate::new(name, name, move || flows.block())
                });
                let adapter = Adapter(rtt);
                let ours = ours::candidates(&adapter, PROVIDES, names);
                compare("per ACK frame of two packets, and two sent", own.chain(ours).collect());
            }
        }

        /// An RTT estimator of the stack's own type. It has no public constructor, but controllers
        /// get one: a handshake in memory with a controller that copies it.
        mod estimator {
            use std::net::SocketAddr;
            use std::sync::{Arc, Mutex};
            use std::time::{Duration, Instant};

            use super::shim;
            use bytes::BytesMut;
            use rustls::pki_types::PrivatePkcs8KeyDer;
            use $proto::congestion::{Controller, ControllerFactory};
            use $proto::{
                ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, RttEstimator,
                ServerConfig, TransportConfig,
            };

            type Captured = Arc<Mutex<Option<RttEstimator>>>;

            /// The stack's module implements its controllers' trait for this.
            pub struct Capture(Captured);

            impl std::fmt::Debug for Capture {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.debug_struct("Capture").finish_non_exhaustive()
                }
            }

            impl Capture {
                pub fn set(&self, rtt: &RttEstimator) {
                    *self.0.lock().unwrap() = Some(*rtt);
                }

                pub fn copy(&self) -> Capture {
                    Capture(self.0.clone())
                }
            }

            impl ControllerFactory for Capture {
                fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
                    Box::new(self.copy())
                }
            }

            struct Side {
                endpoint: Endpoint,
                peer: SocketAddr,
                connection: Option<(ConnectionHandle, Connection)>,
            }

            impl Side {
                fn send(&mut self, now: Instant) -> Vec<BytesMut> {
                    let mut datagrams = Vec::new();
                    let Some((handle, connection)) = &mut self.connection else { return datagrams };
                    let mut buffer = Vec::new();
                    while let Some(size) = shim::transmit(connection, now, &mut buffer) {
                        datagrams.push(BytesMut::from(&buffer[..size]));
                        buffer.clear();
                    }
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    datagrams
                }

                fn receive(&mut self, now: Instant, datagram: BytesMut) {
                    let mut buffer = Vec::new();
                    match shim::handle(&mut self.endpoint, now, self.peer, datagram, &mut buffer) {
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            self.connection = self.endpoint.accept(incoming, now, &mut buffer, None).ok();
                        }
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            if let Some((_, connection)) = &mut self.connection {
                                connection.handle_event(event);
                            }
                        }
                        _ => {}
                    }
                }
            }

            /// An estimator that has seen samples of `rtt`.
            pub fn settled(rtt: Duration) -> RttEstimator {
                let captured = Captured::default();
                let mut transport = TransportConfig::default();
                transport.congestion_controller_factory(Arc::new(Capture(captured.clone())));
                let transport = Arc::new(transport);
                let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
                let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()).into();
                let certificate = certified.cert.der().clone();
                let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key).unwrap();
                server.transport = transport.clone();
                let mut roots = rustls::RootCertStore::empty();
                roots.add(certificate).unwrap();
                let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
                client.transport_config(transport);

                let config = Arc::new(EndpointConfig::default());
                let addresses: [SocketAddr; 2] = ["[::1]:1".parse().unwrap(), "[::1]:2".parse().unwrap()];
                let mut endpoint = shim::endpoint(config.clone(), None);
                let mut now = Instant::now();
                let connection = endpoint.connect(now, client, addresses[1], "localhost").unwrap();
                let mut near = Side { endpoint, peer: addresses[1], connection: Some(connection) };
                let endpoint = shim::endpoint(config, Some(Arc::new(server)));
                let mut far = Side { endpoint, peer: addresses[0], connection: None };
                for _ in 0..6 {
                    for datagram in near.send(now) {
                        far.receive(now + rtt / 2, datagram);
                    }
                    now += rtt / 2;
                    for datagram in far.send(now) {
                        near.receive(now + rtt / 2, datagram);
                    }
                    now += rtt / 2;
                }
                captured.lock().unwrap().take().expect("the handshake acknowledged something")
            }
        }
    };
}
