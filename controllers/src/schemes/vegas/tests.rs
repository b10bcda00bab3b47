//! `spec: chan §3.9` and the invariants of `§12`.
//!
//! The vector of the fine-grained timer (150 ms after a first sample of 100 ms) belongs to
//! the transport, as the timer does; see [`parts::vegas`](crate::parts::vegas).

mod invariants;

use std::string::ToString;

use super::*;
use crate::testkit::assert_close;
use crate::testkit::driven::{Driven, MS};
use crate::{Parameters, Signals};

type Flow = Driven<Choices>;

fn paper() -> Params {
    Params::paper()
}

/// What a flow decides that knows a base of 100 ms and has measured `rtt_us`.
fn judged(params: Params, cwnd: f64, ssthresh: f64, rtt_us: u64) -> (f64, f64, f64, f64) {
    let flow = Flow::judged(params, cwnd, ssthresh, 100 * MS, rtt_us * 1000);
    (flow.delta().unwrap(), flow.cwnd(), flow.state.window.ssthresh, flow.state.incr)
}

#[test]
fn between_the_thresholds_the_window_rests() {
    assert_eq!(judged(paper(), 10.0, 2.0, 125_000), (2.0, 10.0, 2.0, 0.0));
}

#[test]
fn above_beta_it_loses_a_packet_at_once() {
    assert_eq!(judged(paper(), 20.0, 2.0, 125_000), (4.0, 19.0, 2.0, 0.0));
}

#[test]
fn below_alpha_it_gains_a_packet_over_the_next_round() {
    let (delta, cwnd, _, incr) = judged(Params::default(), 20.0, 2.0, 104_000);
    assert_close(delta, 0.769, 1e-3);
    assert_eq!((cwnd, incr), (20.0, 0.05));
    // Rounded, the same backlog is 1: enough.
    assert_eq!(judged(paper(), 20.0, 2.0, 104_000), (1.0, 20.0, 2.0, 0.0));
}

#[test]
fn slow_start_ends_above_gamma_and_gives_back_an_eighth() {
    assert_eq!(judged(paper(), 64.0, f64::INFINITY, 102_560), (2.0, 56.0, 2.0, 0.0));
    let (delta, cwnd, ssthresh, _) = judged(Params::default(), 64.0, f64::INFINITY, 102_560);
    assert_close(delta, 1.5975, 1e-4);
    assert_eq!((cwnd, ssthresh), (56.0, 2.0));
}

#[test]
fn slow_start_doubles_below_gamma() {
    assert_eq!(judged(paper(), 32.0, f64::INFINITY, 101_280), (0.0, 32.0, f64::INFINITY, 1.0));
}

#[test]
fn losses_in_whole_packets() {
    for (window, transmissions, left) in [(17.0, 1, 13.0), (17.0, 2, 8.0), (3.0, 1, 2.0), (3.0, 2, 2.0)] {
        let mut flow = Flow::avoiding(paper(), window, 100 * MS);
        flow.lose_one(transmissions);
        assert_eq!(flow.cwnd(), left);
    }
}

/// `spec: chan §3.8`: counts as below α.
#[test]
fn a_negative_backlog_would_grow_the_window() {
    use crate::parts::vegas::{Step, StepRule};
    assert_eq!(ByOne::step(&paper(), &mut (), &crate::testkit::driven::backlog_of(-0.5)), Step::Grow(1.0));
}

#[test]
fn it_lists_what_it_uses() {
    use crate::{Algorithm, Controller};
    assert_eq!(Vegas::needs(&paper()), Signals::ACKS | Signals::LOSS | Signals::RTT);
    let text = "vegas:growth_gate=post-ack,delta_rounding=nearest,alpha=2";
    assert_eq!(Algorithm::read(text).unwrap().to_string(), text);
    let document = Algorithm::read("vegas:profile=paper").unwrap();
    assert_eq!(document, Algorithm::Vegas(paper()));
    assert!(Algorithm::read("vegas:lss=100").is_err(), "limited slow start has no place here");
    document.describe(&mut |param| assert!(!["lss", "first_halving"].contains(&param.name)));
}
