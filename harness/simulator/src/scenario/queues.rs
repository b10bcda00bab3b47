//! The keys of a link's queue.

use std::ops::Range;

use windlass_controllers::Span;

use super::fields::{Found, MAX_DELAY, Section, above_zero, ms, rate_bounds, within};
use super::service;
use windlass_network::{
    BucketSpec, CoDelSpec, DualPi2Spec, FqCoDelSpec, Marks, PcnSpec, PieSpec, Queue, RedSpec, StepSpec,
};

/// A queue whose thresholds may still depend on the buffer or on packet sizes.
pub(super) enum QueueDraft {
    Ready(Queue),
    /// Two-class RED; what is not given scales with the buffer.
    TwoClass(RedDraft),
}

/// Settings of RED that were given.
#[derive(Default)]
pub(super) struct RedDraft {
    span: Range<usize>,
    weight: Option<f64>,
    mean_bytes: Option<f64>,
    wait: bool,
    gentle: bool,
    flat: bool,
    mark: bool,
    normal: (Option<Found<f64>>, Option<Found<f64>>, Option<f64>),
    low_priority: (Option<Found<f64>>, Option<Found<f64>>, Option<f64>),
    probe_threshold: Option<u64>,
}

const KINDS: [&str; 12] = [
    "drop-tail",
    "red",
    "two-class-red",
    "step",
    "l4s",
    "codel",
    "fq-codel",
    "drr",
    "pie",
    "dualpi2",
    "pcn",
    "policer",
];

impl QueueDraft {
    /// Reads `queue`.
    pub fn read(section: &Section<'_>) -> QueueDraft {
        if !section.is_table("queue") {
            return match section.word("queue", &KINDS) {
                "two-class-red" => QueueDraft::TwoClass(RedDraft { mark: true, ..RedDraft::default() }),
                "codel" => QueueDraft::Ready(Queue::CoDel(CoDelSpec::new(0))),
                "fq-codel" => QueueDraft::Ready(Queue::FqCoDel(FqCoDelSpec { quantum: 0, ..FqCoDelSpec::new(0) })),
                "l4s" => QueueDraft::Ready(Queue::L4s { sojourn: L4S_STEP, classic: None }),
                "drr" => QueueDraft::Ready(Queue::Drr { quantum: 0, queues: FqCoDelSpec::new(0).queues }),
                "dualpi2" => QueueDraft::Ready(Queue::DualPi2(DualPi2Spec::new())),
                "pie" => QueueDraft::Ready(Queue::Pie(PieSpec::new(0))),
                word @ ("red" | "step" | "pcn" | "policer") => {
                    let lacking = match word {
                        "pcn" => "rates",
                        "policer" => "rate",
                        _ => "thresholds",
                    };
                    let help =
                        format!("write [link.queue] (or [dumbbell.queue]) with kind = {word:?} and its {lacking}");
                    section.lacks(format!("{}: queue = {word:?} needs {lacking}", section.name), Some(help));
                    QueueDraft::Ready(Queue::DropTail)
                }
                _ => QueueDraft::Ready(Queue::DropTail),
            };
        }
        let Some(table) = section.table("queue", &format!("queue of {}", section.name)) else {
            return QueueDraft::Ready(Queue::DropTail);
        };
        let draft = match table.word("kind", &KINDS) {
            "step" => QueueDraft::Ready(step(&table)),
            "red" => QueueDraft::Ready(one_class(&table).map_or(Queue::DropTail, Queue::Red)),
            "two-class-red" => QueueDraft::TwoClass(red(&table, true)),
            "l4s" => QueueDraft::Ready(l4s(&table)),
            "codel" => QueueDraft::Ready(Queue::CoDel(codel(&table))),
            "fq-codel" => QueueDraft::Ready(fq_codel(&table)),
            "drr" => QueueDraft::Ready(drr(&table)),
            "dualpi2" => QueueDraft::Ready(Queue::DualPi2(dual_pi2(&table))),
            "pie" => QueueDraft::Ready(Queue::Pie(pie(&table))),
            "pcn" => QueueDraft::Ready(pcn(&table)),
            "policer" => QueueDraft::Ready(policer(&table)),
            _ => QueueDraft::Ready(Queue::DropTail),
        };
        table.finish();
        draft
    }

