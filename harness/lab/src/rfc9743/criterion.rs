//! Criteria of RFC 9743 §5 and of its special cases, each as a number and what bounds it.

use super::measure::Numbers;
use super::mix::{Mix, Rival, SEVERAL, STANDARDS};
use super::path::Path;

/// A criterion.
#[derive(Clone, Copy, Debug)]
pub struct Criterion {
    /// What it is asked for by.
    pub name: &'static str,
    /// Section of RFC 9743.
    pub section: &'static str,
    /// What the number is.
    pub about: &'static str,
    /// Unit of the number; empty of a share or a ratio.
    pub unit: &'static str,
    /// The runs that it needs.
    pub mixes: &'static [Mix],
    /// The deployed controller whose run alone it needs, too.
    pub rival: Option<Rival>,
    /// The only path type it is asked on, where it is not asked on all.
    pub only: Option<&'static str>,
    /// What bounds the number.
    pub limit: Limit,
    /// The number; `None` where the runs do not have it.
    pub(super) value: fn(&Runs<'_>) -> Option<f64>,
}

/// What bounds a number.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// At most so many times what the one of Reno and CUBIC has that has more, and so much more.
    Most {
        /// Times.
        times: f64,
        /// In the number's unit.
        plus: f64,
        /// Where that comes from.
        source: &'static str,
    },
    /// At least so many times what the one of Reno and CUBIC has that has less.
    Least {
        /// Times.
        times: f64,
        /// Where that comes from.
        source: &'static str,
    },
    /// At most this.
    Fixed {
        /// In the number's unit.
        most: f64,
        /// Where that comes from.
        source: &'static str,
    },
    /// Nothing: the RFC gives no threshold, and nothing else does.
    None,
}

impl Limit {
    /// Where the bound comes from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        match self {
            Limit::Most { source, .. } | Limit::Least { source, .. } | Limit::Fixed { source, .. } => source,
            Limit::None => "the RFC gives none; shown",
        }
    }

    /// Whether it is the least that is allowed, not the most.
    #[must_use]
    pub fn is_least(&self) -> bool {
        matches!(self, Limit::Least { .. })
    }
}

/// The runs of a controller on a path, with one seed.
pub(super) struct Runs<'a> {
    pub path: &'a Path,
    /// Factor by which runs are longer than quick ones.
    pub longer: f64,
    pub of: &'a dyn Fn(Mix) -> Option<&'a Numbers>,
    /// A rival alone.
    pub rival: Option<&'a Numbers>,
}

impl Runs<'_> {
    fn read(&self, mix: Mix, read: fn(&Numbers) -> Option<f64>) -> Option<f64> {
        (self.of)(mix).and_then(read)
    }

    /// (solo − with)/solo of the other flow's goodput.
    fn harm(&self, mix: Mix) -> Option<f64> {
        let (solo, with) = (self.rival?.own_mbps, self.read(mix, |run| run.other_mbps)?);
        (solo > 0.0).then(|| (solo - with) / solo)
    }

    /// (with − solo)/with of the other flow's RTT.
    fn delay_harm(&self, mix: Mix) -> Option<f64> {
        let (solo, with) = (self.rival?.rtt_ms?, self.read(mix, |run| run.other_rtt_ms)?);
        (with > 0.0).then(|| (with - solo) / with)
    }

    /// How much of what two flows got is the first one's.
    fn share(&self, receiver: &'static str) -> Option<f64> {
        let run = (self.of)(Mix::Receiver(receiver))?;
        let all = run.own_mbps + run.other_mbps?;
        (all > 0.0).then(|| run.own_mbps / all)
    }

    /// Rate of one of several flows over what TCP's simplified equation gives at its losses and RTT
    /// (`RFC 8083 §4.3`: s / (R √(2p/3))); 0 without losses.
    fn of_tcp(&self) -> Option<f64> {
        let run = (self.of)(Mix::Several)?;
        let rtt = run.rtt_ms? / 1e3;
        let p = run.lost as f64 / run.sent.max(1) as f64;
        let tcp_mbps = 8e-6 * f64::from(self.path.packet_bytes) / (rtt * (2.0 * p / 3.0).sqrt());
        Some(if p > 0.0 { run.own_mbps / f64::from(SEVERAL) / tcp_mbps } else { 0.0 })
    }

    /// Packets sent while nothing passes, over what is allowed then: what the window still has room for, twice, and two
    /// probes a timeout, each twice as long as the one before (`RFC 9002 §6.2.1, §6.2.4`).
    fn unanswered(&self) -> Option<f64> {
        let (with, before) = ((self.of)(Mix::Outage)?, (self.of)(Mix::BeforeOutage)?);
        let outage = 0.5 * self.path.duration_s * self.longer;
        let timeouts = 1.0 + (outage / self.path.rtt()).log2().max(0.0);
        let allowed = 2.0 * before.cwnd + 2.0 * timeouts;
        Some(with.sent.saturating_sub(before.sent) as f64 / allowed)
    }
}

const TWICE: &str =
    "twice what Reno or CUBIC do, whichever is more, and 1 % (a factor of two: RFC 5348 §1; the percent is a choice)";
