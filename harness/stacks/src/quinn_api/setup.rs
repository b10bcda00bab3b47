//! Makes the ends of a scenario's flow, in virtual time and over UDP sockets, where they are ordinary endpoints of the
//! asynchronous crate; and the stack's own controller, observed: a flow beside it gets what a controller of the
//! catalogue would get.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::flow::Flow;
use super::{QuinnApi, Sending, Transport};
use crate::driver::log::{Run, SMALLEST, begin};
use crate::driver::native::{NativeDecision, NativeObserver, NoNative};
use crate::driver::sender_log::{Output, SenderLog, SenderLogRecorder};
use crate::sans_io::{Context, Parts, SansIo};
use crate::wire::{self, Ends, Program, Report};
use crate::{FlowLog, OpenLog, RunError};

use windlass_adapter::qlog::Level;
use windlass_adapter::std_time::{self, Clock};
use windlass_adapter::{Groups, NamedController, QlogRecorder, Recorder, SharedTrace};
use windlass_controllers::{ConfiguredController, Decision, Path, Time, View};
use windlass_network::Stream;
use windlass_simulator::measure::Meter;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{Control, FRAMES, FlowSpec, OBJECTS, Scenario, VIDEO, WRITES};

/// The stack with TLS, ready to run.
pub struct Driver<S: QuinnApi> {
    tls: &'static S::Tls,
}

impl<S: QuinnApi> Driver<S> {
    /// Runs a scenario in virtual time.
    ///
    /// # Errors
    /// The stack cannot run a flow, a flow failed, or it was stopped.
    pub fn run(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Outcome, RunError> {
        let driver = Driver::<S> { tls: S::tls().map_err(RunError::Tls)? };
        crate::sans_io::run(&driver, scenario, log, stop)
    }
}

impl<S: QuinnApi> SansIo for Driver<S> {
    const NAME: &'static str = S::NAME;
    const KEYS: &'static [&'static str] =
        &["resume", "requests", "receive_window_bytes", WRITES, FRAMES, OBJECTS, VIDEO];
    type Connection = Flow<S>;

    fn parts(&self, context: &Context<'_>, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Parts<Flow<S>>, RunError> {
        let setup = Setup::<S>::new(context, true);
        let payload = payload::<S>(spec)?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = setup.first_decision(spec, payload)?;
        let trace = log.map(|log| setup.begin(log, spec, &first));
        let sender_log = SenderLog::new(Meter::of(spec), first, trace.clone());
        let sender_log = Arc::new(Mutex::new(sender_log));
        let factory = setup.factory(spec, payload, Arc::clone(&sender_log), trace.clone(), level)?;
        let transport = Transport::of(spec, payload);
        let sending = Some(Sending { log: Arc::clone(&sender_log), factory });
        let [sender, receiver] = ["sender", "receiver"].map(|part| setup.seed_of(spec, part));
        let (ends, config) = if spec.requests.is_some() {
            let (client, config) = S::client(receiver, self.tls, &transport, None);
            ([S::server(sender, self.tls, &transport, sending), client], config)
        } else {
            let (client, config) = S::client(sender, self.tls, &transport, sending);
            ([client, S::server(receiver, self.tls, &transport, None)], config)
        };
        let connection = Flow::new(ends, sender_log, context.seed, spec);
        Ok(Parts { connection, config, trace })
    }
}

/// Makes what both ways to run a flow begin with.
struct Setup<'a, S> {
    context: &'a Context<'a>,
    /// Whether packets are seen in the clear, and logged with those that were lost.
    sees_packets: bool,
    stack: PhantomData<S>,
}

impl<'a, S: QuinnApi> Setup<'a, S> {
    fn new(context: &'a Context<'a>, sees_packets: bool) -> Self {
        Setup { context, sees_packets, stack: PhantomData }
    }

