//! RTT estimation (`RFC 9002 §5`).

use windlass_adapter::rfc9002;
use windlass_controllers::Span;
use windlass_controllers::event::RttSample;

/// `kInitialRtt` (`RFC 9002 §6.2.2`), ns.
const INITIAL: u64 = rfc9002::INITIAL_RTT.0;

/// The sender's view of the RTT, ns.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    /// `latest_rtt`, ns.
    pub latest: u64,
    /// `smoothed_rtt`, ns.
    pub smoothed: u64,
    /// `rttvar`, ns.
    pub variation: u64,
    /// `min_rtt`, ns.
    pub min: u64,
    /// When the first sample was taken.
    pub first_sample: Option<u64>,
}

impl Default for RttEstimator {
    fn default() -> RttEstimator {
        RttEstimator::new()
    }
}

impl RttEstimator {
    /// Before the first sample (`§5.3`).
    #[must_use]
    pub fn new() -> RttEstimator {
        RttEstimator { latest: 0, smoothed: INITIAL, variation: INITIAL / 2, min: 0, first_sample: None }
    }

    /// Takes a sample. `ack_delay` is what the receiver says, at most its promised maximum.
    #[inline]
    pub fn sample(&mut self, now: u64, latest: u64, ack_delay: u64) -> RttSample {
        self.latest = latest;
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            (self.min, self.smoothed, self.variation) = (latest, latest, latest / 2);
        } else {
            self.min = self.min.min(latest);
            let adjusted = rfc9002::adjusted_rtt(Span(latest), Span(self.min), Span(ack_delay));
            let smoothed = Span(self.smoothed);
            self.variation = rfc9002::rtt_variation(Span(self.variation), smoothed, adjusted).0;
            self.smoothed = rfc9002::smoothed_rtt(smoothed, adjusted).0;
        }
        RttSample::new(Span(latest), Span(self.smoothed), Span(self.variation), Span(self.min))
            .with_ack_delay(Span(ack_delay))
    }

    /// Forgets the minimum but for the latest sample, after persistent congestion (`§5.2`).
    pub fn restart_min(&mut self) {
        self.min = self.latest;
    }

    /// The probe timeout before backoff (`§6.2.1`).
    #[inline]
    pub fn pto(&self, max_ack_delay: u64) -> u64 {
        rfc9002::probe_timeout(Span(self.smoothed), Span(self.variation), Span(max_ack_delay)).0
    }

    /// How long after its departure a packet is lost once a later one is acknowledged
    /// (`§6.1.2`).
    #[inline]
    pub fn loss_delay(&self) -> u64 {
        rfc9002::loss_delay(Span(self.latest), Span(self.smoothed)).0
    }

    /// How long losses must span to be persistent congestion (`§7.6.1`).
    pub fn persistent_duration(&self, max_ack_delay: u64) -> u64 {
        rfc9002::persistent_congestion_duration(Span(self.pto(max_ack_delay))).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn first_sample_then_weights_of_an_eighth_and_a_quarter() {
        let mut rtt = RttEstimator::new();
        assert_eq!(rtt.pto(0), 999 * MS);
        rtt.sample(5, 100 * MS, 0);
        assert_eq!((rtt.smoothed, rtt.variation, rtt.min), (100 * MS, 50 * MS, 100 * MS));
        assert_eq!(rtt.pto(25 * MS), 325 * MS);
        rtt.sample(6, 180 * MS, 0);
        assert_eq!((rtt.smoothed, rtt.variation, rtt.min), (110 * MS, 57_500_000, 100 * MS));
        assert_eq!(rtt.loss_delay(), 202_500_000);
        assert_eq!(rtt.first_sample, Some(5));
    }

    #[test]
    fn ack_delay_counts_unless_it_would_go_below_the_minimum() {
        let mut rtt = RttEstimator::new();
        rtt.sample(0, 100 * MS, 10 * MS);
        assert_eq!(rtt.smoothed, 100 * MS, "not for the first sample");
        let seen = rtt.sample(1, 120 * MS, 20 * MS);
        assert_eq!((seen.smoothed.0, seen.latest.0, seen.ack_delay.0), (100 * MS, 120 * MS, 20 * MS));
        rtt.sample(2, 108 * MS, 20 * MS);
        assert_eq!(rtt.smoothed, 101 * MS);
    }
}
