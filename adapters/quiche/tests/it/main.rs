//! The adapter's integration tests. They need quiche with both patches: virtual time makes them
//! repeatable.

mod calls;
mod events;
#[cfg(target_os = "linux")]
mod loopback;
mod names;
mod network;
mod transfer;
