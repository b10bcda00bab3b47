//! The keys of a link: what `[[link]]` and `[dumbbell]` have in common.

use std::ops::Range;

use windlass_controllers::{Span, Time};

use super::fields::{Found, Section, above_zero, within};
use crate::net::{Change, Jitter, Limit, LinkSpec, Queue, RedSpec, Set};

/// Rates up to 100 Tbit/s, in Mbit/s.
pub(super) const MAX_RATE: f64 = 1e8;
/// Delays up to an hour, in ms.
pub(super) const MAX_DELAY: f64 = 3.6e6;
/// Instants up to half a year, in s.
pub(super) const MAX_TIME: f64 = 1.5e7;

/// A link of which the buffer may still be unknown.
pub(super) struct LinkDraft {
    pub spec: LinkSpec,
    pub span: Range<usize>,
    buffer_bdp: Option<Found<f64>>,
    queue: QueueDraft,
}

enum QueueDraft {
    Ready(Queue),
    /// Two-class RED; what is not given scales with the buffer.
    TwoClass(RedDraft),
}

/// Settings of `[link.queue]` that were given.
#[derive(Default)]
struct RedDraft {
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

impl LinkDraft {
    /// Reads what every link has. `rate` and `delay` are read by the caller.
    pub fn read(section: &Section<'_>, name: &str, rate: f64, delay: Span) -> LinkDraft {
        let mut spec = LinkSpec::new(name, rate, delay);
        spec.loss = section.number_or("loss_percent", within(0.0, 100.0, "%"), 0.0) / 100.0;
        spec.jitter = Jitter {
            max: ms(section.number_or("jitter_ms", within(0.0, MAX_DELAY, "ms"), 0.0)),
            reorders: section.flag("reorder").unwrap_or(false),
        };
        spec.instrumented = section.flag("instrumented").unwrap_or(true);
        spec.ci_marking = section.flag("ci_marking").unwrap_or(false);
        spec.drop_arrivals = section.ascending("drop_arrivals");
        spec.changes = changes(section);

        let packets = section.whole("buffer_packets", 0, 1 << 32, "packets");
        let bytes = section.whole("buffer_bytes", 0, 1 << 42, "bytes");
        let buffer_bdp = section.number("buffer_bdp", above_zero(1e4, "bandwidth-delay products"));
        let given = [
            packets.as_ref().map(|found| ("buffer_packets", &found.span)),
            bytes.as_ref().map(|found| ("buffer_bytes", &found.span)),
            buffer_bdp.as_ref().map(|found| ("buffer_bdp", &found.span)),
        ];
        if let [Some((first, _)), Some((second, span)), ..] =
            given.into_iter().flatten().map(Some).collect::<Vec<_>>()[..]
        {
            let message = format!("{} has both {first} and {second}", section.name);
            section.problem(span, "contradicts the other", message, Some("give one of them".to_owned()));
        }
        spec.limit = match (packets, bytes) {
            (Some(packets), _) => Limit::Packets(packets.value),
            (None, Some(bytes)) => Limit::Bytes(bytes.value),
            (None, None) => Limit::Unlimited,
        };
        if rate.is_infinite() {
            for key in ["buffer_packets", "buffer_bytes", "buffer_bdp", "queue"] {
                if section.has(key) {
                    let help = "add rate_mbps: without a rate nothing ever waits";
                    section.lacks(format!("{} has {key} but no rate_mbps", section.name), Some(help.to_owned()));
                }
            }
        }
        let queue = queue(section);
        LinkDraft { spec, span: section.span.clone(), buffer_bdp, queue }
    }

