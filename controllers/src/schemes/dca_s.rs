#![doc = include_str!("dca_s.md")]

use crate::parts::dca::{Dca, NEEDS, Reach};
use crate::parts::grouped::Grouped;
use crate::{Info, Signals};

pub use crate::parts::dca::{Memory, Params};

/// Signs of congestion concern the flow that sees them.
#[derive(Debug)]
pub struct Selfish;

/// TCP/DCA-S (`spec: cho §3`). With `gamma=1` it is Reno.
pub type DcaS = Grouped<Dca<Selfish>>;

impl Reach for Selfish {
    const INFO: Info = Info {
        name: "dca-s",
        summary: "Reno that yields to delay by a mild cut of its own window",
        source: "Cho 2006, ch. II; spec: cho §3",
        fallback: None,
    };
    const NEEDS: Signals = NEEDS;
    type Params = Params;
}

#[cfg(test)]
mod tests;
