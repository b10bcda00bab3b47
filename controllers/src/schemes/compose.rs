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

pub mod estimate;
pub mod flow;

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
