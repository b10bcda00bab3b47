//! quinn's RTT estimator has no public constructor, but its controllers are handed one:
//! a handshake in memory, with a controller that keeps it.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, RttEstimator, ServerConfig,
    TransportConfig,
};
use rustls::pki_types::PrivatePkcs8KeyDer;

type Kept = Arc<Mutex<Option<RttEstimator>>>;

struct Keep(Kept);

impl Controller for Keep {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().unwrap() = Some(*rtt);
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        100_000
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Keep(self.0.clone()))
    }
    fn initial_window(&self) -> u64 {
        100_000
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Keep {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.clone_box()
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
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut buffer) {
            datagrams.push(BytesMut::from(&buffer[..transmit.size]));
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
        match self.endpoint.handle(now, self.peer, None, None, datagram, &mut buffer) {
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
    let kept = Kept::default();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(Keep(kept.clone())));
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
    let mut endpoint = Endpoint::new(config.clone(), None, true, None);
    let mut now = Instant::now();
    let connection = endpoint.connect(now, client, addresses[1], "localhost").unwrap();
    let mut near = Side { endpoint, peer: addresses[1], connection: Some(connection) };
    let endpoint = Endpoint::new(config, Some(Arc::new(server)), true, None);
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
    kept.lock().unwrap().take().expect("the handshake acknowledged something")
}
