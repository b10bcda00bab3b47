#![doc = include_str!("combined.md")]

use crate::Info;
use crate::parts::fractional::{Fractional, Slowing};
use crate::parts::grouped::Grouped;

pub use crate::parts::fractional::Params;

/// The oldest member is a standard flow, the others are a fractional group.
#[derive(Debug)]
pub struct Others;

/// Combined TCP (`spec: cho §9`). A group of one or two is so many
/// [`reno`](crate::schemes::reno)s.
pub type Combined = Grouped<Fractional<Others>>;

impl Slowing for Others {
    const INFO: Info = Info {
        name: "combined",
        summary: "a standard flow beside parallel flows that grow more slowly the more they are",
        source: "Hacker, Noble and Athey 2004; spec: cho §2, §9",
        fallback: None,
    };

    fn slowed(me: usize, n: usize) -> f64 {
        if me == 0 { 1.0 } else { n.saturating_sub(1).max(1) as f64 }
    }
}

#[cfg(test)]
mod tests;
