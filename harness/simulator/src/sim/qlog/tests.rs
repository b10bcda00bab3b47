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

#[test]
fn the_form_qvis_reads_is_written_too_and_equal_runs_give_equal_files() {
    let settings = QlogSettings { profile: Profile::Qvis, ..QlogSettings::default() };
    let file = written(settings);
    assert!(count(&file, "transport:packet_sent") > 1000);
    assert_eq!(file, written(settings));
}
