//! Cost of one ACK frame that acknowledges two packets, and of the two it lets go: noq's own
//! controllers beside ours through the adapter, all through noq's trait.
//! `cargo bench -p windlass-noq --bench per_ack [-- [ROUNDS] [NAME]…]`.

#[path = "../../common/bench/estimator.rs"]
mod estimator;
#[path = "../../common/bench/native.rs"]
mod native;
#[path = "../../common/bench/ours.rs"]
mod ours;
#[path = "../../common/bench/rounds.rs"]
mod rounds;

mod dialect;

pub use noq_proto as proto;

use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};
pub use windlass_noq as adapter;

fn main() {
    native::beside([
        ("noq NewReno", native::own::<NewRenoConfig>()),
        ("noq Cubic", native::own::<CubicConfig>()),
        ("noq BBRv3", native::own::<Bbr3Config>()),
    ]);
}
