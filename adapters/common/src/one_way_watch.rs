//! One-way delays that were negotiated and do not come.

use std::fmt::{self, Display};

use windlass_controllers::{ConfiguredController, Path, Signals, Span, Time};

use crate::Flow;

/// Round trips without a one-way delay after which none is expected any more. A handshake, whose packets carry none,
/// takes fewer.
const ROUNDS: u32 = 8;

/// Watches whether the one-way delays come that a controller needs: a peer may agree to what it does not send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneWayWatch {
    /// Round trips that are still to be waited for; 0 where nothing is.
    left: u32,
    /// End of the round trip under way.
    round_ends: Option<Time>,
    missed: bool,
}

/// How a flow whose one-way delays do not come goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FellBack {
    /// A line for the log.
    pub line: String,
    /// The controller that the flow goes on with, as a user types it; `None`: the one it had.
    pub controller: Option<String>,
}

impl OneWayWatch {
    /// The watch of a flow of `controller`.
    #[must_use]
    pub fn new<C: ConfiguredController>(controller: &C) -> OneWayWatch {
        let needed = controller.needs().contains(Signals::ONE_WAY_DELAY);
        OneWayWatch { left: if needed { ROUNDS } else { 0 }, round_ends: None, missed: false }
    }

    /// Packets were acknowledged at `now` on a path with this smoothed RTT; `came` says whether with one-way delays.
    #[inline]
    pub fn on_acked(&mut self, now: Time, came: bool, smoothed: Span) {
        if self.left > 0 {
            self.count(now, came, smoothed);
        }
    }

    #[cold]
    fn count(&mut self, now: Time, came: bool, smoothed: Span) {
        if came {
            self.left = 0;
        } else if self.round_ends.is_none_or(|end| now >= end) {
            // The first acknowledgement begins the first round trip.
            self.left -= u32::from(self.round_ends.is_some());
            self.round_ends = Some(now + smoothed);
            self.missed = self.left == 0;
        }
    }

    /// Has `flow`, which is on a path of datagrams of `mtu` bytes, go on with the documented fallback of its controller
    /// if the one-way delays that this needs do not come. Says so once.
    #[inline]
    pub fn fall_back<C: ConfiguredController>(&mut self, flow: &mut Flow<C>, now: Time, mtu: u32) -> Option<FellBack> {
        std::mem::take(&mut self.missed).then(|| fall_back(flow, now, mtu))
    }
}

/// Starts the flow anew, with `now` as its seed and without a recorder: a replay could not follow.
#[cold]
fn fall_back<C: ConfiguredController>(flow: &mut Flow<C>, now: Time, mtu: u32) -> FellBack {
    let missing = format!("{} needs one-way delays, but none came in {ROUNDS} round trips", Typed(flow.controller()));
    let Some((fallback, does)) = fallback(flow) else {
        return FellBack { line: format!("{missing}; it has no fallback and goes on without"), controller: None };
    };
    let controller = Typed(&fallback).to_string();
    let recorded = if flow.is_recorded() { ", its recording ends" } else { "" };
    *flow = Flow::ungrouped(fallback, &Path::new(now, mtu, now.0));
    let line = format!("{missing}; the flow starts anew as {controller} ({does}){recorded}");
    FellBack { line, controller: Some(controller) }
}

/// The controller of `flow` with its documented fallback turned on, and what that does, if it works without one-way
/// delays on any stack that could run the one without. A flow of a group has none: it would leave its group.
fn fallback<C: ConfiguredController>(flow: &Flow<C>) -> Option<(C, &'static str)> {
    let controller = flow.controller();
    let does = controller.fallback().filter(|_| !flow.is_grouped())?;
    let other = controller.with("fallback", "on")?;
    // Every stack reports round-trip times.
    let reported = controller.needs().without(Signals::ONE_WAY_DELAY).and(Signals::RTT);
    reported.contains(other.needs()).then_some((other, does))
}

/// Displays the text that reads as a controller.
struct Typed<'a, C>(&'a C);

impl<C: ConfiguredController> Display for Typed<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamedController;

    const PATH: Path = Path::new(Time(0), 1200, 1);

    fn flow(controller: &str) -> (Flow, OneWayWatch) {
        let flow = Flow::ungrouped(NamedController::read(controller).unwrap(), &PATH);
        let watch = OneWayWatch::new(flow.controller());
        (flow, watch)
    }

    /// The times at which a flow of `controller` falls back that has an ACK every unit of time, in round trips of ten.
    fn times(controller: &str, came: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut flow, mut watch) = flow(controller);
        let mut missed = |at: u64| {
            watch.on_acked(Time(at), came(at), Span(10));
            watch.fall_back(&mut flow, Time(at), 1200).is_some()
        };
        (0..1000).filter(|at| missed(*at)).collect()
    }

    #[test]
    fn what_does_not_come_in_eight_round_trips_never_comes() {
        assert_eq!(times("ledbat", |_| false), [80], "once");
        assert_eq!(times("tcp-lp", |at| at > 80), [80]);
    }

    #[test]
    fn what_came_once_or_is_not_needed_is_not_missed() {
        assert!(times("tcp-lp", |at| at == 79).is_empty());
        for controller in ["ledbat:fallback=on", "reno", "bbr"] {
            assert!(times(controller, |_| false).is_empty(), "{controller}");
        }
    }

    #[test]
    fn rounds_without_acknowledgements_do_not_count() {
        let (_, mut watch) = flow("ledbat");
        watch.on_acked(Time(0), false, Span(10));
        watch.on_acked(Time(1_000_000), false, Span(10));
        assert_eq!((watch.left, watch.missed), (ROUNDS - 1, false));
    }

    #[test]
    fn a_flow_starts_anew_with_its_fallback() {
        let (mut flow, _) = flow("ledbat:iw=4");
        let fell_back = fall_back(&mut flow, Time(99), 1000);
        let typed = fell_back.controller.unwrap();
        assert_eq!(NamedController::read(&typed).unwrap(), NamedController::read("ledbat:iw=4,fallback=on").unwrap());
        assert_eq!(
            fell_back.line,
            format!(
                "ledbat:iw=4 needs one-way delays, but none came in 8 round trips; \
                 the flow starts anew as {typed} (takes round-trip times for one-way delays)"
            )
        );
        assert!(!flow.controller().needs().contains(Signals::ONE_WAY_DELAY));
        assert_eq!(flow.cwnd(), 4000);
    }

    #[test]
    fn one_without_a_fallback_goes_on() {
        let (mut flow, _) = flow("rapid");
        let before = (*flow.controller(), flow.state().clone());
        let FellBack { line, controller } = fall_back(&mut flow, Time(99), 1000);
        assert_eq!(controller, None);
        assert!(line.ends_with("round trips; it has no fallback and goes on without"), "{line}");
        assert_eq!((*flow.controller(), flow.state().clone()), before);
    }

    #[test]
    fn a_recording_ends_and_the_log_says_so() {
        struct Ends(#[expect(dead_code, reason = "its end is what the test waits for")] std::sync::mpsc::Sender<()>);
        impl crate::Recorder for Ends {
            fn record(&mut self, _: &crate::Event, _: &crate::Decision, _: &crate::StateVariables<'_>) {}
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let (mut flow, _) = flow("tcp-lp");
        flow.record(Box::new(Ends(sender)));
        let fell_back = fall_back(&mut flow, Time(99), 1000);
        assert!(fell_back.line.ends_with(", its recording ends"), "{}", fell_back.line);
        assert_eq!(receiver.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
    }
}
