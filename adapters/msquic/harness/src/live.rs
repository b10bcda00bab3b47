//! The programs of a flow: a client and a server of MsQuic's.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::{Notify, mpsc};
use windlass::measure::Meter;
use windlass::net::Stream as Random;
use windlass::scenario::{Control, FlowSpec, Scenario};
use windlass::stacks::driver::journal::{Journal, Listen, Output};
use windlass::stacks::driver::log::{LARGEST, Run, SMALLEST, begin};
use windlass::stacks::{Log, LogOf, RunError};
use windlass::wire::{self, Clock, Counts, Ends, Program, Report};
use windlass_adapter::qlog::Level;
use windlass_adapter::{Groups, QlogRecorder, SharedTrace};
use windlass_controllers::{Algorithm, Time};
use windlass_msquic::STACK;
use windlass_msquic_endpoint::{
    Connection, ConnectionEvent, Incoming, Library, Listener, QUIC_STATISTICS_V2, Settings, Stream, StreamEvent,
};

use crate::choice::{Expected, expect, first_decision, number};
use crate::identity::files;
use crate::watch::{PACKETS, native, packets};

/// What client and server agree on.
const ALPN: &str = "windlass";
/// Headers of IPv4 and UDP, which MsQuic counts and the harness does not.
const HEADERS: u32 = 28;
/// MsQuic's smallest IP datagram (`QUIC_DPLPMTUD_MIN_MTU`): 1200 bytes in IPv6.
const SMALLEST_MTU: u32 = 1248;
/// Bytes handed to MsQuic that it still needs; more are handed over when it needs fewer.
const AHEAD: usize = 8 << 20;
/// Bytes the receiver's flow control allows ahead: more than any window of a scenario.
const RECEIVE_WINDOW: u32 = 1 << 28;

/// Runs a scenario on real sockets. `log` says where the log of each flow goes, if anywhere.
/// `stop` is told now and then how far the run is, and says whether to give up.
///
/// # Errors
/// MsQuic cannot run a flow, a flow failed, or it was told to stop.
pub fn run(scenario: &Scenario, log: &mut LogOf<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    let library = library().map_err(|reason| RunError::Flow { flow: String::new(), at_s: 0.0, reason })?;
    wire::run(scenario, log, stop, |clock| {
        // Both read the monotonic clock; MsQuic counts from the system's start.
        let now = clock_gettime(ClockId::Monotonic);
        let now = Time((now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64));
        let origin = Time(now.since(clock.now()).0);
        Ok(Live { scenario, library, clock, origin, groups: Groups::default() })
    })
}

fn library() -> Result<&'static Library, String> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::open("windlass").map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
}

/// MsQuic as a program.
struct Live<'a> {
    scenario: &'a Scenario,
    library: &'static Library,
    clock: Clock,
    /// What MsQuic's clock showed when the run's began.
    origin: Time,
    groups: Groups<Algorithm, String>,
}

impl Program for Live<'_> {
    const NAME: &'static str = STACK;
    type Sender = Sender;
    type Receiver = Receiver;

    fn ends(&self, spec: &FlowSpec, log: Option<Log>) -> Result<Ends<Sender, Receiver>, RunError> {
        let settings = self.settings(spec)?;
        let failed = |reason: String| RunError::Flow { flow: spec.name.clone(), at_s: 0.0, reason };
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = first_decision(spec, payload(spec));
        let run = Run { stack: STACK, scenario: &self.scenario.name, seed: self.scenario.seed };
        let trace = log.map(|log| begin(log, &run, spec, &first));
        // Without packets, which of them were lost is not for the journal to say.
        let journal = Arc::new(Mutex::new(Journal::new(Meter::new(spec.packet_bytes), first, None)));
        let sending = Settings { congestion_control: Some(number(spec)?), ..settings.clone() };
        let expected = self.expected(spec, &journal, trace.clone(), level);
        let sender = self.sender(sending, expected, &journal, trace.clone()).map_err(failed)?;
        let receiver = self.receiver(&settings).map_err(failed)?;
        Ok(Ends { sender, receiver, journal, trace })
    }

    fn groups(&self) -> &Groups<Algorithm, String> {
        &self.groups
    }
}

/// A flow's datagrams, bytes of UDP payload, as MsQuic can send them.
fn payload(spec: &FlowSpec) -> u32 {
    spec.packet_bytes.max(SMALLEST_MTU - HEADERS)
}

/// How long an acknowledgement may wait. With 0 MsQuic would acknowledge every packet, but
/// offers a `min_ack_delay` above its `max_ack_delay` then, which no peer takes.
fn max_ack_delay_ms(spec: &FlowSpec) -> u32 {
    (spec.ack.max_delay.millis().ceil() as u32).max(1)
}

