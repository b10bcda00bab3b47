//! Sending trains of probe packets at exact offsets.

use windlass_controllers::TrainPlan;

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
/// left; both go out.
#[derive(Clone, Debug, Default)]
pub(super) struct Trains {
    active: Vec<Active>,
    seen: Option<u32>,
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
            if plan.packets > 0 {
                self.active.push(Active { plan, started: now, next: 0 });
            }
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
        let plan = TrainPlan { id: 3, packets: 3, bytes: 1000, min_rate: 1e6, spread: 2.0, dscp: 11 };
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
        assert_eq!(of_handle(handle(u32::MAX, 9)), (u32::MAX, 9));
    }
}
