//! The programs of a flow on real sockets: s2n-quic's ordinary client and server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use s2n_quic::client::Connect;
use s2n_quic::connection::Connection;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Endpoint, Timestamp};
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{self, ConnectionInfo, ConnectionMeta};
use s2n_quic::provider::io::tokio::Provider;
use s2n_quic::stream::{ReceiveStream, SendStream};
use s2n_quic::{Client, Server};
use windlass_adapter::qlog::Level;
use windlass_adapter::{
    GroupStep, Groups, NamedController, QlogRecorder, Recorder, SavedPaths, SharedTrace, StateVariables,
};
use windlass_controllers::{Decision, Event, Span, Time};
use windlass_s2n_quic::STACK;

use super::config::{Choice, first_decision};
use super::config::{Error, Sizes, check_size, limits};
use super::native::{ControllerObserver, ObservedEndpoint};
use crate::driver::log::{Run, begin};
use crate::driver::sender_log::{Output, SenderLog, SenderLogRecorder, lock};
use crate::identity::{Identity, SERVER_NAME, identity};
use crate::wire::{self, Clock, Counts, Ends, Program, Report};
use crate::{FlowLog, OpenLog, RunError};
use windlass_network::Stream;
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// Runs a scenario on real sockets. `log` says where the log of each flow goes, if anywhere.
/// `stop` is called now and then with the time reached, and returns whether to stop.
///
/// # Errors
/// s2n-quic cannot run a flow, a flow failed, or it was stopped.
pub fn run(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    let identity = identity().map_err(RunError::Tls)?;
    wire::run(scenario, log, stop, |clock| {
        Ok(Live { scenario, identity, clock, groups: Groups::default(), saved_paths: scenario.saved_paths() })
    })
}

/// s2n-quic as a program.
struct Live<'a> {
    scenario: &'a Scenario,
    identity: &'static Identity,
    clock: Clock,
    groups: Groups<NamedController, String>,
    /// What is known of the paths that flows resume.
    saved_paths: SavedPaths<String>,
}

impl Program for Live<'_> {
    const NAME: &'static str = STACK;
    const KEYS: &'static [&'static str] = &["resume"];
    type Sender = Sender;
    type Receiver = Receiver;

    fn ends(&self, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Ends<Sender, Receiver>, RunError> {
        check_size(spec)?;
        let choice = Choice::of(spec)?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = first_decision(spec);
        let run = Run { stack: STACK, scenario: &self.scenario.name, seed: self.scenario.seed };
        let trace = log.map(|log| begin(log, &run, spec, &first));
        // Without packets, which of them were lost is not for the sender log to say.
        let sender_log = Arc::new(Mutex::new(SenderLog::new(Meter::new(spec.packet_bytes), first, None)));
        let observer =
            LiveObserver { sender_log: Arc::clone(&sender_log), trace: trace.clone(), level, clock: self.clock };
        let failed = |error: Error| RunError::Flow { flow: spec.name.clone(), at_s: 0.0, reason: error.to_string() };
        let receiver = self.receiver(spec).map_err(failed)?;
        let sender = self.sender(spec, choice, &observer).map_err(failed)?;
        Ok(Ends { sender, receiver, sender_log, trace })
    }

    fn groups(&self) -> &Groups<NamedController, String> {
        &self.groups
    }
}

impl Live<'_> {
    fn receiver(&self, spec: &FlowSpec) -> Result<Receiver, Error> {
        let Identity { certificate, key } = self.identity;
        let server = Server::builder()
            .with_tls((&certificate[..], &key[..]))?
            .with_io(io(spec)?)?
            .with_limits(limits(spec)?)?
            .start()?;
        let address = server.local_addr()?;
        Ok(Receiver { server, address, connection: None })
    }

    fn sender(&self, spec: &FlowSpec, choice: Choice, observer: &LiveObserver) -> Result<Sender, Error> {
        let counts = Arc::<Tallied>::default();
        let client = match choice {
            Choice::Ours(endpoint) => {
                let seed = Stream::new(self.scenario.seed, &format!("controller {}", spec.name)).integer();
                let observer = observer.clone();
                let mut endpoint =
                    endpoint.seed(seed).record_with(move |new| {
                        Box::new(observer.recorder(|trace, level| {
                            QlogRecorder::new(trace, level, new.controller, new.text, new.path)
                        }))
                    });
                if let Some(resume) = spec.resume.clone() {
                    endpoint = endpoint.resume(&self.saved_paths, move |_| resume.path.clone());
                }
                if let Some(group) = spec.group.clone() {
                    endpoint = endpoint.group(&self.groups, move |_| group.clone());
                }
                self.client(spec, endpoint, &counts)
            }
            Choice::Cubic => {
                self.client(spec, ObservedEndpoint { inner: Cubic::default(), observer: observer.clone() }, &counts)
            }
            Choice::Bbr => {
                self.client(spec, ObservedEndpoint { inner: Bbr::default(), observer: observer.clone() }, &counts)
            }
        }?;
        let address = client.local_addr()?;
        Ok(Sender { client: Some(client), address, counts, connection: None })
    }

    fn client(&self, spec: &FlowSpec, endpoint: impl Endpoint, counts: &Arc<Tallied>) -> Result<Client, Error> {
        Ok(Client::builder()
            .with_tls(&self.identity.certificate[..])?
            .with_io(io(spec)?)?
            .with_congestion_controller(endpoint)?
            .with_event(PacketCounter(Arc::clone(counts)))?
            .with_limits(limits(spec)?)?
            .start()?)
    }
}

