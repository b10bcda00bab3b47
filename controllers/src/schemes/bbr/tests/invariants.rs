//! What holds whatever happens.

use proptest::prelude::*;

use super::*;
use crate::testkit::{cases, runs, trace};

proptest! {
    #![proptest_config(cases(256))]

    /// §5.6.4.3: four packets at least, once anything was delivered; the pacing rate is never zero;
    /// a bound not reached is infinite, never a NaN.
    #[test]
    fn the_floor_holds_and_pacing_goes_on(script in trace::scripts(50), seed in any::<u64>()) {
        let params = Params::default();
        let mut wrong = None;
        trace::run::<Bbr>(&params, seed, &script, |_, event, after| {
            let decision = after.decision(&params);
            let least = if after.delivered > 0 { 4.0 * after.mtu } else { after.mtu };
            let fits = decision.cwnd as f64 >= least.floor() && decision.pacing_rate > Some(0);
            #[allow(clippy::eq_op)]
            let sound = after == after && after.bw <= after.max_bw;
            if !(fits && sound) && wrong.is_none() {
                wrong = Some((*event, decision));
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}

/// Links of all kinds are filled, and every state is reached.
#[test]
fn links_are_filled_and_every_state_is_reached() {
    runs(24, (5.0..60.0f64, 5..120u64, 0.5..6.0f64), |(mbps, ms, buffer)| {
        let mut link = Link { rate: mbps * 1e6 / 8.0, base: Span::from_millis(ms), buffer: 0.0 };
        link.buffer = (buffer * link.bdp()).max(20.0 * PACKET);
        let run = link.run(&Params::default(), 12.0);
        for mode in [
            BbrState::Startup,
            BbrState::Drain,
            BbrState::ProbeBwDown,
            BbrState::ProbeBwCruise,
            BbrState::ProbeBwRefill,
            BbrState::ProbeBwUp,
            BbrState::ProbeRtt,
        ] {
            prop_assert!(run.seen(mode), "{mode:?}");
        }
        prop_assert!(run.goodput > 0.8 * link.rate, "{} of {}", run.goodput, link.rate);
        Ok(())
    });
}
