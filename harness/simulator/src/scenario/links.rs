//! The keys of a link: what `[[link]]` and `[dumbbell]` have in common.

use std::ops::Range;

use windlass_controllers::Span;

use super::faults;
use super::fields::{Found, MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, rate_bounds, within};
use super::queues::QueueDraft;
use windlass_network::{Change, Jitter, Limit, LinkSpec, Service, Set};

/// A link of which the buffer may still be unknown.
pub(super) struct LinkDraft {
    pub spec: LinkSpec,
    pub span: Range<usize>,
    buffer_bdp: Option<Found<f64>>,
    queue: QueueDraft,
}

impl LinkDraft {
    /// Reads what every link has. The rate, when it sends, and the delay are read by the caller.
    pub fn read(section: &Section<'_>, name: &str, (rate, service): (f64, Service), delay: Span) -> LinkDraft {
        let mut spec = LinkSpec::new(name, rate, delay);
        spec.service = service;
        spec.loss = section.number_or("loss_percent", within(0.0, 100.0, "%"), 0.0) / 100.0;
        spec.jitter = Jitter {
            max: ms(section.number_or("jitter_ms", within(0.0, MAX_DELAY, "ms"), 0.0)),
            reorders: section.flag("reorder").unwrap_or(false),
        };
        spec.instrumented = section.flag("instrumented").unwrap_or(true);
        spec.ci_marking = section.flag("ci_marking").unwrap_or(false);
        spec.drop_arrivals = section.ascending("drop_arrivals");
        spec.changes = changes(section);
        let steady = spec.service == Service::Steady;
        if !steady && spec.changes.iter().any(|change| change.set.rate.is_some()) {
            let message = format!("{}: capacity decides, but a change has rate_mbps", section.name);
            section.lacks(message, Some("leave it out of the changes".to_owned()));
        }
        spec.faults = faults::of_link(section);

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
        if let Some(packets) = packets.as_ref().filter(|packets| packets.value == 0 && !steady) {
            let message = format!("{}: a packet waits until it may leave, but buffer_packets is 0", section.name);
            section.problem(&packets.span, "drops everything", message, Some("make it 1 or more".to_owned()));
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
        let queue = QueueDraft::read(section);
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
        self.spec.queue = self.queue.with_buffer(buffer, wire_bytes, section);
        self.spec
    }
}

fn changes(section: &Section<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for change in section.tables("change") {
        let at = change.required_number("at_s", within(0.0, MAX_TIME, "s"));
        let set = Set {
            rate: change.number("rate_mbps", rate_bounds()).map(|found| found.value * 1e6),
            delay: change.number("delay_ms", within(0.0, MAX_DELAY, "ms")).map(|found| ms(found.value)),
            loss: change.number("loss_percent", within(0.0, 100.0, "%")).map(|found| found.value / 100.0),
            jitter: change.number("jitter_ms", within(0.0, MAX_DELAY, "ms")).map(|found| ms(found.value)),
        };
        change.finish();
        if set == Set::default() {
            change.lacks(
                format!("a change of {} changes nothing", section.name),
                Some("give rate_mbps, delay_ms, loss_percent or jitter_ms".to_owned()),
            );
        }
        changes.extend(at.map(|at| Change { at: at_s(at.value), set }));
    }
    changes.sort_by_key(|change| change.at);
    changes
}
