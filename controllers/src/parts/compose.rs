//! A controller as three modules that can be exchanged one by one: congestion
//! detection, bandwidth estimation, flow control (`spec: arumaithurai §2`).
//!
//! Each is pure: what `update` makes of a state depends on its arguments alone. One event
//! runs through them in that order, after the path's own measurements have taken its RTT
//! sample in:
//!
//! * a [`Detector`] sees events alone, never a window, and says whether they mean
//!   congestion that deserves a response;
//! * an [`Estimator`] also gets that verdict, and may ask for probe trains and for
//!   being woken; now and then it has a new [`Estimate`];
//! * a [`FlowControl`] is the only one that owns a window, and works without an
//!   estimate too.
//!
//! What may not happen cannot be written: a detector has no way to read a window, and
//! neither it nor an estimator has one to change.

mod composed;

use core::fmt::Debug;

pub use composed::{Composed, Measured, PathParams, Scheme, State};

use crate::parts::window::Window;
use crate::parts::window_controller::{self, WindowController};
use crate::parts::window_scheme::WindowScheme;
use crate::{Controller, Decision, Ecn, Event, Parameters, Path, Signals, Time, TrainPlan, View};

/// What a detector says of an event; the worst of what it found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Signal {
    /// Nothing that calls for a response.
    #[default]
    Clear,
    /// Marks or other early indications: a milder reduction.
    Mild,
    /// Packet loss: the full reduction.
    Strong,
    /// Persistent congestion: start again from the smallest window.
    TimedOut,
}

impl Signal {
    /// Whether the window has to be reduced, short of starting over.
    #[must_use]
    pub const fn is_congestion(self) -> bool {
        matches!(self, Signal::Mild | Signal::Strong)
    }
}

/// What an estimator found out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Available bandwidth, bit/s; 0 when there is none to spare.
    pub available: f64,
    /// The fraction of it that growth and probing may go for (α).
    pub share: f64,
}

/// What an estimator wants done.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Wants {
    /// See [`Decision::train`](crate::Decision::train).
    pub train: Option<TrainPlan>,
    /// See [`Decision::wake_at`](crate::Decision::wake_at).
    pub wake_at: Option<Time>,
}

/// An event with what has been measured of the path, the event's own sample included.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The event of this step.
    pub event: &'a Event,
    /// Measurements of the path, the event's RTT sample included.
    pub path: &'a Measured,
    /// Whether losses bound the window ([`FlowControl::is_bounded`]).
    pub is_bounded: bool,
}

/// C1: tells congestion that deserves a response from everything else
/// (`spec: arumaithurai §2.1`).
pub trait Detector: Debug + Send + Sync + 'static {
    /// Constants of the module, as users set them.
    type Params: Parameters;
    /// State of the module for one flow.
    type State: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// What it cannot work without.
    fn needs(params: &Self::Params) -> Signals;
    /// How data packets have to be sent for marks to reach it.
    fn ecn(params: &Self::Params) -> Ecn;
    /// State of a new flow on `path`.
    fn start(params: &Self::Params, path: &Path) -> Self::State;
    /// Takes an event in and gives the verdict on it.
    fn update(params: &Self::Params, state: &mut Self::State, event: &Event) -> Signal;
    /// See [`Controller::inspect`].
    fn inspect(params: &Self::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (params, state, visit);
    }
}

/// C3: finds out how much bandwidth the path has to spare (`spec: arumaithurai §2.1`).
pub trait Estimator: Debug + Send + Sync + 'static {
    /// Constants of the module, as users set them.
    type Params: Parameters;
    /// State of the module for one flow.
    type State: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// What it cannot work without.
    fn needs(params: &Self::Params) -> Signals;
    /// State of a new flow on `path`.
    fn start(params: &Self::Params, path: &Path) -> Self::State;
    /// Takes an event and the verdict on it in; gives the estimate if it brought a new one.
    fn update(params: &Self::Params, state: &mut Self::State, input: Input<'_>, signal: Signal) -> Option<Estimate>;
    /// The probe train and the wake-up it asks for.
    fn wants(params: &Self::Params, state: &Self::State) -> Wants;
    /// See [`Controller::inspect`].
    fn inspect(params: &Self::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (params, state, visit);
    }
}

/// C2: decides the window (`spec: arumaithurai §2.1`).
pub trait FlowControl: Debug + Send + Sync + 'static {
    /// Constants of the module, as users set them.
    type Params: Parameters;
    /// State of the module for one flow.
    type State: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// What it cannot work without.
    fn needs(params: &Self::Params) -> Signals;
    /// State of a new flow on `path`.
    fn start(params: &Self::Params, path: &Path) -> Self::State;
    /// Takes an event in on which the detector's verdict is `signal`, with the estimate it
    /// brought, if any.
    fn update(
        params: &Self::Params,
        state: &mut Self::State,
        input: Input<'_>,
        signal: Signal,
        estimate: Option<Estimate>,
    );
    /// The window in force, in packets.
    fn window(state: &Self::State) -> &Window;
    /// What it decides: the window, and what of it may be used.
    #[inline]
    fn decision(params: &Self::Params, state: &Self::State) -> Decision {
        let _ = params;
        Self::window(state).decision()
    }
    /// Whether losses bound the window, so that nothing but data may be sent.
    #[inline]
    fn is_bounded(state: &Self::State) -> bool {
        let _ = state;
        false
    }
    /// See [`Controller::inspect`].
    fn inspect(params: &Self::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (params, state, visit);
    }
}

/// No estimation at all: flow control finds out by growing.
#[derive(Debug)]
pub struct NoEstimate;

impl Estimator for NoEstimate {
    type Params = ();
    type State = ();

    fn needs((): &()) -> Signals {
        Signals::NONE
    }
    fn start((): &(), _: &Path) {}
    #[inline]
    fn update((): &(), (): &mut (), _: Input<'_>, _: Signal) -> Option<Estimate> {
        None
    }
    fn wants((): &(), (): &()) -> Wants {
        Wants::default()
    }
}

/// Every ungrouped window scheme is a flow control module: its rules, with the verdict on
/// congestion left to a detector. It makes no use of estimates.
impl<S: WindowScheme<Group = ()>> FlowControl for WindowController<S> {
    type Params = S::Params;
    type State = window_controller::State<S::State>;

    fn needs(params: &S::Params) -> Signals {
        S::needs(params)
    }

    fn start(params: &S::Params, path: &Path) -> Self::State {
        <Self as Controller>::start(params, path)
    }

    #[inline]
    fn update(params: &S::Params, state: &mut Self::State, input: Input<'_>, signal: Signal, _: Option<Estimate>) {
        Self::step_with_detector(params, state, input.event, signal.is_congestion());
    }

    #[inline]
    fn window(state: &Self::State) -> &Window {
        &state.window
    }

    #[inline]
    fn decision(params: &S::Params, state: &Self::State) -> Decision {
        <Self as Controller>::decide(params, state, View::solo(&()))
    }

    #[inline]
    fn is_bounded(state: &Self::State) -> bool {
        S::is_bounded(&state.scheme)
    }

    fn inspect(params: &S::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.window.cwnd);
        visit("slow_start", f64::from(state.window.in_slow_start()));
        S::inspect(params, &state.scheme, &state.window, View::solo(&()), visit);
    }
}
