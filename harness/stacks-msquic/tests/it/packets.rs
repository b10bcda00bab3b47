//! Logs with every packet, for any controller: they pass the lint in both framings and agree with the
//! counts of the run.

use std::io::{self, Read};

use windlass_adapter::replay::{Outcome, replay};
use windlass_qlog::Profile;
use windlass_qlog_analysis::convert::{Source, Target, convert};
use windlass_qlog_analysis::lint::{Rule, lint};
use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::read::Options;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::stack::Stack;
use windlass_stacks::testkit::Logs;
use windlass_stacks_msquic::MsQuic;

struct Bytes<'a>(&'a [u8]);

impl Source for Bytes<'_> {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        self.0.open()
    }
}

#[test]
fn every_packet_is_in_the_log() {
    for controller in ["native:cubic", "native:bbr", "a-tcp"] {
        let text = format!(
            "duration_s = 3\nsample_ms = 100\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n\
             loss_percent = 0.5\n[[flow]]\ncontroller = {controller:?}"
        );
        let scenario = Scenario::read("test", &text, None).unwrap_or_else(|error| panic!("{error}"));
        let logs = Logs::default();
        let mut open = |flow: &_| logs.open(flow);
        let outcome =
            MsQuic.run_live(&scenario, &mut open, &|_| false).unwrap_or_else(|error| panic!("{controller}: {error}"));
        let log = logs.of("flow1").unwrap();

        // `ci/msquic` counts them independently.
        let file = format!("msquic-packets-{}.sqlog", controller.replace(':', "-"));
        std::fs::write(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(file), &log).unwrap();
        let report_of = |bytes: &[u8], profile| {
            let mut report = lint(bytes, profile);
            // qvis' multiplexing view draws what servers send; here a client does.
            report.findings.retain(|finding| finding.rule != Rule::RequestStreams);
            assert!(report.findings.is_empty(), "{controller}, {profile:?}: {:#?}", report.findings);
        };
        report_of(&log, Profile::Ietf);
        let mut old = Vec::new();
        convert(&[&Bytes(&log)], Target { profile: Profile::Qvis, ..Target::default() }, &mut old).unwrap();
        report_of(&old, Profile::Qvis);

        let flow = &outcome.flows[0];
        let (_, measured) = measure(&log[..], &Options::default()).unwrap();
        let measures = &measured[0].measures;
        let logged =
            |name: &str| String::from_utf8_lossy(&log).matches(&format!("\"name\":\"quic:{name}\"")).count() as u64;
        assert!((flow.packets_sent..flow.packets_sent + 10).contains(&logged("packet_sent")), "{controller}: {flow:?}");
        assert!(
            (flow.packets_lost.saturating_sub(2)..flow.packets_lost + 10).contains(&logged("packet_lost")),
            "{controller}: {flow:?}"
        );
        // The window counted is from MsQuic's statistics or our recorder, from the connection on.
        let (counted, mean) = (flow.cwnd_mean_packets * 1200.0, measures.cwnd.unwrap().mean);
        assert!((mean / counted - 1.0).abs() < 0.1, "{controller}: windows of {mean} bytes logged, {counted} counted");
        if controller == "a-tcp" {
            let outcomes = replay(vec![&log[..]]);
            assert!(matches!(&outcomes[..], [Outcome::Equal { steps: 100.., .. }]), "{outcomes:?}");
        }
    }
}
