//! Chan (2004): the Vegas family (`spec: chan §14`).

mod cells;
mod claims;
mod measures;

use crate::{Cell, Document, Experiment, Figure, Plan, Scale, Transport, nothing};

const fn plan(cells: fn(Scale) -> Vec<Cell>, repetitions: u64, figures: &'static [Figure]) -> Plan {
    Plan { cells, repetitions, seed: 1, derive: nothing, figures }
}

const VEGAS: Transport = Transport {
    recovery: &["tcp-vegas"],
    why: "the document's flows are ns-2's Vegas, with a fine-grained timeout and a coarse one of at least a second (spec: \
          chan §3.7, §8.4)",
    is_essential: false,
};
const BESIDE_NEWRENO: Transport = Transport {
    recovery: &["tcp-newreno", "tcp-vegas"],
    why: "the document's flows are ns-2's Vegas, and NewReno, which repairs a loss per round trip (spec: chan §2.2, §3.7)",
    is_essential: false,
};
const ALL_THREE: Transport = Transport {
    recovery: &["tcp-reno", "tcp-vegas"],
    why: "loss recovery decides here: ns-2's Reno for Reno, Vegas' fine-grained timeout for the others (spec: chan §8.4)",
    is_essential: true,
};
const LOSSY_VEGAS: Transport = Transport {
    recovery: &["tcp-vegas"],
    why: "losses are judged where Vegas' duplicate ACKs and fine-grained timeout find them (spec: chan §7.4, §8.4)",
    is_essential: true,
};

const THROUGHPUT: Figure = Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each: "" };
const WAITING: Figure = Figure::Curves { title: "Queue", kind: "queue", y: "packets", each: "" };
const WINDOW: Figure = Figure::Curves { title: "Congestion window", kind: "cwnd", y: "packets", each: "" };

const RATE: &[Figure] = &[THROUGHPUT];
const QUEUE: &[Figure] = &[WAITING];
const ALL: &[Figure] = &[WINDOW, WAITING, THROUGHPUT];
const KS: &[Figure] = &[Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each: "scheme" }];
const SHARES: &[Figure] =
    &[Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each: "scheme alpha beta rounding" }];
const LOADS: &[Figure] = &[Figure::Across {
    title: "Throughput by load",
    x: "load",
    x_label: "load of the way back, share of its rate",
    quantity: "throughput",
    y: "Mbit/s",
    by: "scheme",
}];

const fn product(title: &'static str, quantity: &'static str) -> Figure {
    Figure::Across {
        title,
        x: "bdp",
        x_label: "bandwidth-delay product, packets",
        quantity,
        y: "base round-trip times",
        by: "scheme",
    }
}

const PRODUCTS: &[Figure] = &[
    product("Convergence of a new flow", "convergence new"),
    product("Convergence when half of the link is taken", "convergence halved"),
    product("Convergence when it is given back", "convergence doubled"),
];

const fn mobile(x: &'static str, x_label: &'static str) -> Figure {
    Figure::Across { title: "Goodput", x, x_label, quantity: "goodput", y: "Kbit/s", by: "scheme" }
}

const BURSTS: &[Figure] = &[mobile("load", "load, share of the bottleneck")];
const LOSSES: &[Figure] = &[mobile("loss", "data packets lost on the wireless link, percent")];

const fn right(title: &'static str, quantity: &'static str) -> Figure {
    Figure::Across { title, x: "load", x_label: "load, share of the bottleneck", quantity, y: "percent", by: "loss" }
}

const CAUSES: &[Figure] = &[
    right("Losses taken for random that were", "right about random"),
    right("Losses taken for congestion that were", "right about congestion"),
];

