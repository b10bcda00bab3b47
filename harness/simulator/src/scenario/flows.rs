//! The keys of `[[flow]]`.

use std::ops::Range;

use windlass_adapter::{NamedController, choose};
use windlass_controllers::fixed_window::FixedWindow;
use windlass_controllers::{SavedPath, Signals, Span, Time};

use super::application::{self, Video};
use super::faults;
use super::fields::{Found, MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, rate_bounds, within};
use super::flow_spec::{AckPolicy, Control, EndFault, FlowSpec, Misbehaviour, NATIVE, RECEIVER, Recovery, Resume};
use super::traffic::stops_after_start;
use windlass_network::{Limit, RouteId};

/// What a file writes where the controller is to be chosen when it is run.
pub(super) const UNDER_TEST: &str = "under-test";

/// The key of a flow that keeps its rate whatever is lost, and those that mean nothing beside it.
const CONSTANT_RATE: &str = "constant_rate_mbps";
const BESIDE_CONSTANT_RATE: [&str; 3] = ["controller", "group", "resume"];
/// What a window is where it limits nothing, packets.
const NO_LIMIT: &str = "1048576";

/// As many requests as fit into one packet of any flow over real stacks.
const MAX_REQUESTS: u64 = 50;
/// The largest window that all stacks can grant (s2n-quic's has 32 bits), bytes.
const MAX_WINDOW: u64 = u32::MAX as u64;

