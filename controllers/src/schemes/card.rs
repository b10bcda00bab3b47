#![doc = include_str!("card.md")]

use crate::parts::vegas::{
    ByGradient, Common, Every, Gradient, Pair, RoundMeasurement, RoundTrip, Scheme, Step, VegasBased,
};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Card`]: `card:NAME=VALUE,…`.
    pub struct Params {
        // A loss halves the window (`spec: chan §9` has no rule of its own).
        @base Common = Common { first_loss: 0.5, ..Common::default() }, paper Common { first_loss: 0.5, ..Common::paper() };
        /// Normalised delay gradient above which the window shrinks.
        gradient: f64 = 0.0, in 0.0, 1.0, source "spec: chan §9";
        /// Fraction of the window an adjustment gives up.
        b: f64 = 0.125, in 0.001, 0.5, source "spec: chan §9";
    }
}

impl Gradient for Params {
    /// `spec: chan §9`: up by a packet or down by a fraction, by the sign of the delay
    /// gradient; the window changes at every adjustment.
    fn judge(&self, pair: &Pair, round: &RoundMeasurement) -> Step {
        if pair.delay_gradient() > self.gradient { Step::Shrink(self.b * round.cwnd) } else { Step::Raise(1.0) }
    }
}

/// The parts CARD is composed of.
#[derive(Debug)]
pub struct Choices;

/// CARD (`spec: chan §9`).
pub type Card = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "card",
        summary: "moves its window by the sign of the gradient of delay over window",
        source: "Jain 1989; spec: chan §9",
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
}
