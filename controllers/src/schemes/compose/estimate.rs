//! The estimators a composition can have.

use crate::parts::compose::{Estimate, Estimator, Input, NoEstimate, Signal, Wants};
use crate::parts::proecn::ProEcn;
use crate::{Path, Signals};

macro_rules! estimators {
    ($($variant:ident => $estimator:ty = $word:literal,)+) => {
        modules! {
            "estimate", "How spare bandwidth is found out; the parameters of what is chosen follow.", "spec: arumaithurai §2.2";
            $($variant: $word, <$estimator as Estimator>::Params, <$estimator as Estimator>::State;)+
        }

        impl Estimator for Chosen {
            type Params = Params;
            type State = State;

            fn needs(params: &Params) -> Signals {
                match params { $(Params::$variant(params) => <$estimator>::needs(params),)+ }
            }

            fn start(params: &Params, path: &Path) -> State {
                match params { $(Params::$variant(params) => State::$variant(<$estimator>::start(params, path)),)+ }
            }

            #[inline]
            fn update(params: &Params, state: &mut State, input: Input<'_>, signal: Signal) -> Option<Estimate> {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => {
                        <$estimator>::update(params, state, input, signal)
                    })+
                    _ => {
                        debug_assert!(false, "the state is another module's");
                        None
                    }
                }
            }

            #[inline]
            fn wants(params: &Params, state: &State) -> Wants {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => <$estimator>::wants(params, state),)+
                    _ => Wants::default(),
                }
            }

            fn inspect(params: &Params, state: &State, visit: &mut dyn FnMut(&'static str, f64)) {
                match (params, state) {
                    $((Params::$variant(params), State::$variant(state)) => {
                        <$estimator>::inspect(params, state, visit);
                    })+
                    _ => debug_assert!(false, "the state is another module's"),
                }
            }
        }
    };
}

/// One of the estimators below, chosen by its word in the parameters.
#[derive(Debug)]
pub struct Chosen;

// To add an estimator: its line here.
estimators! {
    None => NoEstimate = "none",
    ProEcn => ProEcn = "proecn",
}

impl Default for Params {
    fn default() -> Self {
        Params::None(())
    }
}
