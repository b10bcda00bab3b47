//! Sending trains at exact offsets: of probe packets, or of the flow's own data.

use std::collections::VecDeque;

use windlass_controllers::TrainPlan;
use windlass_controllers::event::Place;

/// The handle of a probe packet has this bit; below it are train and index.
pub(super) const PROBE: u64 = 1 << 62;

/// Bits for the index of a probe in its handle.
const INDEX: u32 = 28;

/// The handle of probe `index` of train `train`.
pub(super) fn handle(train: u32, index: u32) -> u64 {
    PROBE | u64::from(train) << INDEX | u64::from(index & ((1 << INDEX) - 1))
}

/// Train and index of the probe with `handle`.
pub(super) fn of_handle(handle: u64) -> (u32, u32) {
    ((handle >> INDEX) as u32, handle as u32 & ((1 << INDEX) - 1))
}

/// Trains under way. A controller may ask for another before the last probe of one has
/// left; both go out. Of trains that carry data the latest is the one under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Trains {
    active: Vec<Active>,
    seen: Option<u32>,
    carrier: Option<Carrier>,
    /// Data packets that left in trains, by number.
    carried: VecDeque<Carried>,
}

/// A train that carries data.
#[derive(Clone, Copy, Debug)]
struct Carrier {
    plan: TrainPlan,
    next: u32,
    /// Time from which its next packet may leave, ns.
    due: u64,
}

/// A data packet that left in a train.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    number: u64,
    pub place: Place,
    pub sent_at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    plan: TrainPlan,
    started: u64,
    next: u32,
}

impl Active {
    fn due(&self) -> u64 {
        self.started.saturating_add(self.plan.offset(self.next).0)
    }
}

impl Trains {
    /// Begins `plan` at `now` unless its id was the latest one seen.
    pub fn begin(&mut self, now: u64, plan: TrainPlan) {
        if self.seen != Some(plan.id) {
            self.seen = Some(plan.id);
            if plan.carries_data {
                let due = self.carrier.map_or(now, |before| before.due.max(now));
                self.carrier = Some(Carrier { plan, next: 0, due });
            } else if plan.packets > 0 {
                self.active.push(Active { plan, started: now, next: 0 });
            }
        }
    }

    /// When the next data packet may leave, if a train carries it.
    #[inline]
    pub fn carries_at(&self) -> Option<u64> {
        self.carrier.filter(|carrier| carrier.next < carrier.plan.packets).map(|carrier| carrier.due)
    }

    /// Data packet `number` leaves at `now` in the train under way: its place.
    pub fn carry(&mut self, now: u64, number: u64) -> Option<Place> {
        let carrier = self.carrier.as_mut().filter(|carrier| carrier.next < carrier.plan.packets)?;
        let place = Place::new(carrier.plan.id, carrier.next);
        carrier.due = now.saturating_add(carrier.plan.gap(carrier.next).0);
        carrier.next += 1;
        self.carried.push_back(Carried { number, place, sent_at: now });
        Some(place)
    }

    /// How data packet `number` left, if in a train.
    #[inline]
    pub fn carried(&self, number: u64) -> Option<Carried> {
        // Numbers ascend, and hardly one between is missing.
        let after = usize::try_from(number.checked_sub(self.carried.front()?.number)?).ok()?;
        let guess = self.carried.get(after).filter(|carried| carried.number == number);
        guess.copied().or_else(|| {
            let i = self.carried.binary_search_by_key(&number, |carried| carried.number).ok()?;
            self.carried.get(i).copied()
        })
    }

    /// Forgets how the data packets before `number` left.
    #[inline]
    pub fn forget_before(&mut self, number: u64) {
        while self.carried.front().is_some_and(|carried| carried.number < number) {
            self.carried.pop_front();
        }
    }

    /// When the next probe leaves; `u64::MAX` for none.
    pub fn next(&self) -> u64 {
        self.active.iter().map(Active::due).min().unwrap_or(u64::MAX)
    }

    /// A probe due at `now`: its train and index.
    pub fn pop(&mut self, now: u64) -> Option<(TrainPlan, u32)> {
        let i = self.active.iter().position(|train| train.due() <= now)?;
        let train = &mut self.active[i];
        let probe = (train.plan, train.next);
        train.next += 1;
        if train.next >= train.plan.packets {
            self.active.remove(i);
        }
        Some(probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_leave_at_their_offsets_once() {
        let plan = TrainPlan::new(3, 3, 1000, 1e6, 2.0).with_dscp(11);
        let mut trains = Trains::default();
        trains.begin(100, plan);
        trains.begin(100, plan);
        let mut left = Vec::new();
        while trains.next() < u64::MAX {
            let now = trains.next();
            let (plan, index) = trains.pop(now).unwrap();
            left.push((plan.id, index, now));
            assert_eq!(trains.pop(now), None);
        }
        assert_eq!(left, [(3, 0, 100), (3, 1, 8_000_100), (3, 2, 12_000_100)]);
    }

    /// Beside the bits that tell ACKs and probes apart there is room for any train and 2²⁸ probes of it.
    #[test]
    fn a_handle_holds_the_last_probe_of_the_last_train() {
        let last = (1 << INDEX) - 1;
        for (train, index) in [(0, 0), (u32::MAX, 9), (0, last), (u32::MAX, last)] {
            let handle = handle(train, index);
            assert_eq!((of_handle(handle), handle & !(u64::MAX >> 1 >> 1)), ((train, index), PROBE));
        }
    }

    #[test]
    fn data_leaves_in_the_train_s_gaps_and_the_next_train_follows_one_gap_later() {
        let again = |id| TrainPlan::new(id, 3, 1000, 1e6, 2.0).with_carries_data(true);
        let plan = again(1);
        let mut trains = Trains::default();
        assert_eq!((trains.carries_at(), trains.carry(5, 0)), (None, None));
        trains.begin(100, plan);
        assert_eq!((trains.carries_at(), trains.next()), (Some(100), u64::MAX));
        assert_eq!(trains.carry(100, 7), Some(Place::new(1, 0)));
        assert_eq!(trains.carries_at(), Some(8_000_100));
        // A packet that had to wait puts off those after it.
        trains.carry(9_000_000, 8);
        assert_eq!(trains.carries_at(), Some(13_000_000));
        trains.carry(13_000_000, 10);
        assert_eq!(trains.carries_at(), None, "the train is over");
        trains.begin(13_000_000, again(2));
        assert_eq!(trains.carries_at(), Some(17_000_000), "as long as the gap before");
        trains.begin(30_000_000, again(3));
        assert_eq!(trains.carries_at(), Some(30_000_000), "replaced before it began");
        assert_eq!(trains.carried(10).map(|c| (c.place.index, c.sent_at)), Some((2, 13_000_000)));
        assert!(trains.carried(9).is_none());
        trains.forget_before(10);
        assert!(trains.carried(8).is_none() && trains.carried(10).is_some());
    }
}