const HALF: &str = "half of what Reno or CUBIC get, whichever is less (a factor of two: RFC 5348 §1)";
const HARM: &str =
    "the harm of Reno or CUBIC, whichever is more (RFC 9743 §5.2; Ware et al., HotNets 2019), and 0.05 (a choice)";
const SLOWER: &str =
    "a quarter more than with Reno or CUBIC, whichever is more (RFC 9743 §5.2; the quarter is a choice)";

const BASE: Criterion = Criterion {
    name: "",
    section: "",
    about: "",
    unit: "",
    mixes: &[],
    rival: None,
    only: None,
    limit: Limit::None,
    value: |_| None,
};

const fn goodput(
    rival: Rival,
    name: &'static str,
    mixes: &'static [Mix],
    value: fn(&Runs<'_>) -> Option<f64>,
) -> Criterion {
    Criterion {
        name,
        section: "5.2.1",
        about: "harm to the goodput of such a flow beside it: (solo − with) / solo",
        mixes,
        rival: Some(rival),
        limit: Limit::Most { times: 1.0, plus: 0.05, source: HARM },
        value,
        ..BASE
    }
}

const fn delay(of: Criterion, name: &'static str, value: fn(&Runs<'_>) -> Option<f64>) -> Criterion {
    Criterion { name, about: "harm to the RTT of such a flow beside it: (with − solo) / with", value, ..of }
}

const RENO: Criterion =
    goodput(Rival::Reno, "reno-goodput", &[Mix::Beside(Rival::Reno)], |runs| runs.harm(Mix::Beside(Rival::Reno)));
const CUBIC: Criterion =
    goodput(Rival::Cubic, "cubic-goodput", &[Mix::Beside(Rival::Cubic)], |runs| runs.harm(Mix::Beside(Rival::Cubic)));
const BBR: Criterion =
    goodput(Rival::Bbr, "bbr-goodput", &[Mix::Beside(Rival::Bbr)], |runs| runs.harm(Mix::Beside(Rival::Bbr)));