/// The controller for flows under test, if one was given, and where it came from.
pub(super) enum UnderTest<'a> {
    Given(&'a str),
    InFile(&'a Found<String>),
    Open,
}

/// Values flows take from the top level.
pub(super) struct Defaults {
    pub packet_bytes: u32,
    pub overhead_bytes: u32,
    pub ack_bytes: u32,
    pub header_bytes: u32,
    pub burst_packets: u32,
    pub end: Time,
}

/// Reads packet sizes, with those of `defaults` for what is missing.
pub(super) fn sizes(section: &Section<'_>, defaults: (u32, u32, u32)) -> (u32, u32, u32) {
    let size = |key, low, default| section.whole(key, low, 65_535, "bytes").map_or(default, |found| found.value as u32);
    (size("packet_bytes", 1, defaults.0), size("overhead_bytes", 0, defaults.1), size("ack_bytes", 1, defaults.2))
}

/// Reads what of a packet is QUIC's own, which leaves at least a byte for the application.
pub(super) fn header(section: &Section<'_>, packet_bytes: u32, default: u32) -> u32 {
    let most = packet_bytes.saturating_sub(1);
    section.whole("header_bytes", 0, u64::from(most), "bytes").map_or(default.min(most), |found| found.value as u32)
}

/// Reads how many packets the pacer lets go at once.
pub(super) fn burst(section: &Section<'_>, default: u32) -> u32 {
    section.whole("pacing_burst_packets", 1, 1000, "packets").map_or(default, |found| found.value as u32)
}

/// Reads a flow, without its routes; those and `count` are the caller's.
pub(super) fn read(
    section: &Section<'_>,
    name: &str,
    defaults: &Defaults,
    under_test: &UnderTest<'_>,
) -> Option<FlowSpec> {
    let controller = controller(section, under_test);
    let (packet_bytes, overhead_bytes, ack_bytes) =
        sizes(section, (defaults.packet_bytes, defaults.overhead_bytes, defaults.ack_bytes));
    let discover_packet_bytes = section
        .whole("discover_packet_bytes", u64::from(packet_bytes), 65_527, "bytes")
        .map(|found| found.value as u32);
    let header_bytes = header(section, packet_bytes, defaults.header_bytes);
    let burst_packets = burst(section, defaults.burst_packets);
    let ack_burst_packets = section.whole("ack_burst_packets", 1, 1_000_000, "packets").map(|found| found.value as u32);
    let send_jitter = section.number_or("send_jitter_us", within(0.0, 1e6, "µs"), 0.0);
    let start = section.number_or("start_s", within(0.0, MAX_TIME, "s"), 0.0);
    let stop = section.number("stop_s", within(0.0, MAX_TIME, "s"));
    stops_after_start(section, start, stop.as_ref());
    let clock_offset = section.number_or("clock_offset_ms", within(-1e9, 1e9, "ms"), 0.0);
    let start_jitter = section.number_or("start_jitter_s", within(0.0, MAX_TIME, "s"), 0.0);
    let group = section.text("group").map(|found| found.value);
    let resume = resume(section);
    let transfer_bytes = section.whole("transfer_bytes", 1, 1 << 50, "bytes").map(|found| found.value);
    let requests = section.whole("requests", 1, MAX_REQUESTS, "requests");
    let receive_window = section.whole("receive_window_bytes", 1, MAX_WINDOW, "bytes").map(|found| found.value);
    let writes = application::writes(section);
    let video = Video::read(section, packet_bytes);
    let vanishes = section.number("vanishes_s", within(0.0, MAX_TIME, "s")).map(|found| at_s(found.value));
    let idle_timeout = section.number("idle_timeout_s", above_zero(MAX_TIME, "s"));
    if let (Some(timeout), None) = (&idle_timeout, &vanishes) {
        let message = format!("{} has idle_timeout_s, but its receiver never falls silent", section.name);
        section.problem(&timeout.span, "never comes", message, Some("add vanishes_s".to_owned()));
    }
    let ack = ack(section);
    let recovery = recovery(section);
    let misbehaves = misbehaves(section, recovery);
    let dupthresh_frac = dupthresh_frac(section, recovery);
    let adaptive_loss_detection = adaptive_loss_detection(section, recovery);
    let ecn = section.flag("ecn");
    let pacing = section.flag("pacing").unwrap_or(true);
    let drop_packets = section.ascending("drop_packets");
    let faults = faults::of_ends(section);
    if let Some(writes) = writes.filter(|writes| writes.frames.is_some() && writes.least() < u64::from(packet_bytes)) {
        let message = format!("{}: its smallest frame has {} bytes, less than a packet", section.name, writes.least());
        section.lacks(message, Some("raise application_mbps, or lower frames_per_s or packet_bytes".to_owned()));
    }
    if writes.and_then(|writes| writes.frames).is_some_and(|frames| frames.objects.is_some())
        && recovery != Recovery::Quic
    {
        let message = format!("{} has group_order, but recovers as TCP does, which has one stream", section.name);
        section.lacks(message, Some("leave out recovery, or group_order".to_owned()));
    }
    if video.is_some() && faults.iter().any(EndFault::is_rebinding) {
        let message = format!("{} is rebound, but a server that answers requests keeps its address", section.name);
        section.lacks(message, Some("leave out the rebinding, or video".to_owned()));
    }
    if let Some(found) = &requests {
        if faults.iter().any(EndFault::is_rebinding) {
            let message = format!("{} is rebound, but a server that answers requests keeps its address", section.name);
            section.problem(&found.span, "answers them", message, Some("leave one of them out".to_owned()));
        }
        if writes.is_some_and(|writes| writes.frames.is_some()) && found.value > 1 {
            let message = format!("{} has frames, which go on one stream, and {} requests", section.name, found.value);
            section.problem(&found.span, "more than one stream", message, Some("make it 1 request".to_owned()));
        }
        if transfer_bytes.is_some_and(|bytes| bytes / found.value < u64::from(packet_bytes)) {
            let message = format!("{} has less than a packet for each of its requests", section.name);
            let help =
                format!("make transfer_bytes {} or more, or requests fewer", found.value * u64::from(packet_bytes));
            section.problem(&found.span, "too many", message, Some(help));
        }
    }
    let option = section.whole("option_bytes", 0, 255, "bytes").map(|found| found.value as u32);
    let (controller, control, is_under_test) = controller?;
    let option = option.unwrap_or(
        if control.algorithm().is_some_and(|algorithm| algorithm.needs().contains(Signals::QUEUEING_TIME)) {
            AQT_OPTION
        } else {
            0
        },
    );
    let overhead_bytes = overhead_bytes + option;
    Some(FlowSpec {
        name: name.to_owned(),
        controller,
        control,
        under_test: is_under_test,
        start: at_s(start),
        start_jitter: Span(at_s(start_jitter).0),
        stop: stop.map_or(defaults.end, |stop| at_s(stop.value)),
        group,
        resume,
        vanishes,
        idle_timeout: Span(at_s(idle_timeout.map_or(30.0, |found| found.value)).0),
        transfer_bytes,
        requests: requests.map(|found| found.value as u32).or(video.is_some().then_some(1)),
        video,
        receive_window,
        writes,
        packet_bytes,
        discover_packet_bytes,
        header_bytes,
        burst_packets,
        ack_burst_packets,
        send_jitter: Span((send_jitter * 1e3).round() as u64),
        overhead_bytes,
        ack_wire_bytes: ack_bytes + overhead_bytes,
        ack,
        misbehaves,
        recovery,
        dupthresh_frac,
        adaptive_loss_detection,
        ecn,
        pacing,
        clock_offset: (clock_offset * 1e6) as i64,
        drop_packets,
        faults,
        forward: RouteId(0),
        backward: RouteId(0),
    })
}

/// Which path the flow resumes, and what is known of it.
fn resume(section: &Section<'_>) -> Option<Resume> {
    let path = section.text("resume").map(|found| found.value);
    let cwnd = section.whole("saved_cwnd_bytes", 1, 1 << 50, "bytes");
    let rtt = section.number("saved_rtt_ms", above_zero(MAX_TIME * 1e3, "ms"));
    let (given, other) = match (&cwnd, &rtt) {
        (Some(found), None) => (Some(&found.span), "saved_rtt_ms"),
        (None, Some(found)) => (Some(&found.span), "saved_cwnd_bytes"),
        (Some(found), Some(_)) if path.is_none() => (Some(&found.span), "resume, the name of the path"),
        _ => (None, ""),
    };
    if let Some(span) = given {
        let message = format!("{} knows only a part of its path", section.name);
        section.problem(span, "and what else?", message, Some(format!("add {other}")));
    }
    let saved = cwnd.zip(rtt).map(|(cwnd, rtt)| SavedPath::new(cwnd.value, ms(rtt.value)).with_full(true));
    path.map(|path| Resume { path, saved })
}

fn ack(section: &Section<'_>) -> AckPolicy {
    let policy = section.word("ack", &["per-packet", "delayed"]);
    let base = if policy == "delayed" { AckPolicy::DELAYED } else { AckPolicy::PER_PACKET };
    let max_ranges =
        section.whole("ack_ranges", 1, 1 << 20, "ranges").map_or(base.max_ranges, |found| found.value as u32);
    if policy != "delayed" {
        for key in ["ack_every_packets", "max_ack_delay_ms"] {
            if section.has(key) {
                section.lacks(
                    format!("{} has {key}, but acknowledges every packet", section.name),
                    Some("add ack = \"delayed\"".to_owned()),
                );
            }
        }
        return AckPolicy { max_ranges, ..base };
    }
    let every = section.whole("ack_every_packets", 1, 10_000, "packets").map_or(base.every, |found| found.value as u32);
    let max_delay = section.number("max_ack_delay_ms", above_zero(16_383.0, "ms"));
    AckPolicy { every, max_delay: max_delay.map_or(base.max_delay, |found| ms(found.value)), max_ranges }
}

/// Whether the receiver deceives its sender, which recovers as QUIC does.
fn misbehaves(section: &Section<'_>, recovery: Recovery) -> Option<Misbehaviour> {
    let misbehaves = match section.word(RECEIVER, &["honest", "optimistic", "divides-acks"]) {
        "optimistic" => Misbehaviour::OptimisticAcks,
        "divides-acks" => Misbehaviour::DividedAcks,
        _ => return None,
    };
    if recovery != Recovery::Quic {
        let message = format!("{} has a receiver that misbehaves, but recovers as TCP does", section.name);
        section.lacks(message, Some("leave out receiver, or recovery".to_owned()));
    }
    Some(misbehaves)
}

/// Where losses are found by counting later packets.
fn dupthresh_frac(section: &Section<'_>, recovery: Recovery) -> Option<u32> {
    let found = section.whole("dupthresh_frac", 1, 1_000_000, "")?;
    if !recovery.counts_later_packets() {
        let message = format!("{} has dupthresh_frac, but takes three duplicate ACKs for a loss", section.name);
        let help = Some("leave it out, or recovery".to_owned());
        section.problem(&found.span, "of no effect", message, help);
    }
    Some(found.value as u32)
}

fn adaptive_loss_detection(section: &Section<'_>, recovery: Recovery) -> bool {
    let kind = section.word("loss_thresholds", &["fixed", "adaptive"]);
    if kind == "adaptive" && recovery != Recovery::Quic {
        let message = format!("{} has adaptive loss_thresholds, but recovers as TCP does", section.name);
        let help = Some("leave out loss_thresholds, or recovery".to_owned());
        section.lacks(message, help);
    }
    kind == "adaptive"
}

fn recovery(section: &Section<'_>) -> Recovery {
    let kind = section.word("recovery", &["quic", "tcp-reno", "tcp-newreno", "tcp-vegas", "tcp-sack"]);
    let min_rto = section.number("min_rto_ms", above_zero(60_000.0, "ms"));
    if let (Some(found), "quic" | "") = (&min_rto, kind) {
        let message = format!("{} has min_rto_ms, but recovers as QUIC does", section.name);
        section.problem(&found.span, "no such timeout", message, Some("add recovery = \"tcp-reno\"".to_owned()));
    }
    let min_rto = min_rto.map_or(Span::from_millis(1000), |found| ms(found.value));
    match kind {
        "tcp-reno" => Recovery::Reno { min_rto },
        "tcp-newreno" => Recovery::NewReno { min_rto },
        "tcp-vegas" => Recovery::Vegas { min_rto },
        "tcp-sack" => Recovery::Sack { min_rto },
        _ => Recovery::Quic,
    }
}

fn controller(section: &Section<'_>, under_test: &UnderTest<'_>) -> Option<(String, Control, bool)> {
    if section.has(CONSTANT_RATE) {
        let control = constant_rate(section)?;
        return Some((control.to_string(), Control::Named(control), false));
    }
    if !section.has("controller") {
        let help = format!("add controller = {UNDER_TEST:?}, or one of {}", names().join(", "));
        section.lacks(format!("{} has no controller", section.name), Some(help));
        return None;
    }
    let typed = section.text("controller")?;
    if typed.value != UNDER_TEST {
        return resolve(section, &typed.value, &typed.span, "").map(|(text, control)| (text, control, false));
    }
    let resolved = match under_test {
        UnderTest::Given(text) => resolve(section, text, &typed.span, "given for flows under test: "),
        UnderTest::InFile(found) => resolve(section, &found.value, &found.span, "under_test: "),
        UnderTest::Open => {
            let help = "give one when running (--controller NAME), or a default in the file: under_test = \"NAME\"";
            let message = format!("{} is under test, but no controller was given", section.name);
            section.problem(&typed.span, "which one?", message, Some(help.to_owned()));
            None
        }
    };
    resolved.map(|(text, control)| (text, control, true))
}

/// A sender that paces at one rate and answers no congestion.
fn constant_rate(section: &Section<'_>) -> Option<NamedController> {
    let found = section.number(CONSTANT_RATE, rate_bounds())?;
    for key in BESIDE_CONSTANT_RATE.into_iter().filter(|key| section.has(key)) {
        let message =
            format!("{} has {CONSTANT_RATE} and {key}, but a constant rate has no window to control", section.name);
        section.problem(&found.span, "one or the other", message, Some("leave out one of them".to_owned()));
    }
    let mut sender = NamedController::own::<FixedWindow>("").default;
    let rate = found.value.to_string();
    [("window", NO_LIMIT), ("rate", &rate)].into_iter().try_for_each(|(name, value)| sender.set(name, value)).ok()?;
    Some(sender)
}

fn resolve(section: &Section<'_>, text: &str, span: &Range<usize>, whence: &str) -> Option<(String, Control)> {
    if let Some(name) = text.strip_prefix(NATIVE) {
        // Whether there is one is the stack's to say.
        return Some((text.to_owned(), Control::Native(name.to_owned())));
    }
    // A stack checks for itself what it provides; the simulator provides everything.
    match choose(text, "the simulator", Signals::ALL) {
        Ok(algorithm) => Some((text.to_owned(), Control::Named(algorithm))),
        Err(error) => {
            section.problem(span, "not usable", format!("{whence}{error}"), None);
            None
        }
    }
}

fn names() -> Vec<&'static str> {
    NamedController::all().map(|entry| entry.name).collect()
}

