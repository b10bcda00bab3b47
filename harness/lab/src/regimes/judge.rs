//! Assessments: what was read off a run, held against its bounds.

use serde::{Deserialize, Serialize};

use super::bounds::{Bound, Kind, bounds};
use super::known_limits::known_limit;
use super::measure::Measured;
use super::plan::Case;

/// How a regime is judged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assessment {
    /// It was not run, or could not be.
    NotRun,
    /// Every bound holds.
    Inside,
    /// A bound does not hold, for a reason in the *Known limits* of the controller's page.
    KnownLimit,
    /// A bound does not hold.
    Outside,
}

impl Assessment {
    /// All of them, the worst last.
    pub const ALL: [Assessment; 4] =
        [Assessment::NotRun, Assessment::Inside, Assessment::KnownLimit, Assessment::Outside];

    /// Its word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Assessment::NotRun => "not run",
            Assessment::Inside => "inside",
            Assessment::KnownLimit => "known limit",
            Assessment::Outside => "outside",
        }
    }
}

/// A bound that does not hold.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Broken {
    /// Measure that is bounded.
    pub kind: Kind,
    /// What was read off; `None` of a run that did not end.
    pub value: Option<f64>,
    /// The bound.
    pub limit: f64,
    /// Where the bound comes from.
    pub source: String,
    /// The sentence of the controller's page that is the reason.
    pub known_limit: Option<&'static str>,
}

/// A regime with its assessment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Judged {
    /// The assessment.
    pub assessment: Assessment,
    /// Why it was not run or did not end; empty otherwise.
    pub reason: String,
    /// Bounds of the regime.
    #[serde(skip)]
    pub bounds: Vec<Bound>,
    /// The bounds that do not hold.
    pub broken: Vec<Broken>,
}

/// Holds `own`, the run of `case` by `controller` on `stack`, against its bounds; `reference` is Reno's there.
#[must_use]
pub fn judge(
    (controller, stack): (&str, &str),
    case: &Case,
    own: Option<&Measured>,
    reference: Option<&Measured>,
) -> Judged {
    let regime = &case.regime;
    // Bounds and pages are of a controller, whatever its parameters.
    let controller = controller.split_once(':').map_or(controller, |(name, _)| name);
    let without = |assessment, reason: &str| Judged {
        assessment,
        reason: reason.to_owned(),
        bounds: Vec::new(),
        broken: Vec::new(),
    };
    let own = match (&case.duration, own) {
        (Err(reason), _) => return without(Assessment::NotRun, reason),
        (_, None) => return without(Assessment::NotRun, "it is not done yet"),
        (_, Some(Measured::Not { not_run })) => return without(Assessment::NotRun, not_run),
        (_, Some(Measured::Endless { endless })) => return without(Assessment::Outside, endless),
        (_, Some(own)) => own,
    };
    let Measured::Run { ended, .. } = own else { return without(Assessment::NotRun, "") };
    let bounds = bounds(controller, regime, own, reference);
    let broken = bounds.iter().filter_map(|bound| {
        let Bound { kind, limit, source } = *bound;
        let value = own.value(kind)?;
        let known_limit = known_limit(controller, stack, regime, kind);
        (!bound.holds(value)).then(|| Broken {
            kind,
            value: Some(value),
            limit,
            source: source.to_owned(),
            known_limit,
        })
    });
    let broken: Vec<Broken> = broken.collect();
    let assessment = if broken.iter().any(|broken| broken.known_limit.is_none()) {
        Assessment::Outside
    } else if broken.is_empty() {
        if ended.is_some() { Assessment::Outside } else { Assessment::Inside }
    } else {
        Assessment::KnownLimit
    };
    let reason = ended.as_ref().map(|ended| format!("ended {ended}")).unwrap_or_default();
    Judged { assessment, reason, bounds, broken }
}

impl Measured {
    /// What a bound of that kind is held against; `None` if there is none.
    #[must_use]
    pub fn value(&self, kind: Kind) -> Option<f64> {
        let Measured::Run { forwarded, dropped, utilisation, jain, least_packets, queue, window, .. } = self else {
            return None;
        };
        match kind {
            Kind::Utilisation => Some(*utilisation),
            Kind::Loss => Some(*dropped as f64 / (forwarded + dropped).max(1) as f64),
            Kind::Queue => Some(*queue),
            Kind::Fairness => *jain,
            Kind::Window => Some(*window),
            Kind::Standstill => Some(least_packets.1),
        }
    }
}
