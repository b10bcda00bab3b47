//! Real QUIC stacks under virtual time over the harness' network model.

pub mod payload;
pub mod quinn;
