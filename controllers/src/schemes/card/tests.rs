//! `spec: chan §9`; what it shares with Vegas is in `parts::vegas`.

use super::*;
use crate::testkit::cases;
use crate::testkit::driven::{Driven, a_loss_halves_and_forgets, compared, profiles, settled_between, test_events};
use proptest::prelude::*;

type Flow = Driven<Choices>;

fn judged(before: (f64, u64), now: (f64, u64)) -> (f64, f64) {
    compared::<Choices>(Params::default(), before, now)
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

#[test]
fn losses() {
    a_loss_halves_and_forgets::<Choices>();
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
    let ((least, most), knee) = (settled_between::<Choices>(), 100.0);
    assert!(least > 0.75 * knee && least < knee, "{least}");
    assert!(most >= knee && most < knee + 2.0, "{most}");
}

proptest! {
    #![proptest_config(cases(300))]

    /// P1.
    #[test]
    fn it_survives(params in profiles(), test_events in test_events()) {
        Flow::new(params).survives(&test_events)?;
    }

    /// A decision in congestion avoidance takes the fraction `b` or grows by a packet.
    #[test]
    fn up_by_one_or_down_by_an_eighth(a in (4.0..1e4f64, 100u64..400), b in (4.0..1e4f64, 100u64..400)) {
        let (cwnd, incr) = judged(a, b);
        prop_assert!((cwnd, incr) == (b.0 + 1.0, 0.0) || (cwnd, incr) == ((b.0 - 0.125 * b.0).max(2.0), 0.0));
    }
}
