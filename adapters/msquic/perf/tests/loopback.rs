//! Uploads, downloads and requests of MsQuic over 127.0.0.1.

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use windlass_controllers::{Decision, Event};
use windlass_msquic::{Definition, Recorder, StateVariables};
use windlass_msquic_endpoint::{Connection, ConnectionEvent, Library, Listener, Settings, Stream, StreamEvent};
use windlass_msquic_perf::{Measurement, Plan, Server, run, serve};

const NATIVE_CUBIC: u16 = 0;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::open("perf").unwrap())
}

fn identity() -> &'static TempDir {
    static IDENTITY: OnceLock<TempDir> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name).display().to_string();
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(["-days", "2", "-subj", "/CN=localhost", "-keyout", &file("key"), "-out", &file("certificate")])
            .output()
            .expect("openssl is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        directory
    })
}

fn settings(congestion_control: u16) -> Settings {
    Settings { congestion_control: Some(congestion_control), receive_window: 1 << 26, ..Settings::default() }
}

fn server(congestion_control: u16) -> Server {
    let (certificate, key) = (identity().path().join("certificate"), identity().path().join("key"));
    serve(library(), &settings(congestion_control), ([127, 0, 0, 1], 0).into(), &certificate, &key).unwrap()
}

fn measure(server: &Server, congestion_control: u16, plan: &Plan) -> Measurement {
    run(library(), &settings(congestion_control), server.address().unwrap(), plan).unwrap()
}

const ONE: Plan = Plan { upload: 0, download: 0, parallel: 1, duration: None };

#[test]
fn the_bytes_requested_arrive() {
    let cubic = windlass_msquic::register("cubic").unwrap();
    let server = server(cubic);
    let upload = measure(&server, cubic, &Plan { upload: 10_000_000, ..ONE });
    assert_eq!((upload.received, upload.latencies.len()), (0, 1));
    assert!(upload.statistics.SendTotalStreamBytes >= 10_000_008);
    let download = measure(&server, cubic, &Plan { download: 10_000_001, ..ONE });
    assert_eq!(download.received, 10_000_001);
    let plan = Plan { upload: 100, download: 5000, parallel: 8, duration: Some(Duration::from_millis(200)) };
    let requests = measure(&server, cubic, &plan);
    assert!(requests.latencies.len() > 8, "{}", requests.latencies.len());
    assert_eq!(requests.received, 5000 * requests.latencies.len() as u64);
    assert!(requests.latency(0.5).unwrap() <= requests.latency(1.0).unwrap());
}

/// Counts the recorders created and dropped.
#[derive(Clone, Default)]
struct Counted(Arc<[AtomicUsize; 2]>);

impl Recorder for Counted {
    fn record(&mut self, _: &Event, _: &Decision, _: &StateVariables<'_>) {}
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0[1].fetch_add(1, Ordering::Relaxed);
    }
}

/// Flows end with their connections.
#[test]
fn three_hundred_handshakes_leave_nothing_behind() {
    const HANDSHAKES: usize = 300;
    let recorders = Counted::default();
    let made = recorders.clone();
    let definition = Definition::named("a-tcp").unwrap().record_with(move |_| {
        made.0[0].fetch_add(1, Ordering::Relaxed);
        Box::new(made.clone())
    });
    let counted = windlass_msquic::register_as("counted", definition).unwrap();
    let server = server(counted);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < HANDSHAKES {
                    let measurement = measure(&server, counted, &Plan { download: 2000, ..ONE });
                    assert_eq!(measurement.received, 2000);
                }
            });
        }
    });
    drop(server);
    let count = |which: usize| recorders.0[which].load(Ordering::Relaxed);
    // One of each client and server; another thread closes the server's connections.
    let start = Instant::now();
    while count(1) < 2 * HANDSHAKES && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((count(0), count(1)), (2 * HANDSHAKES, 2 * HANDSHAKES));
}

/// The windows of each flow after each of its events, bytes.
#[derive(Clone, Default)]
struct Windows(Arc<Mutex<Vec<Vec<u64>>>>);

struct FlowWindows(Windows, usize);

impl Recorder for FlowWindows {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.0.lock().unwrap()[self.1].push(decision.cwnd);
    }
}

const TIMEOUT: Duration = Duration::from_secs(60);

/// Has the peer send its answer and waits for its end. Returns its size, bytes.
fn fetch(client: &Connection) -> usize {
    let (arrived, arrives) = channel();
    let stream = client.open(arrivals(arrived)).unwrap();
    stream.send([1], true).unwrap();
    whole(&arrives)
}

