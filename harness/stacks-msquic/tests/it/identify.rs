//! Controllers on MsQuic by the arrival of their packets, in real time.

use std::sync::Mutex;

use windlass_lab::testkit::{all, changed, flows, renamed};
use windlass_stacks::stack::{Runner, Variant};
use windlass_stacks_msquic::{MsQuic, run_live};

/// How late the link of each run was, 99th percentile, ms.
static LATE: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// A twentieth of the smaller RTT, ms: rows of a link that was later are not kept.
const TOO_LATE: f64 = 2.0;

/// MsQuic, with a look at how late the link is.
static TIMED: Variant = Variant::new(&MsQuic, |scenario, log, stop| {
    let report = run_live(scenario, log, stop)?;
    let controllers: Vec<&str> = scenario.flows.iter().map(|flow| flow.controller.as_str()).collect();
    println!("{} on {}: {:.2} ms late", controllers.join(", "), scenario.name, report.late_p99_ms);
    LATE.lock().unwrap().push(report.late_p99_ms);
    Ok(report.outcome)
});

/// In real time no two runs are alike, so that flows are compared by what they are named. `WINDLASS_ACCEPT_MODEL=1` keeps
/// them anew.
#[test]
#[ignore = "a quarter of an hour; ci/msquic identify runs it"]
fn passive_flows_are_named_as_those_that_are_kept() {
    let found = flows(&[Runner::new(&TIMED).preferred()], &all(), true);
    let latest = LATE.lock().unwrap().iter().copied().fold(0.0, f64::max);
    println!("the link was up to {latest:.2} ms late in {} runs", found.len());
    let (differ, of) = renamed(&found);
    println!("{} of {of} named otherwise than those that are kept: {differ:#?}", differ.len());
    if std::env::var_os("WINDLASS_ACCEPT_MODEL").is_some() {
        assert!(latest <= TOO_LATE, "the link was {latest:.2} ms late; keep flows of a machine that does nothing else");
        println!("kept anew: {}", changed(&found).len());
        return;
    }
    assert!(differ.len() * 4 <= of, "{differ:#?}");
}
