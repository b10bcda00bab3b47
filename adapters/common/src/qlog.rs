//! Recording a flow as qlog.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use windlass_controllers::event::LossTrigger;
use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Path, Time, View};
use windlass_qlog::{Metrics, PacketType, Trace};

use crate::step::{Start, Step};
use crate::{GroupStep, Recorder, StateVariables};
use resume::ResumeLog;

mod resume;

/// Name of the qlog event with the start of a flow: controller, path, first decision.
pub const STARTED: &str = "windlass:started";
/// Name of the qlog event with a step of a flow: event, decision, state variables.
pub const STEPPED: &str = "windlass:stepped";
/// Name of the qlog event with losses as the controller got them.
pub const LOST: &str = "windlass:lost";
/// Name of the qlog event with CE marks as the controller got them.
pub const MARKED: &str = "windlass:marked";
/// Name of the qlog event that a loss was spurious.
pub const SPURIOUS_LOSS: &str = "windlass:spurious_loss";

/// Detail of a [`QlogRecorder`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Metrics, congestion states, losses and marks.
    #[default]
    Recovery,
    /// The same, and every step with the controller's state variables: enough to replay
    /// the flow.
    Steps,
    /// The steps alone, for stacks that write recovery events themselves.
    StepsOnly,
}

/// A trace that the recorder and the stack both write to.
#[derive(Debug)]
pub struct SharedTrace<W: Write>(Arc<Mutex<Trace<W>>>);

impl<W: Write> Clone for SharedTrace<W> {
    fn clone(&self) -> Self {
        SharedTrace(Arc::clone(&self.0))
    }
}

impl<W: Write> From<Trace<W>> for SharedTrace<W> {
    fn from(trace: Trace<W>) -> Self {
        SharedTrace(Arc::new(Mutex::new(trace)))
    }
}

impl<W: Write> SharedTrace<W> {
    /// The trace, to write to.
    pub fn lock(&self) -> MutexGuard<'_, Trace<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the file and gives the writer back; `None` while others still hold the
    /// trace, who then end it by dropping it.
    ///
    /// # Errors
    /// The first error the writer returned.
    pub fn finish(self) -> io::Result<Option<W>> {
        match Arc::try_unwrap(self.0) {
            Ok(mutex) => mutex.into_inner().unwrap_or_else(PoisonError::into_inner).finish().map(Some),
            Err(shared) => SharedTrace(shared).lock().flush().map(|()| None),
        }
    }
}

/// Writes the events and decisions of a flow to a qlog trace.
///
/// An event's time is written as it is; a trace that should begin near zero has its
/// [`origin_ns`](windlass_qlog::Header::origin_ns) set to the start of the path.
#[derive(Debug)]
pub struct QlogRecorder<W: Write> {
    trace: SharedTrace<W>,
    level: Level,
    group_step: Option<GroupStep>,
    omitted: Omitted,
    resume: Option<ResumeLog>,
}

/// Events left to another writer of the same trace.
#[derive(Clone, Copy, Debug, Default)]
struct Omitted {
    /// Leaves out `packet_lost`.
    packets: bool,
    /// Leaves out `mtu_updated`.
    mtu: bool,
}

