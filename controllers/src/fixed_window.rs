//! A window that never changes: no congestion control at all, for tests.
//!
//! What a stack or the simulator does with a decision can be seen from outside only if
//! the decision stands still. [`FixedWindow`] is not in the catalogue, since on a network
//! that others use it does harm; it plugs into the generic side of every adapter
//! and of the simulator through [`Static`]:
//!
//! ```
//! use windlass_controllers::fixed_window::{FixedWindow, Params};
//! use windlass_controllers::{ConfiguredController, Path, Time, View};
//!
//! let controller = FixedWindow::configured(20);
//! let state = controller.start(&Path::new(Time::ZERO, 1200, 1));
//! assert_eq!(controller.decide(&state, View::solo(&())).cwnd, 20 * 1200);
//! let paced = windlass_controllers::Static::<FixedWindow>(Params { rate: 8.0, ..Params::default() });
//! assert_eq!(paced.decide(&state, View::solo(&())).pacing_rate, Some(8_000_000));
//! ```
//!
//! Where only the text of a catalogue controller will do, in a scenario file say,
//! [`catalogue`] gives one that keeps its window as well, though it still answers
//! congestion with a recovery period and a threshold.

use crate::{
    Algorithm, Controller, Decision, Ecn, Event, EventKind, Info, Path, Phase, Signals, Static, Table, View, choice,
    parameters,
};

choice! {
    /// The codepoint of data packets.
    pub enum Codepoint {
        /// Whatever the stack does by itself.
        Unspecified = "unspecified",
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(0).
        Ect0 = "ect0",
        /// ECT(1).
        Ect1 = "ect1",
    }
}

parameters! {
    /// Parameters of [`FixedWindow`].
    pub struct Params {
        /// Congestion window, constant.
        window: u32 = 10, in 1, 1_048_576, unit "packets", source "choice";
        /// Pacing rate; 0 leaves pacing to the stack.
        rate: f64 = 0.0, in 0.0, 1e8, unit "Mbit/s", source "choice";
        /// ECN codepoint of data packets; unspecified leaves it to the stack.
        ecn: Codepoint = Codepoint::Unspecified, source "choice";
        /// Differentiated services codepoint of data packets.
        dscp: u32 = 0, in 0, 63, source "choice";
    }
}

/// A window that never changes; its state is the datagram size.
#[derive(Debug)]
pub struct FixedWindow;

impl FixedWindow {
    /// A window of `packets`, everything else the stack's own.
    #[must_use]
    pub fn configured(packets: u32) -> Static<FixedWindow> {
        Static(Params { window: packets, ..Params::default() })
    }
}

/// A controller of the catalogue whose window stays at `packets`: Reno with all its limits
/// set to that. `None` below 2 packets or above the largest window a controller takes.
#[must_use]
pub fn catalogue(packets: u32) -> Option<Algorithm> {
    let Algorithm::Reno(mut params) = Algorithm::named("reno")? else { return None };
    let window = f64::from(packets);
    let limits = &mut params.base.limits;
    if !(2.0..=limits.max_window).contains(&window) {
        return None;
    }
    (limits.iw, limits.min_window, limits.timeout_window, limits.max_window) = (window, window, window, window);
    Some(Algorithm::Reno(params))
}

impl Controller for FixedWindow {
    const INFO: Info =
        Info { name: "fixed-window", summary: "never changes its window; for tests", source: "choice", fallback: None };
    type Params = Params;
    type State = u32;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        if params.rate > 0.0 { Signals::PACING } else { Signals::NONE }
    }

    fn group(_: &Params) {}

    fn start(_: &Params, path: &Path) -> u32 {
        path.mtu
    }

    fn step(_: &Params, state: &mut u32, _: Table<'_, ()>, event: &Event) {
        if let EventKind::MtuUpdated(mtu) = event.kind {
            *state = mtu;
        }
    }

    fn decide(params: &Params, mtu: &u32, _: View<'_, ()>) -> Decision {
        Decision {
            cwnd: u64::from(params.window) * u64::from(*mtu),
            ssthresh: None,
            pacing_rate: (params.rate > 0.0).then_some((params.rate * 1e6) as u64),
            target_rate: None,
            wake_at: None,
            ecn: match params.ecn {
                Codepoint::Unspecified => Ecn::Unspecified,
                Codepoint::NotEct => Ecn::NotEct,
                Codepoint::Ect0 => Ecn::Ect0,
                Codepoint::Ect1 => Ecn::Ect1,
            },
            dscp: params.dscp as u8,
            train: None,
            phase: Phase::CongestionAvoidance,
            recovery_start: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{MTU, PATH, acked, cases, lost, marked, step};
    use crate::{ConfiguredController, Parameters, Span, Time};
    use proptest::prelude::*;

    /// An event of one of the kinds that make other windows move.
    fn event(kind: u8, now: Time) -> EventKind {
        match kind {
            0 => EventKind::PacketsLost(lost(now)),
            1 => EventKind::PersistentCongestion(lost(now)),
            2 => EventKind::EcnCe(marked(now)),
            _ => EventKind::PacketsAcked(acked(50, now)),
        }
    }

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn nothing_moves_the_window(window in 2u32..5000, kinds in proptest::collection::vec(0u8..4, 1..60)) {
            let fixed = Params { window, ..Params::default() };
            let mut state = FixedWindow::start(&fixed, &PATH);
            let listed = catalogue(window).unwrap();
            let (mut listed_state, mut shared) = (listed.start(&PATH), listed.group());
            for (i, kind) in kinds.into_iter().enumerate() {
                let now = Time::ZERO + Span::from_millis(100 * (i as u64 + 1));
                state = step::<FixedWindow>(&fixed, state, now, event(kind, now));
                listed.step(&mut listed_state, Table::solo(&mut shared), &Event { now, kind: event(kind, now) });
                let bytes = u64::from(window) * u64::from(MTU);
                prop_assert_eq!(FixedWindow::decide(&fixed, &state, View::solo(&())).cwnd, bytes);
                prop_assert_eq!(listed.decide(&listed_state, View::solo(&shared)).cwnd, bytes);
            }
        }
    }

    #[test]
    fn it_follows_the_datagram_size_and_marks_as_told() {
        let mut params = Params::default();
        for (name, value) in [("window", "7"), ("rate", "2.5"), ("ecn", "ect1"), ("dscp", "11")] {
            params.set(name, value).unwrap();
        }
        assert!(params.set("window", "0").is_err() && params.set("dscp", "64").is_err());
        let engine = Static::<FixedWindow>(params);
        let mut state = engine.start(&PATH);
        engine.step(&mut state, Table::solo(&mut ()), &Event { now: Time::ZERO, kind: EventKind::MtuUpdated(1400) });
        let decision = engine.decide(&state, View::solo(&()));
        assert_eq!((decision.cwnd, decision.pacing_rate), (9800, Some(2_500_000)));
        assert_eq!((decision.ecn, decision.dscp), (Ecn::Ect1, 11));
    }

    #[test]
    fn the_catalogue_has_none_below_two_packets() {
        assert_eq!((catalogue(1), catalogue(2_000_000)), (None, None));
        let listed = catalogue(20).unwrap();
        let text = std::format!("{listed}");
        assert_eq!(Algorithm::read(&text).unwrap(), listed, "{text}");
        assert_eq!(text, "reno:iw=20,min_window=20,timeout_window=20,max_window=20");
    }
}