/// The criteria, in the order of the RFC.
pub const CRITERIA: [Criterion; 21] = [
    Criterion {
        name: "overload",
        section: "5.1.1",
        about: "40 flows where 20 packets fit: share of what they send that is lost or was not needed",
        mixes: &[Mix::Overload],
        limit: Limit::Most { times: 2.0, plus: 0.01, source: TWICE },
        value: |runs| runs.read(Mix::Overload, |run| Some(run.wasted)),
        ..BASE
    },
    Criterion {
        name: "outage",
        section: "5.1.1, 5.2",
        about: "packets sent while nothing comes back, of what two windows and probes with backoff are",
        mixes: &[Mix::Outage, Mix::BeforeOutage],
        limit: Limit::Fixed {
            most: 1.0,
            source: "two windows, and two probes a timeout that doubles (RFC 9002 §6.2.1, §6.2.4)",
        },
        value: |runs| runs.unanswered(),
        ..BASE
    },
    Criterion {
        name: "queue",
        section: "5.1.2",
        about: "mean wait at the bottleneck of one flow",
        unit: "ms",
        mixes: &[Mix::Alone],
        limit: Limit::Most {
            times: 1.0,
            plus: 5.0,
            source: "what Reno or CUBIC keep there, whichever is more, and 5 ms, an acceptable standing queue (RFC 8289 §3.2)",
        },
        value: |runs| runs.read(Mix::Alone, |run| Some(run.queue_ms)),
        ..BASE
    },
    Criterion {
        name: "loss",
        section: "5.1.3",
        about: "share of the packets of one flow that the bottleneck drops",
        mixes: &[Mix::Alone],
        limit: Limit::Most { times: 2.0, plus: 0.01, source: TWICE },
        value: |runs| runs.read(Mix::Alone, |run| Some(run.dropped)),
        ..BASE
    },
    Criterion {
        name: "loss-of-several",
        section: "5.1.3",
        about: "share of the packets of four flows that the bottleneck drops",
        mixes: &[Mix::Several],
        limit: Limit::Most { times: 2.0, plus: 0.01, source: TWICE },
        value: |runs| runs.read(Mix::Several, |run| Some(run.dropped)),
        ..BASE
    },
    Criterion {
        name: "fairness",
        section: "5.1.4",
        about: "Jain's index of four flows that start in turn",
        mixes: &[Mix::Several],
        limit: Limit::Least {
            times: 0.75,
            source: "three quarters of Reno's or CUBIC's, whichever is less: a quarter of the flows without anything (Jain, Chiu and Hawe 1984)",
        },
        value: |runs| runs.read(Mix::Several, |run| Some(run.jain)),
        ..BASE
    },
    Criterion {
        name: "short-flows",
        section: "5.1.5",
        about: "time that 30 packets take beside a long flow, both its own",
        unit: "s",
        mixes: &[Mix::ShortOwn],
        limit: Limit::Most { times: 1.25, plus: 0.0, source: SLOWER },
        value: |runs| runs.read(Mix::ShortOwn, |run| run.short_s),
        ..BASE
    },
    Criterion {
        name: "long-flow",
        section: "5.1.5",
        about: "goodput of a long flow beside short ones, all its own",
        unit: "Mbit/s",
        mixes: &[Mix::ShortOwn],
        limit: Limit::Least { times: 0.5, source: HALF },
        value: |runs| runs.read(Mix::ShortOwn, |run| Some(run.own_mbps)),
        ..BASE
    },
    RENO,
    CUBIC,
    BBR,
    delay(RENO, "reno-delay", |runs| runs.delay_harm(Mix::Beside(Rival::Reno))),
    delay(CUBIC, "cubic-delay", |runs| runs.delay_harm(Mix::Beside(Rival::Cubic))),
    delay(BBR, "bbr-delay", |runs| runs.delay_harm(Mix::Beside(Rival::Bbr))),
    Criterion {
        name: "real-time",
        section: "5.2.2",
        about: "95th percentile of the delay of a video's frames beside one flow; the run's length where one in twenty never comes",
        unit: "ms",
        mixes: &[Mix::Video],
        limit: Limit::Most { times: 1.25, plus: 0.0, source: SLOWER },
        value: |runs| runs.read(Mix::Video, |run| run.frame_ms),
        ..BASE
    },
    Criterion {
        name: "short-others",
        section: "5.2.3",
        about: "time that 30 packets of CUBIC take beside one flow",
        unit: "s",
        mixes: &[Mix::ShortOthers],
        limit: Limit::Most { times: 1.25, plus: 0.0, source: SLOWER },
        value: |runs| runs.read(Mix::ShortOthers, |run| run.short_s),
        ..BASE
    },
    Criterion {
        name: "long-other",
        section: "5.2.3",
        about: "harm to the goodput of a CUBIC flow beside short flows",
        mixes: &[Mix::LongOther],
        rival: Some(Rival::Cubic),
        limit: Limit::Most { times: 1.0, plus: 0.05, source: HARM },
        value: |runs| runs.harm(Mix::LongOther),
        ..BASE
    },
    Criterion {
        name: "circuit-breaker",
        section: "7.2",
        about: "rate of one of four flows, in rates of TCP at its losses and RTT",
        mixes: &[Mix::Several],
        limit: Limit::Fixed { most: 10.0, source: "ten times, which trips the breaker of RTP (RFC 8083 §4.3)" },
        value: |runs| runs.of_tcp(),
        ..BASE
    },
    Criterion {
        name: "goodput",
        section: "1, 6, 7",
        about: "goodput of one flow",
        unit: "Mbit/s",
        mixes: &[Mix::Alone],
        limit: Limit::Least { times: 0.5, source: HALF },
        value: |runs| runs.read(Mix::Alone, |run| Some(run.own_mbps)),
        ..BASE
    },
    Criterion {
        name: "divided-acks",
        section: "7.6",
        about: "share of the link that a flow gains beside another when its receiver divides ACKs",
        mixes: &[Mix::Receiver("honest"), Mix::Receiver("divides-acks")],
        only: Some("tail-drop"),
        limit: Limit::Fixed { most: 0.05, source: "nothing (Savage et al. 1999; RFC 3465 §2), to 0.05 (a choice)" },
        value: |runs| Some(runs.share("divides-acks")? - runs.share("honest")?),
        ..BASE
    },
    Criterion {
        name: "optimistic-acks",
        section: "7.6",
        about: "share of the link that a flow gains beside another when its receiver conceals losses",
        mixes: &[Mix::Receiver("honest"), Mix::Receiver("optimistic")],
        only: Some("tail-drop"),
        value: |runs| Some(runs.share("optimistic")? - runs.share("honest")?),
        ..BASE
    },
];

/// Sections that no run answers, each with its title and why.
pub const NOT_APPLICABLE: [(&str, &str, &str); 3] = [
    ("5.3.1", "Differences with Congestion Control Principles", "an explanation that the algorithm's document owes"),
    ("5.3.2", "Incremental Deployment", "a discussion of equipment in the Internet that the algorithm's document owes"),
    (
        "7.10",
        "Multipath Transport",
        "a controller here has one path; a connection with several has one controller for each",
    ),
];

impl Criterion {
    /// The criterion of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Criterion> {
        CRITERIA.iter().find(|criterion| criterion.name == name)
    }

    /// Whether it is asked on `path`.
    #[must_use]
    pub fn is_asked_on(&self, path: &Path) -> bool {
        self.only.is_none_or(|name| name == path.name)
    }

    /// The runs it needs of `controller`: those of the standards that bound it, and the rival's alone.
    pub(super) fn runs<'a>(&self, controller: &'a str) -> Vec<(&'a str, Mix)> {
        let bounded = matches!(self.limit, Limit::Most { .. } | Limit::Least { .. });
        let standards = STANDARDS.into_iter().filter(|_| bounded);
        let of = |controller: &'a str| self.mixes.iter().map(move |mix| (controller, *mix));
        let rival = self.rival.map(|rival| (rival.name(), Mix::Alone));
        of(controller).chain(standards.flat_map(of)).chain(rival).collect()
    }
}
