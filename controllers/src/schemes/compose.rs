#![doc = include_str!("compose.md")]

use crate::parts::compose::{Composed, Measured, PathParams, Scheme};
use crate::parts::weighted::{self, Weighted};
use crate::{Decision, Info, parameters};

/// Declares the parameters and the state of a module that is one of several: an enum of
/// each. The parameter `$name` chooses; all others are the chosen module's, so it has to
/// be set before them.
macro_rules! modules {
    (
        $name:literal, $doc:literal, $source:literal;
        $($variant:ident: $word:expr, $params:ty, $state:ty;)+
    ) => {
        /// The module chosen, with its parameters.
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[allow(missing_docs)]
        pub enum Params { $($variant($params),)+ }

        /// One flow of the module chosen.
        // States are plain data that may be copied; a box would allocate.
        #[allow(missing_docs, clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum State { $($variant($state),)+ }

        impl Params {
            const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for the module chosen.
            #[must_use]
            pub const fn word(&self) -> &'static str {
                match self { $(Params::$variant(_) => $word,)+ }
            }
        }

        impl $crate::Parameters for Params {
            fn paper() -> Self {
                let mut params = Self::default();
                match &mut params { $(Params::$variant(params) => *params = $crate::Parameters::paper(),)+ }
                params
            }

            fn set(&mut self, name: &str, value: &str) -> Result<(), $crate::param::ParamError> {
                if name != $name {
                    return match self { $(Params::$variant(params) => $crate::Parameters::set(params, name, value),)+ };
                }
                $(if value == $word {
                    *self = Params::$variant(Default::default());
                    return Ok(());
                })+
                Err($crate::param::ParamError::Expected($crate::param::Range::Words(Self::WORDS)))
            }

            fn describe(&self, visit: &mut dyn FnMut(&$crate::param::Param)) {
                visit(&$crate::param::Param {
                    name: $name,
                    doc: $doc,
                    unit: "",
                    source: $source,
                    range: $crate::param::Range::Words(Self::WORDS),
                    value: $crate::param::Value::Word(self.word()),
                });
                match self { $(Params::$variant(params) => $crate::Parameters::describe(params, visit),)+ }
            }
        }
    };
}

/// The estimators a composition can have.
pub mod estimate {
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
}

/// The flow controls a composition can have: the rules of schemes that stand alone too,
/// each following estimates where there are any.
pub mod flow {
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
}

parameters! {
    /// Parameters of [`Compose`]: its own, and those of the modules chosen.
    pub struct Params {
        @with detection: weighted::Params, "Congestion detection.";
        @with flow: flow::Params, "Flow control.";
        @with estimate: estimate::Params, "Bandwidth estimation.";
        @with path: PathParams, "Measuring the path.";
        /// Differentiated services codepoint of data packets; routers that know background traffic by it want 8.
        dscp: u32 = 0, in 0, 63, source "spec: arumaithurai §3.5 F1";
    }
}

/// Names the modules of [`Compose`].
#[derive(Debug)]
pub struct ComposeScheme;

/// A controller of modules chosen by name (`spec: arumaithurai §2`).
pub type Compose = Composed<ComposeScheme>;

impl Scheme for ComposeScheme {
    const INFO: Info = Info {
        name: "compose",
        summary: "a detector, a flow control and an estimator put together by name",
        source: "spec: arumaithurai §2",
        fallback: None,
    };
    type Detector = Weighted;
    type Estimator = estimate::Chosen;
    type FlowControl = flow::Chosen;
    type Params = Params;

    fn finish(params: &Params, _: &Measured, decision: &mut Decision) {
        decision.dscp = params.dscp.min(63) as u8;
    }
}

#[cfg(test)]
mod tests;
