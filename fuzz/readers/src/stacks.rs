//! The adapters under any sequence of their stacks' calls, on every controller.

use windlass_adapter_testkit::calls::{noq, path_flow, quinn, run, s2n_quic};

/// What quinn's and noq's adapters share.
pub fn path_flow_calls(data: &[u8]) {
    run::<path_flow::Stack>(data);
}

/// quinn's adapter.
pub fn quinn_calls(data: &[u8]) {
    run::<quinn::Stack>(data);
}

/// noq's adapter.
pub fn noq_calls(data: &[u8]) {
    run::<noq::Stack>(data);
}

/// s2n-quic's adapter.
pub fn s2n_quic_calls(data: &[u8]) {
    run::<s2n_quic::Stack>(data);
}
