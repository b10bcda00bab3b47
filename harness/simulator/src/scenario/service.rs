//! The keys that say when a link may send: its rate, a recording of what a link could carry, a shaper, batches.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::builtin::TRACES;
use super::fields::{MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, rate_bounds, within};
use windlass_controllers::Span;
use windlass_network::{BatchSpec, Service, Trace};

/// The largest file of recorded capacity, bytes.
const MAX_FILE: u64 = 1 << 28;

/// Rate of a link, bit/s, and when it may send; `default` where the section says nothing, without one it has to.
pub(super) fn read(section: &Section<'_>, default: Option<(f64, Service)>) -> (f64, Service) {
    let ways: Vec<&str> = ["capacity", "shaper", "batches"].into_iter().filter(|key| section.has(key)).collect();
    if let [first, second, ..] = ways[..] {
        let help = "put two links one after the other";
        section.lacks(format!("{} has both {first} and {second}", section.name), Some(help.to_owned()));
    }
    let recorded = section.has("capacity");
    let trace = trace(section);
    let rate = match (recorded, &default) {
        (false, None) => section.required_number("rate_mbps", rate_bounds()),
        _ => section.number("rate_mbps", rate_bounds()),
    };
    if let (true, Some(rate)) = (recorded, &rate) {
        let message = format!("{} has both rate_mbps and capacity", section.name);
        section.problem(&rate.span, "contradicts the other", message, Some("give one of them".to_owned()));
    }
    let (rate, service) = match (trace, rate) {
        (Some(trace), _) => return (trace.mean_rate(), Service::Trace(trace)),
        (None, Some(rate)) => (rate.value * 1e6, Service::Steady),
        (None, None) => default.unwrap_or((1e6, Service::Steady)),
    };
    (rate, shaper(section, rate).or_else(|| batches(section)).unwrap_or(service))
}

/// Reads `shaper` of a link of `rate`, bit/s.
fn shaper(section: &Section<'_>, rate: f64) -> Option<Service> {
    let table = section.table("shaper", &format!("shaper of {}", section.name))?;
    let burst = bytes(&table, "burst_bytes");
    let peak = table.number("peak_mbps", rate_bounds());
    table.finish();
    if rate.is_infinite() {
        let help = "add rate_mbps, which the shaper lets pass in the long run";
        section.lacks(format!("{} has a shaper but no rate_mbps", section.name), Some(help.to_owned()));
        return None;
    }
    if let Some(peak) = peak.as_ref().filter(|peak| peak.value * 1e6 < rate) {
        let message = format!("{}: peak_mbps is {}, less than rate_mbps, {}", table.name, peak.value, rate / 1e6);
        table.problem(&peak.span, "must not be less than rate_mbps", message, None);
        return None;
    }
    Some(Service::Shaper { burst: burst?, peak: peak.map_or(f64::INFINITY, |peak| peak.value * 1e6) })
}

/// The size of a bucket, which has to be there.
pub(super) fn bytes(table: &Section<'_>, key: &'static str) -> Option<f64> {
    table.required_number(key, within(1.0, 1e12, "bytes")).map(|found| found.value)
}

/// Reads `batches`.
fn batches(section: &Section<'_>) -> Option<Service> {
    let table = section.table("batches", &format!("batches of {}", section.name))?;
    let every = table.required_number("every_ms", above_zero(MAX_DELAY, "ms"));
    let jitter = table.number("jitter_ms", within(0.0, MAX_DELAY, "ms"));
    let packets =
        table.whole("packets", 1, u64::from(u32::MAX), "packets").map_or(u32::MAX, |found| found.value as u32);
    table.finish();
    let every = every?.value;
    if let Some(jitter) = jitter.as_ref().filter(|jitter| jitter.value > every) {
        let message = format!("{}: jitter_ms is {}, more than every_ms, {every}", table.name, jitter.value);
        table.problem(&jitter.span, "must not be more than every_ms", message, None);
        return None;
    }
    let jitter = ms(jitter.map_or(0.0, |found| found.value));
    Some(Service::Batches(BatchSpec { every: ms(every), jitter, packets }))
}

