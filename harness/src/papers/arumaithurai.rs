//! Arumaithurai (2010): network-friendly congestion control (`spec: arumaithurai §12`).

use super::document::{Document, Experiment, Work};

/// The document.
pub(super) const DOCUMENT: Document = Document {
    name: "arumaithurai",
    title: "M. Arumaithurai, Network friendly congestion control: framework, protocol design and evaluation, dissertation, Göttingen, 2010",
    guide: &[],
    experiments: &[
        Experiment {
            id: "S1",
            title: "One background flow, then one of TCP",
            spec: "arumaithurai §12; Figs. 5.1–5.4",
            varied: "candidate",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S1a",
            title: "The same at 100 Mbit/s, against the fluid model",
            spec: "arumaithurai §12; §4.1.2",
            varied: "nothing",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S2",
            title: "The same with a round trip of 200 ms",
            spec: "arumaithurai §12; Fig. 5.5",
            varied: "candidate",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S3",
            title: "The same at 1 Gbit/s",
            spec: "arumaithurai §12; Fig. 5.6",
            varied: "candidate",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S4",
            title: "NF-TCP without its bandwidth estimation",
            spec: "arumaithurai §12; Fig. 5.7(a)",
            varied: "b: 1/2, 1/8",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S5",
            title: "NF-TCP beside UDP of a random rate",
            spec: "arumaithurai §12; Fig. 5.7(b)",
            varied: "how the rate is drawn",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S6a",
            title: "Five NF-TCP flows at once",
            spec: "arumaithurai §12; Fig. 5.8(a)",
            varied: "nothing",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S6b",
            title: "Five NF-TCP flows, one after another",
            spec: "arumaithurai §12; Fig. 5.8(b)",
            varied: "nothing",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S6c",
            title: "Flows with round trips of 50 to 250 ms",
            spec: "arumaithurai §12; §5.3",
            varied: "scheme",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S7",
            title: "Three bottlenecks in line",
            spec: "arumaithurai §12; Figs. 5.9, 5.10",
            varied: "candidate, round trips",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S8",
            title: "Five TCP flows and up to 200 others",
            spec: "arumaithurai §12; Fig. 5.11",
            varied: "number: 1 to 200; candidate",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S9",
            title: "A burst of a hundred TCP flows every 90 s",
            spec: "arumaithurai §12; Fig. 5.12",
            varied: "candidate",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S10",
            title: "LEDBAT, then TCP, over the rate",
            spec: "arumaithurai §12; Fig. 5.4",
            varied: "rate: 10 to 600 Mbit/s; queue",
            work: Work::Missing(
                "its cells are not written; the schema has all it needs, a run in full takes minutes to hours",
            ),
        },
        Experiment {
            id: "S11",
            title: "ProECN's estimate against steps of a constant load",
            spec: "arumaithurai §12; §4.3.2",
            varied: "load: 0 to 75 %",
            work: Work::Missing("the estimate as a result of the run; a constant load in steps is several sources"),
        },
    ],
    published: &[],
};