/// Reports how many bytes arrived, and whether they are the last.
fn arrivals(arrived: Sender<(usize, bool)>) -> impl Fn(StreamEvent<'_>) {
    move |event| {
        if let StreamEvent::Received { data, fin, .. } = event {
            let _ = arrived.send((data.iter().map(|data| data.len()).sum(), fin));
        }
    }
}

/// Waits for the end of an answer. Returns its size, bytes.
fn whole(arrives: &Receiver<(usize, bool)>) -> usize {
    let mut bytes = 0;
    loop {
        let (more, fin) = arrives.recv_timeout(TIMEOUT).expect("the answer arrives");
        bytes += more;
        if fin {
            return bytes;
        }
    }
}

/// A server that answers each stream with [`ANSWER`] bytes when its request is whole, and sends every client a
/// resumption ticket.
struct Answering {
    listener: Listener,
    streams: Arc<Mutex<Vec<Stream>>>,
    connections: Arc<Mutex<Vec<Connection>>>,
    /// Of each whole request, whether 0-RTT data was part of it.
    early: Arc<Mutex<Vec<bool>>>,
}

const ANSWER: usize = 2_000_000;

/// Linux gives a server of MsQuic's that asks for any port one that another server may have, and spreads datagrams over both.
#[test]
fn a_listener_that_asks_for_any_port_has_it_alone() {
    let (certificate, key) = (identity().path().join("certificate"), identity().path().join("key"));
    let server = library().server("path", &settings(NATIVE_CUBIC), &certificate, &key).unwrap();
    let listen = |_| Listener::start(library(), &server, ([127, 0, 0, 1], 0).into(), |_| {}).unwrap();
    let listeners: Vec<Listener> = (0..20).map(listen).collect();
    let ports: BTreeSet<u16> = listeners.iter().map(|listener| listener.address().unwrap().port()).collect();
    assert_eq!(ports.len(), listeners.len(), "{ports:?}");
    for port in ports {
        // Of the ports that systems choose from any could be another's: these are tried one by one.
        assert!((12_000..32_000).contains(&port), "{port}");
        assert!(UdpSocket::bind(("127.0.0.1", port)).is_err(), "{port} can be bound once more");
    }
}

enum Task {
    Answer(usize),
    SendTicket(usize),
}

impl Answering {
    fn start(congestion_control: u16) -> Answering {
        let (certificate, key) = (identity().path().join("certificate"), identity().path().join("key"));
        let settings = Settings { resumption: true, ..settings(congestion_control) };
        let server = library().server("path", &settings, &certificate, &key).unwrap();
        let (tasks, done) = channel();
        let streams = Arc::<Mutex<Vec<Stream>>>::default();
        let connections = Arc::<Mutex<Vec<Connection>>>::default();
        let early = Arc::<Mutex<Vec<bool>>>::default();
        let (keep, opened, came_early) = (Arc::clone(&connections), Arc::clone(&streams), Arc::clone(&early));
        let listener = Listener::start(library(), &server, ([127, 0, 0, 1], 0).into(), move |incoming| {
            let (tasks, opened, came_early) = (tasks.clone(), Arc::clone(&opened), Arc::clone(&came_early));
            let mut keep = keep.lock().unwrap();
            let connection = keep.len();
            keep.push(incoming.accept(move |event| match event {
                ConnectionEvent::Connected => {
                    let _ = tasks.send(Task::SendTicket(connection));
                }
                ConnectionEvent::StreamOpened(incoming) => {
                    let (tasks, came_early, any) = (tasks.clone(), Arc::clone(&came_early), AtomicBool::new(false));
                    let mut opened = opened.lock().unwrap();
                    let number = opened.len();
                    opened.push(incoming.accept(move |event| match event {
                        StreamEvent::Received { early: true, .. } => any.store(true, Ordering::Relaxed),
                        StreamEvent::PeerFinished => {
                            came_early.lock().unwrap().push(any.load(Ordering::Relaxed));
                            let _ = tasks.send(Task::Answer(number));
                        }
                        _ => {}
                    }));
                }
                _ => {}
            }));
        })
        .unwrap();
        let (of_tasks, tickets) = (Arc::clone(&streams), Arc::clone(&connections));
        // Not in MsQuic's callbacks, which hold a lock while they put a stream or a connection into its list.
        std::thread::spawn(move || {
            for task in done {
                match task {
                    // Fails for a client that has gone; one that waits for the answer misses it.
                    Task::Answer(number) => drop(of_tasks.lock().unwrap()[number].send(vec![7; ANSWER], true)),
                    Task::SendTicket(number) => drop(tickets.lock().unwrap()[number].send_resumption_ticket()),
                }
            }
        });
        Answering { listener, streams, connections, early }
    }

