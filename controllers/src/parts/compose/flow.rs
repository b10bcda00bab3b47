//! Every window scheme without groups is a flow control module: its rules, with the verdict on
//! congestion left to a detector. Estimates are nothing to it.

use super::{Estimate, FlowControl, Input, Signal};
use crate::parts::window::Window;
use crate::parts::window_controller::{State, WindowController};
use crate::parts::window_scheme::WindowScheme;
use crate::{Controller, Path, Signals, View};

impl<S: WindowScheme<Group = ()>> FlowControl for WindowController<S> {
    type Params = S::Params;
    type State = State<S::State>;

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

    fn inspect(params: &S::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.window.cwnd);
        visit("slow_start", f64::from(state.window.in_slow_start()));
        S::inspect(params, &state.scheme, &state.window, View::solo(&()), visit);
    }
}
