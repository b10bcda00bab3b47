#![doc = include_str!("dca_s.md")]

use crate::Signals;
use crate::parts::dca::{Dca, NEEDS, Reach};
use crate::parts::grouped::Grouped;

pub use crate::parts::dca::{Memory, Params};

/// Signs of congestion concern the flow that sees them.
#[derive(Debug)]
pub struct Selfish;

/// TCP/DCA-S (`spec: cho §3`). With `gamma=1` it is Reno.
pub type DcaS = Grouped<Dca<Selfish>>;

impl Reach for Selfish {
    const NAME: &'static str = "dca-s";
    const SUMMARY: &'static str = "Reno that yields to delay by a mild cut of its own window";
    const SOURCE: &'static str = "Cho 2006, ch. II; spec: cho §3";
    const NEEDS: Signals = NEEDS;
    type Params = Params;
}

#[cfg(test)]
mod tests;
