//! The flow controls a composition can have: the rules of schemes that stand alone too,
//! each following estimates where there are any.

use super::modules::modules;
use crate::parts::aimd::AimdRules;
use crate::parts::compose::{Estimate, FlowControl, Input, Signal};
use crate::parts::guided::{self, GuidedBy, Steered};
use crate::parts::loss_based::Rules;
use crate::parts::window::Window;
use crate::schemes::bic::BicRules;
use crate::schemes::cubic::CubicRules;
use crate::schemes::highspeed::HighSpeedRules;
use crate::schemes::scalable::ScalableRules;
use crate::schemes::tcp_k::TcpKRules;
use crate::schemes::westwood::WestwoodRules;
use crate::schemes::{aimd, reno};
use crate::{Path, Signals};

macro_rules! flows {
    ($($variant:ident => $rules:ty,)+) => {
        modules! {
            "flow", "How the window moves; the parameters of what is chosen follow.", "spec: arumaithurai §2.2";
            $($variant: <$rules as Rules>::INFO.name, <$rules as Rules>::Params, <GuidedBy<$rules> as FlowControl>::State;)+
        }

        impl FlowControl for Chosen {
            type Params = Params;
            type State = State;

            fn needs(params: &Params) -> Signals {
                match params { $(Params::$variant(params) => GuidedBy::<$rules>::needs(params),)+ }
            }

            fn start(params: &Params, path: &Path) -> State {
                match params { $(Params::$variant(params) => State::$variant(GuidedBy::<$rules>::start(params, path)),)+ }
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
                        GuidedBy::<$rules>::update(params, state, input, signal, estimate);
                    })+
                    _ => debug_assert!(false, "the state is another module's"),
                }
            }

            #[inline]
            fn window(state: &State) -> &Window {
                match state { $(State::$variant(state) => GuidedBy::<$rules>::window(state),)+ }
            }

            fn inspect(params: &Params, state: &State, visit: &mut dyn FnMut(&'static str, f64)) {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => {
                        GuidedBy::<$rules>::inspect(params, state, visit);
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
    Reno => AimdRules<reno::Params>,
    Aimd => AimdRules<aimd::Params>,
    Guided => AimdRules<guided::Params>,
    TcpK => TcpKRules,
    Cubic => CubicRules,
    HighSpeed => HighSpeedRules,
    Scalable => ScalableRules,
    Bic => BicRules,
    Westwood => WestwoodRules,
}

macro_rules! steered {
    ($($params:ty,)+) => { $(impl Steered for $params {})+ };
}

steered! {
    reno::Params,
    aimd::Params,
    <TcpKRules as Rules>::Params,
    <CubicRules as Rules>::Params,
    <HighSpeedRules as Rules>::Params,
    <ScalableRules as Rules>::Params,
    <BicRules as Rules>::Params,
    <WestwoodRules as Rules>::Params,
}

impl Default for Params {
    fn default() -> Self {
        Params::Reno(reno::Params::default())
    }
}
