//! The controllers of flows. All flows with a controller of the catalogue have one
//! `CongestionControlAlgorithm`, whose definition looks up the flow by the address of its peer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use windlass_adapter::{Flow, Groups, NamedController, Recorder, SavedPaths, SharedTrace, require};
use windlass_controllers::{ConfiguredController, Decision, Path, Time, View};
use windlass_msquic::packets::{Destination, log_with};
use windlass_msquic::{AT_MOST, Definition, NewFlow, STACK, register_as};
use windlass_msquic_endpoint::Statistics;
use windlass_simulator::scenario::{Control, FlowSpec};
use windlass_stacks::RunError;
use windlass_stacks::driver::native::{NativeDecision, NativeObserver, NoNative};
use windlass_stacks::driver::sender_log::{Output, SenderLog, lock};
use windlass_stacks::wire::Clock;

/// MsQuic's own controllers, in the order of `QUIC_CONGESTION_CONTROL_ALGORITHM`.
pub(crate) const NATIVES: &[&str] = &["cubic", "bbr"];

/// Whether MsQuic is built to log packets.
pub(crate) const PACKETS: bool = cfg!(feature = "packet-qlog");

type NewRecorder = Box<dyn Fn(&NewFlow<'_, NamedController>) -> Box<dyn Recorder> + Send>;

/// A flow of the catalogue that is about to connect.
pub(crate) struct PlannedFlow {
    pub(crate) algorithm: NamedController,
    /// The controller as the user types it.
    pub(crate) text: Arc<str>,
    /// Start of the run, on MsQuic's clock.
    pub(crate) origin: Time,
    pub(crate) seed: u64,
    /// Flows with the same name and table share state.
    pub(crate) group: Option<(Groups<NamedController, String>, String)>,
    /// It resumes what is known of the path of that name.
    pub(crate) resume: Option<(SavedPaths<String>, String)>,
    pub(crate) recorder: NewRecorder,
}

static PLANNED: Mutex<BTreeMap<SocketAddr, PlannedFlow>> = Mutex::new(BTreeMap::new());

fn planned() -> MutexGuard<'static, BTreeMap<SocketAddr, PlannedFlow>> {
    PLANNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the controller of the next connection to `peer`.
pub(crate) fn plan(peer: SocketAddr, flow: PlannedFlow) {
    planned().insert(peer, flow);
}

/// The `CongestionControlAlgorithm` of a flow.
///
/// # Errors
/// MsQuic has no such controller, or never reports a signal it needs.
pub(crate) fn algorithm_id(spec: &FlowSpec) -> Result<u16, RunError> {
    let flow = || spec.name.clone();
    match &spec.control {
        Control::Named(algorithm) => {
            require(algorithm, &spec.controller, STACK, AT_MOST)
                .map_err(|error| RunError::Controller { flow: flow(), error })?;
            catalogue_id().map_err(|reason| RunError::Flow { flow: flow(), at_s: 0.0, reason })
        }
        Control::Native(name) => {
            let position = NATIVES.iter().position(|native| native == name);
            position.and_then(|position| u16::try_from(position).ok()).ok_or_else(|| RunError::NoNative {
                flow: flow(),
                error: NoNative { stack: STACK, name: name.clone(), known: NATIVES },
            })
        }
    }
}

/// The `CongestionControlAlgorithm` of all flows with a controller of the catalogue.
fn catalogue_id() -> Result<u16, String> {
    static ID: OnceLock<Result<u16, String>> = OnceLock::new();
    ID.get_or_init(|| register_as("harness", definition()).map_err(|error| error.to_string())).clone()
}

fn definition() -> Definition {
    // A connection without a planned flow has migrated; those of the harness do not migrate.
    let unplanned = NamedController::read("reno").expect("the catalogue has it");
    Definition::choosing(move |peer| {
        planned()
            .get(&peer.address)
            .map_or((unplanned, Arc::from("reno")), |flow| (flow.algorithm, Arc::clone(&flow.text)))
    })
    .time_origin(|peer| planned().get(&peer.address).map_or(Time::ZERO, |flow| flow.origin))
    .join_with(|new, _| {
        let Some(flow) = planned().remove(&new.peer.address) else {
            return Flow::ungrouped(*new.controller, new.path);
        };
        let mut path = Path::new(new.path.now, new.path.mtu, flow.seed);
        if let Some((saved_paths, name)) = &flow.resume {
            path = saved_paths.resume(name, path);
        }
        let mut recorder = (flow.recorder)(&NewFlow { path: &path, ..*new });
        if let Some((saved_paths, name)) = flow.resume {
            recorder = saved_paths.observe(name, &path, Some(recorder));
        }
        match flow.group {
            Some((groups, name)) => Flow::grouped_with(*new.controller, &path, &groups, name, Some(recorder)),
            None => Flow::ungrouped_with(*new.controller, &path, Some(recorder)),
        }
    })
}

/// The first decision of a flow's controller. MsQuic's own report their windows only with
/// acknowledgements, so theirs is an empty window.
pub(crate) fn first_decision(spec: &FlowSpec, mtu: u32) -> Decision {
    let path = Path::new(Time::ZERO, mtu, 0);
    match spec.control.algorithm() {
        Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
        None => NativeObserver(NativeDecision::new(0))
            .decide(&NativeObserver(NativeDecision::new(0)).start(&path), View::solo(&())),
    }
}

static DESTINATIONS: Mutex<BTreeMap<SocketAddr, Destination>> = Mutex::new(BTreeMap::new());

/// Logs the packets of the next connection to `peer` to `trace`, whose time zero is `origin` on MsQuic's
/// clock. `has_recorder`: a recorder of its flow writes to the trace, too.
pub(crate) fn log_packets(
    peer: SocketAddr,
    trace: SharedTrace<Output>,
    origin: Time,
    has_recorder: bool,
) -> Result<(), String> {
    static LOGGING: OnceLock<Result<(), String>> = OnceLock::new();
    if !PACKETS {
        return Ok(());
    }
    let all = || DESTINATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    all().insert(peer, Destination { trace, origin, dropped: Arc::default(), has_controller: true, has_recorder });
    let start = || log_with(move |new| if new.client { all().remove(&new.peer.address) } else { None });
    LOGGING.get_or_init(|| start().map_err(|error| error.to_string())).clone()
}

/// Writes the windows of one of MsQuic's own controllers to a sender log, and smoothed RTTs in place of
/// samples, which MsQuic does not report. Each smaller window counts as a congestion event, also at the
/// end of BBR's startup.
pub(crate) fn native_observer(
    sender_log: &Arc<Mutex<SenderLog>>,
    clock: Clock,
) -> impl Fn(&Statistics) + Send + Sync + 'static {
    let sender_log = Arc::clone(sender_log);
    move |statistics| {
        let mut sender_log = lock(&sender_log);
        let window = u64::from(statistics.CongestionWindow);
        if !sender_log.over {
            let reduced = window < sender_log.decision.cwnd;
            sender_log.meter.congestion_events += u64::from(reduced);
            sender_log.meter.window(clock.now().0, window);
            let rtt = Duration::from_micros(statistics.SmoothedRTT);
            sender_log.meter.rtt.add(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
        }
        sender_log.decision.cwnd = window;
    }
}
