//! Fault schedules: random scenarios in which one flow's path and ends go wrong again and again.
//!
//! A schedule depends on its seed alone. It is written as a scenario file, so that one that fails can be run again by
//! hand, and [shrunk](Schedule::shrink): faults are taken away and made simpler as long as it still fails.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//! use windlass_simulator::schedule::{Abilities, Schedule};
//!
//! let schedule = Schedule::random(7, "cubic", Abilities::ALL);
//! let scenario = Scenario::read("schedule", &schedule.to_toml(), None).unwrap();
//! assert!(!scenario.fault_periods(&scenario.flows[0]).is_empty());
//! ```

use std::fmt::Write as _;

use windlass_network::Stream;

use crate::scenario::NATIVE;

/// Simulated time of a schedule, s: enough for controllers that yield to everybody.
const DURATION_S: u32 = 4000;
/// Faults of a schedule at most.
const MOST_FAULTS: u64 = 6;
/// Schedules that are tried at most to find a simpler one.
const MOST_TRIES: usize = 400;
/// No fault is made shorter, ms.
const SHORTEST_MS: u64 = 10;

/// Faults that not every stack has in virtual time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// The sender's address may change.
    pub rebinding: bool,
    /// The clock of one end may jump.
    pub clock_jumps: bool,
}

impl Abilities {
    /// Every fault there is.
    pub const ALL: Abilities = Abilities { rebinding: true, clock_jumps: true };
}

/// A path, a transfer over it, and what goes wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// Its seed, which is that of the run as well.
    pub seed: u64,
    /// The flow's controller, as a user types it.
    pub controller: String,
    /// Rate of both ways, Mbit/s.
    pub rate_mbps: u64,
    /// Base RTT, ms.
    pub rtt_ms: u64,
    /// Packets that may wait.
    pub buffer_packets: u64,
    /// Size of the transfer, bytes.
    pub transfer_bytes: u64,
    /// Whether the receiver delays ACKs.
    pub delayed_acks: bool,
    /// Whether packets are ECN-capable.
    pub ecn: bool,
    /// Up to what size datagrams are discovered, bytes; `None` to leave it.
    pub discover_bytes: Option<u64>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

/// A fault of a schedule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fault {
    /// Time at which it begins, ms.
    pub at_ms: u64,
    /// What it is.
    pub kind: Kind,
}

/// Direction in which a fault of the path acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Data.
    Forth,
    /// ACKs.
    Back,
    /// Both.
    Both,
}

/// Fault of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// `blackout`.
    Blackout,
    /// `reordering` of `percent` by `by_ms`.
    Reordering {
        /// Share of packets, %.
        percent: u64,
        /// Longest delay, ms.
        by_ms: u64,
    },
    /// `duplication` of `percent`.
    Duplication {
        /// Share of packets, %.
        percent: u64,
    },
    /// `corruption` of `percent`.
    Corruption {
        /// Share of packets, %.
        percent: u64,
    },
    /// `mtu` of `bytes` on the wire.
    Mtu {
        /// Bytes.
        bytes: u64,
    },
    /// `ecn-bleaching`.
    EcnBleaching,
    /// `ce-storm`.
    CeStorm,
}

/// Kind of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Fault of the path, for a while.
    Path {
        /// On which way.
        way: Way,
        /// For how long, ms.
        for_ms: u64,
        /// What.
        trouble: Trouble,
    },
    /// The sender's address changes.
    Rebinding,
    /// A clock jumps ahead.
    ClockJump {
        /// The receiver's, not the sender's.
        receiver: bool,
        /// How far, ms.
        by_ms: u64,
    },
    /// The receiver is gone for good.
    Vanishing {
        /// The idle timeout of both ends, ms.
        idle_ms: u64,
    },
}

/// The kinds of faults, in the order of [`Kind::number`].
pub const KINDS: [&str; 10] = [
    "blackout",
    "reordering",
    "duplication",
    "corruption",
    "mtu",
    "ecn-bleaching",
    "ce-storm",
    "rebinding",
    "clock-jump",
    "vanishing peer",
];

impl Kind {
    /// Its place in [`KINDS`].
    #[must_use]
    pub const fn number(self) -> usize {
        match self {
            Kind::Path { trouble, .. } => match trouble {
                Trouble::Blackout => 0,
                Trouble::Reordering { .. } => 1,
                Trouble::Duplication { .. } => 2,
                Trouble::Corruption { .. } => 3,
                Trouble::Mtu { .. } => 4,
                Trouble::EcnBleaching => 5,
                Trouble::CeStorm => 6,
            },
            Kind::Rebinding => 7,
            Kind::ClockJump { .. } => 8,
            Kind::Vanishing { .. } => 9,
        }
    }
}

