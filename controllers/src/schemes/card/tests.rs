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
    let mut flow = Flow::avoiding(Params::default(), before.0, 100 * MS);
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

/// `spec: chan §9`: up by a packet or down by an eighth, by the sign of the gradient.
#[test]
fn by_the_sign_of_the_gradient() {
    assert_eq!(judged((40.0, 100), (41.0, 105)), (41.0 * 0.875, 0.0), "more window, more delay");
    assert_eq!(judged((41.0, 105), (40.0, 100)), (35.0, 0.0), "less window, less delay");
    assert_eq!(judged((40.0, 105), (41.0, 100)), (42.0, 0.0), "more window, less delay");
    assert_eq!(judged((41.0, 100), (40.0, 105)), (41.0, 0.0), "less window, more delay");
    assert_eq!(judged((40.0, 100), (41.0, 100)), (42.0, 0.0), "no more delay");
    assert_eq!(judged((40.0, 100), (40.0, 105)), (41.0, 0.0), "the same window tells nothing");
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
    for text in ["card:alpha=1", "card:beta=3", "card:gradient=-1", "card:b=0"] {
        assert!(crate::Algorithm::read(text).is_err(), "{text}");
    }
    assert!(crate::Algorithm::read("card:gamma=2,gradient=0.1,profile=paper").is_ok());
}

/// On an empty path it swings around the window that just fills it (`spec: chan §9`: the
/// window changes at every adjustment).
#[test]
fn it_finds_the_knee() {
    let pipe = Pipe { service: MS, base: 100 * MS, every: 1 };
    let params = Params::default();
    let start = Card::start(&params, &crate::testkit::PATH);
    let (mut acks, mut least, mut most) = (0u32, f64::INFINITY, 0.0f64);
    pipe.run::<Card>(&params, start, 200_000, |moment| {
        acks += 1;
        if acks > 100_000 {
            least = least.min(moment.state.window.cwnd);
            most = most.max(moment.state.window.cwnd);
        }
    });
    let knee = pipe.capacity();
    assert!(least > 0.75 * knee && least < knee, "{least}");
    assert!(most >= knee && most < knee + 2.0, "{most}");
}

proptest! {
    #![proptest_config(cases(300))]

    /// P1.
    #[test]
    fn it_survives(happenings in happenings(), paper: bool) {
        let params = if paper { Params::paper() } else { Params::default() };
        Flow::new(params).survives(&happenings)?;
    }

    /// A decision in congestion avoidance takes the fraction `b` or grows by a packet.
    #[test]
    fn up_by_one_or_down_by_an_eighth(a in (4.0..1e4f64, 100u64..400), b in (4.0..1e4f64, 100u64..400)) {
        let (cwnd, incr) = judged(a, b);
        prop_assert!((cwnd, incr) == (b.0 + 1.0, 0.0) || (cwnd, incr) == ((b.0 - 0.125 * b.0).max(2.0), 0.0));
    }
}