    /// The factory of the flow's controller.
    fn factory(
        &self,
        spec: &FlowSpec,
        payload: u16,
        sender_log: Arc<Mutex<SenderLog>>,
        trace: Option<SharedTrace<Output>>,
        level: Level,
    ) -> Result<Arc<S::Factory>, RunError> {
        let Context { origin, seed, groups, saved_paths, .. } = self.context;
        let controller = spec.controller.clone();
        let sees_packets = self.sees_packets;
        let without_losses = move |recorder: QlogRecorder<Output>| {
            if sees_packets { recorder.without_packet_lost() } else { recorder }
        };
        let algorithm = match &spec.control {
            Control::Named(algorithm) => *algorithm,
            Control::Native(name) => {
                // Of controllers that are not ours there are no steps to replay.
                let recorder = move |observer: &NativeObserver, path: &Path| -> Box<dyn Recorder> {
                    let trace = trace.clone();
                    let qlog = trace.map(|trace| {
                        without_losses(QlogRecorder::new(trace, Level::Recovery, observer, &controller, path))
                    });
                    Box::new(SenderLogRecorder::new(Arc::clone(&sender_log), qlog))
                };
                let factory = self.native(spec, name, payload)?;
                return Ok(S::observed(Natives { factory, origin: *origin, recorder: Box::new(recorder) }));
            }
        };
        let record = move |path: &Path| -> Box<dyn Recorder> {
            let trace = trace.clone();
            let qlog =
                trace.map(|trace| without_losses(QlogRecorder::new(trace, level, &algorithm, &controller, path)));
            Box::new(SenderLogRecorder::new(Arc::clone(&sender_log), qlog))
        };
        let seed = Stream::new(*seed, &format!("controller {}", spec.name)).integer();
        S::catalogue(spec, *origin, seed, groups, saved_paths, record)
            .map_err(|error| RunError::Controller { flow: spec.name.clone(), error })
    }

    fn native(&self, spec: &FlowSpec, name: &str, payload: u16) -> Result<Arc<S::Factory>, RunError> {
        S::native(name, payload).ok_or_else(|| {
            let error = NoNative { stack: S::NAME, name: name.to_owned(), known: S::NATIVES };
            RunError::NoNative { flow: spec.name.clone(), error }
        })
    }

    /// What the flow's controller decides before its first event.
    fn first_decision(&self, spec: &FlowSpec, payload: u16) -> Result<Decision, RunError> {
        let path = Path::new(Time::ZERO, spec.packet_bytes, 0);
        match &spec.control {
            Control::Named(algorithm) => Ok(algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group()))),
            Control::Native(name) => {
                let native = S::build(self.native(spec, name, payload)?, self.context.origin, payload);
                let observer = NativeObserver(NativeDecision::new(S::native_window(&native)));
                Ok(observer.decide(&observer.start(&path), View::solo(&())))
            }
        }
    }

    /// The beginning of a log.
    fn begin(&self, log: FlowLog, spec: &FlowSpec, first: &Decision) -> SharedTrace<Output> {
        begin(log, &Run { stack: S::NAME, scenario: self.context.scenario, seed: self.context.seed }, spec, first)
    }

    /// A seed for `part` of a flow alone.
    fn seed_of(&self, spec: &FlowSpec, part: &str) -> [u8; 32] {
        let mut bytes = [0; 32];
        Stream::new(self.context.seed, &format!("{part} {}", spec.name)).fill(&mut bytes);
        bytes
    }
}

/// The UDP payload of the flow's datagrams, bytes.
fn payload<S: QuinnApi>(spec: &FlowSpec) -> Result<u16, RunError> {
    let payload = u16::try_from(spec.packet_bytes).ok().filter(|_| spec.packet_bytes >= SMALLEST);
    payload.ok_or_else(|| RunError::PacketSize { stack: S::NAME, flow: spec.name.clone(), bytes: spec.packet_bytes })
}

/// A native controller and its observer. What the stack calls goes to both.
pub struct Observed<S: QuinnApi> {
    /// The stack's own controller.
    pub native: Box<S::Controller>,
    /// The observer's view of the path.
    pub path: std_time::Path<NativeObserver>,
    decision: Arc<NativeDecision>,
}