/// Reads `capacity`: the name of a file, or a table with it.
fn trace(section: &Section<'_>) -> Option<Trace> {
    let name = format!("capacity of {}", section.name);
    let table = section.is_table("capacity").then(|| section.table("capacity", &name)).flatten();
    let settings = table.as_ref().map(|table| {
        let scale = table.number_or("scale", above_zero(1e4, ""), 1.0);
        let offset = table.number_or("offset_s", within(0.0, MAX_TIME, "s"), 0.0);
        (scale, Span(at_s(offset).0), table.flag("repeat").unwrap_or(true))
    });
    let (scale, offset, repeat) = settings.unwrap_or((1.0, Span::ZERO, true));
    let found = match &table {
        Some(table) => {
            if !table.has("file") {
                table.lacks(format!("{} has no file", table.name), Some("add file = \"…\"".to_owned()));
            }
            let found = table.text("file");
            table.finish();
            found
        }
        None => section.text("capacity"),
    }?;
    let recorded = text(&section.folder(), &found.value)
        .map_err(|error| format!("cannot read {:?}: {error}", found.value))
        .and_then(|text| Trace::parse(&text).map_err(|error| format!("{:?}: {error}", found.value)));
    let wrong = |label: &str, message: String, help: Option<&str>| {
        section.problem(&found.span, label, format!("{name}: {message}"), help.map(str::to_owned));
        None
    };
    let mut trace = match recorded {
        Ok(trace) => trace,
        Err(message) => return wrong("expected a link trace of Mahimahi's", message, None),
    };
    if !repeat && offset >= trace.length() {
        let message =
            format!("offset_s is {}, but {:?} ends at {} s", offset.secs(), found.value, trace.length().secs());
        return wrong("is over by then", message, Some("lower offset_s, or leave out repeat = false"));
    }
    trace.bytes = (f64::from(trace.bytes) * scale).round().max(1.0) as u32;
    (trace.repeat, trace.offset) = (repeat, offset);
    Some(trace)
}

/// Names of the files that links take their capacity from, as `text` has them, in alphabetical order, the program's own
/// traces left out; none of a text that is not TOML.
#[must_use]
pub fn capacity_files(text: &str) -> Vec<String> {
    fn visit(table: &toml::Table, files: &mut Vec<String>) {
        for (key, value) in table {
            match value {
                toml::Value::String(name) if key == "capacity" => files.push(name.clone()),
                toml::Value::Table(table) => {
                    if let (true, Some(name)) = (key == "capacity", table.get("file").and_then(toml::Value::as_str)) {
                        files.push(name.to_owned());
                    }
                    visit(table, files);
                }
                toml::Value::Array(list) => {
                    list.iter().filter_map(toml::Value::as_table).for_each(|one| visit(one, files))
                }
                _ => {}
            }
        }
    }
    let mut files = Vec::new();
    if let Ok(table) = text.parse() {
        visit(&table, &mut files);
    }
    files.retain(|name| !name.starts_with(BUILTIN_TRACE));
    files.sort();
    files
}

/// What stands before the name of a trace of the program's.
const BUILTIN_TRACE: &str = "builtin:";

