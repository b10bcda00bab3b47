//! The congestion controllers of windlass for QUIC stacks in C, and in languages that can call C:
//! `libwindlass`, with the header `windlass.h`.
//!
//! The header describes the interface; `docs/c.md` of the repository shows what a stack does with
//! it. This crate is linked as a library by other languages, and has no interface for Rust: the
//! adapters of Rust's stacks use [`windlass_adapter`].
//!
//! Unsafe code stands in `exports`, where C calls, and nowhere else.

#[cfg(test)]
mod calls;
mod definition;
#[allow(unsafe_code, reason = "C passes pointers")]
mod exports;
mod guard;

pub use exports::*;
