//! The keys of a link: what `[[link]]` and `[dumbbell]` have in common.

use std::ops::Range;

use windlass_controllers::{Span, Time};

use super::faults;
use super::fields::{Found, MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, rate_bounds, within};
use super::queues::QueueDraft;
use windlass_network::{BurstLoss, Change, Jitter, Limit, LinkSpec, Queue, Service, Set};

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
        spec.burst_loss = burst_loss(section);
        spec.jitter = Jitter {
            max: ms(section.number_or("jitter_ms", within(0.0, MAX_DELAY, "ms"), 0.0)),
            reorders: section.flag("reorder").unwrap_or(false),
        };
        spec.instrumented = section.flag("instrumented").unwrap_or(true);
        spec.ci_marking = section.flag("ci_marking").unwrap_or(false);
        spec.drop_arrivals = section.ascending("drop_arrivals");
        let queue = QueueDraft::read(section);
        let policed = matches!(queue, QueueDraft::Ready(Queue::Policer(_)));
        let steady = spec.service == Service::Steady;
        spec.changes = changes(section, rate, steady);
        if !steady && spec.changes.iter().any(|change| change.set.rate.is_some()) {
            let how =
                ["capacity", "shaper", "batches"].into_iter().find(|key| section.has(key)).unwrap_or("its way to send");
            let message = format!("{}: {how} decides, but a change has rate_mbps", section.name);
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
                // Packets wait for a batch, and a policer lets none wait.
                let waits = !steady && key != "buffer_bdp";
                if section.has(key) && !waits && !(key == "queue" && policed) {
                    let help = "add rate_mbps: without a rate nothing ever waits";
                    section.lacks(format!("{} has {key} but no rate_mbps", section.name), Some(help.to_owned()));
                }
            }
        }
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

/// Loss in bursts.
fn burst_loss(section: &Section<'_>) -> Option<BurstLoss> {
    let table = section.table("burst_loss", &format!("burst loss of {}", section.name))?;
    let change = |key| table.required_number(key, above_zero(100.0, "%")).map(|found| found.value / 100.0);
    let loss = |key, default| table.number_or(key, within(0.0, 100.0, "%"), default) / 100.0;
    let (to_bad, to_good) = (change("to_bad_percent"), change("to_good_percent"));
    let (good, bad) = (loss("good_percent", 0.0), loss("bad_percent", 100.0));
    table.finish();
    Some(BurstLoss { to_bad: to_bad?, to_good: to_good?, good, bad })
}

/// The changes of a link of `rate`, in order. A gap before one is a change of its own, to a rate at which nothing leaves
/// within any gap.
fn changes(section: &Section<'_>, rate: f64, steady: bool) -> Vec<Change> {
    const STANDS_STILL: f64 = 1.0;
    let mut read = Vec::new();
    for change in section.tables("change") {
        let at = change.required_number("at_s", within(0.0, MAX_TIME, "s"));
        let gap = change.number("gap_ms", above_zero(MAX_DELAY, "ms"));
        let set = Set {
            rate: change.number("rate_mbps", rate_bounds()).map(|found| found.value * 1e6),
            delay: change.number("delay_ms", within(0.0, MAX_DELAY, "ms")).map(|found| ms(found.value)),
            loss: change.number("loss_percent", within(0.0, 100.0, "%")).map(|found| found.value / 100.0),
            jitter: change.number("jitter_ms", within(0.0, MAX_DELAY, "ms")).map(|found| ms(found.value)),
        };
        change.finish();
        if let Some(gap) = gap.as_ref().filter(|_| rate.is_infinite() || !steady) {
            let message = format!("{} has no rate_mbps, but a change has gap_ms", section.name);
            let help = "give it a rate, or write a [[fault]] of kind \"blackout\", which loses what comes";
            change.problem(&gap.span, "where does it wait?", message, Some(help.to_owned()));
        }
        if set == Set::default() && gap.is_none() {
            change.lacks(
                format!("a change of {} changes nothing", section.name),
                Some("give rate_mbps, delay_ms, loss_percent, jitter_ms or gap_ms".to_owned()),
            );
        }
        read.extend(at.map(|at| (at_s(at.value), gap, set)));
    }
    read.sort_by_key(|(at, ..)| *at);
    let (mut changes, mut rate, mut last) = (Vec::new(), rate, Time::ZERO);
    for (at, gap, mut set) in read {
        if at < last {
            let message = format!("{}: a change begins within the gap before another", section.name);
            section.lacks(message, Some("shorten that gap_ms, or move one of them".to_owned()));
        }
        rate = set.rate.unwrap_or(rate);
        last = at;
        if let Some(gap) = gap.filter(|_| steady) {
            changes.push(Change { at, set: Set { rate: Some(STANDS_STILL), ..Set::default() } });
            last = at + ms(gap.value);
            set.rate = Some(rate);
        }
        changes.push(Change { at: last, set });
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use windlass_network::{Network, Packet};

    fn read(link: &str, changes: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration_s = 10\n[[link]]\nname = \"l\"\n{link}\n{changes}\n[[flow]]\ncontroller = \"reno\"\nroute = [\"l\"]"
        );
        Scenario::read("s", &text, None).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_leaves_in_the_gap_of_a_handover_and_nothing_is_lost() {
        let change = "[[link.change]]\nat_s = 1\ngap_ms = 200\ndelay_ms = 50\n[[link.change]]\nat_s = 2\ngap_ms = 100\nrate_mbps = 16";
        // A packet of 1000 bytes takes 1 ms, and one comes every 10 ms.
        let scenario = read("rate_mbps = 8\ndelay_ms = 10", change).unwrap();
        let mut network = Network::new(&scenario.topology, 1).unwrap();
        let mut times = Vec::new();
        for id in 0..300 {
            let now = Time::from_micros(10_000 * id);
            while let Some(delivery) = network.poll(now) {
                times.push((delivery.packet.id, (delivery.at.0 + 50_000) / 100_000));
            }
            network.send(now, scenario.flows[0].forward, Packet::new(0, id, 1000));
        }
        let at = |id: usize| times[id].1;
        assert!(times.iter().map(|(id, _)| *id).eq(0..times.len() as u64), "none is lost or overtaken");
        assert_eq!((at(99), at(100), at(101)), (10_010, 12_510, 12_520), "100 to 119 wait for the new cell");
        assert_eq!((at(130), at(199)), (13_510, 20_410));
        assert_eq!((at(200), at(201), at(220)), (21_505, 21_510, 22_505), "and half a millisecond each");
    }

    #[test]
    fn a_gap_needs_a_place_to_wait_and_time_of_its_own() {
        let gap = "[[link.change]]\nat_s = 1\ngap_ms = 2000";
        let refused = |link, changes: &str| read(link, changes).unwrap_err();
        assert!(refused("", gap).contains("link \"l\" has no rate_mbps, but a change has gap_ms"));
        assert!(refused("capacity = \"builtin:lte-like\"", gap).contains("but a change has gap_ms"));
        let next = format!("{gap}\n[[link.change]]\nat_s = 2\nloss_percent = 1");
        assert!(refused("rate_mbps = 1", &next).contains("begins within the gap before another"));
        assert!(refused("rate_mbps = 1", "[[link.change]]\nat_s = 1").contains("changes nothing"));
    }
}
