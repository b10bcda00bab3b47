#![doc = include_str!("dca_c.md")]

use crate::parts::dca::{Dca, NEEDS, Reach};
use crate::parts::grouped::Grouped;
use crate::{Info, Signals};

pub use crate::parts::dca::{Memory, Params};

/// Signs of congestion concern the group.
#[derive(Debug)]
pub struct Collaborative;

/// TCP/DCA-C (`spec: cho §3`). A group of one is [`dca-s`](crate::schemes::dca_s).
pub type DcaC = Grouped<Dca<Collaborative>>;

impl Reach for Collaborative {
    const INFO: Info = Info {
        name: "dca-c",
        summary: "Reno that yields to delay, and makes larger siblings yield too",
        source: "Cho 2006, ch. II; spec: cho §2, §3",
        fallback: None,
    };
    const NEEDS: Signals = NEEDS.and(Signals::GROUPS);
    type Params = Params;
}

#[cfg(test)]
mod tests;
