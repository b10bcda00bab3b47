//! The contract: a controller is three pure functions over plain data.

use core::fmt::{self, Debug, Write};

use crate::event::with;
use crate::param::{Param, ParamError, Range};
use crate::text::{self, Configurable, Names};
use crate::{Decision, Event, Parameters, Signals, Span, Table, Time, View};

/// What is known of a path when a flow starts on it.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Path {
    /// Time at which the flow starts, on the clock of its events.
    pub now: Time,
    /// Maximum datagram size, bytes; what one packet of window is worth.
    pub mtu: u32,
    /// Seed for a controller that needs randomness; equal seeds, equal runs.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub seed: u64,
    /// What an earlier flow on it observed, to be resumed by [careful resume](crate::parts::careful_resume); `None` where
    /// nothing is known or this flow may not use it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub saved: Option<SavedPath>,
}

impl Path {
    /// A path on which a flow starts at `now`, with datagrams of at most `mtu` bytes, and of which nothing else is known.
    #[must_use]
    #[inline]
    pub const fn new(now: Time, mtu: u32, seed: u64) -> Path {
        Path { now, mtu, seed, saved: None }
    }

    with! {
        /// With what an earlier flow observed.
        with_saved(saved: Option<SavedPath>);
    }
}

/// The CC parameters of a path (`RFC 9959 §2.4`) that a later flow may resume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SavedPath {
    /// `saved_cwnd`: what the path delivered in `saved_rtt`, bytes.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub cwnd: u64,
    /// `saved_rtt`: the smallest RTT.
    pub rtt: Span,
    /// `max_jump`: the window resumed is no larger, bytes.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub max_jump: u64,
    /// The flow that observed it had left slow start: the path carries that much and no more.
    pub is_full: bool,
}

impl SavedPath {
    /// A path that delivered `cwnd` bytes in its smallest RTT, `rtt`; half of them are resumed (`RFC 9959 §3.3`).
    #[must_use]
    #[inline]
    pub const fn new(cwnd: u64, rtt: Span) -> SavedPath {
        SavedPath { cwnd, rtt, max_jump: u64::MAX, is_full: false }
    }

    with! {
        /// With a bound on the window resumed, bytes.
        with_max_jump(max_jump: u64);
        /// The same with [`is_full`](Self::is_full).
        with_full(is_full: bool);
    }
}

/// What a controller says of itself, once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The controller's name, as in `-c NAME`: lower case, words joined by `-`.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// The document it is built from.
    pub source: &'static str,
    /// What the documented fallback does when a needed signal is missing, for controllers that
    /// have a `fallback` parameter.
    pub fallback: Option<&'static str>,
}

/// A congestion control algorithm.
///
/// The functions are pure: no clock, no I/O, no global, no hidden randomness.
/// Equal inputs give bit-equal outputs on every platform. Windows are packets
/// inside and bytes in [`Decision`].
pub trait Controller {
    /// Its name, summary, source and fallback.
    const INFO: Info;
    /// Whether it needs an event for every packet sent.
    const WANTS_PACKET_SENT: bool = false;
    /// Every constant of the document, with its default.
    type Params: Parameters;
    /// State of one flow.
    type State: Copy + PartialEq + Debug + Send + Sync + 'static;
    /// What flows of one group share besides their windows; `()` without groups.
    type Group: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// What it cannot work without, under these parameters.
    fn needs(params: &Self::Params) -> Signals;

    /// Shared state of a new group.
    fn group(params: &Self::Params) -> Self::Group;

    /// The state of a new flow on `path`.
    fn start(params: &Self::Params, path: &Path) -> Self::State;

