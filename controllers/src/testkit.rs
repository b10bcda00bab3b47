//! What the schemes' unit tests are written with.
#![allow(dead_code, reason = "each test uses what it needs")]

pub mod driven;
pub mod groups;
pub mod pipe;
pub mod trace;

use crate::event::{EcnCe, LossTrigger, PacketsAcked, PacketsLost, RttSample};
use crate::parts::base::Base;
use crate::parts::window::Window;
use crate::parts::window_controller::{State, WindowController};
use crate::parts::window_scheme::WindowScheme;
use crate::{Controller, Event, EventKind, Path, Span, Table, Time, View};

#[path = "../tests/cases/mod.rs"]
mod cases;
#[path = "../tests/flows/mod.rs"]
pub mod flows;

pub use cases::{cases, runs};

/// Datagram size of the tests, bytes.
pub const MTU: u32 = 1000;

/// A path at the origin of time.
pub const PATH: Path = Path { now: Time::ZERO, mtu: MTU, seed: 1 };

/// `packets` full datagrams newly acknowledged, the newest sent at `sent_at`; fill in
/// the rest with struct update syntax.
pub fn acked(packets: u32, sent_at: Time) -> PacketsAcked {
    let bytes = u64::from(packets) * u64::from(MTU);
    PacketsAcked {
        bytes,
        packets,
        fresh_bytes: bytes,
        newest_sent_at: sent_at,
        newest_pn: None,
        newest_in_flight: None,
        in_flight_before: bytes,
        in_flight: 0,
        delivered: bytes,
        app_limited: false,
        rtt: None,
        one_way: None,
        queueing: None,
        congestion_indication: None,
        delivery: None,
    }
}

/// One datagram lost, sent at `sent_at`.
pub fn lost(sent_at: Time) -> PacketsLost {
    PacketsLost {
        bytes: u64::from(MTU),
        packets: 1,
        newest_sent_at: sent_at,
        newest_pn: None,
        in_flight_before: 10 * u64::from(MTU),
        in_flight: 9 * u64::from(MTU),
        trigger: LossTrigger::PacketThreshold,
        transmissions: 1,
    }
}

/// One CE mark on a frame whose newest packet was sent at `sent_at`.
pub fn marked(sent_at: Time) -> EcnCe {
    EcnCe { packets: 1, newest_sent_at: sent_at, newest_pn: None, in_flight: 10 * u64::from(MTU) }
}

/// A sample of `latest`, which is also the smoothed and the minimum RTT.
pub fn rtt(latest: Span) -> RttSample {
    RttSample { latest, smoothed: latest, variation: Span(latest.0 / 4), min: latest, ack_delay: Span::ZERO }
}

/// A window of `cwnd` packets in congestion avoidance.
pub fn window(cwnd: f64) -> Window {
    let mut window = Window::start(&Base::default(), &PATH);
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
    C::step(params, &mut state, Table::solo(&mut ()), &Event { now, kind });
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
        let kind = EventKind::PacketsAcked(PacketsAcked { rtt: Some(self::rtt(rtt)), ..acked(1, sent_at) });
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