impl<W: Write> QlogRecorder<W> {
    /// Records a flow of `controller` on `path`; `text` names the controller as a user types
    /// it. Pass the recorder to [`Flow`](crate::Flow) before its first event.
    pub fn new<C: ConfiguredController>(
        trace: impl Into<SharedTrace<W>>,
        level: Level,
        controller: &C,
        text: &str,
        path: &Path,
    ) -> Self {
        let (state, group) = (controller.start(path), controller.group());
        let decision = controller.decide(&state, View::solo(&group));
        let inspect = |visit: &mut dyn FnMut(&'static str, f64)| controller.inspect(&state, View::solo(&group), visit);
        QlogRecorder::beginning(trace, level, (&decision, &inspect), text, path)
    }

    /// The same of a controller that is only known by its first decision and by what it
    /// [inspects](ConfiguredController::inspect) then.
    pub fn beginning(
        trace: impl Into<SharedTrace<W>>,
        level: Level,
        (decision, inspect): (&Decision, &StateVariables<'_>),
        text: &str,
        path: &Path,
    ) -> Self {
        let mut recorder =
            QlogRecorder { trace: trace.into(), level, group_step: None, omitted: Omitted::default(), resume: None };
        let mut trace = recorder.trace.lock();
        if level != Level::Recovery {
            let start = Start { controller: text.to_owned(), path: *path, decision: *decision };
            trace.private(path.now.0, STARTED, &start);
        }
        if level != Level::StepsOnly {
            write_decision(&mut trace, path.now.0, decision, Metrics::default(), None);
        }
        let resume = ResumeLog::begin(&mut trace, path, decision, inspect);
        drop(trace);
        recorder.resume = resume;
        recorder
    }

    /// Leaves `packet_lost` to the writer of the packets.
    #[must_use]
    pub fn without_packet_lost(mut self) -> Self {
        self.omitted.packets = true;
        self
    }

    /// Leaves `mtu_updated` to another writer of the trace.
    #[must_use]
    pub fn without_mtu_updated(mut self) -> Self {
        self.omitted.mtu = true;
        self
    }

    /// Tells at once, as marks of no packet at `now`, that the recorder tells the network's: for a stack whose ACK frames count
    /// packets that it marked itself.
    #[must_use]
    pub fn with_marks_of_the_network(self, now: Time) -> Self {
        if self.level != Level::StepsOnly {
            self.trace.lock().private(now.0, MARKED, &Marks { packets: 0 });
        }
        self
    }

    /// The trace, for another writer.
    #[must_use]
    pub fn trace(&self) -> SharedTrace<W> {
        self.trace.clone()
    }
}

impl<W: Write + Send> Recorder for QlogRecorder<W> {
    fn on_group_step(&mut self, step: GroupStep) {
        self.group_step = Some(step);
    }

    fn record(&mut self, event: &Event, decision: &Decision, state_variables: &StateVariables<'_>) {
        let group_step = self.group_step.take();
        let mut trace = self.trace.lock();
        if self.level != Level::StepsOnly {
            write_event(&mut trace, event, self.omitted);
            let (metrics, trigger) = seen(event);
            write_decision(&mut trace, event.now.0, decision, metrics, trigger);
        }
        if let Some(resume) = self.resume.take() {
            self.resume = resume.update(&mut trace, event.now, decision, state_variables);
        }
        if self.level != Level::Recovery {
            let step = Step { event: *event, decision: *decision, group_step };
            trace.private(event.now.0, STEPPED, &Stepped { step, state_variables: StateVariableMap(state_variables) });
        }
    }
}

/// Standard metrics and state of a decision, together with those `seen` in the event.
fn write_decision<W: Write>(
    trace: &mut Trace<W>,
    now: u64,
    decision: &Decision,
    seen: Metrics,
    trigger: Option<&'static str>,
) {
    trace.congestion_state(now, decision.phase.qlog_name(), trigger);
    let metrics =
        Metrics { cwnd: Some(decision.cwnd), ssthresh: decision.ssthresh, pacing_rate: decision.pacing_rate, ..seen };
    trace.recovery_metrics(now, &metrics);
}

/// The metrics an event brings, and what to call it where it changes the state.
fn seen(event: &Event) -> (Metrics, Option<&'static str>) {
    let trigger = match event.kind {
        EventKind::PacketsLost(_) => Some("loss"),
        EventKind::PersistentCongestion(_) => Some("persistent_congestion"),
        EventKind::EcnCe(_) => Some("ecn"),
        EventKind::SpuriousLoss(_) => Some("spurious_loss"),
        EventKind::IdleRestart(_) => Some("idle"),
        _ => None,
    };
    let rtt = event.rtt();
    let metrics = Metrics {
        bytes_in_flight: event.in_flight(),
        latest_rtt: rtt.map(|rtt| rtt.latest.0),
        smoothed_rtt: rtt.map(|rtt| rtt.smoothed.0),
        min_rtt: rtt.map(|rtt| rtt.min.0),
        rtt_variance: rtt.map(|rtt| rtt.variation.0),
        app_limited: match event.kind {
            EventKind::PacketsAcked(acked) => Some(acked.app_limited),
            _ => None,
        },
        ..Metrics::default()
    };
    (metrics, trigger)
}

#[derive(Serialize)]
struct Loss {
    packets: u32,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_packet_number: Option<u64>,
    persistent_congestion: bool,
}

#[derive(Serialize)]
struct Marks {
    packets: u32,
}

#[derive(Serialize)]
struct Nothing {}

/// Losses, marks and changes of the datagram size.
fn write_event<W: Write>(trace: &mut Trace<W>, event: &Event, omitted: Omitted) {
    let now = event.now.0;
    match event.kind {
        EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => {
            // Only of a single packet is the number known.
            if let (1, Some(number), false) = (lost.packets, lost.newest_pn, omitted.packets) {
                let trigger = match lost.trigger {
                    LossTrigger::PacketThreshold => Some(windlass_qlog::LossTrigger::ReorderingThreshold),
                    LossTrigger::TimeThreshold => Some(windlass_qlog::LossTrigger::TimeThreshold),
                    _ => None,
                };
                trace.packet_lost(now, PacketType::OneRtt, number, trigger);
            }
            let loss = Loss {
                packets: lost.packets,
                bytes: lost.bytes,
                newest_packet_number: lost.newest_pn,
                persistent_congestion: matches!(event.kind, EventKind::PersistentCongestion(_)),
            };
            trace.private(now, LOST, &loss);
        }
        EventKind::EcnCe(marked) => trace.private(now, MARKED, &Marks { packets: marked.packets }),
        EventKind::SpuriousLoss(_) => trace.private(now, SPURIOUS_LOSS, &Nothing {}),
        EventKind::MtuUpdated(_) if omitted.mtu => {}
        EventKind::MtuUpdated(new) => trace.mtu_updated(now, None, new),
        _ => {}
    }
}

/// A step and, last in the same object, the state variables after it.
#[derive(Serialize)]
struct Stepped<'a> {
    #[serde(flatten)]
    step: Step,
    state_variables: StateVariableMap<'a>,
}

/// The state variables as an object; one that is not finite is `null`.
struct StateVariableMap<'a>(&'a StateVariables<'a>);

impl Serialize for StateVariableMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut result = Ok(());
        (self.0)(&mut |name, value| {
            if result.is_ok() {
                result = map.serialize_entry(name, &value);
            }
        });
        result?;
        map.end()
    }
}

#[cfg(test)]
pub(crate) mod tests;
