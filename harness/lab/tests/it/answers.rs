//! Traces of flows that answer requests, as a server's of HTTP do: what qvis' views need, and where their data are.

use std::collections::{BTreeMap, BTreeSet};

use windlass_lab::evaluation::Source;
use windlass_lab::testkit::{logged, logged_as};
use windlass_qlog_analysis::lint::{Profile, Rule, lint};
use windlass_stacks::stack::Runner;

/// `requests` of 200 kB each over a path with loss, and what of a simulated packet is QUIC's own.
fn source(requests: u64) -> Source {
    let text = format!(
        "duration_s = 10\nheader_bytes = 33\n[dumbbell]\nrate_mbps = 8\nrtt_ms = 40\nbuffer_bdp = 1\nloss_percent = 0.5\n\
         [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\nrequests = {requests}\ntransfer_bytes = {}\n",
        200_000 * requests
    );
    Source { name: "answers".to_owned(), file: "answers".to_owned(), text }
}

const VIEWS: [Rule; 3] = [Rule::PacketRoom, Rule::RequestStreams, Rule::RequestFirst];

#[test]
fn answers_to_requests_leave_no_view_of_qvis_empty() {
    for stack in Runner::builtin().iter().copied() {
        let log = logged_as(windlass_qlog::Profile::Qvis, &source(4), "cubic", stack).unwrap();
        let report = lint(log.as_bytes(), Profile::Qvis);
        assert!(report.counts.is_empty(), "{}: {:?}", stack.name(), report.findings);
        // What a client would log of the same, the other way round, is not what qvis draws of a server.
        let turned = log.replace("packet_sent", "packet_x").replace("packet_received", "packet_sent");
        let report = lint(turned.replace("packet_x", "packet_received").as_bytes(), Profile::Qvis);
        assert!(VIEWS.iter().any(|rule| report.counts.contains_key(rule)), "{}: {:?}", stack.name(), report.counts);
    }
}

/// Every byte of every answer is sent on the stream of its request, and the answers take turns.
#[test]
fn each_request_has_its_answer_on_its_stream() {
    for stack in Runner::builtin().iter().copied() {
        let log = logged(&source(3), "reno", stack).unwrap();
        assert_eq!(log, logged(&source(3), "reno", stack).unwrap(), "{}: equal runs give equal bytes", stack.name());
        let (mut asked, mut ends, mut order) = (BTreeSet::new(), BTreeMap::<u64, u64>::new(), Vec::new());
        for record in log.split('\u{1e}').filter(|record| !record.is_empty()) {
            let event: serde_json::Value = serde_json::from_str(record).unwrap();
            let sent = event["name"] == "quic:packet_sent";
            for frame in event["data"]["frames"].as_array().into_iter().flatten() {
                let Some(id) = frame["stream_id"].as_u64().filter(|_| frame["frame_type"] == "stream") else {
                    continue;
                };
                let field = |name: &str| frame[name].as_u64().or(frame["raw"][name].as_u64()).unwrap();
                if sent {
                    assert!(asked.contains(&id), "{}: stream {id} is answered unasked", stack.name());
                    let end = ends.entry(id).or_default();
                    *end = (field("offset") + field("length")).max(*end);
                    order.push(id);
                } else if event["name"] == "quic:packet_received" {
                    asked.insert(id);
                }
            }
        }
        assert_eq!(asked, BTreeSet::from([0, 4, 8]), "{}", stack.name());
        assert_eq!(ends.values().sum::<u64>(), 600_000, "{}: {ends:?}", stack.name());
        let turns = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(turns > order.len() / 8, "{}: {turns} turns of {} frames", stack.name(), order.len());
    }
}
