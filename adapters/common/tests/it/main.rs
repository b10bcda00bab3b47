//! What adapters share, through its public interface: one program of tests.

mod calls;
