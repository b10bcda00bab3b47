//! Many connections through one endpoint of the real s2n-quic over real sockets.

#[allow(dead_code, reason = "the program's main function")]
#[path = "../../examples/choose.rs"]
mod choose;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use s2n_quic::client::Connect;
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{ConnectionClosed, ConnectionInfo, ConnectionMeta};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server};
use windlass_controllers::{Decision, Event};
use windlass_s2n_quic::{Config, Endpoint, Qlog, Recorder, StateVariables};

const BYTES: usize = 200_000;
/// Clients, each at an address of its own, and so with a controller of its own.
const CLIENTS: usize = 4;
const CONNECTIONS_EACH: usize = 50;

const CONFIG: &str = "
controller = \"reno\"
[[rule]]
to = \"127.0.0.2\"
controller = \"tcp-p\"
[[rule]]
to = \"127.0.0.3\"
controller = \"cubic\"
[[rule]]
to = \"127.0.0.4\"
controller = \"dca-c\"
";

/// Counts of flows created and dropped.
#[derive(Default)]
struct FlowCounts {
    created: AtomicUsize,
    dropped: AtomicUsize,
}

/// Lives exactly as long as the flow it records.
struct Counted(Arc<FlowCounts>);

impl Counted {
    fn new(census: &Arc<FlowCounts>) -> Counted {
        census.created.fetch_add(1, Ordering::SeqCst);
        Counted(Arc::clone(census))
    }
}

impl Recorder for Counted {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        assert!(decision.cwnd > 0);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// A subscriber of the program's own.
struct Closed(Arc<AtomicUsize>);

impl Subscriber for Closed {
    type ConnectionContext = ();
    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}
    fn on_connection_closed(&mut self, _: &mut (), _: &ConnectionMeta, _: &ConnectionClosed) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Sends `BYTES` on every stream that is opened.
async fn serve(mut server: Server) {
    while let Some(mut connection) = server.accept().await {
        tokio::spawn(async move {
            while let Ok(Some(mut stream)) = connection.accept_bidirectional_stream().await {
                // Half of the peers leave in the middle of it.
                let _ = stream.send(vec![7; BYTES].into()).await;
                let _ = stream.close().await;
            }
        });
    }
}

/// Receives everything, or leaves after the first bytes. Returns how many there were.
async fn fetch(client: Client, server: SocketAddr, leave: bool) -> usize {
    let mut connection = client.connect(Connect::new(server).with_server_name("localhost")).await.unwrap();
    let mut stream = connection.open_bidirectional_stream().await.unwrap();
    stream.send(vec![1].into()).await.unwrap();
    let mut received = 0;
    while let Some(chunk) = stream.receive().await.unwrap() {
        received += chunk.len();
        if leave {
            connection.close(1u32.into());
            break;
        }
    }
    received
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_connections_leave_nothing_behind() {
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".into()]).unwrap();
    let (certificate, key) = (cert.der().to_vec(), signing_key.serialize_der());
    let directory = tempfile::tempdir().unwrap();
    let config = Config::parse("cc.toml", CONFIG).unwrap();
    let (census, closed) = (Arc::<FlowCounts>::default(), Arc::<AtomicUsize>::default());
    let qlog = Qlog::to_directory(directory.path()).unwrap();
    let writer = qlog.log_writer().unwrap();
    let counting = Arc::clone(&census);
    let endpoint = Endpoint::from_config(&config)
        .unwrap()
        .record_with(move |_| Box::new(Counted::new(&counting)))
        .record_in(&qlog);
    // Some peers are gone before they could say so.
    let limits = Limits::new().with_max_idle_timeout(Duration::from_secs(3)).unwrap();
    let server = Server::builder()
        .with_tls((&certificate[..], &key[..]))
        .unwrap()
        .with_io(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .unwrap()
        .with_congestion_controller(endpoint)
        .unwrap()
        .with_limits(limits)
        .unwrap()
        .with_event((qlog, Closed(Arc::clone(&closed))))
        .unwrap()
        .start()
        .unwrap();
    let address = server.local_addr().unwrap();
    tokio::spawn(serve(server));

    let mut fetching = Vec::new();
    for i in 0..CLIENTS {
        let own = Ipv4Addr::new(127, 0, 0, u8::try_from(i).unwrap() + 1);
        let client = Client::builder().with_tls(&certificate[..]).unwrap();
        let client = client.with_io(SocketAddr::from((own, 0))).unwrap().start().unwrap();
        for connection in 0..CONNECTIONS_EACH {
            fetching.push(tokio::spawn(fetch(client.clone(), address, connection % 2 == 1)));
        }
    }
    let mut whole = 0;
    for fetch in fetching {
        whole += usize::from(fetch.await.unwrap() == BYTES);
    }
    assert!(whole >= CLIENTS * CONNECTIONS_EACH / 2, "{whole} whole transfers");

    let all = CLIENTS * CONNECTIONS_EACH;
    for _ in 0..600 {
        if census.dropped.load(Ordering::SeqCst) >= all {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(census.created.load(Ordering::SeqCst), all);
    assert_eq!(census.dropped.load(Ordering::SeqCst), all, "flows that outlived their connections");
    assert!(config.groups().is_empty(), "{} groups still have members", config.groups().len());
    assert_eq!(closed.load(Ordering::SeqCst), all);

    writer.wait();
    assert_eq!(writer.report(), windlass_s2n_quic::Report::default());
    let (mut packets, mut groups) = (0, std::collections::HashSet::new());
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(text.contains("\"congestion_controller\":") && text.ends_with("}\n"), "{}", &text[..200]);
        packets += text.matches("quic:packet_sent").count();
        // Which peer it was: by its address, by the connection ID that its own log has as local, and by no other log's name.
        let field = |name: &str| text.split_once(name).and_then(|(_, rest)| rest.split('"').nth(1)).unwrap_or_default();
        let remote = text.split_once("\"remote\":").unwrap().1.split_once('}').unwrap().0;
        assert!(remote.contains("\"ip_v4\":\"127.0.0.") && !remote.contains("\"connection_ids\":[\"\"]"), "{remote}");
        assert!(groups.insert(field("\"group_id\":").to_owned()));
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), all);
    // Half of them got everything.
    assert!(packets > all / 2 * BYTES / 1500, "{packets} packets");
}

/// What the example `choose` prints.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_connection_has_the_controller_chosen_for_it() {
    let lines = choose::run().await.unwrap();
    let expected =
        ["127.0.0.1: tcp-p", "127.0.0.2: tcp-k:k=8", "127.0.0.1: tcp-p", "the group of 127.0.0.1 has 2 members"];
    assert_eq!(lines, expected);
}
