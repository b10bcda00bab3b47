use windlass_controllers::fixed_window::FixedWindow;

use super::*;
use crate::scenario::Scenario;
use crate::sim;

const TEXT: &str = "
duration_s = 10
name = \"short\"
[dumbbell]
rate_mbps = 10
rtt_ms = 40
buffer_packets = 20
[[flow]]
controller = \"reno\"
transfer_bytes = 2400000
";

fn written(settings: QlogSettings) -> String {
    let scenario = Scenario::read("short", TEXT, None).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let trace = simulation.qlog(0, Vec::new(), settings);
    assert_eq!(simulation.finish(), sim::run(&scenario).unwrap(), "writing changes nothing");
    String::from_utf8(trace.finish().unwrap().expect("nobody else holds the trace")).unwrap()
}

fn count(file: &str, name: &str) -> u64 {
    file.matches(&format!("\"name\":\"{name}\"")).count() as u64
}

#[test]
fn every_packet_ack_and_loss_is_in_the_file() {
    let scenario = Scenario::read("short", TEXT, None).unwrap();
    let flow = &sim::run(&scenario).unwrap().flows[0];
    assert!(flow.packets_lost > 5 && flow.stop_s < 10.0);
    for level in [Level::Recovery, Level::Steps, Level::StepsOnly] {
        let file = written(QlogSettings { level, ..QlogSettings::default() });
        assert_eq!(count(&file, "quic:packet_sent"), flow.packets_sent, "{level:?}");
        assert_eq!(count(&file, "quic:packet_lost"), flow.packets_lost, "{level:?}");
        assert_eq!(count(&file, "quic:packet_received"), flow.packets_sent - flow.packets_lost, "{level:?}");
        assert_eq!(count(&file, "quic:recovery_metrics_updated") > 1000, level != Level::StepsOnly);
        assert_eq!(count(&file, "windlass:stepped") > 1000, level != Level::Recovery);
        assert_eq!(file.matches("\"fin\":true").count(), 1);
    }
}

/// Those as well that are reported to the controller later, or never.
#[test]
fn every_loss_of_a_flow_that_recovers_as_tcp_is_in_the_file() {
    for recovery in ["tcp-reno", "tcp-newreno", "tcp-vegas", "tcp-sack"] {
        for controller in ["reno", "bbr1"] {
            let text = format!("{}recovery = \"{recovery}\"\n", TEXT.replace("\"reno\"", &format!("{controller:?}")));
            let scenario = Scenario::read("short", &text, None).unwrap();
            let mut simulation = Simulation::new(&scenario).unwrap();
            let trace = simulation.qlog(0, Vec::new(), QlogSettings::default());
            let lost = simulation.finish().flows[0].packets_lost;
            let file = String::from_utf8(trace.finish().unwrap().unwrap()).unwrap();
            assert!(lost > 5, "{recovery}, {controller}: {lost}");
            assert_eq!(count(&file, "quic:packet_lost"), lost, "{recovery}, {controller}");
        }
    }
}

#[test]
fn a_controller_of_the_caller_s_has_its_own_name() {
    let scenario = Scenario::read("short", TEXT, None).unwrap();
    let mut simulation = Simulation::with(&scenario, |_| FixedWindow::configured(10)).unwrap();
    let trace = simulation.qlog(0, Vec::new(), QlogSettings::default());
    assert_eq!(simulation.finish().flows[0].controller, "fixed-window");
    let file = String::from_utf8(trace.finish().unwrap().unwrap()).unwrap();
    assert!(file.contains("\"congestion_controller\":\"fixed-window\"") && !file.contains("reno"), "{}", &file[..900]);
}

#[test]
fn the_form_qvis_reads_is_written_too_and_equal_runs_give_equal_files() {
    let settings = QlogSettings { profile: Profile::Qvis, ..QlogSettings::default() };
    let file = written(settings);
    assert!(count(&file, "transport:packet_sent") > 1000);
    assert_eq!(file, written(settings));
}

