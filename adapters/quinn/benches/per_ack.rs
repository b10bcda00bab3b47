//! Cost of one ACK frame that acknowledges two packets, and of the two it lets go: quinn's own
//! controllers beside ours through the adapter, all through quinn's trait.
//! `cargo bench -p windlass-quinn --bench per_ack [-- [ROUNDS] [NAME]…]`.

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use windlass_adapter_testkit::calls::quinn::estimator;

windlass_adapter_testkit::quinn_like_bench!(quinn_proto, windlass_quinn);

fn main() {
    native::beside([
        ("quinn NewReno", native::own::<NewRenoConfig>()),
        ("quinn Cubic", native::own::<CubicConfig>()),
        ("quinn BBR", native::own::<BbrConfig>()),
    ]);
}

/// quinn's own spellings.
mod shim {
    use std::hint::black_box;
    use std::time::Instant;

    use quinn_proto::RttEstimator;
    use quinn_proto::congestion::Controller;

    pub fn acked(controller: &mut dyn Controller, now: Instant, sent: Instant, bytes: u64, _: u64, rtt: &RttEstimator) {
        controller.on_ack(now, sent, bytes, false, rtt);
    }

    pub fn lost(controller: &mut dyn Controller, now: Instant, sent: Instant, bytes: u64, _: u64) {
        controller.on_congestion_event(now, sent, false, bytes);
    }

    /// Two datagrams leave, packets `pn − 1` and `pn`, in one transmission: before each, quinn asks
    /// for the window to hold against the bytes in flight, and again for its pacer.
    pub fn sent(controller: &mut dyn Controller, now: Instant, bytes: u64, pn: u64) {
        for _ in 0..2 {
            black_box(controller.window());
            black_box(controller.window());
        }
        controller.on_sent(now, 2 * bytes, pn);
    }
}
