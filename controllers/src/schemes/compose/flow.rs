//! The flow controls a composition can have: the rules of schemes that stand alone too,
//! each following estimates where there are any.

use crate::parts::compose::{Estimate, FlowControl, Input, Signal};
use crate::parts::guided::{self, AimdB, GuidedBy, Steered};
use crate::parts::window::Window;
use crate::parts::window_scheme::WindowScheme;
use crate::schemes::{aimd, bic, cubic, highspeed, reno, scalable, tcp_k, westwood};
use crate::{Decision, Path, Signals};

macro_rules! flows {
    ($($variant:ident => $scheme:ty,)+) => {
        modules! {
            "flow", "How the window moves; the parameters of what is chosen follow.", "spec: arumaithurai §2.2";
            $($variant: <$scheme as WindowScheme>::INFO.name, <$scheme as WindowScheme>::Params, <GuidedBy<$scheme> as FlowControl>::State;)+
        }

        impl FlowControl for Chosen {
            type Params = Params;
            type State = State;

            fn needs(params: &Params) -> Signals {
                match params { $(Params::$variant(params) => GuidedBy::<$scheme>::needs(params),)+ }
            }

            fn start(params: &Params, path: &Path) -> State {
                match params { $(Params::$variant(params) => State::$variant(GuidedBy::<$scheme>::start(params, path)),)+ }
            }

            #[inline]
            fn update(
                params: &Params,
                state: &mut State,
                input: Input<'_>,
                signal: Signal,
                estimate: Option<Estimate>,
            ) {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => {
                        GuidedBy::<$scheme>::update(params, state, input, signal, estimate);
                    })+
                    _ => debug_assert!(false, "the state is another module's"),
                }
            }

            #[inline]
            fn window(state: &State) -> &Window {
                match state { $(State::$variant(state) => GuidedBy::<$scheme>::window(state),)+ }
            }

            #[inline]
            fn decision(params: &Params, state: &State) -> Decision {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => GuidedBy::<$scheme>::decision(params, state),)+
                    _ => Self::window(state).decision(),
                }
            }

            #[inline]
            fn is_bounded(state: &State) -> bool {
                match state { $(State::$variant(state) => GuidedBy::<$scheme>::is_bounded(state),)+ }
            }

            fn inspect(params: &Params, state: &State, visit: &mut dyn FnMut(&'static str, f64)) {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => {
                        GuidedBy::<$scheme>::inspect(params, state, visit);
                    })+
                    _ => debug_assert!(false, "the state is another module's"),
                }
            }
        }
    };
}

/// The flow control chosen.
#[derive(Debug)]
pub struct Chosen;

// To add a flow control: its line here, and below how it is steered.
flows! {
    Reno => reno::Reno,
    Aimd => aimd::Aimd,
    Guided => AimdB<guided::Params>,
    TcpK => tcp_k::TcpK,
    Cubic => cubic::Cubic,
    HighSpeed => highspeed::HighSpeed,
    Scalable => scalable::Scalable,
    Bic => bic::Bic,
    Westwood => westwood::Westwood,
}

macro_rules! steered {
    ($($params:ty,)+) => { $(impl Steered for $params {})+ };
}

steered! {
    reno::Params,
    aimd::Params,
    tcp_k::Params,
    cubic::Params,
    highspeed::Params,
    scalable::Params,
    bic::Params,
    westwood::Params,
}

impl Default for Params {
    fn default() -> Self {
        Params::Reno(reno::Params::default())
    }
}
