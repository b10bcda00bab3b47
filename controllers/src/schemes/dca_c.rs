#![doc = include_str!("dca_c.md")]

use crate::Signals;
use crate::parts::dca::{Dca, NEEDS, Reach};
use crate::parts::grouped::Grouped;

pub use crate::parts::dca::{Memory, Params};

/// Signs of congestion concern the group.
#[derive(Debug)]
pub struct Collaborative;

/// TCP/DCA-C (`spec: cho §3`). A group of one is [`dca-s`](crate::schemes::dca_s).
pub type DcaC = Grouped<Dca<Collaborative>>;

impl Reach for Collaborative {
    const NAME: &'static str = "dca-c";
    const SUMMARY: &'static str = "Reno that yields to delay, and makes larger siblings yield too";
    const SOURCE: &'static str = "Cho 2006, ch. II; spec: cho §2, §3";
    const NEEDS: Signals = NEEDS.and(Signals::GROUPS);
    type Params = Params;
}

#[cfg(test)]
mod tests;
