//! The adapter through quinn's public interface: one program of tests.

mod calls;
mod choose;
mod loopback;
mod migration;
