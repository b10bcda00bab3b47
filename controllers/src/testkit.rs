//! What the schemes' unit tests are written with.
#![allow(dead_code, reason = "each test uses what it needs")]

pub mod driven;
pub mod pipe;
pub mod trace;

use crate::event::{EcnCe, LossTrigger, PacketsAcked, PacketsLost, RttSample};
use crate::parts::limits::Limits;
use crate::parts::window::Window;
use crate::parts::window_controller::{State, WindowController};
use crate::parts::window_scheme::WindowScheme;
use crate::{Controller, Event, EventKind, Parameters, Path, Span, Table, Time, View};

#[path = "../tests/it/shared.rs"]
mod shared;

pub use shared::{Flows, cases, one_of, runs};

/// Datagram size of the tests, bytes.
pub const MTU: u32 = 1000;

/// A path at the origin of time.
pub const PATH: Path = Path::new(Time::ZERO, MTU, 1);

/// `packets` full datagrams newly acknowledged, the newest sent at `sent_at`; fill in
/// the rest with struct update syntax.
pub fn acked(packets: u32, sent_at: Time) -> PacketsAcked {
    let bytes = u64::from(packets) * u64::from(MTU);
    PacketsAcked::new(bytes, packets, sent_at, 0, bytes)
}

/// One datagram lost, sent at `sent_at`.
pub fn lost(sent_at: Time) -> PacketsLost {
    PacketsLost::new(u64::from(MTU), 1, sent_at, 9 * u64::from(MTU))
        .with_in_flight_before(10 * u64::from(MTU))
        .with_trigger(LossTrigger::PacketThreshold)
}

/// One CE mark on a frame whose newest packet was sent at `sent_at`.
pub fn marked(sent_at: Time) -> EcnCe {
    EcnCe::new(1, sent_at, 10 * u64::from(MTU))
}

/// `params` without the bound that losses put on windows and with a least delay believed for ever, for the document's own rules.
pub fn unbounded<P: Parameters>(mut params: P) -> P {
    params.set("loss_bound", "0").unwrap();
    // Not all that answer delay have one.
    let _ = params.set("base_window", "0");
    params
}

/// A sample of `latest`, which is also the smoothed and the minimum RTT.
pub fn rtt(latest: Span) -> RttSample {
    RttSample::new(latest, latest, Span(latest.0 / 4), latest)
}

/// A window of `cwnd` packets in congestion avoidance.
pub fn window(cwnd: f64) -> Window {
    let mut window = Window::start(&Limits::default(), &PATH);
    window.cwnd = cwnd;
    window.ssthresh = 2.0;
    window
}

/// One step of a controller outside any group.
pub fn step<C: Controller<Group = ()>>(
    params: &C::Params,
    mut state: C::State,
    now: Time,
    kind: EventKind,
) -> C::State {
    C::step(params, &mut state, Table::solo(&mut ()), &Event::new(now, kind));
    state
}

/// A flow of a window scheme from `from` to `until` on a path whose RTT stays `rtt`: every packet
/// is acknowledged by itself, evenly spaced over the round trip, with an RTT sample, and
/// the window is always used.
pub fn clocked<S: WindowScheme<Group = ()>>(
    params: &S::Params,
    mut state: State<S::State>,
    from: Time,
    until: Time,
    rtt: Span,
) -> State<S::State> {
    let mut now = from.0 as f64;
    loop {
        now += rtt.0 as f64 / state.window.cwnd;
        let at = Time(now as u64);
        if at > until {
            return state;
        }
        let sent_at = Time(at.0.saturating_sub(rtt.0));
        let kind = EventKind::PacketsAcked((acked(1, sent_at)).with_rtt(Some(self::rtt(rtt))));
        state = step::<WindowController<S>>(params, state, at, kind);
    }
}

/// The value a controller outside any group shows under `name`.
#[track_caller]
pub fn state_variable<C: Controller<Group = ()>>(params: &C::Params, state: &C::State, name: &str) -> f64 {
    let mut found = None;
    C::inspect(params, state, View::solo(&()), &mut |n, value| {
        if n == name {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("{} has no state variable {name:?}", C::INFO.name))
}

/// Panics unless `a` and `b` differ by less than `tolerance`, relatively where they
/// are above 1.
#[track_caller]
pub fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} is not {b} within {tolerance}");
}

/// Groups of flows and what happens to their members, for the tests of grouped schemes.
pub mod groups {
    use std::vec::Vec;

    use super::{Flows, PATH, acked, lost};
    use crate::{ConfiguredController, Controller, Event, EventKind, Static, Time};

    /// A group whose members are in congestion avoidance with these windows.
    pub fn group<C: Controller + core::fmt::Debug + 'static>(params: C::Params, windows: &[f64]) -> Flows<Static<C>> {
        let mut group = Flows::new(Static(params));
        for cwnd in windows {
            group.join(&PATH);
            let me = group.members.len() - 1;
            group.members[me].cwnd = *cwnd;
            group.members[me].ssthresh = 2.0;
        }
        group
    }

    /// An event of member `me` at `ms`.
    pub fn on<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64, kind: EventKind) {
        group.step(me, &Event::new(Time(ms * 1_000_000), kind));
    }

    /// Loses a packet just sent.
    pub fn lose<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64) {
        on(group, me, ms, EventKind::PacketsLost(lost(Time(ms * 1_000_000))));
    }

    /// Acknowledges `packets` sent one RTT before.
    pub fn ack<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64, packets: u32) {
        on(group, me, ms, EventKind::PacketsAcked(acked(packets, Time(ms * 1_000_000))));
    }

    /// Persistent congestion.
    pub fn time_out<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64) {
        on(group, me, ms, EventKind::PersistentCongestion(lost(Time(ms * 1_000_000))));
    }

    /// The members' windows.
    pub fn windows<E: ConfiguredController>(group: &Flows<E>) -> Vec<f64> {
        group.members.iter().map(|member| member.cwnd).collect()
    }

    /// The members' thresholds.
    pub fn thresholds<E: ConfiguredController>(group: &Flows<E>) -> Vec<f64> {
        group.members.iter().map(|member| member.ssthresh).collect()
    }
}
