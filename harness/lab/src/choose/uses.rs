//! Uses, and what is asked of a controller for each.

/// What a controller has to do to be considered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Requirement {
    /// It takes no more of the goodput of Reno and CUBIC than they of each other and of their like, at every place of `windlass harm`, those
    /// with FQ-CoDel alone where [`Needs::fq`](super::Needs::fq) says that the bottleneck has it; 0.05 more is how flows happen to start.
    Harmless,
    /// It takes at most so much of their goodput, at every place.
    GivesWay(f64),
    /// CUBIC leaves it at least so much of what it has alone, at every place.
    HoldsItsOwn(f64),
    /// Its answer to a criterion of RFC 9743 is not "not met" on any of the paths.
    Meets(&'static str, &'static [&'static str]),
}

/// What those that meet the requirements are ranked by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Measure {
    /// The mean over the paths of a criterion's number, as a share of the best of all candidates' on each; more is better.
    Most(&'static str, &'static [&'static str]),
    /// The same as a multiple of the best; less is better.
    Least(&'static str, &'static [&'static str]),
    /// The greatest harm to the goodput of Reno and CUBIC; less is better.
    Harm,
}

/// A use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Use {
    /// What it is asked for by.
    pub name: &'static str,
    /// What it is, one line.
    pub about: &'static str,
    /// What a controller has to do.
    pub requirements: &'static [Requirement],
    /// What decides among those that do.
    pub measure: Measure,
    /// The same two where the network marks instead of dropping.
    pub with_ecn: (&'static [Requirement], Measure),
}

const INTERNET: &[&str] = &["tail-drop", "shallow", "deep", "wireless", "reordering", "route-change"];
const MARKING: &[&str] = &["codel", "fq-codel", "dualpi2"];
const PARALLEL: &[&str] = &["tail-drop", "shallow", "deep", "fq-codel"];
const LOW_DELAY: &[&str] = &["tail-drop", "deep", "wireless"];

/// The uses.
pub const USES: [Use; 6] = [
    Use {
        name: "bulk",
        about: "a server of large files: as much goodput as there is on any path, and no more harm than is done already",
        requirements: &[
            Requirement::Harmless,
            Requirement::Meets("goodput", INTERNET),
            Requirement::Meets("loss", INTERNET),
        ],
        measure: Measure::Most("goodput", INTERNET),
        with_ecn: (
            &[Requirement::Harmless, Requirement::Meets("goodput", MARKING), Requirement::Meets("loss", MARKING)],
            Measure::Most("goodput", MARKING),
        ),
    },
    Use {
        name: "background",
        about: "an update that nobody waits for: it gives way to others, and uses what they leave",
        requirements: &[Requirement::GivesWay(0.5), Requirement::Meets("goodput", &["tail-drop", "deep"])],
        measure: Measure::Harm,
        with_ecn: (&[Requirement::GivesWay(0.5), Requirement::Meets("goodput", MARKING)], Measure::Harm),
    },
    Use {
        name: "video",
        about: "a live video: the queue that it waits in itself is short, and other flows leave it a share",
        requirements: &[
            Requirement::Harmless,
            Requirement::HoldsItsOwn(0.25),
            Requirement::Meets("queue", LOW_DELAY),
            Requirement::Meets("goodput", LOW_DELAY),
        ],
        measure: Measure::Least("queue", LOW_DELAY),
        with_ecn: (
            &[Requirement::Harmless, Requirement::Meets("queue", MARKING), Requirement::Meets("goodput", MARKING)],
            Measure::Least("queue", MARKING),
        ),
    },
    Use {
        name: "data-centre",
        about: "flows within a data centre of 1 Gbit/s and 0.2 ms that is all its own: short ones do not wait for long ones",
        requirements: &[
            Requirement::Meets("goodput", &["data-centre-drop"]),
            Requirement::Meets("fairness", &["data-centre-drop"]),
            Requirement::Meets("loss-of-several", &["data-centre-drop"]),
        ],
        measure: Measure::Least("short-flows", &["data-centre-drop"]),
        with_ecn: (
            &[
                Requirement::Meets("goodput", &["data-centre"]),
                Requirement::Meets("fairness", &["data-centre"]),
                Requirement::Meets("loss-of-several", &["data-centre"]),
            ],
            Measure::Least("short-flows", &["data-centre"]),
        ),
    },
    Use {
        name: "satellite",
        about: "a path of 10 Mbit/s and 600 ms: it is filled, and losses in start-up do not cost minutes",
        requirements: &[
            Requirement::Harmless,
            Requirement::Meets("goodput", &["satellite"]),
            Requirement::Meets("short-flows", &["satellite"]),
            Requirement::Meets("loss", &["satellite"]),
        ],
        measure: Measure::Most("goodput", &["satellite"]),
        with_ecn: (
            &[
                Requirement::Harmless,
                Requirement::Meets("goodput", &["satellite"]),
                Requirement::Meets("short-flows", &["satellite"]),
                Requirement::Meets("loss", &["satellite"]),
            ],
            Measure::Most("goodput", &["satellite"]),
        ),
    },
    Use {
        name: "parallel",
        about: "many flows of one sender: they share equally, survive an overload, and lose little",
        requirements: &[
            Requirement::Harmless,
            Requirement::Meets("fairness", PARALLEL),
            Requirement::Meets("overload", PARALLEL),
            Requirement::Meets("loss-of-several", PARALLEL),
        ],
        measure: Measure::Least("loss-of-several", PARALLEL),
        with_ecn: (
            &[
                Requirement::Harmless,
                Requirement::Meets("fairness", MARKING),
                Requirement::Meets("overload", MARKING),
                Requirement::Meets("loss-of-several", MARKING),
            ],
            Measure::Most("fairness", MARKING),
        ),
    },
];

impl Use {
    /// The use of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Use> {
        USES.iter().find(|one| one.name == name)
    }

    /// What is asked where the network marks or not.
    #[must_use]
    pub fn asks(&self, ecn: bool) -> (&'static [Requirement], Measure) {
        if ecn { self.with_ecn } else { (self.requirements, self.measure) }
    }
}

impl Requirement {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Requirement::Harmless => {
                "takes no more of Reno's and CUBIC's goodput than they of each other's (harm.csv)".to_owned()
            }
            Requirement::GivesWay(most) => {
                format!("takes at most {:.0} % of Reno's and CUBIC's goodput (harm.csv)", 100.0 * most)
            }
            Requirement::HoldsItsOwn(least) => {
                format!("keeps at least {:.0} % of its goodput beside CUBIC (harm.csv)", 100.0 * least)
            }
            Requirement::Meets(criterion, paths) => {
                format!("{criterion} is not \"not met\" on {} (rfc9743.csv)", paths.join(", "))
            }
        }
    }
}

impl Measure {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Measure::Most(criterion, paths) => {
                format!("the most {criterion}, as a share of the best on {} (rfc9743.csv)", paths.join(", "))
            }
            Measure::Least(criterion, paths) => {
                format!("the least {criterion}, as a multiple of the best on {} (rfc9743.csv)", paths.join(", "))
            }
            Measure::Harm => "the least harm to Reno's and CUBIC's goodput at its worst (harm.csv)".to_owned(),
        }
    }
}
