//! Three modules put together into a controller, and what it measures of its path before they
//! see an event.

use core::fmt::Debug;
use core::marker::PhantomData;

use super::{Detector, Estimator, FlowControl, Input};
use crate::event::RttSample;
use crate::parameters;
use crate::parts::windowed::WindowedMin;
use crate::{Controller, Decision, Event, Info, Parameters, Path, Signals, Span, Table, Time, View};

parameters! {
    /// How the path is measured.
    pub struct PathParams {
        /// How long an RTT sample counts as one of the base RTT's candidates.
        base_rtt_window: f64 = 600.0, in 1.0, f64::INFINITY, unit "s", source "spec: arumaithurai A22";
    }
}

/// A path's round trip times. Smoothing is the stack's (`RFC 9002 §5.3`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measured {
    recent: WindowedMin<4>,
    smoothed: Span,
    variation: Span,
}

impl Measured {
    /// Takes a sample in; one of zero is ignored (`spec: arumaithurai §5.0`).
    #[inline]
    pub fn sampled(&mut self, params: &PathParams, now: Time, rtt: &RttSample) {
        if rtt.latest > Span::ZERO {
            let latest = i64::try_from(rtt.latest.0).unwrap_or(i64::MAX);
            let window = Span::from_secs_f64(params.base_rtt_window);
            self.recent.update(now, Some(window), latest);
        }
        self.smoothed = rtt.smoothed;
        self.variation = rtt.variation;
    }

    /// The smallest RTT of the window; `None` before the first sample (`spec: arumaithurai §3.4`, A22).
    #[must_use]
    #[inline]
    pub fn base_rtt(&self) -> Option<Span> {
        self.recent.get().map(|base| Span(base.unsigned_abs()))
    }

    /// The smoothed RTT; zero before the first sample.
    #[must_use]
    pub const fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// Time an answer may take beyond the sending of what it answers: smoothed RTT
    /// plus four variations, without the peer's delay (`RFC 9002 §6.2.1`).
    #[must_use]
    pub fn answer_timeout(&self) -> Span {
        self.smoothed + Span(self.variation.0.saturating_mul(4))
    }
}

type Detecting<S> = <S as Scheme>::Detector;
type Estimating<S> = <S as Scheme>::Estimator;
type Controlling<S> = <S as Scheme>::FlowControl;

/// Names a composition and its modules.
pub trait Scheme: Debug + Send + Sync + 'static {
    /// Name, summary, source and fallback.
    const INFO: Info;
    /// The congestion detector.
    type Detector: Detector;
    /// The bandwidth estimator.
    type Estimator: Estimator;
    /// The rule for the window.
    type FlowControl: FlowControl;
    /// The modules' constants in one set.
    type Params: Parameters
        + AsRef<PathParams>
        + AsRef<<Self::Detector as Detector>::Params>
        + AsRef<<Self::Estimator as Estimator>::Params>
        + AsRef<<Self::FlowControl as FlowControl>::Params>;

    /// Says of a decision what no module has a say in: codepoints, pacing.
    fn finish(params: &Self::Params, path: &Measured, decision: &mut Decision) {
        let _ = (params, path, decision);
    }
}

/// The controller made of the modules of `S`.
#[derive(Debug)]
pub struct Composed<S>(PhantomData<S>);

/// One flow of a composition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State<D, E, F> {
    /// RTTs measured on the path.
    pub path: Measured,
    /// The state of its detector.
    pub detector: D,
    /// The state of its estimator.
    pub estimator: E,
    /// The state of its flow control.
    pub flow: F,
}

/// The parameters of one module out of those of all.
#[inline]
fn of<T>(params: &impl AsRef<T>) -> &T {
    params.as_ref()
}

impl<S: Scheme> Controller for Composed<S> {
    const INFO: Info = S::INFO;
    type Params = S::Params;
    type State = State<
        <S::Detector as Detector>::State,
        <S::Estimator as Estimator>::State,
        <S::FlowControl as FlowControl>::State,
    >;
    type Group = ();

    fn needs(params: &S::Params) -> Signals {
        Detecting::<S>::needs(of(params)) | Estimating::<S>::needs(of(params)) | Controlling::<S>::needs(of(params))
    }

    fn group(_: &S::Params) {}

    fn start(params: &S::Params, path: &Path) -> Self::State {
        State {
            path: Measured::default(),
            detector: Detecting::<S>::start(of(params), path),
            estimator: Estimating::<S>::start(of(params), path),
            flow: Controlling::<S>::start(of(params), path),
        }
    }

    /// Samples, then detection, estimation, flow control (`spec: arumaithurai §1.3,
    /// §2.3`).
    #[inline]
    fn step(params: &S::Params, state: &mut Self::State, _: Table<'_, ()>, event: &Event) {
        let State { path, detector, estimator, flow } = state;
        if let Some(rtt) = event.rtt() {
            path.sampled(of(params), event.now, &rtt);
        }
        let signal = Detecting::<S>::update(of(params), detector, event);
        let input = Input { event, path, is_bounded: Controlling::<S>::is_bounded(flow) };
        let estimate = Estimating::<S>::update(of(params), estimator, input, signal);
        Controlling::<S>::update(of(params), flow, input, signal, estimate);
    }

    #[inline]
    fn decide(params: &S::Params, state: &Self::State, _: View<'_, ()>) -> Decision {
        let wants = Estimating::<S>::wants(of(params), &state.estimator);
        let mut decision = Decision {
            ecn: Detecting::<S>::ecn(of(params)),
            train: wants.train,
            target_rate: None,
            wake_at: wants.wake_at,
            ..Controlling::<S>::decision(of(params), &state.flow)
        };
        S::finish(params, &state.path, &mut decision);
        decision
    }

    fn inspect(params: &S::Params, state: &Self::State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        Controlling::<S>::inspect(of(params), &state.flow, visit);
        if let Some(base_rtt) = state.path.base_rtt() {
            visit("base_rtt_ms", base_rtt.millis());
        }
        Detecting::<S>::inspect(of(params), &state.detector, visit);
        Estimating::<S>::inspect(of(params), &state.estimator, visit);
    }
}