/// The text of the file that is called `name` in `folder`, no larger than is allowed, or of a trace of the program's.
fn text(folder: &Path, name: &str) -> io::Result<Cow<'static, str>> {
    let other = |message: String| Err(io::Error::other(message));
    if let Some(name) = name.strip_prefix(BUILTIN_TRACE) {
        return match TRACES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(Cow::Borrowed(*text)),
            None => other(format!(
                "expected one of {}",
                TRACES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
            )),
        };
    }
    let path = folder.join(name);
    // Opening a pipe would wait for its writer.
    if !fs::metadata(&path)?.is_file() {
        return other("it is no file".to_owned());
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE { other(format!("it is larger than {MAX_FILE} bytes")) } else { Ok(text.into()) }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Scenario, ScenarioError};
    use windlass_controllers::{Span, Time};
    use windlass_network::{BatchSpec, BucketSpec, BurstLoss, Network, Packet, PieSpec, Queue, Service};

    /// A directory with the files a scenario names.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new(files: &[(&str, &[u8])]) -> Folder {
            let folder = Folder(tempfile::tempdir().unwrap());
            files.iter().for_each(|(name, bytes)| std::fs::write(folder.0.path().join(name), bytes).unwrap());
            folder
        }

        fn load(&self, links: &str, flow: &str) -> Result<Scenario, String> {
            let text = format!("duration_s = 10\n{links}\n[[flow]]\ncontroller = \"reno\"\n{flow}");
            let path = self.0.path().join("scenario.toml");
            std::fs::write(&path, text).unwrap();
            Scenario::load(&path, None).map_err(|error: ScenarioError| error.to_string())
        }
    }

    #[test]
    fn a_file_is_found_beside_the_scenario_and_decides_when_packets_leave() {
        let folder = Folder::new(&[("down.trace", b"10\n10\n40\n")]);
        let link = "[[link]]\nname = \"lte\"\ndelay_ms = 5\nbuffer_bdp = 2\n";
        let table = "capacity = { file = \"down.trace\", scale = 2, offset_s = 0.01, repeat = false }";
        let scenario = folder.load(&format!("{link}{table}"), "route = [\"lte\"]").unwrap();
        let spec = &scenario.topology.links[0];
        let Service::Trace(trace) = &spec.service else { panic!("{:?}", spec.service) };
        assert_eq!((trace.bytes, trace.repeat, trace.offset), (3000, false, Span::from_millis(10)));
        // Three times 3000 bytes in 40 ms.
        assert_eq!(spec.rate, 1.8e6);
        assert_eq!(scenario.queues.len(), 1, "it has a queue");

        let dumbbell = "[dumbbell]\ncapacity = \"down.trace\"\nrtt_ms = 20\n";
        let scenario = folder.load(dumbbell, "").unwrap();
        let mut network = Network::new(&scenario.topology, 1).unwrap();
        let flow = &scenario.flows[0];
        (0..5).for_each(|id| network.send(Time::ZERO, flow.forward, Packet::new(0, id, 1500)));
        let times = std::iter::from_fn(|| network.poll(Time(u64::MAX / 4096)));
        let times: Vec<u64> = times.map(|delivery| delivery.at.0 / 1_000_000).collect();
        assert_eq!(times, [20, 20, 50, 60, 60]);
        // The way back is as the way forth unless it says otherwise.
        let both = folder.load(&format!("{dumbbell}[dumbbell.back]\n"), "").unwrap();
        assert_eq!(both.topology.links[1].service, both.topology.links[0].service);
        let back = folder.load(&format!("{dumbbell}[dumbbell.back]\nrate_mbps = 3\n"), "").unwrap();
        assert_eq!((back.topology.links[1].rate, &back.topology.links[1].service), (3e6, &Service::Steady));
    }

    #[test]
    fn the_files_of_all_links_are_named_and_the_programs_own_are_not() {
        let text = "[dumbbell]\ncapacity = \"down\"\n[dumbbell.back]\ncapacity = { file = \"up\", scale = 2 }\n\
                    [[link]]\ncapacity = \"builtin:lte-like\"\n[[link]]\ncapacity = \"third\"";
        assert_eq!(super::capacity_files(text), ["down", "third", "up"]);
        assert_eq!(super::capacity_files("capacity = "), [""; 0]);
    }

    #[test]
    fn shapers_batches_and_bursts_are_read() {
        let links = "[[link]]\nname = \"plan\"\nrate_mbps = 8\nshaper = { burst_bytes = 30_000, peak_mbps = 100 }\n\
                     [[link]]\nname = \"wifi\"\nbatches = { every_ms = 5, jitter_ms = 2, packets = 32 }\nbuffer_packets = 9\n\
                     burst_loss = { to_bad_percent = 1, to_good_percent = 20, bad_percent = 50 }\n\
                     [[link]]\nname = \"policed\"\nqueue = { kind = \"policer\", rate_mbps = 4, burst_bytes = 9000 }\n\
                     [[link]]\nname = \"pie\"\nrate_mbps = 8\nqueue = \"pie\"";
        let scenario = Folder::new(&[]).load(links, "route = [\"plan\", \"wifi\", \"policed\", \"pie\"]").unwrap();
        let links = &scenario.topology.links;
        assert_eq!((links[0].rate, &links[0].service), (8e6, &Service::Shaper { burst: 3e4, peak: 1e8 }));
        let (every, jitter) = (Span::from_millis(5), Span::from_millis(2));
        assert_eq!(links[1].service, Service::Batches(BatchSpec { every, jitter, packets: 32 }));
        assert_eq!(links[1].burst_loss, Some(BurstLoss { to_bad: 0.01, to_good: 0.2, good: 0.0, bad: 0.5 }));
        assert_eq!(links[2].queue, Queue::Policer(BucketSpec { rate: 4e6, depth: 9e3 }));
        assert_eq!(links[3].queue, Queue::Pie(PieSpec::new(1228)));
    }

    #[test]
    fn mistakes_name_the_file_the_line_and_what_was_expected() {
        let folder = Folder::new(&[
            ("bad", b"1\n2\nthree\n"),
            ("down", b"5\n4\n"),
            ("empty", b""),
            ("good", b"10\n"),
            ("raw", b"\0"),
            ("packed", &[0x1f, 0x8b, 0xff]),
        ]);
        for (keys, expected) in [
            ("capacity = \"bad\"", "capacity of [dumbbell]: \"bad\": line 3 is \"three\"; expected a time in whole"),
            ("capacity = \"down\"", "\"down\": line 2 is 4 ms, before the 5 ms"),
            ("capacity = \"empty\"", "\"empty\": it ends at 0 ms"),
            ("capacity = \"raw\"", "\"raw\": line 1 is \"\\0\""),
            ("capacity = \"packed\"", "cannot read \"packed\": "),
            ("capacity = \"builtin:3g\"", "cannot read \"builtin:3g\": expected one of lte-like"),
            ("capacity = \"none\"", "cannot read \"none\": "),
            ("capacity = \".\"", "cannot read \".\": it is no file"),
            ("capacity = 7", "capacity is 7; expected a text"),
            ("capacity = { scale = 2 }", "capacity of [dumbbell] has no file"),
            ("capacity = { file = \"good\", scale = 0 }", "scale is 0; expected a number above 0"),
            (
                "capacity = { file = \"good\", repeat = false, offset_s = 1 }",
                "offset_s is 1, but \"good\" ends at 0.01 s",
            ),
            ("capacity = \"good\"\nrate_mbps = 4", "[dumbbell] has both rate_mbps and capacity"),
            ("capacity = \"good\"\nbuffer_packets = 0", "a packet waits until it may leave, but buffer_packets is 0"),
            (
                "capacity = \"good\"\nchange = [{ at_s = 1, rate_mbps = 4 }]",
                "capacity decides, but a change has rate_mbps",
            ),
            ("", "[dumbbell] has no rate_mbps"),
            ("rate_mbps = 2\nshaper = { }", "shaper of [dumbbell] has no burst_bytes"),
            ("rate_mbps = 2\nshaper = { burst_bytes = 0.5 }", "burst_bytes is 0.5; expected a number from 1"),
            ("rate_mbps = 2\nshaper = { burst_bytes = 9, peak_mbps = 1 }", "peak_mbps is 1, less than rate_mbps, 2"),
            ("rate_mbps = 2\nbatches = { packets = 3 }", "batches of [dumbbell] has no every_ms"),
            ("rate_mbps = 2\nbatches = { every_ms = 1, jitter_ms = 2 }", "jitter_ms is 2, more than every_ms, 1"),
            ("rate_mbps = 2\nbatches = { every_ms = 1 }\nshaper = { burst_bytes = 9 }", "has both shaper and batches"),
            (
                "rate_mbps = 2\nbatches = { every_ms = 1 }\nchange = [{ at_s = 1, rate_mbps = 4 }]",
                "a change has rate_mbps",
            ),
            ("rate_mbps = 2\nburst_loss = { to_bad_percent = 1 }", "burst loss of [dumbbell] has no to_good_percent"),
            (
                "rate_mbps = 2\nburst_loss = { to_bad_percent = 0, to_good_percent = 9 }",
                "to_bad_percent is 0; expected a number above 0",
            ),
            ("rate_mbps = 2\nqueue = { kind = \"policer\" }", "queue of [dumbbell] has no rate_mbps"),
            ("rate_mbps = 2\nqueue = { kind = \"pie\", target_ms = 0 }", "target_ms is 0; expected a number above 0"),
        ] {
            let error = folder.load(&format!("[dumbbell]\nrtt_ms = 20\n{keys}"), "").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(folder.load("[dumbbell]\nrtt_ms = 20\ncapacity = \"good\"", "").is_ok());
    }
}