impl Live<'_> {
    fn settings(&self, spec: &FlowSpec) -> Result<Settings, RunError> {
        let size = |bytes: u32| {
            u16::try_from(bytes + HEADERS)
                .ok()
                .filter(|_| (SMALLEST..=LARGEST).contains(&spec.packet_bytes))
                .ok_or_else(|| RunError::PacketSize { stack: STACK, flow: spec.name.clone(), bytes: spec.packet_bytes })
        };
        let smallest = size(payload(spec))?;
        let largest = spec.discover_packet_bytes.map_or(Ok(smallest), size)?.max(smallest);
        let ours = matches!(spec.control, Control::Catalogue(_));
        Ok(Settings {
            ecn: true,
            one_way_delay: ours,
            statistics: !ours,
            pacing: spec.pacing,
            mtu: Some((smallest, largest)),
            max_ack_delay_ms: Some(max_ack_delay_ms(spec)),
            idle_timeout_ms: spec.idle_timeout.millis().ceil() as u64,
            receive_window: RECEIVE_WINDOW,
            ..Settings::default()
        })
    }

    /// What is to become of a flow of ours.
    fn expected(
        &self,
        spec: &FlowSpec,
        journal: &Arc<Mutex<Journal>>,
        trace: Option<SharedTrace<Output>>,
        level: Level,
    ) -> Option<Expected> {
        let Control::Catalogue(algorithm) = spec.control else { return None };
        let journal = Arc::clone(journal);
        Some(Expected {
            algorithm,
            text: spec.controller.as_str().into(),
            origin: self.origin,
            seed: Random::new(self.scenario.seed, &format!("controller {}", spec.name)).integer(),
            group: spec.group.clone().map(|name| (self.groups.clone(), name)),
            record: Box::new(move |new| {
                let trace = trace.clone();
                let qlog = trace.map(|trace| {
                    let qlog = QlogRecorder::new(trace, level, new.controller, new.text, new.path);
                    if PACKETS { qlog.without_packet_lost().without_mtu_updated() } else { qlog }
                });
                Box::new(Listen { journal: Arc::clone(&journal), qlog })
            }),
        })
    }

    fn sender(
        &self,
        settings: Settings,
        expected: Option<Expected>,
        journal: &Arc<Mutex<Journal>>,
        trace: Option<SharedTrace<Output>>,
    ) -> Result<Sender, String> {
        let place = place().map_err(|error| format!("no socket for it: {error}"))?;
        let address = place.local_addr().map_err(|error| error.to_string())?;
        Ok(Sender {
            library: self.library,
            settings,
            expected,
            journal: Arc::clone(journal),
            clock: self.clock,
            packets: trace.map(|trace| (trace, self.origin)),
            place: Some(place),
            address,
            state: Arc::default(),
            open: None,
            last: None,
        })
    }

    fn receiver(&self, settings: &Settings) -> Result<Receiver, String> {
        let files = files()?;
        let server = self.library.server(ALPN, settings, &files.certificate, &files.key);
        let server = server.map_err(|error| error.to_string())?;
        let (tell, heard) = mpsc::unbounded_channel();
        let kept = Arc::new(Kept::default());
        let keeping = Arc::clone(&kept);
        let meet = move |incoming: Incoming<'_>| {
            let (tell, streams) = (tell.clone(), Arc::clone(&keeping));
            let connection = incoming.take(move |event| match event {
                ConnectionEvent::Opened(opened) => {
                    let tell = tell.clone();
                    let stream = opened.take(move |event| {
                        if let StreamEvent::Received { data, fin } = event {
                            let _ = tell.send(Heard::Data(Bytes::from(data.concat())));
                            if fin {
                                let _ = tell.send(Heard::End);
                            }
                        }
                    });
                    streams.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
                }
                ConnectionEvent::Lost(0, 0) => {
                    let _ = tell.send(Heard::Lost("its peer closed the connection".to_owned()));
                }
                ConnectionEvent::Lost(status, error) => {
                    let _ = tell.send(Heard::Lost(format!("the connection ended: status {status:#x}, error {error}")));
                }
                _ => {}
            });
            keeping.connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        };
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::start(self.library, &server, local, meet).map_err(|error| error.to_string())?;
        let address = listener.address().map_err(|error| error.to_string())?;
        Ok(Receiver { heard, pending: VecDeque::new(), address, _kept: kept, _listener: listener })
    }
}

