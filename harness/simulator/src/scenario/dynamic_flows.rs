//! Dynamic flows: sets of flows that come and go, counted together.

use windlass_controllers::{Span, Time};

use super::flow_spec::FlowSpec;
use windlass_network::RouteId;

/// Flows that come and go by themselves, measured together.
#[derive(Clone, PartialEq, Debug)]
pub struct DynamicFlows {
    /// What each of its flows is like. They are called after it, none starts before its
    /// start, and all stop with it.
    pub flow: FlowSpec,
    /// When they come and how much each transfers.
    pub pattern: ArrivalPattern,
    /// The routes there and back, by server and by client; at least one of each.
    pub routes: Vec<Vec<(RouteId, RouteId)>>,
}

/// When the flows of a set of dynamic flows come, and how much each transfers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArrivalPattern {
    /// Some at a time, again and again.
    Arrivals(Arrivals),
    /// Objects of web pages (`spec: cho §14.3`).
    Web(Web),
}

/// Flows that arrive again and again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrivals {
    /// The time between arrivals; of random ones the mean of an exponential time, which
    /// passes before the first one too.
    pub gap: Span,
    /// Whether gaps are exponential; otherwise they are constant.
    pub random: bool,
    /// How many arrivals there are; `None` for as many as fit.
    pub times: Option<u64>,
    /// How many flows come with each.
    pub count: u64,
    /// The time between these.
    pub stagger: Span,
    /// How long each flow lives at most.
    pub lives: Option<Span>,
    /// Sizes drawn for each flow; otherwise all transfer what the set's flow does.
    pub size: Option<Size>,
}

/// Pareto distributed transfer sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// Mean size, bytes.
    pub mean: f64,
    /// Shape of the Pareto distribution, more than 1.
    pub shape: f64,
}

/// Web sessions: pages of objects, each object a flow of its own (`spec: cho §14.3`).
///
/// The objects of a page start one after another, exponential times apart; when the last
/// of them is complete, the user looks at the page for an exponential time before asking
/// for the next one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Web {
    /// Sessions that begin in all.
    pub sessions: u64,
    /// Mean time between their beginnings, s.
    pub session_gap: f64,
    /// Number of pages of a session.
    pub pages: u64,
    /// Mean time from the end of a page to the next, s.
    pub page_gap: f64,
    /// Number of objects of a page.
    pub objects: u64,
    /// Mean time between their requests, s.
    pub object_gap: f64,
    /// Mean size of an object, packets.
    pub object_packets: f64,
    /// Shape of the Pareto II sizes, more than 1.
    pub shape: f64,
}

impl ArrivalPattern {
    /// How many flows there can be about until `end`.
    #[must_use]
    pub fn flows(&self, start: Time, end: Time) -> f64 {
        match self {
            ArrivalPattern::Web(web) => web.sessions as f64 * web.pages as f64 * web.objects as f64,
            ArrivalPattern::Arrivals(arrivals) => {
                let fit = end.since(start).0 as f64 / arrivals.gap.0.max(1) as f64 + 1.0;
                fit.min(arrivals.times.map_or(f64::INFINITY, |times| times as f64)) * arrivals.count as f64
            }
        }
    }
}