    /// The queue in front of a buffer of `buffer` packets of `wire_bytes`.
    pub fn with_buffer(self, buffer: Option<u64>, wire_bytes: u32, section: &Section<'_>) -> Queue {
        let mean = |red: RedSpec| match red.mean_bytes {
            0.0 => RedSpec { mean_bytes: f64::from(wire_bytes), ..red },
            _ => red,
        };
        let full_size = |spec: CoDelSpec| if spec.mtu == 0 { CoDelSpec { mtu: wire_bytes, ..spec } } else { spec };
        match self {
            QueueDraft::Ready(Queue::Red(red)) => Queue::Red(mean(red)),
            QueueDraft::Ready(Queue::L4s { sojourn, classic }) => Queue::L4s { sojourn, classic: classic.map(mean) },
            QueueDraft::Ready(Queue::CoDel(spec)) => Queue::CoDel(full_size(spec)),
            QueueDraft::Ready(Queue::FqCoDel(spec)) => {
                let quantum = if spec.quantum == 0 { wire_bytes } else { spec.quantum };
                Queue::FqCoDel(FqCoDelSpec { codel: full_size(spec.codel), quantum, ..spec })
            }
            QueueDraft::Ready(Queue::Drr { quantum: 0, queues }) => Queue::Drr { quantum: wire_bytes, queues },
            QueueDraft::Ready(Queue::Pie(spec)) if spec.mean_bytes == 0 => {
                Queue::Pie(PieSpec { mean_bytes: wire_bytes, ..spec })
            }
            QueueDraft::Ready(queue) => queue,
            QueueDraft::TwoClass(draft) => two_class(draft, buffer, wire_bytes, section),
        }
    }
}

/// The native L4S step of `RFC 9332` implementations (Linux `dualpi2`: `step_thresh 1ms`).
const L4S_STEP: Span = Span::from_millis(1);

fn step(table: &Section<'_>) -> Queue {
    if !table.has("threshold_packets") && !table.has("sojourn_ms") {
        let help = "give one of them, or both: either will do for a mark";
        table.lacks(format!("{} has neither threshold_packets nor sojourn_ms", table.name), Some(help.to_owned()));
    }
    let marks = match table.word("marks", &["any", "ect0", "ect1"]) {
        "ect0" => Marks::Ect0,
        "ect1" => Marks::Ect1,
        _ => Marks::Any,
    };
    Queue::Step(StepSpec {
        threshold: table.whole("threshold_packets", 0, 1 << 32, "packets").map(|found| found.value),
        sojourn: time(table, "sojourn_ms"),
        marks,
    })
}

fn time(table: &Section<'_>, key: &'static str) -> Option<Span> {
    table.number(key, above_zero(MAX_DELAY, "ms")).map(|found| ms(found.value))
}

fn l4s(table: &Section<'_>) -> Queue {
    let sojourn = time(table, "sojourn_ms").unwrap_or(L4S_STEP);
    let classic = if table.word("classic", &["drop-tail", "red"]) == "red" { one_class(table) } else { None };
    Queue::L4s { sojourn, classic }
}

fn codel(table: &Section<'_>) -> CoDelSpec {
    // An MTU of 0 is replaced by the flow's packet size once that is known.
    let default = CoDelSpec::new(0);
    CoDelSpec {
        target: time(table, "target_ms").unwrap_or(default.target),
        interval: time(table, "interval_ms").unwrap_or(default.interval),
        mtu: table.whole("mtu_bytes", 1, 65_535, "bytes").map_or(0, |found| found.value as u32),
        mark: table.word("on_hit", &["mark", "drop"]) == "mark",
    }
}

/// The quantum and the number of queues of a round robin; a quantum of 0 is likewise replaced.
fn rounds(table: &Section<'_>) -> (u32, u32) {
    let whole = |key, least, most, unit| table.whole(key, least, most, unit).map(|found| found.value as u32);
    let quantum = whole("quantum_bytes", 1, 65_535, "bytes").unwrap_or(0);
    (quantum, whole("queues", 1, 65_536, "queues").unwrap_or(FqCoDelSpec::new(0).queues))
}

