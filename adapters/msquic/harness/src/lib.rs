//! The windlass harness with MsQuic among its stacks: `windlass run clean-link --stack msquic
//! --wire`. MsQuic has its own threads and clock, so it runs on real sockets only.

#![forbid(unsafe_code)]

mod choice;
mod identity;
mod live;
mod watch;

use windlass::evaluation::Guest;

pub use live::run;

/// MsQuic, for the harness.
pub static MSQUIC: Guest = Guest {
    name: windlass_msquic::STACK,
    wire_name: "msquic-wire",
    provides: windlass_msquic::AT_MOST,
    natives: choice::NATIVES,
    run: None,
    live: Some(live::run),
};
