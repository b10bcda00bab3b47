//! Additive increase, multiplicative decrease: Reno's two laws with their constants
//! left open.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Parameters, Path, Time, parameters};

/// Packets to add for `units` acknowledged when a window of them is worth `a` packets
/// (`spec: sharma §2 T-1b`; `spec: arumaithurai §3.5 F2.5`).
#[must_use]
#[inline]
pub fn increase(a: f64, window: &Window, units: f64) -> f64 {
    a * units / window.cwnd
}

/// Gives up the fraction `b` of the window (`spec: arumaithurai §3.5 F3`).
#[must_use]
pub fn decrease(b: f64, window: &Window) -> Reduction {
    Reduction::to(1.0 - b, window.cwnd)
}

/// A scheme that is nothing but AIMD: its name and its constants.
pub trait Constants: Parameters + AsRef<Base> {
    /// Name, summary, source and fallback.
    const INFO: Info;

    /// Packets added per window of acknowledged packets.
    fn added(&self) -> f64 {
        1.0
    }

    /// Fraction of the window given up on congestion.
    fn given_up(&self) -> f64;

    /// Fraction of the window the threshold keeps after a timeout.
    fn kept_by_timeout(&self) -> f64 {
        0.5
    }
}

/// The rules of [`Aimd`].
#[derive(Debug)]
pub struct AimdRules<P>(PhantomData<P>);

/// AIMD with the constants of `P`.
pub type Aimd<P> = LossBased<AimdRules<P>>;

impl<P: Constants> Rules for AimdRules<P> {
    const INFO: Info = P::INFO;
    type Params = P;
    type Memory = ();

    fn start(_: &P, _: &Path) {}

    #[inline]
    fn increase(params: &P, (): &mut (), window: &Window, _: Time, units: f64) -> f64 {
        increase(params.added(), window, units)
    }

    fn decrease(params: &P, (): &mut (), window: &Window, _: &Event) -> Reduction {
        decrease(params.given_up(), window)
    }

    fn timeout(params: &P, (): &mut (), _: &Window, _: &Event) -> f64 {
        params.kept_by_timeout()
    }
}

parameters! {
    /// Constants of AIMD(1, b) as a module of flow control. With `b` one half it is Reno
    /// to the bit.
    pub struct Params {
        @base Base, paper Base::arumaithurai();
        /// Fraction of the window given up on congestion.
        b: f64 = 0.5, in 0.0, 0.99, source "spec: arumaithurai §3.8, A48";
    }
}

impl Constants for Params {
    const INFO: Info = Info {
        name: "aimd",
        summary: "adds one packet per round trip, gives up a fraction on congestion",
        source: "spec: arumaithurai §2.3",
        fallback: None,
    };

    fn given_up(&self) -> f64 {
        self.b
    }

    /// `spec: arumaithurai §3.5 F5`.
    fn kept_by_timeout(&self) -> f64 {
        1.0 - self.b
    }
}
