//! Arumaithurai (2010): network-friendly congestion control (`spec: arumaithurai §12`).

mod cells;
mod claims;
mod derived;
mod measures;

use crate::{Cell, Document, Experiment, Figure, Plan, Scale, Transport, nothing};

const fn plan(cells: fn(Scale) -> Vec<Cell>, repetitions: u64, figures: &'static [Figure]) -> Plan {
    Plan { cells, repetitions, seed: 1, derive: nothing, figures }
}

const SACK: Transport = Transport {
    recovery: &["tcp-sack"],
    why: "the document's flows are ns-2's TCP-Linux and agents like it, with a SACK for every packet (spec: arumaithurai \
          §12)",
    is_essential: false,
};

const fn rates(each: &'static str) -> Figure {
    Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each }
}

const fn waiting(each: &'static str) -> Figure {
    Figure::Curves { title: "Queue", kind: "queue", y: "packets", each }
}

const OVER_TIME: &[Figure] = &[rates("candidate"), waiting("candidate")];
const fn state_variable(title: &'static str, kind: &'static str, y: &'static str) -> Figure {
    Figure::Curves { title, kind, y, each: "candidate" }
}

const FIRST: &[Figure] = &[
    rates("candidate"),
    waiting("candidate"),
    state_variable("Estimate of spare bandwidth", "bw_mbps", "Mbit/s"),
    state_variable("Base delay as LEDBAT takes it", "base_delay_ms", "ms"),
];
const ESTIMATES: &[Figure] = &[state_variable("Estimate of spare bandwidth", "bw_mbps", "Mbit/s"), waiting("")];
const BY_RATE: &[Figure] = &[rates("rate"), waiting("rate")];
const BY_SCHEME: &[Figure] = &[rates("scheme")];
const BY_RTT: &[Figure] = &[rates("rtt")];
const BY_LINK: &[Figure] = &[
    rates("rate"),
    waiting("rate"),
    Figure::Curves { title: "Base delay as LEDBAT takes it", kind: "base_delay_ms", y: "ms", each: "rate" },
];
const MANY: &[Figure] = &[Figure::Across {
    title: "What five TCP flows get",
    x: "n",
    x_label: "other flows",
    quantity: "tcp",
    y: "Mbit/s",
    by: "candidate",
}];

/// The document with its experiments and claims.
pub(super) const DOCUMENT: Document = Document {
    name: "arumaithurai",
    title: "M. Arumaithurai, Network friendly congestion control: framework, protocol design and evaluation, \
            dissertation, Göttingen, 2010",
    guide: &[
        "A candidate for background transfers has a link to itself until a flow of standard TCP comes. The good ones \
         use the whole link before and nothing of what TCP wants after. The submissive index is what TCP gets beside \
         the candidate over what it gets alone in the same time: 1 is what a background transfer is for.",
        "Routers have two sets of thresholds over one average queue: packets of low priority are marked early, all \
         others are dropped late. Only NF-TCP sends at low priority; to the rest the queue is a large one. A run in \
         full takes hundreds of millions of packets.",
    ],
    experiments: &[
        Experiment {
            id: "S1",
            title: "One background flow, then one of TCP",
            spec: "arumaithurai §12; Figs. 5.1–5.4",
            varied: "candidate",
            transport: SACK,
            plan: Plan { derive: derived::checklist, ..plan(cells::reference, 1, FIRST) },
        },
        Experiment {
            id: "S1a",
            title: "The same at 100 Mbit/s, against the fluid model",
            spec: "arumaithurai §12; §4.1.2",
            varied: "nothing",
            transport: SACK,
            plan: Plan { derive: derived::checklist, ..plan(cells::small, 5, OVER_TIME) },
        },
        Experiment {
            id: "S2",
            title: "The same with a round trip of 200 ms",
            spec: "arumaithurai §12; Fig. 5.5",
            varied: "candidate",
            transport: SACK,
            plan: Plan { derive: derived::checklist, ..plan(cells::far, 1, OVER_TIME) },
        },
        Experiment {
            id: "S3",
            title: "The same at 1 Gbit/s",
            spec: "arumaithurai §12; Fig. 5.6",
            varied: "candidate",
            transport: SACK,
            plan: Plan { derive: derived::checklist, ..plan(cells::gigabit, 1, OVER_TIME) },
        },
        Experiment {
            id: "S4",
            title: "NF-TCP without its bandwidth estimation",
            spec: "arumaithurai §12; Fig. 5.7(a)",
            varied: "b: 1/2, 1/8",
            transport: SACK,
            plan: plan(cells::without_estimate, 1, OVER_TIME),
        },
        Experiment {
            id: "S5",
            title: "NF-TCP beside UDP of a random rate",
            spec: "arumaithurai §12; Fig. 5.7(b)",
            varied: "how the rate is drawn",
            transport: SACK,
            plan: plan(cells::beside_udp, 5, BY_RATE),
        },
        Experiment {
            id: "S6a",
            title: "Five NF-TCP flows at once",
            spec: "arumaithurai §12; Fig. 5.8(a)",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::five_at_once, 5, OVER_TIME),
        },
        Experiment {
            id: "S6b",
            title: "Five NF-TCP flows, one after another",
            spec: "arumaithurai §12; Fig. 5.8(b)",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::five_in_turn, 5, OVER_TIME),
        },
        Experiment {
            id: "S6c",
            title: "Flows with round trips of 50 to 250 ms",
            spec: "arumaithurai §12; §5.3",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::five_distances, 5, BY_SCHEME),
        },
        Experiment {
            id: "S7",
            title: "Three bottlenecks in line",
            spec: "arumaithurai §12; Figs. 5.9, 5.10",
            varied: "candidate, round trips",
            transport: SACK,
            plan: plan(cells::in_line, 1, BY_RTT),
        },
        Experiment {
            id: "S8",
            title: "Five TCP flows and up to 200 others",
            spec: "arumaithurai §12; Fig. 5.11",
            varied: "number: 1 to 200; candidate",
            transport: SACK,
            plan: plan(cells::many, 5, MANY),
        },
        Experiment {
            id: "S9",
            title: "A burst of a hundred TCP flows every 90 s",
            spec: "arumaithurai §12; Fig. 5.12",
            varied: "candidate",
            transport: SACK,
            plan: plan(cells::bursts, 5, OVER_TIME),
        },
        Experiment {
            id: "S10",
            title: "LEDBAT, then TCP, over the rate",
            spec: "arumaithurai §12; Fig. 5.4",
            varied: "rate: 10 to 600 Mbit/s; queue",
            transport: SACK,
            plan: plan(cells::rates, 1, BY_LINK),
        },
        Experiment {
            id: "S11",
            title: "ProECN's estimate against steps of a constant load",
            spec: "arumaithurai §12; §4.3.2",
            varied: "load: 0, 25, 50, 75 %, 30 s each",
            transport: SACK,
            plan: plan(cells::steps, 5, ESTIMATES),
        },
    ],
    published: include_str!("../published/arumaithurai.toml"),
    claims: claims::ALL,
    undetermined: claims::UNDETERMINED,
};
