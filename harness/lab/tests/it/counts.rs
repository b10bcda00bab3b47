//! What is measured of the traces that stacks write in the harness, against a count that has nothing of ours,
//! `ci/reading/count.py`, and against what the scenario makes of it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use windlass_lab::evaluation::Source;
use windlass_lab::testkit::logged;
use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::read::{Options, open};
use windlass_stacks::stack::Runner;

const SCENARIO: &str = "duration_s = 2\n[dumbbell]\nrate_mbps = 8\nrtt_ms = 40\nbuffer_bdp = 0.5\nloss_percent = 1\n\
    [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\n";

/// What the first flow of a scenario on 20 Mbit/s and 40 ms was limited by, percent: window, application, flow control, pacer.
fn limited(stack: Runner, flow: &str, link: &str) -> [f64; 4] {
    let text = format!(
        "duration_s = 6\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n{link}\n\
         [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\n{flow}\n"
    );
    let controller = if flow.contains("transfer") { "cubic:iw=64" } else { "cubic" };
    let source = Source { name: "limited".to_owned(), file: "limited".to_owned(), text };
    let log = logged(&source, controller, stack).unwrap();
    let (_, found) = measure(log.as_bytes(), &Options::default()).unwrap();
    let times = found[0].measures.limited.unwrap();
    [times.window, times.application, times.flow_control, times.pacer]
}

/// A transfer without end is limited by window and pacer, on any path; an answer smaller than the window by the
/// application, until it has come.
#[test]
fn what_limits_a_sender_is_what_the_scenario_makes_of_it() {
    for stack in Runner::builtin().iter().copied() {
        for link in ["", "loss_percent = 1"] {
            let [window, application, flow_control, pacer] = limited(stack, "", link);
            let text = format!("{} {link}: {window} {application} {flow_control} {pacer}", stack.name());
            assert!(application < 10.0 && flow_control == 0.0 && window + pacer > 90.0, "{text}");
        }
        let [window, application, flow_control, pacer] = limited(stack, "transfer_bytes = 60_000", "");
        let text = format!("{} answer: {window} {application} {flow_control} {pacer}", stack.name());
        assert!(application > 60.0 && flow_control == 0.0, "{text}");
    }
}

#[test]
fn an_independent_count_of_every_stack_s_traces_agrees() {
    let place = tempfile::tempdir().unwrap();
    let source = Source { name: "count".to_owned(), file: "count".to_owned(), text: SCENARIO.to_owned() };
    let (mut files, mut ours) = (Vec::new(), String::new());
    for stack in Runner::builtin().iter().copied() {
        let natives = stack.natives().iter().map(|name| format!("native:{name}"));
        for controller in natives.chain(["cubic".to_owned()]) {
            let log = logged(&source, &controller, stack).unwrap();
            let path = place.path().join(format!("{}-{}.sqlog", stack.name(), controller.replace(':', "-")));
            std::fs::write(&path, log).unwrap();
            let (_, found) = measure(open(&path).unwrap(), &Options::default()).unwrap();
            let sent = found[0].measures.packets_sent;
            assert!(sent.is_some_and(|sent| sent > 200), "{}: {sent:?}", path.display());
            let of_file: Vec<_> = found.iter().map(|one| one.to_json("")).collect();
            ours.push_str(&format!("{}\n", serde_json::Value::from(of_file)));
            files.push(path);
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/reading/count.py");
    let mut count = Command::new("python3");
    count.arg(script).arg("--compare").args(&files).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut count = count.spawn().expect("python3 runs");
    count.stdin.take().unwrap().write_all(ours.as_bytes()).unwrap();
    let output = count.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