    fn address(&self) -> SocketAddr {
        self.listener.address().unwrap()
    }

    /// Waits until neither end has sent or received a packet for half a second.
    fn wait_until_idle(&self, client: &Connection) {
        let packets = || {
            let connections = self.connections.lock().unwrap();
            let ends = [client, connections.last().unwrap()].map(|end| end.statistics().unwrap());
            ends.map(|end| (end.SendTotalPackets, end.RecvTotalPackets))
        };
        let (start, mut before) = (Instant::now(), packets());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = packets();
            if now == before {
                return;
            }
            assert!(start.elapsed() < TIMEOUT, "the connection is never quiet");
            before = now;
        }
    }

    fn close(self) {
        self.streams.lock().unwrap().clear();
        self.connections.lock().unwrap().clear();
    }
}

/// Registers "reno:iw=4" as `name`; its id, and where the windows of its flows are.
fn registered(name: &str) -> (u16, Windows) {
    let windows = Windows::default();
    let of_flows = windows.clone();
    let definition = Definition::named("reno:iw=4").unwrap().record_with(move |_| {
        let mut flows = of_flows.0.lock().unwrap();
        flows.push(Vec::new());
        Box::new(FlowWindows(of_flows.clone(), flows.len() - 1))
    });
    (windlass_msquic::register_as(name, definition).unwrap(), windows)
}

/// MsQuic migrates where a client sets its address. `RFC 9000 §9.4` allows to keep the controller for another port alone.
#[test]
fn another_port_keeps_the_flow_and_another_address_starts_one() {
    let (id, windows) = registered("migrates");
    let server = Answering::start(id);
    let (connected, connects) = channel();
    let home: SocketAddr = ([127, 0, 0, 1], 0).into();
    let client = library()
        .connect("path", &settings(NATIVE_CUBIC), Some(home), server.address(), move |event| {
            if matches!(event, ConnectionEvent::Connected) {
                let _ = connected.send(());
            }
        })
        .unwrap();
    connects.recv_timeout(TIMEOUT).expect("the handshake is over");
    let flows = || windows.0.lock().unwrap().iter().map(|flow| (flow[0], flow[flow.len() - 1])).collect::<Vec<_>>();
    assert_eq!(fetch(&client), ANSWER);
    let [(_, grown)] = flows()[..] else { panic!("one connection has flows {:?}", flows()) };
    assert!(grown > 20_000, "{grown} bytes");
    // A packet from before the migration that MsQuic's client handles after it ends the transfer.
    server.wait_until_idle(&client);
    client.set_local_address(home).unwrap();
    assert_eq!(fetch(&client), ANSWER);
    assert!(matches!(flows()[..], [_]), "{:?}", flows());
    server.wait_until_idle(&client);
    client.set_local_address(([127, 0, 0, 2], 0).into()).unwrap();
    assert_eq!(fetch(&client), ANSWER);
    // After its first ACK at most twice the first window.
    assert!(matches!(flows()[..], [_, (first, _)] if first < 13_000), "{:?}", flows());
    drop(client);
    server.close();
}

/// 0-RTT data leaves in the initial window of the one flow that its connection has.
#[test]
fn data_of_0_rtt_leaves_in_the_first_window() {
    let (id, windows) = registered("resumes");
    let server = Answering::start(NATIVE_CUBIC);
    let (ticket, tickets) = channel();
    let first = library()
        .connect("path", &settings(NATIVE_CUBIC), None, server.address(), move |event| {
            if let ConnectionEvent::ResumptionTicket(bytes) = event {
                let _ = ticket.send(bytes.to_vec());
            }
        })
        .unwrap();
    let ticket = tickets.recv_timeout(TIMEOUT).expect("the server sends a ticket");
    assert_eq!(fetch(&first), ANSWER);
    drop(first);
    let (arrived, arrives) = channel();
    let (again, stream) = library()
        .resume("path", &settings(id), &ticket, server.address(), vec![1; 100_000], arrivals(arrived))
        .unwrap();
    // More than the receive window of a stream that MsQuic opens without settings.
    assert_eq!(whole(&arrives), ANSWER);
    assert_eq!(*server.early.lock().unwrap(), [false, true]);
    assert_eq!(again.statistics().unwrap().ResumptionSucceeded(), 1);
    let flows = windows.0.lock().unwrap().clone();
    assert!(matches!(&flows[..], [flow] if flow[0] < 13_000), "{flows:?}");
    drop(stream);
    drop(again);
    server.close();
}