/// Choices of a seed.
struct RandomSource(Stream);

impl RandomSource {
    /// From `low` to `high`, both included.
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.integer() % (high - low + 1)
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.within(0, list.len() as u64 - 1) as usize]
    }

    fn once_in(&mut self, often: u64) -> bool {
        self.within(1, often) == often
    }
}

impl Schedule {
    /// The schedule of a seed for `controller`, with faults a stack of these abilities can have.
    #[must_use]
    pub fn random(seed: u64, controller: &str, abilities: Abilities) -> Schedule {
        let mut dice = RandomSource(Stream::new(seed, "fault schedule"));
        let rate_mbps = dice.one_of(&[1, 2, 5, 10]);
        let rtt_ms = dice.one_of(&[4, 20, 60, 200]);
        let packets = dice.within(20, 300);
        let bdp = rate_mbps * rtt_ms * 125 / 1228;
        let buffer_packets = (bdp * dice.one_of(&[1, 2, 4]) / 2).max(5);
        // At full rate, or as long as slow start takes.
        let takes_ms = (packets * 1228 * 8 / (rate_mbps * 1000)).max(6 * rtt_ms);
        let mut schedule = Schedule {
            seed,
            controller: controller.to_owned(),
            rate_mbps,
            rtt_ms,
            buffer_packets,
            transfer_bytes: packets * 1150 + dice.within(0, 1000),
            delayed_acks: dice.once_in(2),
            ecn: dice.once_in(2),
            discover_bytes: dice.once_in(3).then_some(1400),
            faults: Vec::new(),
        };
        for _ in 0..dice.within(1, MOST_FAULTS) {
            let at_ms = dice.within(0, takes_ms + takes_ms / 4);
            let kind = schedule.kind(&mut dice, takes_ms);
            let able = match kind {
                Kind::Rebinding => abilities.rebinding,
                Kind::ClockJump { .. } => abilities.clock_jumps,
                Kind::Path { .. } | Kind::Vanishing { .. } => true,
            };
            if able {
                schedule.faults.push(Fault { at_ms, kind });
            }
        }
        if schedule.faults.is_empty() {
            let kind = Kind::Path { way: Way::Both, for_ms: takes_ms.max(SHORTEST_MS), trouble: Trouble::Blackout };
            schedule.faults.push(Fault { at_ms: takes_ms / 2, kind });
        }
        schedule
    }

    fn kind(&self, dice: &mut RandomSource, takes_ms: u64) -> Kind {
        let way = dice.one_of(&[Way::Forth, Way::Forth, Way::Back, Way::Both]);
        let for_ms = dice.one_of(&[20, 100, 300, 1000, 3000]);
        let for_ms = dice.within(SHORTEST_MS, for_ms.max(takes_ms / 2));
        let percent = dice.one_of(&[1, 5, 20, 50, 100]);
        let path = |trouble| Kind::Path { way, for_ms, trouble };
        match dice.within(0, 18) {
            0..4 => path(Trouble::Blackout),
            4..6 => path(Trouble::Reordering { percent, by_ms: dice.within(1, 2 * self.rtt_ms) }),
            6..8 => path(Trouble::Duplication { percent }),
            8..10 => path(Trouble::Corruption { percent }),
            10..12 => path(Trouble::Mtu { bytes: dice.one_of(&[1000, 1228, 1300]) }),
            12 => path(Trouble::EcnBleaching),
            13..15 => path(Trouble::CeStorm),
            15 | 16 => Kind::Rebinding,
            17 => Kind::ClockJump { receiver: dice.once_in(2), by_ms: dice.one_of(&[10, 100, 1000, 10_000]) },
            _ => Kind::Vanishing { idle_ms: dice.one_of(&[2000, 5000, 30_000]) },
        }
    }

    /// Whether its receiver vanishes.
    #[must_use]
    pub fn vanishes(&self) -> bool {
        self.faults.iter().any(|fault| matches!(fault.kind, Kind::Vanishing { .. }))
    }

