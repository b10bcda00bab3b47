#![doc = include_str!("dual.md")]

use crate::parts::base::Base;
use crate::parts::dca::{self, Dca, NEEDS, Reach};
use crate::parts::grouped::Grouped;
use crate::{Info, Signals, parameters};

pub use crate::parts::dca::Memory;

parameters! {
    /// Parameters of [`Dual`].
    pub struct Params {
        @base dca::Params, paper dca::Params { base: Base { timeout_window: 1.0, ..Base::chan() }, ..dca::Params::default() };
    }
}

impl AsRef<Base> for Params {
    fn as_ref(&self) -> &Base {
        self.base.as_ref()
    }
}

/// Every second round trip, for the flow itself.
#[derive(Debug)]
pub struct EverySecond;

/// DUAL (`spec: chan §9`).
pub type Dual = Grouped<Dca<EverySecond>>;

impl Reach for EverySecond {
    const INFO: Info = Info {
        name: "dual",
        summary: "Reno that gives up an eighth every second round trip the RTT is high",
        source: "Wang and Crowcroft 1992; spec: chan §9",
        fallback: None,
    };
    const NEEDS: Signals = NEEDS;
    type Params = Params;
    const EVERY: u8 = 2;
    const FOLLOWS: bool = true;
}

#[cfg(test)]
mod tests;
