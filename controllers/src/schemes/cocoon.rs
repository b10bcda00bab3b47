#![doc = include_str!("cocoon.md")]

use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Signals};

pub use crate::schemes::fractional::Params;

/// COCOON (`spec: cho §9`). A group of one is [`reno`](crate::schemes::reno).
#[derive(Debug)]
pub struct Cocoon;

/// Siblings with more than `to` packets outstanding get a window of so many
/// (`spec: cho §9`).
fn adjust(flow: &mut Flow<'_, Cocoon>, to: f64) {
    let limit = flow.bytes(to);
    flow.lower_siblings(|member| (member.in_flight > limit).then_some(to));
}

impl WindowScheme for Cocoon {
    const INFO: Info = Info {
        name: "cocoon",
        summary: "Reno flows of which a loss lowers those with more outstanding too",
        source: "spec: cho §2, §9",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::GROUPS);
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: cho §9`: standard growth.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to(0.5 * flow.cwnd)
    }

    fn on_reduced(flow: &mut Flow<'_, Self>) {
        adjust(flow, flow.cwnd);
    }

    /// Siblings are held to the new threshold, once per recovery period: that this flow
    /// starts over is no reason for them to.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let half = 0.5 * flow.cwnd;
        if !flow.recovery.in_recovery() && !flow.answered() {
            adjust(flow, half.max(flow.params.base.limits.min_window));
        }
        half
    }
}

#[cfg(test)]
mod tests {
    //! `spec: cho §2.3, §9`. That a group of one is Reno is in `tests/it/equivalences.rs`.

    use super::*;
    use crate::event::SpuriousLoss;
    use crate::parts::window_controller::WindowController;
    use crate::testkit::groups::{ack, group, lose, on, thresholds, time_out, windows};
    use crate::testkit::{self, MTU, cases};
    use crate::{EventKind, Static, Time};
    use proptest::prelude::*;
    use std::vec::Vec;

    type Cocoon = WindowController<super::Cocoon>;

    type Group = testkit::Flows<Static<Cocoon>>;

    /// Members with these windows and so many packets in flight.
    fn flying(members: &[(f64, u64)]) -> Group {
        let starts: Vec<f64> = members.iter().map(|(cwnd, _)| *cwnd).collect();
        let mut flows = group::<Cocoon>(Params::default(), &starts);
        for (member, (_, packets)) in flows.members.iter_mut().zip(members) {
            member.in_flight = packets * u64::from(MTU);
        }
        flows
    }

    /// `spec: cho §9`: `in_flight_j > cwnd_i(new)`, strictly.
    #[test]
    fn those_with_more_outstanding_come_down_to_the_new_window() {
        let mut flows = flying(&[(30.0, 30), (40.0, 40), (40.0, 15), (40.0, 16), (8.0, 8)]);
        lose(&mut flows, 0, 1000);
        assert_eq!(windows(&flows), [15.0, 15.0, 40.0, 15.0, 8.0]);
        assert_eq!(thresholds(&flows), [15.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(flows.members[1].scaled_by_other, Some(Time(1_000_000_000)));
        assert_eq!(flows.members[2].scaled_by_other, None);
    }

    #[test]
    fn growth_is_standard() {
        let mut flows = flying(&[(10.0, 10), (20.0, 20)]);
        ack(&mut flows, 1, 1000, 1);
        assert_eq!(windows(&flows), [10.0, 20.05]);
        flows.members[0].ssthresh = 50.0;
        ack(&mut flows, 0, 1000, 3);
        assert_eq!(windows(&flows), [13.0, 20.05]);
    }

    /// A second loss of the same flight asks nothing of anybody.
    #[test]
    fn once_per_flight() {
        let mut flows = flying(&[(30.0, 30), (40.0, 40)]);
        lose(&mut flows, 0, 1000);
        flows.members[1].cwnd = 40.0;
        on(&mut flows, 0, 1001, EventKind::PacketsLost(testkit::lost(Time(1_000_000_000))));
        assert_eq!(windows(&flows), [15.0, 40.0]);
    }

    /// Siblings of a flow that starts over are held to its threshold, once per recovery period.
    #[test]
    fn persistent_congestion() {
        let mut flows = flying(&[(30.0, 30), (40.0, 40), (8.0, 8)]);
        time_out(&mut flows, 0, 1000);
        assert_eq!((windows(&flows), thresholds(&flows)), ([2.0, 15.0, 8.0].into(), [15.0, 2.0, 2.0].into()));
        let mut flows = flying(&[(30.0, 30), (40.0, 40), (8.0, 8)]);
        lose(&mut flows, 0, 1000);
        flows.members[1].cwnd = 40.0;
        time_out(&mut flows, 0, 1001);
        assert_eq!(windows(&flows), [2.0, 40.0, 8.0]);
    }

    /// `spec: cho §11`: what siblings gave is not given back, so the response stands too.
    #[test]
    fn spurious_losses() {
        let sorry = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(1_000_000_000) });
        let mut took = flying(&[(30.0, 30), (40.0, 40)]);
        lose(&mut took, 0, 1000);
        on(&mut took, 0, 1100, sorry);
        assert_eq!(windows(&took), [15.0, 15.0]);
        let mut spared = flying(&[(30.0, 30), (40.0, 4)]);
        lose(&mut spared, 0, 1000);
        on(&mut spared, 0, 1100, sorry);
        assert_eq!(windows(&spared), [30.0, 40.0]);
    }

    proptest! {
        #![proptest_config(cases(1_000))]

        /// Others' events never raise a window nor touch a threshold, and who has no more
        /// outstanding than the new window is left alone.
        #[test]
        fn siblings_only_lower(
            starts in prop::collection::vec((2.0..100.0f64, 0u64..100), 2..8),
            events in prop::collection::vec((any::<prop::sample::Index>(), 0u8..10, 0u64..100), 1..60),
        ) {
            let mut flows = flying(&starts);
            let mut ms = 1000;
            for (who, kind, wait) in events {
                ms += wait;
                let me = who.index(starts.len());
                let before = flows.members.clone();
                match kind {
                    0..=5 => ack(&mut flows, me, ms, 3),
                    6..=8 => lose(&mut flows, me, ms),
                    _ => time_out(&mut flows, me, ms),
                }
                let limit = flows.members[me].cwnd.max(flows.members[me].ssthresh);
                for (j, (member, before)) in flows.members.iter().zip(&before).enumerate().filter(|(j, _)| *j != me) {
                    prop_assert!(member.cwnd <= before.cwnd && member.ssthresh == before.ssthresh, "{j}");
                    let modest = before.in_flight as f64 <= flows.members[me].cwnd.floor() * f64::from(MTU);
                    prop_assert!(!modest || member.cwnd == before.cwnd);
                    prop_assert!(member.cwnd == before.cwnd || member.cwnd <= limit);
                }
            }
        }
    }
}
