#![doc = include_str!("fractional.md")]

use crate::Info;
use crate::parts::fractional::{self, Slowing};
use crate::parts::grouped::Grouped;

pub use crate::parts::fractional::Params;

/// Every member grows as slowly as there are members.
#[derive(Debug)]
pub struct All;

/// Fractional TCP (`spec: cho §9`). A group of one is [`reno`](crate::schemes::reno).
pub type Fractional = Grouped<fractional::Fractional<All>>;

impl Slowing for All {
    const INFO: Info = Info {
        name: "fractional",
        summary: "parallel flows that each grow more slowly the more they are",
        source: "Hacker, Noble and Athey 2004; spec: cho §2, §9",
        fallback: None,
    };

    fn slowed(_: usize, n: usize) -> f64 {
        n as f64
    }
}

#[cfg(test)]
mod tests;
