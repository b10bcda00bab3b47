#![doc = include_str!("tri_s.md")]

use crate::parts::vegas::{
    ByGradient, Common, Every, Gradient, Pair, RoundMeasurement, RoundTrip, Scheme, Step, VegasBased,
};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`TriS`]: `tri-s:NAME=VALUE,…`.
    pub struct Params {
        // A loss halves the window (`spec: chan §9` has no rule of its own).
        @base Common = Common { first_loss: 0.5, ..Common::default() }, paper Common { first_loss: 0.5, ..Common::paper() };
        /// Normalised throughput gradient below which the window shrinks.
        shrink_below: f64 = 0.5, in 0.0, 1.0, source "Wang and Crowcroft 1991; spec: chan §9";
        /// Normalised throughput gradient from which on the window grows; between the two it rests for one decision.
        grow_from: f64 = 0.5, in 0.0, 1.0, source "Wang and Crowcroft 1991; spec: chan §9";
    }
}

impl Gradient for Params {
    /// `spec: chan §9`: a packet up, down or none, by the throughput gradient.
    fn judge(&self, pair: &Pair, round: &RoundMeasurement) -> Step {
        let gradient = pair.throughput_gradient(round.delays.base);
        if gradient < self.shrink_below {
            Step::Shrink(1.0)
        } else if gradient < self.grow_from {
            Step::Hold
        } else {
            Step::Raise(1.0)
        }
    }
}

/// The parts Tri-S is composed of.
#[derive(Debug)]
pub struct Choices;

/// Tri-S (`spec: chan §9`).
pub type TriS = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "tri-s",
        summary: "moves its window by what a packet more gains in throughput",
        source: "Wang and Crowcroft 1991; spec: chan §9",
        fallback: None,
    };
    type Params = Params;
    type Source = RoundTrip;
    type Step = ByGradient;
    type Loss = Every;
}

#[cfg(test)]
mod tests {
    //! `spec: chan §9`; what it shares with Vegas is in `parts::vegas`.

    use super::*;
    use crate::testkit::cases;
    use crate::testkit::driven::{Driven, a_loss_halves_and_forgets, compared, profiles, settled_between, test_events};
    use proptest::prelude::*;

    type Flow = Driven<Choices>;

    fn judged(before: (f64, u64), now: (f64, u64)) -> (f64, f64) {
        compared::<Choices>(Params::default(), before, now)
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
        assert_eq!(compared::<Choices>(params, (40.0, 100), (41.0, 102)), (41.0, 0.0));
    }

    #[test]
    fn losses() {
        a_loss_halves_and_forgets::<Choices>();
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
        let ((least, most), knee) = (settled_between::<Choices>(), 100.0);
        assert!(least > knee - 3.0 && least < knee + 1.0, "{least}");
        assert!(most >= knee && most < knee + 3.0, "{most}");
    }

    proptest! {
        #![proptest_config(cases(300))]

        /// P1.
        #[test]
        fn it_survives(params in profiles(), test_events in test_events()) {
            Flow::new(params).survives(&test_events)?;
        }

        /// A decision in congestion avoidance moves the window by a packet.
        #[test]
        fn up_or_down_by_one(a in (4.0..1e4f64, 100u64..400), b in (4.0..1e4f64, 100u64..400)) {
            let (cwnd, incr) = judged(a, b);
            prop_assert!((cwnd, incr) == (b.0 + 1.0, 0.0) || (cwnd, incr) == (b.0 - 1.0, 0.0));
        }
    }
}
