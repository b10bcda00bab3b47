//! The ACK delay of an RTT sample, which s2n-quic does not report.

use windlass_controllers::Span;

/// s2n-quic's smoothed RTT moves by so many parts of a sample (`RFC 9002 §5.3`).
const PARTS: u64 = 8;

/// s2n-quic 1.91 takes the field of an ACK frame for microseconds, whatever exponent its peer
/// gave. Peers mean so many of them unless they say otherwise (`RFC 9000 §18.2`), and a
/// controller does not learn what they say.
const MEANT: u64 = 8;

const MICROSECOND: u64 = 1000;

/// The ACK delay that the peer says lies in a sample of `latest`, if that took
/// the smoothed RTT from `before`, zero if there was none, to `after`; at most `most`.
///
/// The sample's part in the smoothed RTT is less by what s2n-quic makes of that delay
/// (`RFC 9002 §5.3`), which is found by what is missing. s2n-quic divides first, which makes
/// it too much by less than eight nanoseconds; the field is whole microseconds to it. The
/// first sample on a path, and the first after persistent congestion, are the smoothed RTT
/// themselves and show nothing. Nor is there anything to see where taking the delay out would
/// leave no more than the minimum RTT: then s2n-quic leaves it in.
#[inline]
pub(crate) fn ack_delay(before: Span, after: Span, latest: Span, most: impl FnOnce() -> Span) -> Span {
    // Most often, where peers do not wait, nothing is missing. Spans of centuries would wrap.
    let part = after.0.wrapping_sub(before.0 / PARTS * (PARTS - 1));
    let missing = latest.0.wrapping_sub(part.wrapping_mul(PARTS)) as i64;
    if missing < MICROSECOND as i64 { Span::ZERO } else { ack_delay_where_missing(before, after, latest, most()) }
}

/// As [`ack_delay`], where it may be something.
#[inline(never)]
fn ack_delay_where_missing(before: Span, after: Span, latest: Span, most: Span) -> Span {
    if before == Span::ZERO || after == latest {
        return Span::ZERO;
    }
    let part = after.0.saturating_sub(before.0 / PARTS * (PARTS - 1));
    let taken = latest.0.saturating_sub(part.saturating_mul(PARTS)) / MICROSECOND * MICROSECOND;
    Span(taken.saturating_mul(MEANT).min(most.0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use s2n_quic::provider::congestion_controller::RttEstimator;
    use s2n_quic_core::packet::number::PacketNumberSpace;
    use s2n_quic_core::time::{Clock as _, clock::NoopClock};

    use super::*;
    use crate::clock::span;

    /// An estimator of a path whose peer holds ACKs for 25 ms at most.
    fn estimator() -> RttEstimator {
        let mut rtt = RttEstimator::default();
        rtt.on_max_ack_delay(Duration::from_millis(25).try_into().expect("a delay that a peer may give"));
        rtt
    }

    /// A sample of `latest` µs whose ACK says `field`.
    fn update(rtt: &mut RttEstimator, latest: u64, field: u64) {
        let (latest, delay) = (Duration::from_micros(latest), Duration::from_micros(field));
        rtt.update_rtt(delay, latest, NoopClock.get_time(), true, PacketNumberSpace::ApplicationData);
    }

    proptest! {
        /// Of real estimators, whatever came before.
        #[test]
        fn what_the_peer_says_is_found(samples in proptest::collection::vec((40_000u64..400_000, 0u64..3125), 2..60)) {
            let mut rtt = estimator();
            let mut before = Span::ZERO;
            for (path, field) in samples {
                update(&mut rtt, path + 8 * field, field);
                let most = span(rtt.max_ack_delay());
                let (after, latest) = (span(rtt.smoothed_rtt()), span(rtt.latest_rtt()));
                let found = ack_delay(before, after, latest, || most);
                let seen = before > Span::ZERO && after != latest && span(rtt.min_rtt()).0 + field * 1000 < latest.0;
                prop_assert_eq!(found.0, if seen { 8 * field * 1000 } else { 0 });
                before = after;
            }
        }
    }

    #[test]
    fn a_fresh_start_gives_no_delay() {
        let mut rtt = estimator();
        update(&mut rtt, 50_000, 0);
        update(&mut rtt, 90_000, 20_000);
        let before = span(rtt.smoothed_rtt());
        rtt.on_persistent_congestion();
        update(&mut rtt, 300_000, 10_000);
        let most = span(rtt.max_ack_delay());
        assert_eq!(ack_delay(before, span(rtt.smoothed_rtt()), span(rtt.latest_rtt()), || most).0, 0);
    }
}