/// A place for a client: MsQuic binds its own socket, and the link has to know where. Kept
/// until MsQuic takes it, and none the system gives to others meanwhile.
fn place() -> io::Result<UdpSocket> {
    /// Below the ports that systems choose from.
    const PORTS: std::ops::Range<u16> = 12_000..32_000;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // Processes that run beside each other begin elsewhere.
    let begin = std::process::id() as usize * 997;
    let count = PORTS.len();
    let mut last = io::ErrorKind::AddrInUse.into();
    for _ in 0..count {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + ((begin + step) % count) as u16;
        match UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// What the sender's closures and its task share.
#[derive(Default)]
struct State {
    /// Bytes MsQuic still needs.
    ahead: AtomicUsize,
    connected: OnceLock<()>,
    lost: OnceLock<String>,
    changed: Notify,
}

/// The end that connects and sends.
pub(crate) struct Sender {
    library: &'static Library,
    settings: Settings,
    expected: Option<Expected>,
    journal: Arc<Mutex<Journal>>,
    clock: Clock,
    /// Where packets are written, and what MsQuic's clock showed when its time began.
    packets: Option<(SharedTrace<Output>, Time)>,
    place: Option<UdpSocket>,
    address: SocketAddr,
    state: Arc<State>,
    /// The stream goes before its connection.
    open: Option<(Stream, Connection)>,
    last: Option<QUIC_STATISTICS_V2>,
}

impl Sender {
    fn stream(&self) -> Result<&Stream, String> {
        self.open.as_ref().map(|(stream, _)| stream).ok_or_else(|| "not connected".to_owned())
    }

    /// Whether the connection holds.
    fn holds(&self) -> Result<(), String> {
        self.state.lost.get().map_or(Ok(()), |reason| Err(reason.clone()))
    }
}

impl wire::Sender for Sender {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn connect(&mut self, peer: SocketAddr) -> Result<(), String> {
        let watch = self.expected.is_none().then(|| native(&self.journal, self.clock));
        if let Some((trace, origin)) = self.packets.take() {
            packets(peer, trace, origin, self.expected.is_some())?;
        }
        if let Some(expected) = self.expected.take() {
            expect(peer, expected);
        }
        let state = Arc::clone(&self.state);
        let hears = move |event: ConnectionEvent<'_>| match event {
            ConnectionEvent::Connected => {
                let _ = state.connected.set(());
                state.changed.notify_one();
            }
            ConnectionEvent::Statistics(statistics) => {
                if let Some(watch) = &watch {
                    watch(statistics);
                }
            }
            ConnectionEvent::Lost(status, error) => {
                let _ = state.lost.set(format!("the connection ended: status {status:#x}, error {error}"));
                state.changed.notify_one();
            }
            ConnectionEvent::Opened(_) | ConnectionEvent::Closed => {}
        };
        // Just before MsQuic takes its place.
        self.place = None;
        let connection = self
            .library
            .connect(ALPN, &self.settings, Some(self.address), peer, hears)
            .map_err(|error| error.to_string())?;
        while self.state.connected.get().is_none() {
            self.holds()?;
            self.state.changed.notified().await;
        }
        let state = Arc::clone(&self.state);
        let stream = connection
            .open_one_way(move |event| match event {
                StreamEvent::Sent(bytes) => {
                    state.ahead.fetch_sub(bytes, Ordering::Relaxed);
                    state.changed.notify_one();
                }
                StreamEvent::Closed => state.changed.notify_one(),
                _ => {}
            })
            .map_err(|error| error.to_string())?;
        self.open = Some((stream, connection));
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
        while self.state.ahead.load(Ordering::Relaxed) > AHEAD {
            self.holds()?;
            self.state.changed.notified().await;
        }
        self.state.ahead.fetch_add(bytes.len(), Ordering::Relaxed);
        self.stream()?.send(bytes, false).map_err(|error| error.to_string())
    }

    async fn finish(&mut self) -> Result<(), String> {
        self.stream()?.send(Bytes::new(), true).map_err(|error| error.to_string())
    }

    fn close(&mut self) {
        if let Some((_, connection)) = &self.open {
            self.last = connection.statistics().ok();
            connection.shut_down();
        }
    }

    fn counts(&self) -> Counts {
        let now = || self.open.as_ref().and_then(|(_, connection)| connection.statistics().ok());
        self.last.or_else(now).map_or(Counts::default(), |statistics| Counts {
            sent: statistics.SendTotalPackets,
            lost: statistics.SendSuspectedLostPackets,
        })
    }
}

/// What a receiver's closures tell its task.
enum Heard {
    Data(Bytes),
    End,
    Lost(String),
}

/// What is to stay open as long as the receiver does.
#[derive(Default)]
struct Kept {
    /// They go before their connections.
    streams: Mutex<Vec<Stream>>,
    connections: Mutex<Vec<Connection>>,
}

/// The end that accepts and receives.
pub(crate) struct Receiver {
    heard: mpsc::UnboundedReceiver<Heard>,
    pending: VecDeque<Heard>,
    address: SocketAddr,
    /// Before the listener, which waits for its connections.
    _kept: Arc<Kept>,
    _listener: Listener,
}

impl Receiver {
    async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let heard = match self.pending.pop_front() {
            Some(heard) => heard,
            None => self.heard.recv().await.ok_or("its listener is closed")?,
        };
        match heard {
            Heard::Data(bytes) => Ok(Some(bytes)),
            Heard::End => Ok(None),
            Heard::Lost(reason) => Err(reason),
        }
    }
}

impl wire::Receiver for Receiver {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn accept(&mut self) -> Result<(), String> {
        // The stream is there with its first data.
        let first = self.heard.recv().await.ok_or("its listener is closed")?;
        self.pending.push_back(first);
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<Bytes>, String> {
        self.next().await
    }
}
