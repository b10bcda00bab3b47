//! Cost of one ACK frame that acknowledges two packets, and of the two it lets go: quinn's own
//! controllers beside ours through the adapter, all through quinn's trait.
//! `cargo bench -p windlass-quinn --bench per_ack [-- [ROUNDS] [NAME]…]`.

#[path = "../../common/bench/estimator.rs"]
mod estimator;
#[path = "../../common/bench/native.rs"]
mod native;
#[path = "../../common/bench/ours.rs"]
mod ours;
#[path = "../../common/bench/rounds.rs"]
mod rounds;

mod dialect;

pub use quinn_proto as proto;

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
pub use windlass_quinn as adapter;

fn main() {
    native::beside([
        ("quinn NewReno", native::own::<NewRenoConfig>()),
        ("quinn Cubic", native::own::<CubicConfig>()),
        ("quinn BBR", native::own::<BbrConfig>()),
    ]);
}
