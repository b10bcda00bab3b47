//! What the example programs on quiche and tokio-quiche share.
//!
//! * [`udp`] drives connections over a UDP socket, with pacing.
//! * [`web`] answers HTTP requests for files, and uploads.

pub mod udp;
pub mod web;