fn fq_codel(table: &Section<'_>) -> Queue {
    let (quantum, queues) = rounds(table);
    Queue::FqCoDel(FqCoDelSpec { codel: codel(table), quantum, queues })
}

fn drr(table: &Section<'_>) -> Queue {
    let (quantum, queues) = rounds(table);
    Queue::Drr { quantum, queues }
}

fn dual_pi2(table: &Section<'_>) -> DualPi2Spec {
    let default = DualPi2Spec::new();
    let micros =
        |key, default| table.number(key, within(0.0, 1e6, "µs")).map_or(default, |found| ms(found.value / 1e3));
    DualPi2Spec {
        target: time(table, "target_ms").unwrap_or(default.target),
        max_rtt: time(table, "max_rtt_ms").unwrap_or(default.max_rtt),
        coupling: table.number_or("coupling", above_zero(100.0, ""), default.coupling),
        min_threshold: micros("min_threshold_us", default.min_threshold),
        range: micros("range_us", default.range),
        classic_percent: table
            .whole("classic_percent", 1, 99, "%")
            .map_or(default.classic_percent, |found| found.value as u32),
    }
}

fn pie(table: &Section<'_>) -> PieSpec {
    // Likewise the mean size.
    let default = PieSpec::new(0);
    let weight = |key, default| table.number_or(key, within(0.0, 1e3, "per s"), default);
    PieSpec {
        target: time(table, "target_ms").unwrap_or(default.target),
        update: time(table, "update_ms").unwrap_or(default.update),
        burst: table.number("burst_ms", within(0.0, MAX_DELAY, "ms")).map_or(default.burst, |found| ms(found.value)),
        alpha: weight("alpha", default.alpha),
        beta: weight("beta", default.beta),
        mean_bytes: table.whole("mean_packet_bytes", 1, 65_535, "bytes").map_or(0, |found| found.value as u32),
        mark: table.word("on_hit", &["mark", "drop"]) == "mark",
    }
}

fn policer(table: &Section<'_>) -> Queue {
    let rate = table.required_number("rate_mbps", rate_bounds());
    let depth = service::bytes(table, "burst_bytes");
    let (Some(rate), Some(depth)) = (rate, depth) else { return Queue::DropTail };
    Queue::Policer(BucketSpec { rate: rate.value * 1e6, depth })
}

fn pcn(table: &Section<'_>) -> Queue {
    let (ac, ft) =
        (table.required_number("ac_rate_mbps", rate_bounds()), table.required_number("ft_rate_mbps", rate_bounds()));
    let depth = |key, rate: f64, default: f64| {
        let depth = table.number(key, above_zero(1e6, "ms"));
        rate / 8.0 * depth.map_or(default, |found| found.value) / 1e3
    };
    let (Some(ac), Some(ft)) = (ac, ft) else { return Queue::DropTail };
    if ft.value < ac.value {
        let message = format!("{}: ft_rate_mbps is {}, less than ac_rate_mbps, {}", table.name, ft.value, ac.value);
        table.problem(&ft.span, "must not be less than ac_rate_mbps", message, None);
        return Queue::DropTail;
    }
    let (ac_rate, ft_rate) = (ac.value * 1e6, ft.value * 1e6);
    let ac = BucketSpec { rate: ac_rate, depth: depth("ac_bucket_ms", ac_rate, 50.0) };
    let ac_threshold = depth("ac_threshold_ms", ac_rate, ac.depth * 8e3 / ac_rate / 2.0);
    if ac_threshold > ac.depth {
        let message = format!("{}: ac_threshold_ms is more than ac_bucket_ms", table.name);
        table.lacks(message, Some("the bucket never holds that much, so everything would be marked".to_owned()));
        return Queue::DropTail;
    }
    let ft = BucketSpec { rate: ft_rate, depth: depth("ft_bucket_ms", ft_rate, 50.0) };
    Queue::Pcn(PcnSpec { ac, ac_threshold, ft })
}

