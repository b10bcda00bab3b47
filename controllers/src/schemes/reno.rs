#![doc = include_str!("reno.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Reno`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
    }
}

/// Reno (`spec: sharma §2`; `spec: cho §1.6`; `RFC 9002 §7`).
pub type Reno = aimd::Aimd<Params>;

impl aimd::Constants for Params {
    const INFO: Info = Info {
        name: "reno",
        summary: "adds one packet per round trip, halves on congestion",
        source: "RFC 9002 §7; spec: sharma §2, cho §1.6",
        fallback: None,
    };

    /// `spec: sharma §2 T-2`.
    fn given_up(&self) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests;
