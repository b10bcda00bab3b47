//! The MsQuic programs of a run: settings, and a client and a server for each flow.

use std::sync::{Arc, Mutex, OnceLock};

use rustix::time::{ClockId, clock_gettime};
use windlass_adapter::qlog::Level;
use windlass_adapter::{Groups, NamedController, QlogRecorder, SavedPaths, SharedTrace};
use windlass_controllers::Time;
use windlass_msquic::STACK;
use windlass_msquic_endpoint::{Library, Settings};
use windlass_network::Stream as Random;
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{Control, FlowSpec, Scenario};
use windlass_stacks::driver::log::{LARGEST, Run, SMALLEST, begin};
use windlass_stacks::driver::sender_log::{Output, SenderLog, SenderLogRecorder};
use windlass_stacks::wire::{self, Clock, Ends, Program, Report};
use windlass_stacks::{FlowLog, OpenLog, RunError};

use crate::control::{PACKETS, PlannedFlow, algorithm_id, first_decision};
use crate::ends::{Receiver, Sender};

/// Headers of IPv4 and UDP, bytes: part of MsQuic's MTU, but not of a scenario's packet size.
const HEADERS: u32 = 28;
/// The smallest MTU of MsQuic, bytes (`QUIC_DPLPMTUD_MIN_MTU`): 1200 bytes of payload in IPv6.
const SMALLEST_MTU: u32 = 1248;
/// Flow control window of the receiver, bytes: more than any congestion window of a scenario.
const RECEIVE_WINDOW: u32 = 1 << 28;

/// Runs a scenario over UDP sockets. `log` opens the log of each flow; `stop` is called with the time of
/// the run and returns whether to stop it.
///
/// # Errors
/// MsQuic cannot run a flow, a flow failed, a log could not be written, or `stop` said so.
pub fn run(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    let library = library().map_err(|reason| RunError::Flow { flow: String::new(), at_s: 0.0, reason })?;
    wire::run(scenario, log, stop, |clock| {
        // Both clocks are the monotonic one; MsQuic's starts with the system.
        let now = clock_gettime(ClockId::Monotonic);
        let now = Time((now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64));
        let origin = Time(now.since(clock.now()).0);
        Ok(Programs {
            scenario,
            library,
            clock,
            origin,
            groups: Groups::default(),
            saved_paths: scenario.saved_paths(),
        })
    })
}

/// MsQuic, open until the process ends.
pub(crate) fn library() -> Result<&'static Library, String> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::open("windlass").map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
}

/// The programs of one run.
struct Programs<'a> {
    scenario: &'a Scenario,
    library: &'static Library,
    clock: Clock,
    /// Start of the run, on MsQuic's clock.
    origin: Time,
    groups: Groups<NamedController, String>,
    /// What is known of the paths that flows resume.
    saved_paths: SavedPaths<String>,
}

impl Program for Programs<'_> {
    const NAME: &'static str = STACK;
    const KEYS: &'static [&'static str] = &["resume"];
    type Sender = Sender;
    type Receiver = Receiver;

    fn ends(&self, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Ends<Sender, Receiver>, RunError> {
        let settings = self.settings(spec)?;
        let failed = |reason: String| RunError::Flow { flow: spec.name.clone(), at_s: 0.0, reason };
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = first_decision(spec, payload(spec));
        let run = Run { stack: STACK, scenario: &self.scenario.name, seed: self.scenario.seed };
        let trace = log.map(|log| begin(log, &run, spec, &first));
        // MsQuic logs packets itself, so the sender log has no trace.
        let sender_log = Arc::new(Mutex::new(SenderLog::new(Meter::new(spec.packet_bytes), first, None)));
        let sending = Settings { congestion_control: Some(algorithm_id(spec)?), ..settings.clone() };
        let planned = self.planned(spec, &sender_log, trace.clone(), level);
        let packets = trace.clone().map(|trace| (trace, self.origin));
        let sender = Sender::new(self.library, sending, planned, &sender_log, self.clock, packets).map_err(failed)?;
        let receiver = Receiver::new(self.library, &settings).map_err(failed)?;
        Ok(Ends { sender, receiver, sender_log, trace })
    }

    fn groups(&self) -> &Groups<NamedController, String> {
        &self.groups
    }
}

/// UDP payload of a flow's datagrams, bytes: at least what MsQuic can send.
fn payload(spec: &FlowSpec) -> u32 {
    spec.packet_bytes.max(SMALLEST_MTU - HEADERS)
}

/// `max_ack_delay`, ms. With 0 MsQuic would acknowledge every packet, but offers a `min_ack_delay` above
/// its `max_ack_delay`, which peers refuse.
fn max_ack_delay_ms(spec: &FlowSpec) -> u32 {
    (spec.ack.max_delay.millis().ceil() as u32).max(1)
}

impl Programs<'_> {
    fn settings(&self, spec: &FlowSpec) -> Result<Settings, RunError> {
        let mtu = |bytes: u32| {
            u16::try_from(bytes + HEADERS)
                .ok()
                .filter(|_| (SMALLEST..=LARGEST).contains(&spec.packet_bytes))
                .ok_or_else(|| RunError::PacketSize { stack: STACK, flow: spec.name.clone(), bytes: spec.packet_bytes })
        };
        let smallest = mtu(payload(spec))?;
        let largest = spec.discover_packet_bytes.map_or(Ok(smallest), mtu)?.max(smallest);
        let native = !matches!(spec.control, Control::Named(_));
        Ok(Settings {
            ecn: true,
            one_way_delay: !native,
            statistics: native,
            pacing: spec.pacing,
            mtu: Some((smallest, largest)),
            max_ack_delay_ms: Some(max_ack_delay_ms(spec)),
            idle_timeout_ms: spec.idle_timeout.millis().ceil() as u64,
            receive_window: RECEIVE_WINDOW,
            ..Settings::default()
        })
    }

    /// The controller of a flow; `None` for MsQuic's own.
    fn planned(
        &self,
        spec: &FlowSpec,
        sender_log: &Arc<Mutex<SenderLog>>,
        trace: Option<SharedTrace<Output>>,
        level: Level,
    ) -> Option<PlannedFlow> {
        let Control::Named(algorithm) = spec.control else { return None };
        let sender_log = Arc::clone(sender_log);
        Some(PlannedFlow {
            algorithm,
            text: spec.controller.as_str().into(),
            origin: self.origin,
            seed: Random::new(self.scenario.seed, &format!("controller {}", spec.name)).integer(),
            group: spec.group.clone().map(|name| (self.groups.clone(), name)),
            resume: spec.resume.clone().map(|resume| (self.saved_paths.clone(), resume.path)),
            recorder: Box::new(move |new| {
                let trace = trace.clone();
                let qlog = trace.map(|trace| {
                    let qlog = QlogRecorder::new(trace, level, new.controller, new.text, new.path);
                    if PACKETS { qlog.without_packet_lost().without_mtu_updated() } else { qlog }
                });
                Box::new(SenderLogRecorder::new(Arc::clone(&sender_log), qlog))
            }),
        })
    }
}