#[test]
fn requests_come_first_and_each_has_a_stream() {
    let text = TEXT.replace("[dumbbell]", "header_bytes = 33\n[dumbbell]") + "requests = 3\n";
    let scenario = Scenario::read("short", &text, None).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let trace = simulation.qlog(0, Vec::new(), QlogSettings::default());
    let outcome = simulation.finish();
    assert!(outcome.flows[0].completed);
    assert_eq!(outcome.flows[0].start_s, 0.020, "half a round trip after it was asked for");
    let file = String::from_utf8(trace.finish().unwrap().unwrap()).unwrap();
    assert_eq!(file.matches("\"fin\":true").count(), 3 + 3);
    let first = file.split('\u{1e}').find(|record| record.contains("STREAM") || record.contains("\"stream\"")).unwrap();
    assert!(first.contains("quic:packet_received") && first.contains("\"packet_number\":0"), "{first}");
    // Every packet the receiver sends has a number of its own.
    let mut numbers: Vec<&str> = file
        .split('\u{1e}')
        .filter(|record| record.contains("quic:packet_received"))
        .map(|record| record.split("\"packet_number\":").nth(1).unwrap().split(['}', ',']).next().unwrap())
        .collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all);
    let mut ends = [0; 3];
    for frame in file.split("\"frame_type\":\"stream\"").skip(1) {
        let field = |name: &str| -> u64 {
            let (_, rest) = frame.split_once(&format!("\"{name}\":")).unwrap();
            rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        let end = &mut ends[field("stream_id") as usize / 4];
        *end = field("offset").checked_add(field("length")).unwrap().max(*end);
    }
    assert_eq!(ends.iter().sum::<u64>(), 2_400_000);
}

#[test]
fn requests_that_are_lost_are_sent_again() {
    let fault = "[[dumbbell.back.fault]]\nkind = \"blackout\"\nat_s = 0\nfor_ms = 500\n";
    let text = TEXT.replace("[[flow]]", &format!("{fault}[[flow]]")) + "requests = 1\n";
    let scenario = Scenario::read("short", &text, None).unwrap();
    let flow = &sim::run(&scenario).unwrap().flows[0];
    // RFC 9002 §6.2.2: three times an initial RTT of 333 ms, and the way there.
    assert!((1.019..1.0195).contains(&flow.start_s), "{}", flow.start_s);
    assert!(flow.completed);
}

#[test]
fn every_chunk_of_a_video_has_a_request_and_a_stream() {
    let video = "video = { chunk_s = 1, rates_mbps = [0.5, 2], buffer_s = 6 }\n";
    let text =
        TEXT.replace("[dumbbell]", "header_bytes = 33\n[dumbbell]").replace("transfer_bytes = 2400000\n", "") + video;
    let scenario = Scenario::read("short", &text, None).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let trace = simulation.qlog(0, Vec::new(), QlogSettings::default());
    let chunks = simulation.finish().flows[0].video.unwrap().chunks;
    assert!(chunks >= 6, "{chunks}");
    let file = String::from_utf8(trace.finish().unwrap().unwrap()).unwrap();
    let mut numbers = Vec::new();
    let (mut asked, mut ends) = (0, 0);
    for record in file.split('\u{1e}') {
        let number = |text: &str, name: &str| -> Option<u64> {
            let (_, rest) = text.split_once(&format!("\"{name}\":"))?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let received = record.contains("quic:packet_received");
        numbers.extend(number(record, "packet_number").filter(|_| received));
        let Some((_, frame)) = record.split_once("\"frame_type\":\"stream\"") else { continue };
        let number = |name| number(frame, name);
        let (Some(stream), Some(offset), Some(length)) = (number("stream_id"), number("offset"), number("length"))
        else {
            continue;
        };
        if received {
            assert_eq!((stream, offset, length), (4 * asked, 0, u64::from(REQUEST_BYTES)));
            asked += 1;
        } else {
            assert!(stream < 4 * asked, "{stream} is not asked for");
            ends += u64::from(record.contains("\"fin\":true"));
        }
    }
    assert!(asked == chunks || asked == chunks + 1, "{asked} for {chunks}");
    assert!(ends >= chunks, "{ends}");
    let all = numbers.len();
    numbers.dedup();
    assert!(numbers.is_sorted() && numbers.len() == all, "every packet of the receiver has a number of its own");
}
