//! A stack's own controllers, watched like ours.
//!
//! A [`NativeObserver`] gets the events ours would get and returns the decisions of the stack's own
//! controller, so that sender logs and qlog are the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_controllers::{
    ConfiguredController, Decision, Event, EventKind, Info, Path, Phase, Signals, Table, Time, View,
};

/// A name no stack, or not this one, has a controller of its own for.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{stack} has no controller {name:?} of its own; {}", expected(stack, known))]
pub struct NoNative {
    /// Name of the stack.
    pub stack: &'static str,
    /// The name after `native:`.
    pub name: String,
    /// The stack's own controllers.
    pub known: &'static [&'static str],
}

impl std::fmt::Debug for NoNative {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn expected(stack: &str, known: &[&str]) -> String {
    match known {
        [] => format!("native controllers are those of real stacks, and {stack} is none"),
        known => format!("expected native:{}", known.join(", native:")),
    }
}

/// Latest decision of a stack's own controller.
#[derive(Debug)]
pub struct NativeDecision {
    cwnd: AtomicU64,
    /// Bytes; `u64::MAX` where the stack reports none.
    ssthresh: AtomicU64,
    /// Bit/s; `u64::MAX` where the stack reports none.
    pacing_rate: AtomicU64,
}

impl NativeDecision {
    /// A controller that starts with a window of `cwnd` bytes.
    #[must_use]
    pub fn new(cwnd: u64) -> Arc<NativeDecision> {
        let none = || AtomicU64::new(u64::MAX);
        Arc::new(NativeDecision { cwnd: AtomicU64::new(cwnd), ssthresh: none(), pacing_rate: none() })
    }

    /// Takes down its window and slow start threshold, bytes, and its pacing rate, bit/s.
    pub fn note(&self, cwnd: u64, ssthresh: Option<u64>, pacing_rate: Option<u64>) {
        self.cwnd.store(cwnd, Ordering::Relaxed);
        self.ssthresh.store(ssthresh.unwrap_or(u64::MAX), Ordering::Relaxed);
        self.pacing_rate.store(pacing_rate.unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// A configured controller whose decisions are the [`NativeDecision`] at the time.
#[derive(Clone, Debug)]
pub struct NativeObserver(pub Arc<NativeDecision>);

/// The state of an observer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    cwnd: u64,
    /// Time at which the window last shrank on a loss or a mark.
    recovery_start: Option<Time>,
    /// No packet sent since then was acknowledged yet.
    in_recovery: bool,
}

impl ConfiguredController for NativeObserver {
    type State = State;
    type Group = ();

    fn info(&self) -> Info {
        Info { name: "native", summary: "the stack's own controller", source: "the stack", fallback: None }
    }

    fn needs(&self) -> Signals {
        Signals::NONE
    }

    fn wants_packet_sent(&self) -> bool {
        false
    }

    fn group(&self) {}

    fn start(&self, _: &Path) -> State {
        State { cwnd: self.0.cwnd.load(Ordering::Relaxed), recovery_start: None, in_recovery: false }
    }

    fn step(&self, state: &mut State, _: Table<'_, ()>, event: &Event) {
        let cwnd = self.0.cwnd.load(Ordering::Relaxed);
        match &event.kind {
            EventKind::PacketsLost(_) | EventKind::EcnCe(_) if cwnd < state.cwnd => {
                state.recovery_start = Some(event.now);
                state.in_recovery = true;
            }
            EventKind::PacketsAcked(acked)
                if state.recovery_start.is_some_and(|start| acked.newest_sent_at > start) =>
            {
                state.in_recovery = false;
            }
            _ => {}
        }
        state.cwnd = cwnd;
    }

    fn decide(&self, state: &State, _: View<'_, ()>) -> Decision {
        let some = |number: &AtomicU64| Some(number.load(Ordering::Relaxed)).filter(|number| *number < u64::MAX);
        let ssthresh = some(&self.0.ssthresh);
        Decision::new(state.cwnd)
            .with_ssthresh(ssthresh)
            .with_pacing_rate(some(&self.0.pacing_rate))
            .with_phase(match ssthresh {
                _ if state.in_recovery => Phase::Recovery,
                Some(ssthresh) if state.cwnd >= ssthresh => Phase::CongestionAvoidance,
                _ => Phase::SlowStart,
            })
            .with_recovery_start(state.recovery_start)
    }

    fn inspect(&self, _: &State, _: View<'_, ()>, _: &mut dyn FnMut(&'static str, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_controllers::event::PacketsLost;

    #[test]
    fn a_shadow_decides_what_was_seen() {
        let decided = NativeDecision::new(12_000);
        let observer = NativeObserver(Arc::clone(&decided));
        let mut state = observer.start(&Path::new(Time::ZERO, 1200, 0));
        assert_eq!(observer.decide(&state, View::solo(&())).phase, Phase::SlowStart);
        decided.note(6000, Some(6000), Some(7));
        let lost = PacketsLost::new(1200, 1, Time(1), 10_800).with_in_flight_before(12_000);
        observer.step(&mut state, Table::solo(&mut ()), &Event::new(Time(5), EventKind::PacketsLost(lost)));
        let decision = observer.decide(&state, View::solo(&()));
        assert_eq!((decision.cwnd, decision.ssthresh, decision.pacing_rate), (6000, Some(6000), Some(7)));
        assert_eq!((decision.phase, decision.recovery_start), (Phase::Recovery, Some(Time(5))));
        // The same loss goes on, the window stays.
        observer.step(&mut state, Table::solo(&mut ()), &Event::new(Time(6), EventKind::PacketsLost(lost)));
        assert_eq!(observer.decide(&state, View::solo(&())).recovery_start, Some(Time(5)));
    }

    #[test]
    fn what_there_is_not_is_said() {
        let error = |known| NoNative { stack: "quinn", name: "bbr9".to_owned(), known }.to_string();
        assert_eq!(
            error(&["cubic", "bbr"]),
            "quinn has no controller \"bbr9\" of its own; expected native:cubic, native:bbr"
        );
        assert!(error(&[]).ends_with("quinn is none"));
    }
}
