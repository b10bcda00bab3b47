//! Pre-congestion notification adapted to network-friendly flows: two token buckets
//! (`spec: arumaithurai §4.6`; the meters are those of `RFC 5670 §2.3, §2.4`).

use super::bucket::{Bucket, BucketSpec};
use super::discipline::{Action, Admission, Arrival};
use super::out_of_range::{OutOfRange, check};
use super::packet::{Class, Packet};
use super::random::Stream;

/// Settings of a PCN queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PcnSpec {
    /// The bucket whose fill below [`threshold`](Self::ac_threshold) marks all low-priority
    /// packets (admission control).
    pub ac: BucketSpec,
    /// Fill of `ac` below which low-priority packets are marked, bytes.
    pub ac_threshold: f64,
    /// The bucket whose exhaustion marks packets in excess of its rate, of all classes
    /// (flow termination).
    pub ft: BucketSpec,
}

impl PcnSpec {
    /// Buckets that hold 50 ms of their rates, with a threshold at half of that: the source
    /// gives no sizes.
    #[must_use]
    pub fn new(ac_rate: f64, ft_rate: f64) -> PcnSpec {
        let bucket = |rate: f64| BucketSpec { rate, depth: rate / 8.0 * 0.05 };
        PcnSpec { ac: bucket(ac_rate), ac_threshold: bucket(ac_rate).depth / 2.0, ft: bucket(ft_rate) }
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        self.ac.check()?;
        self.ft.check()?;
        let (ft, threshold) = (self.ft.rate, self.ac_threshold);
        check(ft >= self.ac.rate, "rate of flow termination", ft, "at least that of admission control")?;
        let holds = (0.0..=self.ac.depth).contains(&threshold);
        check(holds, "threshold of admission control", threshold, "0 to the depth of its bucket")
    }
}

/// The two meters of an interior node (`RFC 5670`).
pub(super) struct Pcn {
    ac: Bucket,
    ac_threshold: f64,
    ft: Bucket,
}

impl Pcn {
    pub fn new(spec: &PcnSpec) -> Pcn {
        Pcn { ac: Bucket::new(spec.ac), ac_threshold: spec.ac_threshold, ft: Bucket::new(spec.ft) }
    }

    /// Meters a packet that arrives at `now` and says whether it deserves a mark.
    fn marks(&mut self, now: u64, packet: &Packet) -> bool {
        let bytes = f64::from(packet.bytes);
        // The threshold meter takes tokens for every packet, down to none.
        self.ac.fill = (self.ac.refill(now) - bytes).max(0.0);
        let admission = self.ac.fill < self.ac_threshold && packet.class == Class::LowPriority;
        // The excess meter takes tokens only for packets it does not mark.
        let excess = !self.ft.take(now, packet.bytes);
        admission || excess
    }
}

impl Admission for Pcn {
    fn admit(&mut self, arrival: Arrival, packet: &Packet, _: &mut Stream) -> Action {
        if self.marks(arrival.now, packet) { Action::Mark } else { Action::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1000 bytes at `rate` bit/s for a second: the share that is marked.
    fn marked(rate: f64, class: Class) -> f64 {
        let mut pcn = Pcn::new(&PcnSpec::new(4e6, 8e6));
        let gap = 8e12 / rate;
        let packets = (1e9 / gap) as u64;
        // The first quarter drains the buckets.
        let counted = (0..packets)
            .map(|i| pcn.marks((i as f64 * gap) as u64, &Packet { class, ..Packet::new(0, i, 1000) }))
            .skip(packets as usize / 4);
        let total = packets - packets / 4;
        counted.filter(|marked| *marked).count() as f64 / total as f64
    }

    #[test]
    fn below_the_lower_rate_nothing_is_marked() {
        assert_eq!((marked(3.9e6, Class::LowPriority), marked(3.9e6, Class::Normal)), (0.0, 0.0));
    }

    #[test]
    fn between_the_rates_low_priority_packets_all_are() {
        assert_eq!((marked(6e6, Class::LowPriority), marked(6e6, Class::Normal)), (1.0, 0.0));
        assert_eq!(marked(6e6, Class::Probe), 0.0);
    }

    #[test]
    fn above_the_higher_rate_the_excess_of_all_is() {
        // 10 Mbit/s offered, 8 allowed: a fifth is in excess.
        assert!((marked(10e6, Class::Normal) - 0.2).abs() < 0.002, "{}", marked(10e6, Class::Normal));
        assert_eq!(marked(10e6, Class::LowPriority), 1.0);
    }
}