    /// The scenario file of it.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let Schedule { seed, controller, rate_mbps, rtt_ms, buffer_packets, transfer_bytes, .. } = self;
        let (mut forth, mut back, mut ends, mut keys) = (String::new(), String::new(), String::new(), String::new());
        for Fault { at_ms, kind } in &self.faults {
            let at_s = *at_ms as f64 / 1e3;
            // Writing to a text never fails.
            let _ = match kind {
                Kind::Path { way, for_ms, trouble } => {
                    let keys = format!("at_s = {at_s}\nfor_ms = {for_ms}\n{}\n", trouble.keys());
                    if *way != Way::Back {
                        let _ = write!(forth, "[[dumbbell.fault]]\n{keys}");
                    }
                    if *way != Way::Forth {
                        let _ = write!(back, "[[dumbbell.back.fault]]\n{keys}");
                    }
                    Ok(())
                }
                Kind::Rebinding => write!(ends, "\n[[flow.fault]]\nkind = \"rebinding\"\nat_s = {at_s}\n"),
                Kind::ClockJump { receiver, by_ms } => {
                    let end = if *receiver { "receiver" } else { "sender" };
                    let keys = format!("at_s = {at_s}\nby_ms = {by_ms}\nend = {end:?}");
                    write!(ends, "\n[[flow.fault]]\nkind = \"clock-jump\"\n{keys}\n")
                }
                // Only the first counts.
                Kind::Vanishing { idle_ms } if !keys.contains("vanishes_s") => {
                    writeln!(keys, "vanishes_s = {at_s}\nidle_timeout_s = {}", *idle_ms as f64 / 1e3)
                }
                Kind::Vanishing { .. } => Ok(()),
            };
        }
        if !controller.starts_with(NATIVE) {
            // A group that is not empty at the end of a run holds a controller that is not gone.
            keys.push_str("group = \"flows\"\n");
        }
        if self.delayed_acks {
            keys.push_str("ack = \"delayed\"\n");
        }
        if self.ecn {
            keys.push_str("ecn = true\n");
        }
        if let Some(bytes) = self.discover_bytes {
            let _ = writeln!(keys, "discover_packet_bytes = {bytes}");
        }
        let path = format!("rate_mbps = {rate_mbps}\nrtt_ms = {rtt_ms}\nbuffer_packets = {buffer_packets}\n");
        format!(
            "name = \"faults-{seed}\"\nduration_s = {DURATION_S}\nsample_ms = 100_000\nseed = {seed}\n\n\
             [dumbbell]\n{path}\n{forth}[dumbbell.back]\n\n{back}\
             [[flow]]\ncontroller = {controller:?}\ntransfer_bytes = {transfer_bytes}\n{keys}{ends}"
        )
    }

    /// The simplest schedule found that still `fails`: faults are taken away, then made shorter and struck on one
    /// way only, then the flow is made plainer. It is the schedule itself if nothing simpler fails.
    #[must_use]
    pub fn shrink(&self, fails: &mut dyn FnMut(&Schedule) -> bool) -> Schedule {
        let (mut best, mut tries) = (self.clone(), 0);
        loop {
            let mut simpler = best.simpler().into_iter().take(MOST_TRIES.saturating_sub(tries));
            let found = simpler.find(|schedule| {
                tries += 1;
                fails(schedule)
            });
            match found {
                Some(schedule) => best = schedule,
                None => return best,
            }
        }
    }

    /// Schedules that are simpler by one step, those with fewer faults first.
    fn simpler(&self) -> Vec<Schedule> {
        let mut all = Vec::new();
        let half = self.faults.len() / 2;
        if half > 0 {
            all.push(Schedule { faults: self.faults[half..].to_vec(), ..self.clone() });
            all.push(Schedule { faults: self.faults[..half].to_vec(), ..self.clone() });
        }
        if self.faults.len() > 1 {
            for i in 0..self.faults.len() {
                let mut fewer = self.clone();
                fewer.faults.remove(i);
                all.push(fewer);
            }
        }
        for (i, fault) in self.faults.iter().enumerate() {
            for kind in fault.kind.simpler() {
                let mut other = self.clone();
                other.faults[i].kind = kind;
                all.push(other);
            }
        }
        if self.ecn {
            all.push(Schedule { ecn: false, ..self.clone() });
        }
        if self.discover_bytes.is_some() {
            all.push(Schedule { discover_bytes: None, ..self.clone() });
        }
        if self.delayed_acks {
            all.push(Schedule { delayed_acks: false, ..self.clone() });
        }
        all
    }
}

