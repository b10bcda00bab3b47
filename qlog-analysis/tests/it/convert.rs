//! Conversion between the schema versions: what the writer writes in both, what others wrote, and what
//! is left of a trace on the other side.

mod events;

use std::collections::BTreeMap;

use proptest::prelude::*;
use windlass_qlog::{
    Ack, Detail, EcnCounts, Frame, Header, LossTrigger, Metrics, Packet, PacketType, Profile, RecoveryParameters,
    SendTrigger, Side, Trace, TransportParameters, Vantage,
};
use windlass_qlog_analysis::convert::{ConvertError, Converted, OutputFraming, Source, Target, convert, count};
use windlass_qlog_analysis::lint::{Rule, Severity, lint};
use windlass_qlog_analysis::model::{Batch, EventKind};
use windlass_qlog_analysis::read::{Options, read};

const MS: u64 = 1_000_000;

fn to(profile: Profile, framing: OutputFraming) -> Target {
    Target { profile, framing, ..Target::default() }
}

fn converted(file: &[u8], target: Target) -> (Vec<u8>, Converted) {
    let mut out = Vec::new();
    let done = convert(&[&Bytes(file)], target, &mut out).unwrap();
    (out, done)
}

pub struct Bytes<'a>(pub &'a [u8]);

impl Source for Bytes<'_> {
    fn open(&self) -> std::io::Result<Box<dyn std::io::Read + '_>> {
        Ok(Box::new(windlass_qlog_analysis::read::Input::new(self.0)?))
    }
}

/// A step of a flow: a call of the writer.
#[derive(Clone, Debug)]
enum Step {
    Sent { number: u64, length: u64, fin: bool, trigger: bool },
    Padded,
    Acked { low: u64, high: u64, also: Option<u64>, delay: u64, ecn: bool },
    AckSent { largest: u64 },
    Limits { maximum: u64 },
    Reset { code: u64 },
    Lost { number: u64 },
    Metrics { cwnd: u64, rtt: u64, ssthresh: Option<u64> },
    State { recovery: bool },
    Mtu { bytes: u32 },
    Private { value: f64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..300_u64, 0..1200_u64, any::<bool>(), any::<bool>()).prop_map(|(number, length, fin, trigger)| Step::Sent {
            number,
            length,
            fin,
            trigger
        }),
        Just(Step::Padded),
        (0..300_u64, 0..40_u64, prop::option::of(0..300_u64), 0..MS, any::<bool>())
            .prop_map(|(low, more, also, delay, ecn)| Step::Acked { low, high: low + more, also, delay, ecn }),
        (0..50_u64).prop_map(|largest| Step::AckSent { largest }),
        (0..1_u64 << 60).prop_map(|maximum| Step::Limits { maximum }),
        any::<u32>().prop_map(|code| Step::Reset { code: code.into() }),
        (0..300_u64).prop_map(|number| Step::Lost { number }),
        (2400..1_u64 << 60, 1..1_u64 << 40, prop::option::of(2400..1_u64 << 50))
            .prop_map(|(cwnd, rtt, ssthresh)| Step::Metrics { cwnd, rtt, ssthresh }),
        any::<bool>().prop_map(|recovery| Step::State { recovery }),
        (1200..9000_u32).prop_map(|bytes| Step::Mtu { bytes }),
        (-1e9..1e9_f64).prop_map(|value| Step::Private { value }),
    ]
}

type StateVariables = BTreeMap<&'static str, f64>;