/// The document with its experiments and claims.
pub(super) const DOCUMENT: Document = Document {
    name: "chan",
    title: "Y.-C. Chan, Study and design of TCP congestion control techniques, PhD dissertation, \
            National Chiao Tung University, 2004",
    guide: &[
        "Vegas judges a path by its round-trip times and so takes a queue on the way back for one on the way forth, and a \
         queue that was there before it for a part of the path. E3 and E4 show what that costs and what it helps to know the \
         queueing times or one-way delays; E5 shows how long Vegas takes to find its window on a large path, and what \
         Quick Vegas changes.",
        "Packets are 1000 bytes on the wire. Loads are bursts of 8 ms on average, which the text does not give and which \
         decides; every scheme meets the same bursts. Convergence ends when the window stays within 2.5 packets of \
         the mean of the last tenth of the time until the next change.",
        "E6 puts a lossy wireless hop behind a bottleneck of 16 packets whose router marks what waits when it drops. RedVegas \
         takes a loss far from any mark for chance and keeps its window. Flows repair losses there as TCP without selective \
         acknowledgements does, with a timeout of at least a second; goodput counts each packet once. Ten runs of an hour make \
         up the document's ten hours.",
    ],
    experiments: &[
        Experiment {
            id: "E3.1",
            title: "Vegas and RoVegas with a narrow way back",
            spec: "chan §14.2; Figs. 3.4, 3.5",
            varied: "asymmetry k: 2, 4, 8, 16, 32",
            transport: VEGAS,
            plan: Plan { derive: measures::gain, ..plan(cells::asymmetric, 1, KS) },
        },
        Experiment {
            id: "E3.2",
            title: "A load on the way back from 50 s on",
            spec: "chan §14.2; Fig. 3.6",
            varied: "scheme",
            transport: VEGAS,
            plan: plan(cells::load_joins, 10, RATE),
        },
        Experiment {
            id: "E3.2r",
            title: "RoVegas on a path that becomes longer",
            spec: "chan §4.5 B3, §12 A6; a scenario of ours, the document has none",
            varied: "scheme, and which minimum RoVegas takes for its base",
            transport: VEGAS,
            plan: plan(cells::rerouted, 10, RATE),
        },
        Experiment {
            id: "E3.3",
            title: "A load on the way back",
            spec: "chan §14.2; Fig. 3.7",
            varied: "load: 0 to 1",
            transport: VEGAS,
            plan: plan(cells::loads, 10, LOADS),
        },
        Experiment {
            id: "E3.4",
            title: "Loads on three hops back, one after another",
            spec: "chan §14.2; Fig. 3.9",
            varied: "scheme",
            transport: VEGAS,
            plan: plan(cells::hops_join, 10, RATE),
        },
        Experiment {
            id: "E3.5",
            title: "Loads on three hops back",
            spec: "chan §14.2; Fig. 3.10",
            varied: "load: 0 to 1",
            transport: VEGAS,
            plan: plan(cells::hop_loads, 10, LOADS),
        },
        Experiment {
            id: "E3.6",
            title: "Eight flows join: persistent congestion",
            spec: "chan §14.2; Fig. 3.12",
            varied: "scheme",
            transport: VEGAS,
            plan: plan(cells::eight_join, 1, QUEUE),
        },
        Experiment {
            id: "E3.7",
            title: "Five flows join: fairness",
            spec: "chan §14.2; Figs. 3.14 a–d",
            varied: "scheme, α and β, rounding",
            transport: VEGAS,
            plan: plan(cells::five_join, 1, SHARES),
        },
        Experiment {
            id: "E3.8",
            title: "Five flows over one to five hops",
            spec: "chan §14.2; Figs. 3.15 a–d",
            varied: "scheme, α and β, rounding",
            transport: VEGAS,
            plan: plan(cells::chain, 10, SHARES),
        },
        Experiment {
            id: "E3.9",
            title: "One router of four reports queueing times",
            spec: "chan §14.2; Fig. 3.16",
            varied: "scheme",
            transport: VEGAS,
            plan: plan(cells::one_router, 10, RATE),
        },
        Experiment {
            id: "E4.1",
            title: "Enhanced Vegas, a load on the way back from 50 s on",
            spec: "chan §14.2; Fig. 4.2",
            varied: "scheme",
            transport: VEGAS,
            plan: plan(cells::enhanced_load_joins, 10, RATE),
        },
        Experiment {
            id: "E4.2",
            title: "Enhanced Vegas, a load on the way back",
            spec: "chan §14.2; Fig. 4.3",
            varied: "load: 0 to 1",
            transport: VEGAS,
            plan: plan(cells::enhanced_loads, 10, LOADS),
        },
        Experiment {
            id: "E5.1",
            title: "Quick Vegas at 50 Mbit/s beside a constant load",
            spec: "chan §14.2; Figs. 5.2, 5.3",
            varied: "scheme",
            transport: VEGAS,
            plan: plan(cells::fifty, 1, ALL),
        },
        Experiment {
            id: "E5.2",
            title: "Convergence by bandwidth-delay product",
            spec: "chan §14.2; Figs. 5.4–5.6",
            varied: "rate: 2.5 to 50 Mbit/s; scheme",
            transport: VEGAS,
            plan: plan(cells::products, 1, PRODUCTS),
        },
        Experiment {
            id: "E5.3",
            title: "Sixty flows at 1 Gbit/s",
            spec: "chan §14.2; Tables 5.1–5.3, Fig. 5.7",
            varied: "scheme",
            transport: BESIDE_NEWRENO,
            plan: plan(cells::sixty, 1, QUEUE),
        },
        Experiment {
            id: "E6.1",
            title: "RedVegas beside a bursty load",
            spec: "chan §14.2; Fig. 6.4",
            varied: "load: 0 to 0.9; scheme",
            transport: ALL_THREE,
            plan: plan(cells::bursty, 10, BURSTS),
        },
        Experiment {
            id: "E6.2",
            title: "RedVegas on a lossy link",
            spec: "chan §14.2; Fig. 6.5",
            varied: "loss: 0 to 15 %; scheme",
            transport: ALL_THREE,
            plan: plan(cells::lossy, 10, LOSSES),
        },
        Experiment {
            id: "E6.3",
            title: "RedVegas on a lossy link with half a load",
            spec: "chan §14.2; Fig. 6.6",
            varied: "loss: 0 to 15 %; scheme",
            transport: ALL_THREE,
            plan: plan(cells::lossy_half_loaded, 10, LOSSES),
        },
        Experiment {
            id: "E6.4",
            title: "RedVegas at 5 % loss",
            spec: "chan §14.2; Fig. 6.7",
            varied: "load: 0 to 0.9; scheme",
            transport: ALL_THREE,
            plan: plan(cells::bursty_and_lossy, 10, BURSTS),
        },
        Experiment {
            id: "E6.5",
            title: "Which losses RedVegas classifies correctly",
            spec: "chan §14.2; Table 6.1",
            varied: "loss and load",
            transport: LOSSY_VEGAS,
            plan: plan(cells::causes, 10, CAUSES),
        },
    ],
    published: include_str!("../published/chan.toml"),
    claims: claims::ALL,
    undetermined: claims::UNDETERMINED,
};