impl Trouble {
    fn keys(self) -> String {
        match self {
            Trouble::Blackout => "kind = \"blackout\"\n".to_owned(),
            Trouble::Reordering { percent, by_ms } => {
                format!("kind = \"reordering\"\npercent = {percent}\nby_ms = {by_ms}\n")
            }
            Trouble::Duplication { percent } => format!("kind = \"duplication\"\npercent = {percent}\n"),
            Trouble::Corruption { percent } => format!("kind = \"corruption\"\npercent = {percent}\n"),
            Trouble::Mtu { bytes } => format!("kind = \"mtu\"\nbytes = {bytes}\n"),
            Trouble::EcnBleaching => "kind = \"ecn-bleaching\"\n".to_owned(),
            Trouble::CeStorm => "kind = \"ce-storm\"\n".to_owned(),
        }
    }
}

impl Kind {
    /// The same, shorter or on one way only.
    fn simpler(self) -> Vec<Kind> {
        let mut all = Vec::new();
        if let Kind::Path { way, for_ms, trouble } = self {
            if way == Way::Both {
                all.extend([Way::Forth, Way::Back].map(|way| Kind::Path { way, for_ms, trouble }));
            }
            if for_ms > SHORTEST_MS {
                all.push(Kind::Path { way, for_ms: (for_ms / 2).max(SHORTEST_MS), trouble });
            }
        }
        if let Kind::ClockJump { receiver, by_ms } = self
            && by_ms > SHORTEST_MS
        {
            all.push(Kind::ClockJump { receiver, by_ms: (by_ms / 2).max(SHORTEST_MS) });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use std::collections::BTreeSet;

    #[test]
    fn every_schedule_is_a_scenario_and_its_faults_are_in_it() {
        let mut kinds = BTreeSet::new();
        for seed in 0..300 {
            let schedule = Schedule::random(seed, "cubic", Abilities::ALL);
            let text = schedule.to_toml();
            let scenario = Scenario::read("schedule", &text, None).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            assert_eq!(schedule, Schedule::random(seed, "cubic", Abilities::ALL));
            kinds.extend(schedule.faults.iter().map(|fault| fault.kind.number()));
            let count = |wanted: fn(&Fault) -> usize| schedule.faults.iter().map(wanted).sum::<usize>();
            let of_path = count(|fault| match fault.kind {
                Kind::Path { way: Way::Both, .. } => 2,
                Kind::Path { .. } => 1,
                _ => 0,
            });
            let links = &scenario.topology.links;
            assert_eq!(links.iter().map(|link| link.faults.len()).sum::<usize>(), of_path, "{text}");
            let of_ends = count(|fault| usize::from(matches!(fault.kind, Kind::Rebinding | Kind::ClockJump { .. })));
            assert_eq!((scenario.flows[0].faults.len(), scenario.seed), (of_ends, seed));
            assert_eq!(scenario.flows[0].vanishes.is_some(), schedule.vanishes());
        }
        assert_eq!(kinds.len(), KINDS.len());
    }

    #[test]
    fn a_stack_gets_no_fault_that_it_cannot_have() {
        let able = Abilities { rebinding: false, clock_jumps: false };
        for seed in 0..300 {
            let schedule = Schedule::random(seed, "reno", able);
            assert!(!schedule.faults.is_empty());
            assert!(
                schedule.faults.iter().all(|fault| !matches!(fault.kind, Kind::Rebinding | Kind::ClockJump { .. }))
            );
        }
    }

    /// What fails if, and only if, there is a CE storm on the way of data is shrunk to one of the shortest.
    #[test]
    fn a_failing_schedule_shrinks_to_its_cause() {
        let storm = |fault: &Fault| match fault.kind {
            Kind::Path { way, trouble: Trouble::CeStorm, .. } => way != Way::Back,
            _ => false,
        };
        let fails = |schedule: &Schedule| schedule.faults.iter().any(storm);
        let mut shrunk = 0;
        for seed in 0..300 {
            let schedule = Schedule::random(seed, "cubic", Abilities::ALL);
            let mut fails = fails;
            if fails(&schedule) {
                let least = schedule.shrink(&mut fails);
                assert_eq!(least.faults.len(), 1, "{least:?}");
                let Kind::Path { way: Way::Forth, for_ms: SHORTEST_MS, .. } = least.faults[0].kind else {
                    panic!("{least:?}")
                };
                assert!(!least.ecn && !least.delayed_acks && least.discover_bytes.is_none());
                shrunk += 1;
            }
        }
        assert!(shrunk > 20, "{shrunk}");
    }
}
