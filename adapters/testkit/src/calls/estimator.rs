//! An RTT estimator of quinn's own type, or of a fork's. It has no public constructor, but controllers
//! get one: a handshake in memory with a controller that copies it.

/// Defines the module `estimator` for the stack whose protocol crate is `$proto`. The caller has a module
/// `shim` with the functions in which the stacks differ (`endpoint`, `handle`, `transmit`), which
/// implements the stack's `Controller` for `estimator::Capture`.
macro_rules! quinn_like_estimator {
    ($proto:ident) => {
        /// An RTT estimator of the stack's own type.
        pub mod estimator {
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
            pub(super) struct Capture(Captured);

            impl std::fmt::Debug for Capture {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.debug_struct("Capture").finish_non_exhaustive()
                }
            }

            impl Capture {
                pub(super) fn set(&self, rtt: &RttEstimator) {
                    *self.0.lock().unwrap() = Some(*rtt);
                }

                pub(super) fn copy(&self) -> Capture {
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

pub(crate) use quinn_like_estimator;
