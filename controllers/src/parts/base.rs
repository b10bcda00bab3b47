//! The parameters that every window scheme shares.

use crate::parameters;
use crate::parts::limits::Limits;
use crate::parts::start_up;

parameters! {
    /// Start-up and limits that every window scheme shares.
    pub struct Base {
        @with limits: Limits, "The limits of the window, and what grows it.";
        @with start_up: start_up::Params, "How the window is started up.";
    }
}

impl Base {
    /// Defaults, with HyStart++ (`RFC 9406`).
    #[must_use]
    pub fn with_hystart() -> Base {
        let start_up = start_up::Params { slow_start: start_up::SlowStart::HyStart, ..Default::default() };
        Base { start_up, ..Base::default() }
    }

    /// Values of Sharma (2006) for the schemes that ran with limited slow start and the
    /// first-halving artefact: standard TCP, HS-TCP, Scalable TCP.
    #[must_use]
    pub fn sharma_limited() -> Base {
        let start_up = start_up::Params { lss: 100.0, first_halving: true, ..Default::default() };
        Base { limits: Limits::sharma(), start_up }
    }
}

/// These limits, with the standard's slow start (`RFC 9002 §7.3.1`).
impl From<Limits> for Base {
    fn from(limits: Limits) -> Base {
        Base { limits, ..Base::default() }
    }
}