    /// Settles the buffer, and the thresholds that scale with it. `bdp_packets` is the
    /// bandwidth-delay product in packets of `wire_bytes`, if any flow uses the link.
    pub fn finish(mut self, bdp_packets: Option<f64>, wire_bytes: u32, section: &Section<'_>) -> LinkSpec {
        if let Some(share) = &self.buffer_bdp {
            match bdp_packets {
                Some(bdp) => self.spec.limit = Limit::Packets((share.value * bdp).floor().max(1.0) as u64),
                None => section.problem(
                    &share.span,
                    "of which path?",
                    format!(
                        "{}: no flow's route leads over it, so its bandwidth-delay product is unknown",
                        section.name
                    ),
                    Some("use buffer_packets or buffer_bytes".to_owned()),
                ),
            }
        }
        let buffer = match self.spec.limit {
            Limit::Packets(packets) => Some(packets),
            Limit::Bytes(bytes) => Some(bytes / u64::from(wire_bytes)),
            Limit::Unlimited => None,
        };
        self.spec.queue = match self.queue {
            QueueDraft::Ready(Queue::Red(mut red)) => {
                if red.mean_bytes == 0.0 {
                    red.mean_bytes = f64::from(wire_bytes);
                }
                Queue::Red(red)
            }
            QueueDraft::Ready(queue) => queue,
            QueueDraft::TwoClass(draft) => two_class(draft, buffer, wire_bytes, section),
        };
        self.spec
    }
}

/// Milliseconds as a span.
pub(super) fn ms(x: f64) -> Span {
    Span((x * 1e6).round() as u64)
}

/// Seconds as an instant.
pub(super) fn at_s(x: f64) -> Time {
    Time((x * 1e9).round() as u64)
}

fn changes(section: &Section<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for change in section.tables("change") {
        let at = change.required_number("at_s", within(0.0, MAX_TIME, "s"));
        let set = Set {
            rate: change.number("rate_mbps", above_zero(MAX_RATE, "Mbit/s")).map(|found| found.value * 1e6),
            delay: change.number("delay_ms", within(0.0, MAX_DELAY, "ms")).map(|found| ms(found.value)),
            loss: change.number("loss_percent", within(0.0, 100.0, "%")).map(|found| found.value / 100.0),
        };
        change.finish();
        if set == Set::default() {
            change.lacks(
                format!("a change of {} changes nothing", section.name),
                Some("give rate_mbps, delay_ms or loss_percent".to_owned()),
            );
        }
        changes.extend(at.map(|at| Change { at: at_s(at.value), set }));
    }
    changes.sort_by_key(|change| change.at);
    changes
}

const KINDS: [&str; 4] = ["drop-tail", "red", "two-class-red", "step"];

fn queue(section: &Section<'_>) -> QueueDraft {
    if !section.is_table("queue") {
        return match section.word("queue", &KINDS) {
            "two-class-red" => QueueDraft::TwoClass(RedDraft { mark: true, ..RedDraft::default() }),
            word @ ("red" | "step") => {
                let help = format!("write [link.queue] (or [dumbbell.queue]) with kind = {word:?} and its thresholds");
                section.lacks(format!("{}: queue = {word:?} needs thresholds", section.name), Some(help));
                QueueDraft::Ready(Queue::DropTail)
            }
            _ => QueueDraft::Ready(Queue::DropTail),
        };
    }
    let Some(table) = section.table("queue", &format!("queue of {}", section.name)) else {
        return QueueDraft::Ready(Queue::DropTail);
    };
    let kind = table.word("kind", &KINDS);
    let draft = match kind {
        "step" => {
            if !table.has("threshold_packets") {
                table.lacks(format!("{} has no threshold_packets", table.name), None);
            }
            let threshold = table.whole("threshold_packets", 0, 1 << 32, "packets").map_or(0, |found| found.value);
            QueueDraft::Ready(Queue::Step { threshold })
        }
        "red" => QueueDraft::Ready(one_class(&table)),
        "two-class-red" => QueueDraft::TwoClass(red(&table, true)),
        _ => QueueDraft::Ready(Queue::DropTail),
    };
    table.finish();
    draft
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

fn one_class(table: &Section<'_>) -> Queue {
    let draft = red(table, false);
    for (key, given) in [("min_th_packets", &draft.normal.0), ("max_th_packets", &draft.normal.1)] {
        if given.is_none() && !table.has(key) {
            table.lacks(format!("{} has no {key}", table.name), None);
        }
    }
    let (Some(min), Some(max), max_p) = &draft.normal else { return Queue::DropTail };
    if !ordered("min_th_packets", min, "max_th_packets", max, table) {
        return Queue::DropTail;
    }
    // A mean size of 0 is replaced by the flow's packet size once that is known.
    let mut spec = RedSpec::new(min.value, max.value, max_p.unwrap_or(0.1), draft.mean_bytes.unwrap_or(0.0));
    spec.weight = draft.weight.unwrap_or(spec.weight);
    spec.wait = draft.wait;
    spec.mark = draft.mark;
    spec.normal.gentle = draft.gentle;
    Queue::Red(spec)
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
