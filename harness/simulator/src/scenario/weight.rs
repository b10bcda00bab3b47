//! What a scenario does to the shared facts of a group while it runs.

use windlass_adapter::{Groups, Named};
use windlass_controllers::{AnyGroup, ConfiguredController, Time};

/// From `at` on the group counts as `k` flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightChange {
    /// Time from which the weight holds.
    pub at: Time,
    /// Name of the group.
    pub group: String,
    /// Weight: the number of standard flows the group counts as.
    pub k: u32,
}

/// Sets the weight of a group; `false` if its controller knows none.
pub fn set_weight(group: &mut Named<AnyGroup>, k: u32) -> bool {
    match group {
        Named::Catalogue(AnyGroup::TcpP(shared)) => {
            shared.k = k;
            true
        }
        _ => false,
    }
}

/// The changes of a run.
#[derive(Clone, Debug)]
pub struct WeightChanges<E: ConfiguredController> {
    /// Ascending by time.
    changes: Vec<WeightChange>,
    set: fn(&mut E::Group, u32) -> bool,
}

impl<E: ConfiguredController> WeightChanges<E> {
    /// `changes`, ascending in time, carried out by `set`.
    #[must_use]
    pub fn new(changes: &[WeightChange], set: fn(&mut E::Group, u32) -> bool) -> Self {
        WeightChanges { changes: changes.to_vec(), set }
    }

    /// True if no group changes its weight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// When the next change is due after `now`, ns; `u64::MAX` if never. The changes of the
    /// very beginning are due with the first flow.
    #[must_use]
    pub fn next(&self, now: Time) -> u64 {
        self.changes.iter().map(|change| change.at).find(|at| *at > now).map_or(u64::MAX, |at| at.0)
    }

    /// Gives every group the weight it has at `now`. A group that has no members has no
    /// facts to change, so this is done again when a flow joins.
    pub fn apply(&self, now: Time, groups: &Groups<E, String>) {
        for change in self.changes.iter().take_while(|change| change.at <= now) {
            groups.with(&change.group, |group| (self.set)(&mut group.shared, change.k));
        }
    }
}
