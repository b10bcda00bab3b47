//! What a flow has done up to some instant of a run.

/// Data packets that reached the receiver, repeats included; probes of trains are not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Arrivals {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
    /// Sum of their times from the sender to the receiver, s.
    pub delay: f64,
    /// Sum of the squares of these, s².
    pub delay_square: f64,
}

impl Arrivals {
    #[inline]
    pub(super) fn add(&mut self, bytes: u32, delay: u64) {
        let delay = delay as f64 / 1e9;
        self.packets += 1;
        self.wire_bytes += u64::from(bytes);
        self.delay += delay;
        self.delay_square += delay * delay;
    }

    /// What arrived after `earlier` was read.
    #[must_use]
    pub fn since(&self, earlier: &Arrivals) -> Arrivals {
        Arrivals {
            packets: self.packets - earlier.packets,
            wire_bytes: self.wire_bytes - earlier.wire_bytes,
            delay: self.delay - earlier.delay,
            delay_square: self.delay_square - earlier.delay_square,
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(&self, other: &Arrivals) -> Arrivals {
        Arrivals {
            packets: self.packets + other.packets,
            wire_bytes: self.wire_bytes + other.wire_bytes,
            delay: self.delay + other.delay,
            delay_square: self.delay_square + other.delay_square,
        }
    }

    /// Mean one-way delay, s; `None` without packets.
    #[must_use]
    pub fn mean_delay(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.delay / self.packets as f64).filter(|delay| delay.is_finite())
    }

    /// Standard deviation of the one-way delay, s (`spec: cho §14.5`, there called jitter);
    /// `None` without packets.
    #[must_use]
    pub fn jitter(&self) -> Option<f64> {
        let mean = self.mean_delay()?;
        Some((self.delay_square / self.packets as f64 - mean * mean).max(0.0).sqrt())
    }
}

/// Losses by what their controller took them for (`spec: chan §14.3`); only of flows that
/// repair losses as TCP does and tell causes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LossClassification {
    /// Losses classified as random.
    pub random: u64,
    /// Losses classified as random that were random.
    pub truly_random: u64,
    /// Losses classified as congestion.
    pub congestion: u64,
    /// Losses classified as congestion that were congestion.
    pub truly_congestion: u64,
    /// Losses of packets that were still under way.
    pub spurious: u64,
}

impl LossClassification {
    /// One more, of which it is known whether it was random; `None` if it was no loss.
    pub(super) fn add(&mut self, taken_for_random: bool, random: Option<bool>) {
        let Some(random) = random else {
            self.spurious += 1;
            return;
        };
        let (verdict, truly) = if taken_for_random {
            (&mut self.random, &mut self.truly_random)
        } else {
            (&mut self.congestion, &mut self.truly_congestion)
        };
        *verdict += 1;
        *truly += u64::from(taken_for_random == random);
    }
}

/// Counts of a flow from its start.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FlowCounts {
    /// Whether it has begun and is not over.
    pub is_active: bool,
    /// Its window, packets; 0 unless active.
    pub cwnd_packets: f64,
    /// Packets sent, probes and retransmissions included.
    pub sent: u64,
    /// Packets the sender declared lost.
    pub lost: u64,
    /// Application bytes at the receiver, each once.
    pub goodput_bytes: u64,
    /// Packets and bytes that arrived at the receiver.
    pub arrivals: Arrivals,
    /// Packets sent that a queue dropped or a link lost; `None` of a flow that repairs losses as QUIC does or by a
    /// scoreboard, for which the network reports none.
    pub dropped: Option<u64>,
    /// How the controller classified its losses, beside their causes.
    pub loss_classification: LossClassification,
}

/// Fates of the packets of a run so far, cross traffic included: `sent = delivered + gone + held`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketCounts {
    /// Put on routes.
    pub sent: u64,
    /// Reached the end of their routes.
    pub delivered: u64,
    /// Dropped or lost.
    pub gone: u64,
    /// Queued, in transmission or under way.
    pub held: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_held_against_causes() {
        let mut all = LossClassification::default();
        for (taken, random) in [(true, Some(true)), (true, Some(false)), (false, Some(false)), (false, None)] {
            all.add(taken, random);
        }
        let right = LossClassification { random: 2, truly_random: 1, congestion: 1, truly_congestion: 1, spurious: 1 };
        assert_eq!(all, right);
    }

    #[test]
    fn delays_have_a_mean_and_a_deviation() {
        let mut arrivals = Arrivals::default();
        assert_eq!((arrivals.mean_delay(), arrivals.jitter()), (None, None));
        for ms in [10, 20, 30, 40] {
            arrivals.add(1040, ms * 1_000_000);
        }
        let early = arrivals;
        assert!((arrivals.mean_delay().unwrap() - 0.025).abs() < 1e-12);
        assert!((arrivals.jitter().unwrap() - 0.000_125f64.sqrt()).abs() < 1e-9);
        arrivals.add(1040, 100_000_000);
        let late = arrivals.since(&early);
        assert_eq!((late.packets, late.wire_bytes), (1, 1040));
        assert!((late.mean_delay().unwrap() - 0.1).abs() < 1e-9 && late.jitter().unwrap() < 1e-6);
        assert_eq!(early.and(&late).packets, 5);
    }
}
