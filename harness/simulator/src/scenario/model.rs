//! A scenario, checked and resolved, and what it does to the shared facts of a group while it runs.

use super::dynamic_flows::DynamicFlows;
use super::flow_spec::FlowSpec;

use windlass_adapter::{Groups, Named, ResumeSettings, SavedPaths};
use windlass_controllers::{AnyGroup, ConfiguredController, Span, Time};
use windlass_network::{LinkId, Topology};

/// What to run. Made by [`Scenario::load`] or [`Scenario::read`]; everything in it is
/// consistent.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name, as results show it.
    pub name: String,
    /// One line on what it shows; may be empty.
    pub description: String,
    /// Simulated time of a run.
    pub duration: Span,
    /// Seed of all random numbers of a run.
    pub seed: u64,
    /// Distance between points of series.
    pub sample: Span,
    /// Size of the packets queue limits are given in: a flow's packet on the wire, bytes.
    pub wire_bytes: u32,
    /// Links, routes and cross traffic.
    pub topology: Topology,
    /// The links whose queues are worth looking at: those with a rate.
    pub queues: Vec<LinkId>,
    /// The flows; `count` is resolved.
    pub flows: Vec<FlowSpec>,
    /// Flows that come and go by themselves; see [`flow_set`](Scenario::flow_set).
    pub dynamic_flows: Vec<DynamicFlows>,
    /// What changes of the groups' shared facts, ascending in time.
    pub weight_changes: Vec<WeightChange>,
    /// So many packets under way end a run: sent, and neither acknowledged nor taken for lost.
    pub max_packets_under_way: u64,
    /// Threads that one run of the simulator may use, where its network can be cut; 1 unless the caller says so. Nothing
    /// of the result depends on it.
    pub threads: usize,
}

/// A run has more packets under way than its scenario allows.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "{packets} packets are under way {at_s:.3} s into the run, sent and neither acknowledged nor taken for lost: more than max_packets_under_way = \
     {bound}, which the scenario may set higher if its paths hold so many"
)]
pub struct Runaway {
    /// Time since the start of the run, s.
    pub at_s: f64,
    /// Packets under way.
    pub packets: u64,
    /// [`Scenario::max_packets_under_way`].
    pub bound: u64,
}

impl std::fmt::Debug for Runaway {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Runaway {
    /// Ends a run at `now` whose flows have so many `packets` under way, where `bound` may be.
    ///
    /// # Errors
    /// They are more.
    pub fn check(now: Time, packets: u64, bound: u64) -> Result<(), Runaway> {
        if packets <= bound { Ok(()) } else { Err(Runaway { at_s: now.0 as f64 / 1e9, packets, bound }) }
    }
}

impl Scenario {
    /// Packets under way that end a run unless the file says so.
    pub const MAX_PACKETS_UNDER_WAY: u64 = 10_000_000;

    /// Ends a run at `now` whose flows have so many `packets` under way.
    ///
    /// # Errors
    /// They are more than allowed.
    pub fn allows(&self, now: Time, packets: u64) -> Result<(), Runaway> {
        Runaway::check(now, packets, self.max_packets_under_way)
    }

    /// What is known, before the run, of the paths that flows resume; for its flows to share, which keep there what they
    /// observe.
    #[must_use]
    pub fn saved_paths(&self) -> SavedPaths<String> {
        let forever = ResumeSettings::default().with_lifetime(Span(u64::MAX)).with_max_paths(usize::MAX);
        let paths = SavedPaths::new(forever);
        let of_flows = self.flows.iter().chain(self.dynamic_flows.iter().map(|flows| &flows.flow));
        for resume in of_flows.filter_map(|flow| flow.resume.as_ref()) {
            if let Some(saved) = resume.saved {
                paths.save(&resume.path, Time::ZERO, saved);
            }
        }
        paths
    }

    /// When it is over; it begins at 0.
    #[must_use]
    pub fn end(&self) -> Time {
        Time(self.duration.0)
    }

    /// Points that the series of a run hold: of each flow that the file names and of each queue one a [`sample`](Self::sample).
    #[must_use]
    pub fn points(&self) -> u64 {
        let each = 1 + self.duration.0 / self.sample.0.max(1);
        each.saturating_mul((self.flows.len() + self.queues.len()) as u64)
    }

    /// Memory that the results of a run take at most, bytes, roughly: a flow 8 kB, a point 48.
    #[must_use]
    pub fn result_bytes(&self) -> u64 {
        self.points().saturating_mul(48).saturating_add(self.flows.len() as u64 * 8000)
    }

    /// When faults of any link or of the ends of `flow` are active: ascending and apart. What happens to ends takes
    /// no time.
    #[must_use]
    pub fn fault_periods(&self, flow: &FlowSpec) -> Vec<(Time, Time)> {
        let of_links = self.topology.links.iter().flat_map(|link| &link.faults).map(|fault| (fault.at, fault.until));
        let of_ends = flow.faults.iter().map(|fault| (fault.at, fault.at));
        let mut all: Vec<(Time, Time)> = of_links.chain(of_ends).collect();
        all.sort_unstable();
        let mut periods: Vec<(Time, Time)> = Vec::new();
        for (at, until) in all {
            match periods.last_mut() {
                Some(last) if at <= last.1 => last.1 = last.1.max(until),
                _ => periods.push((at, until)),
            }
        }
        periods
    }
}

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