/// Reads the settings of RED, one class or two.
fn red(table: &Section<'_>, two: bool) -> RedDraft {
    let packets = || within(0.0, 1e9, "packets");
    let share = || above_zero(1.0, "");
    let value = |found: Option<Found<f64>>| found.map(|found| found.value);
    let mut draft = RedDraft {
        span: table.span.clone(),
        weight: value(table.number("weight", share())),
        mean_bytes: value(table.number("mean_packet_bytes", within(1.0, 65_535.0, "bytes"))),
        wait: table.flag("wait").unwrap_or(false),
        gentle: table.flag("gentle").unwrap_or(false),
        mark: table.word("on_hit", &["mark", "drop"]) == "mark",
        normal: (
            table.number("min_th_packets", packets()),
            table.number("max_th_packets", packets()),
            value(table.number("max_p", share())),
        ),
        ..RedDraft::default()
    };
    if two {
        draft.flat = table.flag("flat").unwrap_or(false);
        draft.low_priority = (
            table.number("low_min_th_packets", packets()),
            table.number("low_max_th_packets", packets()),
            value(table.number("low_max_p", share())),
        );
        draft.probe_threshold = table.whole("probe_threshold_packets", 0, 1 << 32, "packets").map(|found| found.value);
    }
    draft
}

fn one_class(table: &Section<'_>) -> Option<RedSpec> {
    let draft = red(table, false);
    for (key, given) in [("min_th_packets", &draft.normal.0), ("max_th_packets", &draft.normal.1)] {
        if given.is_none() && !table.has(key) {
            table.lacks(format!("{} has no {key}", table.name), None);
        }
    }
    let (Some(min), Some(max), max_p) = &draft.normal else { return None };
    if !ordered("min_th_packets", min, "max_th_packets", max, table) {
        return None;
    }
    // A mean size of 0 is replaced by the flow's packet size once that is known.
    let mut spec = RedSpec::new(min.value, max.value, max_p.unwrap_or(0.1), draft.mean_bytes.unwrap_or(0.0));
    spec.weight = draft.weight.unwrap_or(spec.weight);
    spec.wait = draft.wait;
    spec.mark = draft.mark;
    spec.normal.gentle = draft.gentle;
    Some(spec)
}

fn ordered(low: &str, min: &Found<f64>, high: &str, max: &Found<f64>, table: &Section<'_>) -> bool {
    if min.value < max.value {
        return true;
    }
    let message = format!("{}: {high} is {}, not more than {low}, {}", table.name, max.value, min.value);
    table.problem(&max.span, &format!("must be more than {low}"), message, None);
    false
}

fn two_class(draft: RedDraft, buffer: Option<u64>, wire_bytes: u32, section: &Section<'_>) -> Queue {
    let given = |(min, max, _): &(Option<Found<f64>>, Option<Found<f64>>, Option<f64>)| min.is_some() && max.is_some();
    if buffer.is_none() && !(given(&draft.normal) && given(&draft.low_priority)) {
        section.lacks(
            format!("{}: the thresholds of two-class-red scale with the buffer, which is unlimited", section.name),
            Some("give buffer_packets, buffer_bdp or all four thresholds".to_owned()),
        );
        return Queue::DropTail;
    }
    let mut spec = RedSpec::two_class(buffer.unwrap_or(0), draft.mean_bytes.unwrap_or(f64::from(wire_bytes)));
    spec.weight = draft.weight.unwrap_or(spec.weight);
    spec.wait = draft.wait;
    spec.mark = draft.mark;
    spec.probe_threshold = draft.probe_threshold.or(spec.probe_threshold);
    let sets = [(&mut spec.normal, &draft.normal, ["min_th_packets", "max_th_packets"])];
    for (ramp, (min, max, max_p), keys) in sets.into_iter().chain(
        spec.low_priority
            .as_mut()
            .map(|ramp| (ramp, &draft.low_priority, ["low_min_th_packets", "low_max_th_packets"])),
    ) {
        let or = |given: &Option<Found<f64>>, scaled| {
            given.clone().unwrap_or(Found { value: scaled, span: draft.span.clone() })
        };
        let (min, max) = (or(min, ramp.min), or(max, ramp.max));
        if !ordered(keys[0], &min, keys[1], &max, section) {
            return Queue::DropTail;
        }
        (ramp.min, ramp.max, ramp.max_p) = (min.value, max.value, max_p.unwrap_or(ramp.max_p));
        ramp.gentle = draft.gentle;
        ramp.flat = draft.flat;
    }
    Queue::Red(spec)
}