/// What the times routers add up take of each packet, bytes (`spec: chan §4.3`).
const AQT_OPTION: u32 = 8;

/// How a flow reaches its route.
pub(super) struct Access {
    /// Bit/s; infinite if nothing ever waits.
    pub rate: f64,
    /// One-way delay.
    pub delay: Span,
    pub limit: Limit,
}

/// Reads a flow's access link.
pub(super) fn access(section: &Section<'_>) -> Access {
    let rate = section.number("access_mbps", rate_bounds());
    let delay = section.number_or("access_delay_ms", within(0.0, MAX_DELAY, "ms"), 0.0);
    let buffer = section.whole("access_buffer_packets", 0, 1 << 32, "packets");
    if let (Some(buffer), None) = (&buffer, &rate) {
        let message = format!("{} has access_buffer_packets but no access_mbps", section.name);
        section.problem(&buffer.span, "nothing waits", message, Some("add access_mbps".to_owned()));
    }
    Access {
        rate: rate.map_or(f64::INFINITY, |found| found.value * 1e6),
        delay: ms(delay),
        limit: buffer.map_or(Limit::Unlimited, |found| Limit::Packets(found.value)),
    }
}

/// The flow's base RTT in a dumbbell, if it has one of its own.
pub(super) fn rtt(section: &Section<'_>) -> Option<Span> {
    section.number("rtt_ms", above_zero(MAX_DELAY, "ms")).map(|found| ms(found.value))
}
