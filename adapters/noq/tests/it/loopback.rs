//! A windlass controller governs the real `noq` crate over real sockets, its pacer included.

#[allow(dead_code, reason = "the program's main function")]
#[path = "../../examples/choose.rs"]
mod choose;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use noq::{ClientConfig, Endpoint, PathId, ServerConfig, TransportConfig};
use windlass_controllers::fixed_window::{FixedWindow, Params};
use windlass_controllers::{Decision, Event, EventKind};
use windlass_noq::{Controller, Factory, Recorder, StateVariables, Static};

const BYTES: usize = 2_000_000;

#[derive(Clone, Default)]
struct MostInFlight(Arc<Mutex<u64>>);

impl Recorder for MostInFlight {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        if let EventKind::PacketsAcked(acked) = event.kind {
            let mut most = self.0.lock().unwrap();
            *most = acked.in_flight_before.max(*most);
        }
    }
}

/// Uploads to a server of this process. Returns the sender's connection and the time it took.
async fn upload(factory: Factory<Static<FixedWindow>>) -> (noq::Connection, Duration) {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory)).mtu_discovery_config(None);
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".into()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = ServerConfig::with_single_cert(vec![cert.der().clone()], key.into()).unwrap();
    let server = Endpoint::server(server, any).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    config.transport_config(Arc::new(transport));
    let client = Endpoint::client(any).unwrap();
    client.set_default_client_config(config);

    let address = server.local_addr().unwrap();
    let receiving = tokio::spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        stream.read_to_end(BYTES).await.unwrap()
    });
    let bytes: Vec<u8> = (0..BYTES).map(|i| ((i * i) >> 3) as u8).collect();
    let connection = client.connect(address, "localhost").unwrap().await.unwrap();
    let began = Instant::now();
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    stream.finish().unwrap();
    assert!(receiving.await.unwrap() == bytes);
    (connection, began.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_keeps_to_the_window() {
    let most = MostInFlight::default();
    let recorder = most.clone();
    let factory = Factory::new(FixedWindow::configured(8)).unwrap().record_with(move |_| Box::new(recorder.clone()));
    let (connection, _) = upload(factory).await;
    let running = connection.congestion_state(PathId::ZERO).unwrap().into_any();
    let running = running.downcast::<Controller<Static<FixedWindow>>>().unwrap();
    assert_eq!(running.flow().decision().cwnd, 8 * 1200);
    // Probes after a timeout are the only packets beyond the window.
    let most = *most.0.lock().unwrap();
    assert!((4 * 1200..=10 * 1200).contains(&most), "{most} bytes in flight");
}

/// 2 MB at 40 Mbit/s last 0.4 s; the window alone would let them go in far less.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_keeps_to_the_rate() {
    let params = Params { window: 10_000, rate: 40.0, ..Params::default() };
    let (_, took) = upload(Factory::new(Static::<FixedWindow>(params)).unwrap()).await;
    assert!(took > Duration::from_millis(370), "{took:?}");
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
