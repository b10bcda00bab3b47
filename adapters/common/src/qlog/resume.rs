//! Phases of careful resume as qlog (`draft-ietf-tsvwg-careful-resume-qlog §4.1`).

use std::io::Write;

use serde::Serialize;
use windlass_controllers::parts::careful_resume::{ResumePhase, ResumeTrigger, variables};
use windlass_controllers::{Decision, Path, SavedPath, Time};
use windlass_qlog::Trace;

use crate::StateVariables;

/// Name of the event.
pub(super) const PHASE_UPDATED: &str = "quic:careful_resume_phase_updated";

/// `QUICCarefulResumePhaseUpdated`.
#[derive(Serialize)]
struct PhaseUpdated {
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'static str>,
    new: &'static str,
    state_data: StateData,
    #[serde(skip_serializing_if = "Option::is_none")]
    restored_data: Option<RestoredData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger: Option<&'static str>,
}

/// `CarefulResumeStateParameters`; numbers of packets that the stack does not report, or that do not exist yet, are
/// left out.
#[derive(Default, Serialize)]
struct StateData {
    pipesize: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unvalidated_packet: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_unvalidated_packet: Option<u64>,
    congestion_window: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u64>,
}

/// `CarefulResumeRestoredParameters`.
#[derive(Serialize)]
struct RestoredData {
    saved_congestion_window: u64,
    /// Milliseconds.
    saved_rtt: f32,
}

/// A flow whose careful resume is not over.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResumeLog {
    saved: SavedPath,
    phase: ResumePhase,
}

impl ResumeLog {
    /// Writes that the flow on `path` begins to resume, if it does.
    pub fn begin<W: Write>(
        trace: &mut Trace<W>,
        path: &Path,
        decision: &Decision,
        state_variables: &StateVariables<'_>,
    ) -> Option<ResumeLog> {
        let (saved, seen) = (path.saved?, Seen::of(state_variables, decision));
        let log = ResumeLog { saved, phase: seen.phase? };
        log.write(trace, path.now, None, seen);
        Some(log)
    }

    /// Writes what became another; `None` once it is over.
    pub fn update<W: Write>(
        self,
        trace: &mut Trace<W>,
        now: Time,
        decision: &Decision,
        state_variables: &StateVariables<'_>,
    ) -> Option<ResumeLog> {
        let seen = Seen::of(state_variables, decision);
        let phase = seen.phase?;
        if phase != self.phase {
            ResumeLog { phase, ..self }.write(trace, now, Some(self.phase), seen);
        }
        (phase != ResumePhase::Normal).then_some(ResumeLog { phase, ..self })
    }

    fn write<W: Write>(&self, trace: &mut Trace<W>, now: Time, old: Option<ResumePhase>, seen: Seen) {
        let restored =
            RestoredData { saved_congestion_window: self.saved.cwnd, saved_rtt: (self.saved.rtt.secs() * 1e3) as f32 };
        let updated = PhaseUpdated {
            old: old.map(ResumePhase::qlog_name),
            new: self.phase.qlog_name(),
            state_data: seen.data,
            restored_data: old.is_none().then_some(restored),
            trigger: seen.trigger.map(ResumeTrigger::qlog_name).filter(|name| !name.is_empty()),
        };
        trace.private(now.0, PHASE_UPDATED, &updated);
    }
}

/// What the state variables say.
struct Seen {
    phase: Option<ResumePhase>,
    trigger: Option<ResumeTrigger>,
    data: StateData,
}

impl Seen {
    fn of(state_variables: &StateVariables<'_>, decision: &Decision) -> Seen {
        let data = StateData { congestion_window: decision.cwnd, ssthresh: decision.ssthresh, ..StateData::default() };
        let mut seen = Seen { phase: None, trigger: None, data };
        state_variables(&mut |name, value| match name {
            variables::PHASE => seen.phase = ResumePhase::of(value),
            variables::TRIGGER => seen.trigger = ResumeTrigger::of(value),
            variables::PIPE_SIZE => seen.data.pipesize = value as u64,
            variables::FIRST_UNVALIDATED => seen.data.first_unvalidated_packet = Some(value as u64),
            variables::LAST_UNVALIDATED => seen.data.last_unvalidated_packet = Some(value as u64),
            _ => {}
        });
        seen
    }
}
