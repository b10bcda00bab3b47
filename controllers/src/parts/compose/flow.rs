//! Every loss-based scheme is a flow control module: its rules, with the verdict on
//! congestion left to a detector. Estimates are nothing to it.

use super::{Estimate, FlowControl, Input, Signal};
use crate::parts::loss_based::{LossBased, Rules, State};
use crate::parts::window::Window;
use crate::{Controller, Path, Signals};

impl<R: Rules> FlowControl for LossBased<R> {
    type Params = R::Params;
    type State = State<R::Memory>;

    fn needs(params: &R::Params) -> Signals {
        R::needs(params)
    }

    fn start(params: &R::Params, path: &Path) -> Self::State {
        <Self as Controller>::start(params, path)
    }

    #[inline]
    fn update(params: &R::Params, state: &mut Self::State, input: Input<'_>, signal: Signal, _: Option<Estimate>) {
        Self::judged(params, state, input.event, signal.is_congestion());
    }

    #[inline]
    fn window(state: &Self::State) -> &Window {
        &state.window
    }

    fn inspect(params: &R::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.window.cwnd);
        visit("slow_start", f64::from(state.window.in_slow_start()));
        R::inspect(params, &state.memory, &state.window, visit);
    }
}
