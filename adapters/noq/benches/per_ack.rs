//! Cost of one ACK frame that acknowledges two packets, and of the two it lets go: noq's own
//! controllers beside ours through the adapter, all through noq's trait.
//! `cargo bench -p windlass-noq --bench per_ack [-- [ROUNDS] [NAME]…]`.

use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};
use windlass_adapter_testkit::calls::noq::estimator;

windlass_adapter_testkit::quinn_like_bench!(noq_proto, windlass_noq);

fn main() {
    native::beside([
        ("noq NewReno", native::own::<NewRenoConfig>()),
        ("noq Cubic", native::own::<CubicConfig>()),
        ("noq BBRv3", native::own::<Bbr3Config>()),
    ]);
}

/// noq's own spellings.
mod shim {
    use std::hint::black_box;
    use std::time::Instant;

    use noq_proto::RttEstimator;
    use noq_proto::congestion::Controller;

    pub fn acked(
        controller: &mut dyn Controller,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        rtt: &RttEstimator,
    ) {
        controller.on_ack(now, sent, bytes, pn, false, rtt);
    }

    pub fn lost(controller: &mut dyn Controller, now: Instant, sent: Instant, bytes: u64, pn: u64) {
        controller.on_packet_lost(bytes as u16, pn, now);
        controller.on_congestion_event(now, sent, false, false, bytes, pn);
    }

    /// Two datagrams leave, packets `pn − 1` and `pn`, in one transmission: before each, noq asks
    /// for the window, and for the metrics for its pacer.
    pub fn sent(controller: &mut dyn Controller, now: Instant, bytes: u64, pn: u64) {
        for pn in [pn - 1, pn] {
            black_box(controller.window());
            black_box(controller.metrics());
            controller.on_packet_sent(now, bytes as u16, pn);
        }
        controller.on_sent(now, 2 * bytes, pn);
    }
}
