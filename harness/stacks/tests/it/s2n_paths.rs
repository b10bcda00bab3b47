//! What a controller does where its connection's path changes (`RFC 9000 §9.4`), by s2n-quic's own migration in virtual
//! time. s2n-quic has no 0-RTT data.
#![cfg(feature = "s2n-quic")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s2n_quic::client::Connect;
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{ConnectionInfo, ConnectionMeta, PacketHeader, PacketSent};
use s2n_quic::provider::io::testing::{Executor, Model, Socket, primary, spawn, time};
use s2n_quic::{Client, Connection, Server};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event};
use windlass_s2n_quic::Endpoint;
use windlass_stacks::identity::{SERVER_NAME, identity};

/// One way.
const DELAY: Duration = Duration::from_millis(20);
/// The first window of the controller, datagrams of 1200 bytes.
const CONTROLLER: &str = "reno:iw=4";
const INITIAL: u64 = 4 * 1200;

/// The windows of each flow of the server after each of its events, bytes.
#[derive(Clone, Default)]
struct Windows(Arc<Mutex<Vec<Vec<u64>>>>);

struct FlowWindows(Windows, usize);

impl Windows {
    fn recorder(&self) -> Box<dyn Recorder> {
        let mut flows = self.0.lock().unwrap();
        flows.push(Vec::new());
        Box::new(FlowWindows(self.clone(), flows.len() - 1))
    }

    /// Of each flow: how many events it had, its first window and its last.
    fn read(&self) -> Vec<(usize, u64, u64)> {
        let flows = self.0.lock().unwrap();
        let ends = |windows: &Vec<u64>| Some((windows.len(), *windows.first()?, *windows.last()?));
        flows.iter().map(|windows| ends(windows).unwrap_or_default()).collect()
    }
}

impl Recorder for FlowWindows {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.0.lock().unwrap()[self.1].push(decision.cwnd);
    }
}

/// Counts the 0-RTT packets an end sends.
struct ZeroRtt(Arc<AtomicUsize>);

impl Subscriber for ZeroRtt {
    type ConnectionContext = ();
    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}
    fn on_packet_sent(&mut self, _: &mut (), _: &ConnectionMeta, event: &PacketSent) {
        let early = matches!(event.packet_header, PacketHeader::ZeroRtt { .. });
        self.0.fetch_add(usize::from(early), Ordering::Relaxed);
    }
}

/// The client of a run, the socket it sends from, and the server's address.
struct Ends {
    client: Client,
    socket: Socket,
    server: SocketAddr,
    windows: Windows,
    zero_rtt: Arc<AtomicUsize>,
}

impl Ends {
    async fn connect(&self) -> Connection {
        self.client.connect(Connect::new(self.server).with_server_name(SERVER_NAME)).await.unwrap()
    }
}

/// Has the server send so many bytes.
async fn fetch(connection: &mut Connection, bytes: usize) {
    let mut stream = connection.open_bidirectional_stream().await.unwrap();
    stream.send(bytes.to_be_bytes().to_vec().into()).await.unwrap();
    stream.finish().unwrap();
    let mut received = 0;
    while let Some(chunk) = stream.receive().await.unwrap() {
        received += chunk.len();
    }
    assert_eq!(received, bytes);
    // Until the last of it is acknowledged.
    time::delay(10 * DELAY).await;
}

async fn serve(mut server: Server) {
    while let Some(mut connection) = server.accept().await {
        spawn(async move {
            while let Ok(Some(mut stream)) = connection.accept_bidirectional_stream().await {
                let mut request = Vec::new();
                while let Ok(Some(chunk)) = stream.receive().await {
                    request.extend_from_slice(&chunk);
                }
                let bytes = usize::from_be_bytes(request.try_into().unwrap());
                stream.send(vec![7; bytes].into()).await.unwrap();
                stream.close().await.unwrap();
            }
        });
    }
}

