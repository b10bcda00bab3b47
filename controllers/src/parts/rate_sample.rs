//! One sample of the delivery rate (`draft-ietf-ccwg-bbr §4.1`).

use crate::event::PacketsAcked;
use crate::{Span, Time};

/// What the ACK of a packet tells of the path since the packet left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered when the packet left (`RS.prior_delivered`).
    pub prior_delivered: u64,
    /// Bytes delivered since (`RS.delivered`).
    pub delivered: f64,
    /// Delivery rate, bytes/s; 0 where the interval was too short to tell.
    pub rate: f64,
    /// Bytes in flight just after it left (`RS.tx_in_flight`).
    pub tx_in_flight: f64,
    /// Bytes declared lost since it left (`RS.lost`).
    pub lost: f64,
    /// The rate may be the application's, not the path's.
    pub app_limited: bool,
}

impl RateSample {
    /// The sample of an ACK for which the stack has no [`Delivery`](crate::event::Delivery).
    pub const NONE: RateSample =
        RateSample { prior_delivered: 0, delivered: 0.0, rate: 0.0, tx_in_flight: 0.0, lost: 0.0, app_limited: true };

    /// The sample `acked` makes at `now`; none from a stack that kept no record of the
    /// departure. An interval shorter than `min_rtt` shows how ACKs were bunched, not how
    /// fast the path is, and gives no rate.
    #[must_use]
    #[inline]
    pub fn of(acked: &PacketsAcked, now: Time, min_rtt: Span) -> Option<RateSample> {
        let then = acked.delivery?;
        let delivered = acked.delivered.saturating_sub(then.delivered) as f64;
        // The slower of sending and acknowledging: ACKs that come compressed do not make
        // the path look faster than packets were sent.
        let interval = acked.newest_sent_at.since(then.first_sent_at).max(now.since(then.delivered_at));
        let short = interval < min_rtt || interval == Span::ZERO;
        Some(RateSample {
            prior_delivered: then.delivered,
            delivered,
            rate: if short { 0.0 } else { delivered / interval.secs() },
            tx_in_flight: acked.newest_in_flight.unwrap_or(acked.in_flight_before) as f64,
            lost: then.lost as f64,
            app_limited: then.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Delivery;
    use crate::testkit::acked;

    const MS: u64 = 1_000_000;

    /// 10 packets of 1000 bytes delivered since a packet that left at 100 ms.
    fn sample(first_sent_ms: u64, delivered_ms: u64, now_ms: u64, min_rtt_ms: u64) -> RateSample {
        let delivery = Delivery {
            delivered: 5_000,
            delivered_at: Time(delivered_ms * MS),
            first_sent_at: Time(first_sent_ms * MS),
            lost: 2_000,
            app_limited: true,
        };
        let frame = PacketsAcked {
            delivered: 15_000,
            newest_in_flight: Some(12_000),
            delivery: Some(delivery),
            ..acked(1, Time(100 * MS))
        };
        RateSample::of(&frame, Time(now_ms * MS), Span::from_millis(min_rtt_ms)).unwrap()
    }

    #[test]
    fn the_slower_of_sending_and_acknowledging_counts() {
        assert_eq!(sample(60, 90, 140, 40).rate, 10_000.0 / 0.05, "50 ms of ACKs, 40 ms of sending");
        assert_eq!(sample(20, 100, 140, 40).rate, 10_000.0 / 0.08, "40 ms of ACKs, 80 ms of sending");
        let sample = sample(60, 90, 140, 40);
        assert_eq!((sample.prior_delivered, sample.delivered, sample.lost), (5_000, 10_000.0, 2_000.0));
        assert_eq!((sample.tx_in_flight, sample.app_limited), (12_000.0, true));
    }

    #[test]
    fn an_interval_below_the_minimum_rtt_gives_no_rate() {
        assert_eq!(sample(70, 105, 140, 40).rate, 0.0);
        assert_eq!(sample(100, 140, 140, 0).rate, 0.0, "nor does none at all");
    }

    #[test]
    fn a_stack_without_records_gives_no_sample() {
        assert_eq!(RateSample::of(&acked(1, Time(0)), Time(5), Span::ZERO), None);
    }
}
