#![doc = include_str!("aimd.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Aimd`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per window of acknowledged packets.
        a: f64 = 32.0, in 0.01, 10_000.0, unit "packets", source "spec: sharma §2";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §2";
    }
}

/// AIMD(a, b) (`spec: sharma §2`).
pub type Aimd = aimd::Aimd<Params>;

impl aimd::Constants for Params {
    const INFO: Info = Info {
        name: "aimd",
        summary: "adds a packets per round trip, gives up the fraction b on congestion",
        source: "spec: sharma §2",
        fallback: None,
    };

    fn added(&self) -> f64 {
        self.a
    }

    fn given_up(&self) -> f64 {
        self.b
    }
}

#[cfg(test)]
mod tests;