/// The same flow in any profile.
fn flow(profile: Profile, steps: &[(u64, Step)]) -> Vec<u8> {
    let header = Header {
        title: "a \"flow\"",
        description: "reno on a test, seed 1",
        name: "sim",
        vantage: Vantage::Server,
        group_id: "00112233",
        origin_ns: 0,
    };
    let mut trace = Trace::new(Vec::new(), profile, Detail::Packets, &header);
    trace.recovery_parameters_set(0, &RecoveryParameters::rfc9002("reno", 1200));
    let limits = TransportParameters { initial_max_data: Some(20_000), ..TransportParameters::default() };
    trace.parameters_set(0, Side::Remote, &limits);
    let mut now = 0;
    let mut largest_sent = None;
    for (later, step) in steps {
        now += later;
        match *step {
            Step::Sent { number, length, fin, trigger } => {
                let trigger = trigger.then_some(SendTrigger::PtoProbe);
                let packet = Packet { trigger, ..Packet::one_rtt(number, length + 40) };
                largest_sent = largest_sent.max(Some(number));
                trace.packet_sent(now, &packet, &[Frame::Stream { id: 4, offset: number * 1200, length, fin }]);
            }
            Step::Padded => {
                let packet = Packet { kind: PacketType::Initial, ..Packet::one_rtt(0, 1200) };
                trace.packet_sent(
                    now,
                    &packet,
                    &[Frame::Crypto { offset: 0, length: 300 }, Frame::Padding { length: 850 }],
                );
            }
            Step::Acked { low, high, also, delay, ecn } => {
                // An ACK of one packet more than was sent is how half-open ranges are recognized.
                let half_open = largest_sent.is_some_and(|sent| high.max(also.unwrap_or(0)) == sent + 1);
                let high = if half_open { high.max(also.unwrap_or(0)) + 1 } else { high };
                let mut ranges = vec![(low, high)];
                ranges.extend(also.map(|number| (number, number)));
                let ecn = ecn.then_some(EcnCounts { ect0: high, ect1: 0, ce: low });
                let ack = Ack { delay_ns: Some(delay), ranges: &ranges, ecn };
                trace.packet_received(now, &Packet::one_rtt(now, 40), &[Frame::Ack(ack), Frame::Ping]);
            }
            Step::AckSent { largest } => {
                let ack = Ack { delay_ns: None, ranges: &[(0, largest)], ecn: None };
                largest_sent = largest_sent.max(Some(300 + now));
                trace.packet_sent(now, &Packet::one_rtt(300 + now, 50), &[Frame::Ack(ack)]);
            }
            Step::Limits { maximum } => trace.packet_received(
                now,
                &Packet::one_rtt(now, 60),
                &[Frame::MaxData { maximum }, Frame::MaxStreamData { id: 4, maximum }, Frame::Datagram { length: 9 }],
            ),
            Step::Reset { code } => trace.packet_received(
                now,
                &Packet::one_rtt(now, 60),
                &[
                    Frame::ResetStream { id: 4, error_code: code, final_size: 7 },
                    Frame::StopSending { id: 4, error_code: code },
                ],
            ),
            Step::Lost { number } => {
                trace.packet_lost(now, PacketType::OneRtt, number, Some(LossTrigger::ReorderingThreshold));
            }
            Step::Metrics { cwnd, rtt, ssthresh } => trace.recovery_metrics(
                now,
                &Metrics {
                    cwnd: Some(cwnd),
                    ssthresh,
                    bytes_in_flight: Some(cwnd / 2),
                    latest_rtt: Some(rtt),
                    smoothed_rtt: Some(rtt / 2),
                    pacing_rate: Some(cwnd),
                    ..Metrics::default()
                },
            ),
            Step::State { recovery } => {
                let name = if recovery { "recovery" } else { "congestion_avoidance" };
                trace.congestion_state(now, name, recovery.then_some("loss"));
            }
            Step::Mtu { bytes } => trace.mtu_updated(now, None, bytes),
            Step::Private { value } => {
                trace.private(now, "windlass:note", &[("value", value)].into_iter().collect::<StateVariables>());
            }
        }
    }
    trace.private(now, "windlass:note", &StateVariables::new());
    trace.finish().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn conversion_writes_what_the_writer_writes(steps in prop::collection::vec((0..100 * MS, step()), 1..80)) {
        let (ietf, qvis) = (flow(Profile::Ietf, &steps), flow(Profile::Qvis, &steps));
        let sequence = |profile| to(profile, OutputFraming::Sequence);
        let (again, done) = converted(&ietf, sequence(Profile::Ietf));
        prop_assert_eq!(text(&again), text(&ietf));
        prop_assert_eq!(done.omitted, BTreeMap::new());
        let (again, done) = converted(&qvis, sequence(Profile::Qvis));
        prop_assert_eq!(text(&again), text(&qvis));
        prop_assert_eq!(done.omitted, BTreeMap::new());
        let (aged, done) = converted(&ietf, sequence(Profile::Qvis));
        prop_assert_eq!(text(&aged), text(&qvis));
        prop_assert_eq!((done.omitted, done.bad_records, done.late), (BTreeMap::new(), 0, 0));
        // The way back knows fewer acknowledgements, and nothing else less.
        let (renewed, done) = converted(&qvis, sequence(Profile::Ietf));
        prop_assert_eq!(done.omitted, BTreeMap::new());
        prop_assert_eq!(unacknowledged(&renewed), unacknowledged(&ietf));
    }

    #[test]
    fn framing_does_not_matter(steps in prop::collection::vec((0..100 * MS, step()), 1..40)) {
        for profile in [Profile::Ietf, Profile::Qvis] {
            let file = flow(profile, &steps);
            let (json, _) = converted(&file, to(profile, OutputFraming::Contained));
            let (_again, done) = converted(&json, to(profile, OutputFraming::Contained));
            prop_assert_eq!(text(&_again), text(&json));
            prop_assert_eq!(done.omitted, BTreeMap::new());
            let (back, _) = converted(&json, to(profile, OutputFraming::Sequence));
            prop_assert_eq!(events(&back), events(&file));
        }
    }
}

