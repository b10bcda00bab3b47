//! A windlass controller governs the real `quinn` crate over real sockets.

#[allow(dead_code, reason = "the program's main function")]
#[path = "../../examples/choose.rs"]
mod choose;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use windlass_controllers::{Decision, Event, EventKind};
use windlass_quinn::{Controller, Factory, NamedController, Recorder, StateVariables};

const BYTES: usize = 2_000_000;

#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<(Event, Decision)>>>);

impl Recorder for Recorded {
    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push((*event, *decision));
    }
}

fn endpoints(transport: TransportConfig) -> (Endpoint, Endpoint) {
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".into()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = ServerConfig::with_single_cert(vec![cert.der().clone()], key.into()).unwrap();
    let server = Endpoint::server(server, any).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    config.transport_config(Arc::new(transport));
    let mut client = Endpoint::client(any).unwrap();
    client.set_default_client_config(config);
    (server, client)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_obeys_the_decisions_and_arrives_whole() {
    let recorded = Recorded::default();
    let recorder = recorded.clone();
    // At most 8 packets in flight.
    let factory = Factory::named("reno:iw=4,max_window=8").unwrap().record_with(move |_| Box::new(recorder.clone()));
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory)).mtu_discovery_config(None);
    let (server, client) = endpoints(transport);
    let address = server.local_addr().unwrap();
    let receiving = tokio::spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        stream.read_to_end(BYTES).await.unwrap()
    });
    let bytes: Vec<u8> = (0..BYTES).map(|i| ((i * i) >> 3) as u8).collect();
    let connection = client.connect(address, "localhost").unwrap().await.unwrap();
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    stream.finish().unwrap();
    assert!(receiving.await.unwrap() == bytes);

    let running = connection.congestion_state().into_any().downcast::<Controller<NamedController>>().unwrap();
    assert_eq!(running.flow().controller().to_string(), "reno:iw=4,max_window=8");
    assert!(connection.stats().path.cwnd <= 8 * 1200 + 1);
    let recorded = recorded.0.lock().unwrap();
    assert!(recorded.is_sorted_by_key(|(event, _)| event.now));
    let (mut delivered, mut most) = (0, 0);
    for (event, decision) in recorded.iter() {
        assert!(decision.cwnd <= 8 * 1200);
        if let EventKind::PacketsAcked(acked) = event.kind {
            delivered = delivered.max(acked.delivered);
            most = most.max(acked.in_flight_before);
        }
    }
    assert!(delivered > BYTES as u64 * 95 / 100);
    // Probes after a timeout are the only packets beyond the window.
    assert!((4 * 1200..=10 * 1200).contains(&most), "{most} bytes in flight");
}

/// What the example `choose` prints.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_connection_has_the_controller_chosen_for_it() {
    let lines = choose::run().await.unwrap();
    let expected = [
        "client: cubic:iw=32",
        "client: ledbat++",
        "client: tcp-k:k=8",
        "client: cubic",
        "client: tcp-p",
        "client: tcp-p",
        "the group has 2 members",
        "server: copa",
    ];
    assert_eq!(lines, expected);
}
