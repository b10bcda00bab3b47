//! The adapter through quinn's public interface: one program of tests.

mod calls;
mod loopback;
mod migration;