/// The records of a sequence after its header.
fn events(file: &[u8]) -> Vec<&str> {
    text(file).split('\u{1e}').skip(2).collect()
}

/// The records of a sequence without what they acknowledge.
fn unacknowledged(file: &[u8]) -> Vec<String> {
    text(file)
        .split('\u{1e}')
        .map(|record| match (record.find("\"acked_ranges\":"), record.find("]]")) {
            (Some(from), Some(to)) => format!("{}{}", &record[..from], &record[to..]),
            _ => record.to_owned(),
        })
        .collect()
}

/// Our own traces, and those of other implementations where they are at hand.
fn traces() -> Vec<(String, Vec<u8>)> {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    crate::read_recorded::all().iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// Records of a recorded trace that are none: one was cut while it was written, one ends
/// with an event that is empty.
fn unreadable(name: &str) -> u64 {
    let known = ["ngtcp2-server-bbr", "qvis-draft00-quictrace"];
    u64::from(known.iter().any(|begin| name.starts_with(begin)))
}

#[test]
fn a_second_conversion_changes_nothing() {
    for (name, file) in traces() {
        for profile in [Profile::Ietf, Profile::Qvis] {
            let target = to(profile, OutputFraming::Contained);
            let (once, done) = converted(&file, target);
            let (twice, again) = converted(&once, target);
            for (again, line) in text(&twice).lines().zip(text(&once).lines()) {
                assert_eq!(again, line, "{name} as {profile:?}");
            }
            assert_eq!(twice.len(), once.len(), "{name} as {profile:?}");
            assert_eq!((done.bad_records, again.bad_records), (unreadable(&name), 0), "{name}");
            assert_eq!(again.events, done.events, "{name}");
            assert_eq!(again.omitted, BTreeMap::new(), "{name} as {profile:?}");
            assert_eq!(count(&[&Bytes(&file)], target.profile).unwrap(), done.traces, "{name}");
        }
    }
}

/// What a conversion cannot add or change: lengths of packets and of frames that the source lacks, where the
/// trace was taken, packets that were acknowledged, frames of extensions and triggers in a stack's own words, an RTT
/// that the stack counts otherwise, packets that are all data, streams and requests that are not there.
const UNKNOWABLE: [Rule; 12] = [
    Rule::Trigger,
    Rule::RawLength,
    Rule::FrameLength,
    Rule::VantagePoint,
    Rule::AckUnsent,
    Rule::FrameType,
    Rule::RttOrder,
    Rule::NoPackets,
    Rule::NoEvents,
    Rule::PacketRoom,
    Rule::RequestStreams,
    Rule::RequestFirst,
];

#[test]
fn what_is_converted_lints_clean() {
    let mut wrong = Vec::new();
    for (name, file) in traces() {
        for profile in [Profile::Ietf, Profile::Qvis] {
            let (out, _) = converted(&file, to(profile, OutputFraming::Contained));
            let report = lint(out.as_slice(), profile);
            // A hostile trace acknowledges packets below 0, which the IETF form keeps for whoever looks into it.
            let hostile = |rule| {
                let ranges = matches!(rule, Rule::AckRange | Rule::AckSpan);
                ranges && profile == Profile::Ietf && name.starts_with("picoquic-binlog_ref")
            };
            let broken: Vec<_> =
                report.counts.iter().filter(|&(&rule, _)| !UNKNOWABLE.contains(&rule) && !hostile(rule)).collect();
            if !broken.is_empty() {
                wrong.push(format!("{name} as {profile:?}: {broken:?}: {report}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_converted_for_qvis_is_as_qvis_needs_it() {
    for (name, file) in traces() {
        let (out, done) = converted(&file, to(Profile::Qvis, OutputFraming::Contained));
        let report = lint(out.as_slice(), Profile::Qvis);
        let mut broken: Vec<Rule> = report.counts.keys().copied().collect();
        broken.retain(|rule| rule.severity(Profile::Qvis) == Some(Severity::Error));
        // Nothing can be made of a trace without packets, and nothing is made up.
        let expected = if done.empty > 0 { vec![Rule::NoPackets] } else { vec![] };
        let expected: Vec<Rule> = expected.into_iter().chain((done.events == 0).then_some(Rule::NoEvents)).collect();
        assert_eq!(broken, expected, "{name}: {report}");
    }
}

/// quiche has the length of a CRYPTO frame as that of its payload, the IETF form wants it as the frame's.
#[test]
fn a_crypto_frame_has_its_length() {
    let file = concat!(
        "\u{1e}",
        r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","#,
        r#""trace":{"vantage_point":{"type":"server"},"event_schemas":["urn:ietf:params:qlog:events:quic-13"]}}"#,
        "\n\u{1e}",
        r#"{"time":1,"name":"quic:packet_received","data":{"header":{"packet_type":"initial","packet_number":0},"#,
        r#""raw":{"length":1200},"frames":[{"frame_type":"crypto","offset":7,"raw":{"payload_length":318}}]}}"#,
        "\n"
    );
    assert_eq!(lint(file.as_bytes(), Profile::Ietf).counts.get(&Rule::FrameLength), Some(&1));
    let (out, _) = converted(file.as_bytes(), to(Profile::Ietf, OutputFraming::Sequence));
    assert!(text(&out).contains(r#""raw":{"length":318,"payload_length":318}"#), "{}", text(&out));
    assert_eq!(lint(out.as_slice(), Profile::Ietf).counts.get(&Rule::FrameLength), None);
}

/// Ten requests that a real server answers: qvis' waterfall, data flow and packetization are filled.
#[test]
fn answers_to_requests_fill_qvis_views() {
    let Some((name, file)) = traces().into_iter().find(|(name, _)| name.contains("f5-parallel10")) else {
        println!("skipped: the trace is not at hand");
        return;
    };
    let (out, _) = converted(&file, to(Profile::Qvis, OutputFraming::Contained));
    let report = lint(out.as_slice(), Profile::Qvis);
    for rule in [Rule::PacketRoom, Rule::RequestStreams, Rule::RequestFirst] {
        assert_eq!(report.counts.get(&rule), None, "{name}: {report}");
    }
}

#[test]
fn what_is_converted_to_the_ietf_form_is_of_that_form() {
    for (name, file) in traces() {
        let (out, done) = converted(&file, to(Profile::Ietf, OutputFraming::Contained));
        let report = lint(out.as_slice(), Profile::Ietf);
        let eras = [Rule::HeaderOld, Rule::NameOld, Rule::FieldOld, Rule::CwndName, Rule::EventForm, Rule::RttUnit];
        let headers = [Rule::FileSchema, Rule::SerializationFormat, Rule::EventSchemas, Rule::NamespaceUnlisted];
        for rule in eras.iter().chain(&headers).chain(&[Rule::HeaderLeftover, Rule::SsthreshInfinite, Rule::TimeFormat])
        {
            assert_eq!(report.counts.get(rule), None, "{name}: {report}");
        }
        assert_eq!(report.events, done.events, "{name}");
    }
}

/// What the model makes of a file: events by kind, and the numbers in them that no schema version
/// changes.
fn modelled(file: &[u8]) -> (BTreeMap<String, u64>, Vec<String>) {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut lines = Vec::new();
    let options = Options { state_variables: true, jobs: 1, ..Options::default() };
    let summary = read(file, &options, &mut |trace, batch| {
        for event in &batch.events {
            let group = match batch.name(event.group) {
                "" => trace.group.as_str(),
                group => group,
            };
            *kinds.entry(kind_name(event.kind, &batch)).or_default() += 1;
            lines.push(format!("{} {group} {}", event.time, line(event.kind, &batch)));
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(summary.bad_records, 0);
    (kinds, lines)
}

fn kind_name(kind: EventKind, batch: &Batch) -> String {
    match kind {
        EventKind::Other(name) => batch.name(name).rsplit(':').next().unwrap_or_default().to_owned(),
        other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
    }
}

fn line(kind: EventKind, batch: &Batch) -> String {
    match kind {
        EventKind::PacketSent(index)
        | EventKind::PacketReceived(index)
        | EventKind::PacketLost(index)
        | EventKind::PacketDropped(index) => {
            let packet = &batch.packets[index as usize];
            let largest = batch.ranges_of(packet).iter().map(|range| range.1).max();
            format!(
                "{} {:?} {:?} {:?} {:?} {largest:?} {:?} {:?}",
                kind_name(kind, batch),
                packet.kind,
                packet.number,
                packet.bytes,
                packet.ack_eliciting,
                packet.ce,
                batch.streams_of(packet)
            )
        }
        EventKind::MetricsUpdated(index) => format!("{:?}", batch.metrics[index as usize]),
        EventKind::CongestionState(index) => batch.name(batch.states[index as usize].new).to_owned(),
        EventKind::Controller(name) => batch.name(name).to_owned(),
        other => kind_name(other, batch),
    }
}

#[test]
fn the_model_of_a_trace_survives_the_way_through_qvis() {
    let steps: Vec<(u64, Step)> = (0..400)
        .map(|at| {
            let step = match at % 9 {
                0..=3 => Step::Sent { number: at, length: 1000, fin: false, trigger: at % 4 == 3 },
                4 => Step::Acked { low: at.saturating_sub(20), high: at - 2, also: Some(0), delay: 7, ecn: true },
                5 => Step::Metrics { cwnd: 12_000 + at, rtt: 40 * MS + at, ssthresh: (at > 200).then_some(9000) },
                6 => Step::Lost { number: at.saturating_sub(9) },
                7 => Step::State { recovery: at % 2 == 0 },
                _ => Step::Private { value: 0.5 },
            };
            (MS / 3, step)
        })
        .collect();
    let ietf = flow(Profile::Ietf, &steps);
    let (qvis, done) = converted(&ietf, to(Profile::Qvis, OutputFraming::Sequence));
    assert_eq!(done.omitted, BTreeMap::new());
    assert_eq!(modelled(&qvis), modelled(&ietf));
    for (name, file) in traces() {
        if !name.starts_with("selfgen-quiche") && !name.starts_with("minimal-ietf") {
            continue;
        }
        let (ietf, _) = converted(&file, to(Profile::Ietf, OutputFraming::Sequence));
        let (qvis, done) = converted(&file, to(Profile::Qvis, OutputFraming::Sequence));
        let ((before, mut lines), (after, mut aged)) = (modelled(&ietf), modelled(&qvis));
        // qvis wants events sorted; what is left of each is the same.
        lines.sort();
        aged.sort();
        let missing: u64 =
            done.omitted.iter().filter(|(what, _)| what.starts_with("events ")).map(|(_, count)| count).sum();
        assert_eq!(before.values().sum::<u64>() - missing, after.values().sum::<u64>(), "{name}: {:?}", done.omitted);
        let reported = lint(ietf.as_slice(), Profile::Qvis).counts[&Rule::NameNew];
        assert!(reported >= missing, "the lint reports {reported} events as unknown to qvis, {missing} are lost");
        let renamed = |kinds: &BTreeMap<String, u64>| kinds.get("Sent").copied().zip(kinds.get("Metrics").copied());
        assert_eq!(renamed(&before), renamed(&after), "{name}");
        let numbers = |lines: &[String]| -> Vec<String> {
            lines.iter().filter(|line| line.contains("Sent ") || line.contains("Metrics {")).cloned().collect()
        };
        assert_eq!(numbers(&lines), numbers(&aged), "{name}");
    }
}