impl<S: QuinnApi> Observed<S> {
    /// Stores what the native controller decided; to be called before the observer gets the event.
    pub fn look(&self) {
        S::note(&self.decision, &self.native);
    }

    /// The same controller on another path.
    pub fn copy(&self) -> Self {
        Observed { native: S::copy(&self.native), path: self.path.clone(), decision: Arc::clone(&self.decision) }
    }
}

impl<S: QuinnApi> fmt::Debug for Observed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").field("path", &self.path).finish_non_exhaustive()
    }
}

type MakeRecorder = Box<dyn Fn(&NativeObserver, &Path) -> Box<dyn Recorder> + Send + Sync>;

/// Makes the stack's own controllers, observed.
pub struct Natives<S: QuinnApi> {
    /// The stack's factory.
    pub factory: Arc<S::Factory>,
    /// Instant of time 0.
    pub origin: Instant,
    /// Makes the recorder of an observer.
    pub recorder: MakeRecorder,
}

impl<S: QuinnApi> Natives<S> {
    /// An observed controller that starts at `now`.
    pub fn build(&self, now: Instant, current_mtu: u16) -> Observed<S> {
        let native = S::build(Arc::clone(&self.factory), now, current_mtu);
        let decision = NativeDecision::new(S::native_window(&native));
        S::note(&decision, &native);
        let observer = NativeObserver(Arc::clone(&decision));
        let clock = Clock::new(self.origin, now);
        let path = Path::new(clock.latest(), u32::from(current_mtu), 0);
        let recorder = (self.recorder)(&observer, &path);
        let mut flow = windlass_adapter::Flow::ungrouped(observer, &path);
        flow.record(recorder);
        Observed { native, path: std_time::Path::new(flow, clock, current_mtu), decision }
    }
}

/// Runs a scenario over UDP sockets. `log` says where the log of each flow goes, if anywhere.
/// `stop` is called now and then with the time reached, and returns whether to stop.
///
/// # Errors
/// The stack cannot run a flow, a flow failed, or it was stopped.
pub fn run_live<S: QuinnApi>(
    scenario: &Scenario,
    log: &mut OpenLog<'_>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Report, RunError> {
    let tls = S::tls().map_err(RunError::Tls)?;
    wire::run(scenario, log, stop, |clock| {
        let context = Context {
            scenario: &scenario.name,
            seed: scenario.seed,
            origin: clock.origin(),
            groups: Groups::default(),
            saved_paths: scenario.saved_paths(),
        };
        Ok(Live::<S> { context, tls })
    })
}

/// The stack as a program.
struct Live<'a, S: QuinnApi> {
    context: Context<'a>,
    tls: &'static S::Tls,
}

impl<S: QuinnApi> Program for Live<'_, S> {
    const NAME: &'static str = S::NAME;
    const KEYS: &'static [&'static str] = &["resume"];
    type Sender = S::LiveSender;
    type Receiver = S::LiveReceiver;

    fn ends(&self, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Ends<Self::Sender, Self::Receiver>, RunError> {
        let setup = Setup::<S>::new(&self.context, false);
        let payload = payload::<S>(spec)?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = setup.first_decision(spec, payload)?;
        let trace = log.map(|log| setup.begin(log, spec, &first));
        // Without packets, which of them were lost is not for the sender log to say.
        let sender_log = Arc::new(Mutex::new(SenderLog::new(Meter::new(spec.packet_bytes), first, None)));
        let factory = setup.factory(spec, payload, Arc::clone(&sender_log), trace.clone(), level)?;
        let transport = Transport { segmentation: true, ..Transport::of(spec, payload) };
        let (sender, receiver) =
            S::live_ends(self.tls, &transport, factory).map_err(|error| wire::no_socket(&spec.name, error))?;
        Ok(Ends { sender, receiver, sender_log, trace })
    }

    fn groups(&self) -> &Groups<NamedController, String> {
        &self.context.groups
    }
}
