//! The adapter through noq's public interface: one program of tests.

mod calls;
mod loopback;
