//! Cost of one ACK frame that acknowledges two packets: noq's own controllers beside ours through the adapter.
//! `cargo bench -p windlass-noq --bench per_ack`.

#[path = "../../common/bench/estimator.rs"]
mod estimator;
#[path = "../../common/bench/native.rs"]
mod native;
#[path = "../../common/bench/rounds.rs"]
mod rounds;

mod dialect;

pub use noq_proto as proto;

use std::sync::Arc;

use native::{Native, RTT};
use noq_proto::congestion::{self, ControllerFactory};
use rounds::{Candidate, compare};

fn main() {
    let rtt = estimator::settled(RTT);
    let native = |factory: Arc<dyn ControllerFactory>| Native::new(factory, rtt);
    let adapter = |name: &str| native(Arc::new(windlass_noq::Factory::named(name).expect("runs on noq")));
    let mut reno = native(Arc::new(congestion::NewRenoConfig::default()));
    let mut cubic = native(Arc::new(congestion::CubicConfig::default()));
    let mut bbr3 = native(Arc::new(congestion::Bbr3Config::default()));
    let (mut our_reno, mut our_cubic) = (adapter("reno"), adapter("cubic"));
    compare(vec![
        Candidate::new("noq NewReno", 0, || reno.block()),
        Candidate::new("noq Cubic", 1, || cubic.block()),
        Candidate::new("noq BBRv3", 2, || bbr3.block()),
        Candidate::new("reno, through the noq adapter", 0, || our_reno.block()),
        Candidate::new("cubic, through the noq adapter", 1, || our_cubic.block()),
    ]);
}
