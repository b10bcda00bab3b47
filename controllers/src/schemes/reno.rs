#![doc = include_str!("reno.md")]

use crate::parameters;
use crate::parts::aimd;
use crate::parts::base::Base;

parameters! {
    /// Parameters of [`Reno`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
    }
}

/// Reno (`spec: sharma §2`; `spec: cho §1.6`; `RFC 9002 §7`).
pub type Reno = aimd::Aimd<Params>;

impl aimd::Constants for Params {
    const NAME: &'static str = "reno";
    const SUMMARY: &'static str = "adds one packet per round trip, halves on congestion";
    const SOURCE: &'static str = "RFC 9002 §7; spec: sharma §2, cho §1.6";

    /// `spec: sharma §2 T-2`.
    fn given_up(&self) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests;
