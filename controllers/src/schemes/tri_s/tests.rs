//! `spec: chan §9`; what it shares with Vegas is in `parts::vegas`.

use super::*;
use crate::testkit::cases;
use crate::testkit::driven::{Driven, MS, happenings, trip};
use crate::testkit::pipe::Pipe;
use crate::{Controller, Parameters};
use proptest::prelude::*;

type Flow = Driven<Choices>;

/// A decision at `cwnd` packets and `rtt` ms after one at `before`; what comes of it.
fn judged(before: (f64, u64), now: (f64, u64)) -> (f64, f64) {
    judged_by(Params::default(), before, now)
}

fn judged_by(params: Params, before: (f64, u64), now: (f64, u64)) -> (f64, f64) {
    let mut flow = Flow::avoiding(params, before.0, 100 * MS);
    for (cwnd, rtt) in [before, now] {
        flow.state.window.cwnd = cwnd;
        // Two rounds: the first one's samples are cleared by what decides on the one before.
        flow.decide();
        flow.state.window.cwnd = cwnd;
        flow.state.incr = 0.0;
        flow.round(&[trip(rtt * MS)]);
        flow.state.window.cwnd = cwnd;
        flow.state.step.settle();
        flow.decide();
    }
    (flow.cwnd(), flow.state.incr)
}

/// `spec: chan §9`: by what a packet more gained, of what the first packet gained.
#[test]
fn by_the_throughput_gradient() {
    // Throughputs per base RTT: 40 and 41, 40 and 41/1.02 = 40.2.
    assert_eq!(judged((40.0, 100), (41.0, 100)), (42.0, 0.0), "all of it");
    assert_eq!(judged((40.0, 100), (41.0, 102)), (40.0, 0.0), "a fifth");
    assert_eq!(judged((41.0, 102), (40.0, 100)), (39.0, 0.0), "a fifth, walked down");
    assert_eq!(judged((41.0, 100), (40.0, 100)), (41.0, 0.0), "all of it was lost");
    assert_eq!(judged((40.0, 100), (40.0, 105)), (41.0, 0.0), "the same window tells nothing");
}

/// `spec: chan §9`: with two thresholds there is a third answer.
#[test]
fn between_the_thresholds_it_rests() {
    let params = Params { shrink_below: 0.1, grow_from: 0.5, ..Params::default() };
    assert_eq!(judged_by(params, (40.0, 100), (41.0, 102)), (41.0, 0.0));
}

/// A loss halves, and what was measured before it is no longer compared with.
#[test]
fn losses() {
    let mut flow = Flow::avoiding(Params::default(), 40.0, 100 * MS);
    flow.lose_one(1);
    assert_eq!(flow.cwnd(), 20.0);
    assert_eq!(flow.state.step, Trail::default());
    let mut paper = Flow::avoiding(Params::paper(), 41.0, 100 * MS);
    paper.lose_one(1);
    assert_eq!(paper.cwnd(), 21.0, "41 less the whole part of its half");
}

#[test]
fn it_has_no_alpha_and_beta() {
    for text in ["tri-s:alpha=1", "tri-s:beta=3", "tri-s:grow_from=2", "tri-s:shrink_below=-1"] {
        assert!(crate::Algorithm::read(text).is_err(), "{text}");
    }
    assert!(crate::Algorithm::read("tri-s:gamma=2,grow_from=0.6,profile=paper").is_ok());
}

/// On an empty path it swings around the window that just fills it.
#[test]
fn it_finds_the_knee() {
    let pipe = Pipe { service: MS, base: 100 * MS, every: 1 };
    let params = Params::default();
    let start = TriS::start(&params, &crate::testkit::PATH);
    let (mut acks, mut least, mut most) = (0u32, f64::INFINITY, 0.0f64);
    pipe.run::<TriS>(&params, start, 200_000, |moment| {
        acks += 1;
        if acks > 100_000 {
            least = least.min(moment.state.window.cwnd);
            most = most.max(moment.state.window.cwnd);
        }
    });
    let knee = pipe.capacity();
    assert!(least > knee - 3.0 && least < knee + 1.0, "{least}");
    assert!(most >= knee && most < knee + 3.0, "{most}");
}

proptest! {
    #![proptest_config(cases(300))]

    /// P1.
    #[test]
    fn it_survives(happenings in happenings(), paper: bool) {
        let params = if paper { Params::paper() } else { Params::default() };
        Flow::new(params).survives(&happenings)?;
    }

    /// A decision in congestion avoidance moves the window by a packet.
    #[test]
    fn up_or_down_by_one(a in (4.0..1e4f64, 100u64..400), b in (4.0..1e4f64, 100u64..400)) {
        let (cwnd, incr) = judged(a, b);
        prop_assert!((cwnd, incr) == (b.0 + 1.0, 0.0) || (cwnd, incr) == (b.0 - 1.0, 0.0));
    }
}
