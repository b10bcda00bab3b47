//! Groups of flows that share one bottleneck, and the table they share.
//!
//! The table is memory the caller owns: state common to the group, plus one small
//! [`Member`] per flow in ascending order of [`Member::id`]. The authoritative window
//! of a grouped flow is its member's: a sibling may *lower* it at any event. A step
//! reads everything, writes its own entry and the shared state, and may lower
//! siblings' windows; no other flow has to be woken (`spec: cho §2`).

use crate::Time;

/// One flow's entry in its group's table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Member {
    /// Identifies the flow within the group; ascending in the table.
    pub id: u64,
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow start threshold, packets; infinite before the first reduction.
    pub ssthresh: f64,
    /// Bytes in flight at the member's latest event.
    pub in_flight: u64,
    /// When a sibling last scaled `cwnd`.
    pub scaled_by_other: Option<Time>,
}

impl Member {
    /// An entry for a flow that has not started; the flow fills it on `Joined`.
    #[must_use]
    pub const fn new(id: u64) -> Member {
        Member { id, cwnd: 0.0, ssthresh: f64::INFINITY, in_flight: 0, scaled_by_other: None }
    }
}

impl Member {
    /// A sibling scales the window to `cwnd` packets: never up, and not below `floor`
    /// (`spec: cho §2.3`).
    pub fn scale(&mut self, cwnd: f64, floor: f64, now: Time) {
        self.cwnd = cwnd.max(floor).min(self.cwnd);
        self.scaled_by_other = Some(now);
    }
}

/// A group's table as a step sees it.
#[derive(Debug)]
pub struct Table<'a, G> {
    /// State common to the group.
    pub shared: &'a mut G,
    /// The members, ascending by id. Empty for a flow outside any group.
    pub members: &'a mut [Member],
    /// Index of the flow the event belongs to.
    pub me: usize,
}

/// A group's table as a decision sees it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, G> {
    /// State common to the group.
    pub shared: &'a G,
    /// The members, ascending by id. Empty for a flow outside any group.
    pub members: &'a [Member],
    /// Index of the flow the decision is for.
    pub me: usize,
}

impl<'a, G> Table<'a, G> {
    /// A table without members, for controllers that keep no group.
    pub fn solo(shared: &'a mut G) -> Self {
        Table { shared, members: &mut [], me: 0 }
    }

    /// The same table, read only.
    #[must_use]
    pub fn view(&self) -> View<'_, G> {
        View { shared: self.shared, members: self.members, me: self.me }
    }
}

impl<'a, G> View<'a, G> {
    /// A table without members, for controllers that keep no group.
    pub const fn solo(shared: &'a G) -> Self {
        View { shared, members: &[], me: 0 }
    }
}
