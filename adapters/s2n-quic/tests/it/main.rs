//! The adapter through s2n-quic's public API: one program of tests.

mod callbacks;
mod calls;
mod driver;
mod loopback;
