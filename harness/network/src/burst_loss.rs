//! Losses in bursts: the Gilbert–Elliott channel.

use super::out_of_range::{OutOfRange, check};
use super::random::Stream;

/// A channel with a good and a bad state, between which it changes before each packet (Gilbert 1960, Elliott 1963; the
/// parameters as in Hasslinger and Hohlfeld, *The Gilbert-Elliott Model for Packet Loss in Real Time Services on the
/// Internet*, MMB 2008, §2). It begins in the good one. All numbers are probabilities.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstLoss {
    /// That it becomes bad, *p*.
    pub to_bad: f64,
    /// That it becomes good again, *r*.
    pub to_good: f64,
    /// That a packet is lost in the good state, *1 − k*.
    pub good: f64,
    /// That a packet is lost in the bad one, *1 − h*.
    pub bad: f64,
}

impl BurstLoss {
    /// Share of packets that are lost in the long run.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let bad = self.bad_share();
        bad * self.bad + (1.0 - bad) * self.good
    }

    /// Share of packets that find the channel bad.
    fn bad_share(&self) -> f64 {
        self.to_bad / (self.to_bad + self.to_good)
    }

    /// Packets lost in a row on average: all that are lost over those before which none was.
    #[must_use]
    pub fn mean_burst(&self) -> f64 {
        let (bad, lost_next) = (self.bad_share(), |to_bad: f64| to_bad * self.bad + (1.0 - to_bad) * self.good);
        let begins = (1.0 - bad) * (1.0 - self.good) * lost_next(self.to_bad)
            + bad * (1.0 - self.bad) * lost_next(1.0 - self.to_good);
        self.mean() / begins
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        let BurstLoss { to_bad, to_good, good, bad } = *self;
        for (what, value) in [("loss in the good state", good), ("loss in the bad state", bad)] {
            check((0.0..=1.0).contains(&value), what, value, "0 to 1")?;
        }
        for (what, value) in [("change to the bad state", to_bad), ("change to the good state", to_good)] {
            check(value > 0.0 && value <= 1.0, what, value, "more than 0, at most 1")?;
        }
        Ok(())
    }
}

/// A channel at work.
pub(super) struct Channel {
    spec: BurstLoss,
    is_bad: bool,
    random: Stream,
}

impl Channel {
    /// That of the link called `name`, with random numbers of its own.
    pub fn new(spec: BurstLoss, seed: u64, name: &str) -> Channel {
        Channel { spec, is_bad: false, random: Stream::new(seed, &format!("burst loss of {name}")) }
    }

    /// Whether the next packet is lost.
    pub fn loses(&mut self) -> bool {
        let changes = if self.is_bad { self.spec.to_good } else { self.spec.to_bad };
        self.is_bad ^= self.random.chance(changes);
        self.random.chance(if self.is_bad { self.spec.bad } else { self.spec.good })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkSpec, Network, Packet, Topology};
    use windlass_controllers::{Span, Time};

    /// Share of packets lost on a link, and how many in a row on average.
    fn measured(spec: BurstLoss) -> (f64, f64) {
        const PACKETS: u64 = 1_000_000;
        let mut topology = Topology::default();
        let link = topology.link(LinkSpec { burst_loss: Some(spec), ..LinkSpec::pipe("radio", Span::ZERO) });
        let route = topology.route(vec![link]);
        let mut network = Network::new(&topology, 1).unwrap();
        let (mut lost, mut bursts, mut last) = (0, 0, true);
        for id in 0..PACKETS {
            network.send(Time(id), route, Packet::new(0, id, 1000));
            let arrives = network.poll(Time(id)).is_some();
            lost += u64::from(!arrives);
            bursts += u64::from(!arrives && last);
            last = arrives;
        }
        assert_eq!(network.stats(link, Time(PACKETS)).lost, lost);
        (lost as f64 / PACKETS as f64, lost as f64 / bursts as f64)
    }

    #[test]
    fn loss_and_bursts_are_what_the_formulae_say() {
        let gilbert = BurstLoss { to_bad: 0.01, to_good: 0.25, good: 0.0, bad: 1.0 };
        // p / (p + r), and 1 / r.
        assert!((gilbert.mean() - 0.01 / 0.26).abs() < 1e-12 && (gilbert.mean_burst() - 4.0).abs() < 1e-12);
        let elliott = BurstLoss { to_bad: 0.02, to_good: 0.1, good: 0.001, bad: 0.4 };
        // What loses by chance only has bursts of 1 / (1 − loss).
        let plain = BurstLoss { to_bad: 0.5, to_good: 0.5, good: 0.2, bad: 0.2 };
        assert!((plain.mean_burst() - 1.25).abs() < 1e-12);
        for spec in [gilbert, elliott, plain] {
            let (mean, burst) = measured(spec);
            assert!((mean / spec.mean() - 1.0).abs() < 0.03, "{mean} of {}", spec.mean());
            assert!((burst / spec.mean_burst() - 1.0).abs() < 0.03, "{burst} of {}", spec.mean_burst());
        }
    }
}