/// A socket on 127.0.0.1 for datagrams of the flow's size, and larger ones if it may
/// discover them.
fn io(spec: &FlowSpec) -> Result<Provider, Error> {
    let Sizes { first, largest } = Sizes::of(spec);
    Ok(Provider::builder()
        .with_rx_socket(wire::bind()?)?
        .with_max_mtu(largest)?
        .with_initial_mtu(first)?
        .with_base_mtu(first)?
        .build()?)
}

/// Counters of s2n-quic's sending end.
#[derive(Debug, Default)]
struct Tallied {
    sent: AtomicU64,
    lost: AtomicU64,
}

struct PacketCounter(Arc<Tallied>);

impl Subscriber for PacketCounter {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_packet_sent(&mut self, _: &mut (), _: &ConnectionMeta, _: &events::PacketSent) {
        self.0.sent.fetch_add(1, Ordering::Relaxed);
    }

    fn on_packet_lost(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::PacketLost<'_>) {
        self.0.lost.fetch_add(u64::from(!event.is_mtu_probe), Ordering::Relaxed);
    }
}

/// Takes down what a flow's controller decides.
#[derive(Clone)]
struct LiveObserver {
    sender_log: Arc<Mutex<SenderLog>>,
    trace: Option<SharedTrace<Output>>,
    level: Level,
    clock: Clock,
}

impl LiveObserver {
    fn recorder(&self, qlog: impl FnOnce(SharedTrace<Output>, Level) -> QlogRecorder<Output>) -> TwoClockRecorder {
        let qlog = self.trace.clone().map(|trace| qlog(trace, self.level));
        let sender_log = SenderLogRecorder::new(Arc::clone(&self.sender_log), None);
        TwoClockRecorder { sender_log, qlog, clock: self.clock, ahead: None }
    }
}

impl ControllerObserver for LiveObserver {
    fn on_window(&self, _: Timestamp, bytes: u64, reduced: bool) {
        let mut sender_log = lock(&self.sender_log);
        sender_log.decision.cwnd = bytes;
        if !sender_log.over {
            sender_log.meter.congestion_events += u64::from(reduced);
            sender_log.meter.window(self.clock.now().0, bytes);
        }
    }

    fn on_rtt_sample(&self, _: Timestamp, rtt: Duration) {
        let mut sender_log = lock(&self.sender_log);
        if !sender_log.over {
            sender_log.meter.rtt.add(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
        }
    }
}

/// A sender log by the run's clock beside a log by s2n-quic's, which starts with the client.
struct TwoClockRecorder {
    sender_log: SenderLogRecorder,
    qlog: Option<QlogRecorder<Output>>,
    clock: Clock,
    /// Lead of the run's clock over s2n-quic's.
    ahead: Option<Span>,
}

impl Recorder for TwoClockRecorder {
    fn on_group_step(&mut self, step: GroupStep) {
        if let Some(qlog) = &mut self.qlog {
            qlog.on_group_step(step);
        }
    }

    fn record(&mut self, event: &Event, decision: &Decision, facts: &StateVariables<'_>) {
        let ahead = *self.ahead.get_or_insert_with(|| self.clock.now().since(event.now));
        // Nothing but its time is compared with anything of the run.
        self.sender_log.record(&Event::new(event.now + ahead, event.kind), decision, facts);
        if let Some(qlog) = &mut self.qlog {
            qlog.record(event, decision, facts);
        }
    }
}

/// The end that connects and sends.
pub struct Sender {
    client: Option<Client>,
    address: SocketAddr,
    counts: Arc<Tallied>,
    connection: Option<(Connection, SendStream)>,
}

impl Sender {
    fn stream(&mut self) -> Result<&mut SendStream, String> {
        self.connection.as_mut().map(|(_, stream)| stream).ok_or_else(|| "not connected".to_owned())
    }
}

impl wire::Sender for Sender {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn connect(&mut self, peer: SocketAddr) -> Result<(), String> {
        let client = self.client.as_ref().ok_or("closed")?;
        let connecting = client.connect(Connect::new(peer).with_server_name(SERVER_NAME));
        let mut connection = connecting.await.map_err(|error| error.to_string())?;
        let stream = connection.open_send_stream().await.map_err(|error| error.to_string())?;
        self.connection = Some((connection, stream));
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
        self.stream()?.send(bytes).await.map_err(|error| error.to_string())
    }

    async fn finish(&mut self) -> Result<(), String> {
        self.stream()?.finish().map_err(|error| error.to_string())
    }

    fn close(&mut self) {
        if let Some((connection, _)) = &self.connection {
            connection.close(0u32.into());
        }
        self.client = None;
    }

    fn counts(&self) -> Counts {
        let Tallied { sent, lost } = &*self.counts;
        Counts { sent: sent.load(Ordering::Relaxed), lost: lost.load(Ordering::Relaxed) }
    }
}

/// The end that accepts and receives.
pub struct Receiver {
    server: Server,
    address: SocketAddr,
    connection: Option<(Connection, ReceiveStream)>,
}

impl wire::Receiver for Receiver {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn accept(&mut self) -> Result<(), String> {
        let mut connection = self.server.accept().await.ok_or_else(|| "its endpoint is closed".to_owned())?;
        let stream = connection.accept_receive_stream().await.map_err(|error| error.to_string())?;
        let stream = stream.ok_or_else(|| "its peer closed without a stream".to_owned())?;
        self.connection = Some((connection, stream));
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<Bytes>, String> {
        let Some((_, stream)) = &mut self.connection else { return Err("not connected".to_owned()) };
        stream.receive().await.map_err(|error| error.to_string())
    }
}
