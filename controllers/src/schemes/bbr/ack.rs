//! One ACK as BBR's rules look at it.

use core::ops::Deref;

use super::State;
use crate::Time;
use crate::event::PacketsAcked;
use crate::parts::rate_sample::RateSample;

/// What a stack that kept no record of the departure tells of deliveries.
const NOTHING: RateSample =
    RateSample { prior_delivered: 0, delivered: 0.0, rate: 0.0, tx_in_flight: 0.0, lost: 0.0, app_limited: true };

/// An ACK, with the delivery-rate sample it makes.
#[derive(Debug)]
pub(super) struct Ack<'a> {
    /// When.
    pub now: Time,
    /// `RS`.
    pub sample: RateSample,
    /// `RS.newly_acked`, bytes.
    pub newly: f64,
    /// `C.inflight`, bytes, once these packets are out of it.
    pub in_flight: f64,
    /// Bytes in flight before.
    pub flight: f64,
    acked: &'a PacketsAcked,
}

impl<'a> Ack<'a> {
    #[inline]
    pub fn of(state: &State, now: Time, acked: &'a PacketsAcked) -> Ack<'a> {
        let min_rtt = acked.rtt.map_or(state.delay.min, |rtt| rtt.min);
        let min_rtt = if min_rtt.0 == u64::MAX { crate::Span::ZERO } else { min_rtt };
        let mut sample = RateSample::of(acked, now, min_rtt).unwrap_or(NOTHING);
        sample.app_limited |= state.probe.limits(sample.prior_delivered);
        Ack {
            now,
            sample,
            newly: acked.bytes as f64,
            in_flight: acked.in_flight as f64,
            flight: acked.in_flight_before as f64,
            acked,
        }
    }
}

impl Deref for Ack<'_> {
    type Target = PacketsAcked;

    fn deref(&self) -> &PacketsAcked {
        self.acked
    }
}
