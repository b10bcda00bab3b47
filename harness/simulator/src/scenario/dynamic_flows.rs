//! Dynamic flows: sets of flows that come and go by themselves, counted together; and their keys, `[flow.arrivals]` and
//! `[[web]]`.

use super::fields::{MAX_TIME, Section, above_zero, at_s, within};
use super::flow_spec::FlowSpec;

use windlass_controllers::{Span, Time};
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

/// How many flows a set of dynamic flows may have.
const MOST: f64 = 1e5;

/// Reads `arrivals` of a flow of which `count` come at a time, `stagger` s apart.
pub(super) fn arrivals(section: &Section<'_>, count: u64, stagger: f64) -> Option<ArrivalPattern> {
    let table = section.table("arrivals", &format!("arrivals of {}", section.name))?;
    let every = table.number("every_s", above_zero(MAX_TIME, "s"));
    let poisson = table.number("poisson_s", above_zero(MAX_TIME, "s"));
    let times = table.whole("times", 1, 1_000_000, "arrivals").map(|found| found.value);
    let lives = table.number("lives_s", above_zero(MAX_TIME, "s")).map(|found| Span(at_s(found.value).0));
    let mean = table.number("size_bytes", within(1.0, 1e15, "bytes"));
    let shape = table.number("size_shape", within(1.001, 100.0, ""));
    table.finish();
    let (gap, random) = match (&every, &poisson) {
        (Some(every), None) => (every, false),
        (None, Some(poisson)) => (poisson, true),
        (Some(_), Some(poisson)) => {
            let message = format!("{} has both every_s and poisson_s", table.name);
            table.problem(&poisson.span, "contradicts the other", message, Some("give one of them".to_owned()));
            return None;
        }
        (None, None) => {
            if !table.has("every_s") && !table.has("poisson_s") {
                let help = "give every_s, the time between arrivals, or poisson_s, its mean if it is random";
                table.lacks(format!("{} has neither every_s nor poisson_s", table.name), Some(help.to_owned()));
            }
            return None;
        }
    };
    if let (Some(shape), None) = (&shape, &mean) {
        let message = format!("{} has size_shape but no size_bytes", table.name);
        table.problem(&shape.span, "of what size?", message, Some("add size_bytes, the mean".to_owned()));
    }
    if mean.is_some() && section.has("transfer_bytes") {
        let help = "give transfer_bytes for one size, or size_bytes for random ones";
        section.lacks(format!("{} has both transfer_bytes and size_bytes", section.name), Some(help.to_owned()));
    }
    let size = mean.map(|mean| Size { mean: mean.value, shape: shape.map_or(1.2, |shape| shape.value) });
    Some(ArrivalPattern::Arrivals(Arrivals {
        gap: Span(at_s(gap.value).0),
        random,
        times,
        count,
        stagger: Span(at_s(stagger).0),
        lives,
        size,
    }))
}

/// Reads what `[[web]]` has besides what a flow has.
pub(super) fn web(section: &Section<'_>) -> ArrivalPattern {
    let whole = |key, default| section.whole(key, 1, 100_000, "").map_or(default, |found| found.value);
    let seconds = |key, default| section.number_or(key, above_zero(MAX_TIME, "s"), default);
    if section.has("transfer_bytes") {
        let help = "give object_packets, their mean";
        section.lacks(format!("{}: objects have sizes of their own", section.name), Some(help.to_owned()));
    }
    ArrivalPattern::Web(Web {
        sessions: whole("sessions", 100),
        session_gap: seconds("session_gap_s", 5.0),
        pages: whole("pages", 10),
        page_gap: seconds("page_gap_s", 1.0),
        objects: whole("objects", 10),
        object_gap: section.number_or("object_gap_ms", above_zero(1e9, "ms"), 10.0) / 1e3,
        object_packets: section.number_or("object_packets", within(1.0, 1e9, "packets"), 10.0),
        shape: section.number_or("object_shape", within(1.001, 100.0, ""), 1.2),
    })
}

/// Notes a problem if a set of dynamic flows is too large.
pub(super) fn not_too_many(section: &Section<'_>, pattern: &ArrivalPattern, start: Time, stop: Time) {
    let flows = pattern.flows(start, stop);
    if flows > MOST {
        section.lacks(
            format!("{} would be about {flows:.0} flows; expected at most {MOST}", section.name),
            Some("let fewer come, or less often".to_owned()),
        );
    }
}