/// Runs what `test` makes of a client and a server whose connections have [`CONTROLLER`].
fn run<F: Future<Output = ()> + Send + 'static>(test: impl FnOnce(Ends) -> F) {
    let model = Model::default();
    model.set_delay(DELAY);
    let mut executor = Executor::new(model, 1);
    let handle = executor.handle().clone();
    executor.enter(|| {
        let identity = identity().unwrap();
        let (windows, zero_rtt) = (Windows::default(), Arc::<AtomicUsize>::default());
        let of_flows = windows.clone();
        let controllers = Endpoint::named(CONTROLLER).unwrap().record_with(move |_| of_flows.recorder());
        let server = Server::builder()
            .with_tls((&identity.certificate[..], &identity.key[..]))
            .unwrap()
            .with_io(handle.builder().build().unwrap())
            .unwrap()
            .with_congestion_controller(controllers)
            .unwrap()
            .start()
            .unwrap();
        let to = server.local_addr().unwrap();
        spawn(serve(server));
        let socket = Arc::<Mutex<Option<Socket>>>::default();
        let keep = Arc::clone(&socket);
        let io = handle.builder().on_socket(move |socket| *keep.lock().unwrap() = Some(socket));
        let client = Client::builder()
            .with_tls(&identity.certificate[..])
            .unwrap()
            .with_io(io.build().unwrap())
            .unwrap()
            .with_event(ZeroRtt(Arc::clone(&zero_rtt)))
            .unwrap()
            .start()
            .unwrap();
        let socket = socket.lock().unwrap().take().unwrap();
        primary::spawn(test(Ends { client, socket, server: to, windows, zero_rtt }));
    });
    executor.run();
}

/// A connection whose server has sent 200 kB, and its window then.
async fn grown(ends: &Ends) -> (Connection, u64) {
    let mut connection = ends.connect().await;
    connection.keep_alive(true).unwrap();
    fetch(&mut connection, 200_000).await;
    let flows = ends.windows.read();
    assert!(flows.len() == 1 && flows[0].2 > 3 * INITIAL, "{flows:?}");
    (connection, flows[0].2)
}

#[test]
fn another_port_or_address_starts_a_flow() {
    let _machine = crate::shared();
    for other in ["same host", "other host"] {
        run(move |ends| async move {
            let (mut connection, _) = grown(&ends).await;
            let mut address = ends.socket.local_addr().unwrap();
            address.set_port(address.port() + 100);
            if other == "other host" {
                address.set_ip([2, 0, 0, 9].into());
            }
            ends.socket.rebind(address);
            fetch(&mut connection, 200_000).await;
            let flows = ends.windows.read();
            // After the first ACK of slow start, and at the end.
            assert!(flows.len() == 2, "{other}: {flows:?}");
            assert!(flows[1].1 <= 2 * INITIAL && flows[1].2 > 3 * INITIAL, "{other}: {flows:?}");
        });
    }
}

#[test]
fn a_connection_goes_back_to_the_flow_of_the_path_it_comes_back_to() {
    let _machine = crate::shared();
    run(|ends| async move {
        let (mut connection, _) = grown(&ends).await;
        let (before, mut away) = (ends.windows.read(), ends.socket.local_addr().unwrap());
        let home = away;
        away.set_port(home.port() + 100);
        // One packet leaves from elsewhere; that address is unused when the server answers.
        ends.socket.rebind(away);
        let mut stream = connection.open_bidirectional_stream().await.unwrap();
        stream.send(0usize.to_be_bytes().to_vec().into()).await.unwrap();
        stream.finish().unwrap();
        time::delay(DELAY / 4).await;
        ends.socket.rebind(home);
        fetch(&mut connection, 100_000).await;
        let flows = ends.windows.read();
        assert!(flows[0].0 > before[0].0 + 10 && flows[0].2 > 2 * INITIAL, "{before:?}, then {flows:?}");
    });
}

#[test]
fn there_is_no_early_data_and_every_connection_has_a_flow_of_its_own() {
    let _machine = crate::shared();
    run(|ends| async move {
        grown(&ends).await;
        let mut connection = ends.connect().await;
        fetch(&mut connection, 200_000).await;
        let flows = ends.windows.read();
        assert!(flows.len() == 2 && flows[1].1 <= 2 * INITIAL, "{flows:?}");
        assert_eq!(ends.zero_rtt.load(Ordering::Relaxed), 0);
    });
}
