//! What a server's controller does when its client's address changes (`RFC 9000 §9.4`).

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use windlass_controllers::{Decision, Event};
use windlass_quinn::{Controller, Factory, NamedController, Recorder, StateVariables};

struct Nothing;

impl Recorder for Nothing {
    fn record(&mut self, _: &Event, _: &Decision, _: &StateVariables<'_>) {}
}

/// The window of the flow, bytes.
fn window(connection: &Connection) -> u64 {
    let controller = connection.congestion_state().into_any().downcast::<Controller<NamedController>>().unwrap();
    controller.flow().cwnd()
}

/// Moves the client to `host` and waits until the server sends there.
async fn move_to(host: Ipv4Addr, client: &Endpoint, at_server: &Connection) {
    client.rebind(UdpSocket::bind((host, 0)).unwrap()).unwrap();
    let address = client.local_addr().unwrap();
    for _ in 0..1000 {
        if at_server.remote_address() == address {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server still sends to {}, not to {address}", at_server.remote_address());
}

async fn send(at_server: &Connection, to: &Connection, bytes: usize) {
    let sending = async {
        let mut stream = at_server.open_uni().await.unwrap();
        stream.write_all(&vec![7; bytes]).await.unwrap();
        stream.finish().unwrap();
        stream.stopped().await.unwrap();
    };
    let receiving = async { to.accept_uni().await.unwrap().read_to_end(bytes).await.unwrap().len() };
    assert_eq!(tokio::join!(sending, receiving).1, bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_port_keeps_the_controller_and_another_address_starts_anew() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let factory = Factory::named("reno:iw=4").unwrap().record_with(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Box::new(Nothing)
    });
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory)).mtu_discovery_config(None);
    let identity = rcgen::generate_simple_self_signed(["localhost".into()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let mut server = ServerConfig::with_single_cert(vec![identity.cert.der().clone()], key.into()).unwrap();
    server.transport_config(Arc::new(transport));
    let server = Endpoint::server(server, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(identity.cert.der().clone()).unwrap();
    let client = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    let connecting = client.connect_with(config, server.local_addr().unwrap(), "localhost").unwrap();
    let (connection, at_server) =
        tokio::join!(async { connecting.await.unwrap() }, async { server.accept().await.unwrap().await.unwrap() });

    // Slow start takes the window far above the first one.
    send(&at_server, &connection, 200_000).await;
    let grown = window(&at_server);
    assert!(grown > 3 * 4 * 1200, "{grown} bytes");
    assert_eq!(started.load(Ordering::SeqCst), 1);
    move_to(Ipv4Addr::LOCALHOST, &client, &at_server).await;
    assert_eq!(started.load(Ordering::SeqCst), 1, "a rebinding is the same path");
    assert!(window(&at_server) >= grown / 2, "{} bytes after {grown}", window(&at_server));
    move_to(Ipv4Addr::new(127, 0, 0, 2), &client, &at_server).await;
    assert_eq!(started.load(Ordering::SeqCst), 2, "another address is another path");
    assert!(window(&at_server) < grown, "{} bytes after {grown}", window(&at_server));
    send(&at_server, &connection, 50_000).await;
}