    /// Takes `event` into the flow's state and, in a group, into the group's table. States are
    /// `Copy`: who needs the state before as well copies it first.
    fn step(params: &Self::Params, state: &mut Self::State, group: Table<'_, Self::Group>, event: &Event);

    /// What the flow may do now. Changes nothing.
    fn decide(params: &Self::Params, state: &Self::State, group: View<'_, Self::Group>) -> Decision;

    /// Names the state variables worth logging, each with its value. Units are part of
    /// the name (`base_rtt_ms`); a name without one is packets, a count or a flag.
    fn inspect(
        params: &Self::Params,
        state: &Self::State,
        group: View<'_, Self::Group>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let _ = (params, state, group, visit);
    }
}

/// An algorithm together with its parameters: what the generic side of an adapter is
/// built over. [`Algorithm`](crate::Algorithm) is that of the catalogue, [`Static`] that of one [`Controller`] known when
/// compiling. States need not be `Copy` here, so that where there is an allocator one of an unknown type may be boxed.
pub trait ConfiguredController: Clone + Debug + Send + Sync + 'static {
    /// State of one flow.
    type State: Clone + PartialEq + Debug + Send + Sync + 'static;
    /// Shared state of a group.
    type Group: Clone + PartialEq + Debug + Send + Sync + 'static;

    /// Its name, summary, source and fallback.
    fn info(&self) -> Info;
    /// The controller's name ([`Info::name`]).
    fn name(&self) -> &'static str {
        self.info().name
    }
    /// It with the parameter `name` set to `value`; `None` where it has no such parameter or that takes no such value.
    fn with(&self, name: &str, value: &str) -> Option<Self> {
        let _ = (name, value);
        None
    }
    /// Writes what a user would type to get it.
    ///
    /// # Errors
    /// Those of `f`.
    fn write(&self, f: &mut dyn Write) -> fmt::Result {
        f.write_str(self.name())
    }
    /// What it cannot work without.
    fn needs(&self) -> Signals;
    /// What its documented fallback does, if it has one.
    fn fallback(&self) -> Option<&'static str> {
        self.info().fallback
    }
    /// Whether it needs an event for every packet sent.
    fn wants_packet_sent(&self) -> bool;
    /// The same of a flow in `state`: one that resumes needs them until it has.
    fn wants_packet_sent_in(&self, state: &Self::State) -> bool {
        let _ = state;
        self.wants_packet_sent()
    }
    /// Shared state of a new group.
    fn group(&self) -> Self::Group;
    /// The state of a new flow on `path`.
    fn start(&self, path: &Path) -> Self::State;
    /// Takes `event` into the flow's state; see [`Controller::step`].
    fn step(&self, state: &mut Self::State, group: Table<'_, Self::Group>, event: &Event);
    /// What the flow may do now.
    fn decide(&self, state: &Self::State, group: View<'_, Self::Group>) -> Decision;
    /// [`step`](Self::step) and then [`decide`](Self::decide) into `decision`. It exists for
    /// the cost per ACK: the catalogue dispatches on the controller once instead of twice.
    #[inline]
    fn step_and_decide(
        &self,
        state: &mut Self::State,
        group: Table<'_, Self::Group>,
        event: &Event,
        decision: &mut Decision,
    ) {
        let Table { shared, members, me } = group;
        self.step(state, Table { shared, members, me }, event);
        *decision = self.decide(state, View { shared, members, me });
    }
    /// See [`Controller::inspect`].
    fn inspect(&self, state: &Self::State, group: View<'_, Self::Group>, visit: &mut dyn FnMut(&'static str, f64));
}

/// One controller known when compiling, with its parameters.
#[derive(Debug)]
pub struct Static<C: Controller>(pub C::Params);

impl<C: Controller> Clone for Static<C> {
    fn clone(&self) -> Self {
        *self
    }
}

// Its parameters are; the controller is never held.
impl<C: Controller> Copy for Static<C> {}

impl<C: Controller> Configurable for Static<C> {
    fn name(&self) -> &'static str {
        C::INFO.name
    }
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        text::set(&mut self.0, C::INFO.source, name, value)
    }
    fn describe(&self, visit: &mut dyn FnMut(&Param)) {
        self.0.describe(visit);
    }
    fn limit(&self) -> Option<(&'static str, Range)> {
        self.0.limit()
    }
    fn parameters(&self) -> Names {
        Names::of::<C::Params>()
    }
}

impl<C: Controller + Debug + 'static> ConfiguredController for Static<C> {
    type State = C::State;
    type Group = C::Group;

    fn info(&self) -> Info {
        C::INFO
    }
    fn with(&self, name: &str, value: &str) -> Option<Self> {
        let mut other = *self;
        other.set(name, value).is_ok().then_some(other)
    }
    fn write(&self, f: &mut dyn Write) -> fmt::Result {
        text::write(f, self, &mut { *self })
    }
    fn needs(&self) -> Signals {
        C::needs(&self.0)
    }
    fn wants_packet_sent(&self) -> bool {
        C::WANTS_PACKET_SENT
    }
    fn group(&self) -> C::Group {
        C::group(&self.0)
    }
    fn start(&self, path: &Path) -> C::State {
        C::start(&self.0, path)
    }
    #[inline]
    fn step(&self, state: &mut C::State, group: Table<'_, C::Group>, event: &Event) {
        C::step(&self.0, state, group, event);
    }
    #[inline]
    fn decide(&self, state: &C::State, group: View<'_, C::Group>) -> Decision {
        C::decide(&self.0, state, group)
    }
    fn inspect(&self, state: &C::State, group: View<'_, C::Group>, visit: &mut dyn FnMut(&'static str, f64)) {
        C::inspect(&self.0, state, group, visit);
    }
}
