#![doc = include_str!("tcp_k.md")]

use crate::parameters;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::parallel::Share;
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Time};

parameters! {
    /// Parameters of [`TcpK`].
    pub struct Params {
        @base Base, paper Base::cho();
        /// Strength: how many standard flows it stands for.
        k: u32 = 4, in 1, 1_000_000, unit "flows", source "spec: cho §5, §14.4 CH4-C";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
    }
}

/// TCP/k's rules.
#[derive(Debug)]
pub struct TcpKRules;

/// TCP/k (`spec: cho §5`).
pub type TcpK = LossBased<TcpKRules>;

impl Rules for TcpKRules {
    const INFO: Info = Info {
        name: "tcp-k",
        summary: "one flow as aggressive as k standard ones",
        source: "Cho 2006, ch. IV.C; spec: cho §5",
        fallback: None,
    };
    type Params = Params;
    type Memory = ();

    fn start(_: &Params, _: &Path) {}

    /// `spec: cho §5 eq. 4.1`.
    #[inline]
    fn slow_start(params: &Params, (): &mut (), _: &Window, _: Time, units: f64) -> f64 {
        Share::alone(params.k).slow_start(units, params.slow_start_cap)
    }

    /// `spec: cho §5 eq. 4.2`.
    #[inline]
    fn increase(params: &Params, (): &mut (), window: &Window, _: Time, units: f64) -> f64 {
        Share::alone(params.k).increase(window, units)
    }

    /// `spec: cho §5 K-CONG, eq. 4.3`.
    fn decrease(params: &Params, (): &mut (), window: &Window, _: &Event) -> Reduction {
        Share::alone(params.k).own(window)
    }

    fn inspect(params: &Params, (): &(), _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("k", f64::from(params.k));
    }
}

#[cfg(test)]
mod tests;
