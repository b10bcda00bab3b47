//! Benchmarks of stacks that resemble quinn: quinn and its forks.

/// Defines the module `native` for the stack whose protocol crate is `$proto` and whose adapter is
/// `$adapter`. The caller has the stack's module `estimator` ([`calls`](crate::calls)) and a module
/// `shim` with the functions in which the stacks differ (`acked`, `lost`, `sent`).
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
            /// Between the ACK of one flow and that of the next.
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
    };
}

/// Defines `Server`, the [`Stack`](crate::server::Stack) that is `$stack` with the adapter `$adapter`.
/// The caller has a module `shim` with what differs: `native`, the stack's own controllers by name, and `read`, which reads a part of
/// a stream and says how long it is.
#[macro_export]
macro_rules! quinn_like_server {
    ($stack:ident, $adapter:ident) => {
        use std::error::Error;
        use std::net::{Ipv4Addr, SocketAddr};
        use std::sync::Arc;

        /// The stack's endpoint on loopback.
        struct Server;

        impl $crate::server::Stack for Server {
            fn serve(
                identity: &$crate::files::Identity,
                controller: &str,
                bytes: u64,
                listens: impl FnOnce(SocketAddr),
            ) -> Result<(), Box<dyn Error>> {
                let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.key.clone()).into();
                let mut config =
                    $stack::ServerConfig::with_single_cert(vec![identity.certificate.clone().into()], key)?;
                let mut transport = $stack::TransportConfig::default();
                transport.congestion_controller_factory(match shim::native(controller) {
                    Some(native) => native,
                    None => Arc::new($adapter::Factory::named(controller)?),
                });
                config.transport_config(Arc::new(transport));
                tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                    let endpoint = $stack::Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into())?;
                    listens(endpoint.local_addr()?);
                    let connection = endpoint.accept().await.ok_or("the endpoint is closed")?.await?;
                    let mut stream = connection.open_uni().await?;
                    for chunk in $crate::server::chunks(bytes) {
                        stream.write_all(chunk).await?;
                    }
                    stream.finish()?;
                    connection.closed().await;
                    Ok(())
                })
            }

            fn fetch(
                server: SocketAddr,
                certificate: &[u8],
                _: u64,
                came: impl FnOnce(u64),
            ) -> Result<(), Box<dyn Error>> {
                let mut roots = rustls::RootCertStore::empty();
                roots.add(certificate.to_vec().into())?;
                let config = $stack::ClientConfig::with_root_certificates(Arc::new(roots))?;
                tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                    let endpoint = $stack::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
                    let connection = endpoint.connect_with(config, server, $crate::files::NAME)?.await?;
                    let mut stream = connection.accept_uni().await?;
                    let mut bytes = 0;
                    while let Some(more) = shim::read(&mut stream).await? {
                        bytes += more as u64;
                    }
                    came(bytes);
                    connection.close(0u32.into(), b"");
                    endpoint.wait_idle().await;
                    Ok(())
                })
            }
        }
    };
}
