//! Round-trip times of a data centre, applications that pause, ways back that lose most ACKs, windows that run away.

use windlass_simulator::outcome::FlowOutcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::RunError;
use windlass_stacks::noq::Noq;
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::Stack;
use windlass_stacks::testkit::Logs;

/// The flow of `text` under `controller`, and how often its sender was idle.
fn run(stack: &dyn Stack, text: &str, controller: &str) -> Result<(FlowOutcome, usize), RunError> {
    let scenario = Scenario::read("test", text, Some(controller)).unwrap_or_else(|error| panic!("{error}"));
    let logs = Logs::default();
    let outcome = stack.run(&scenario, &mut |spec| logs.open(spec), &|_| false)?;
    let log = String::from_utf8(logs.of("flow1").unwrap_or_default()).unwrap();
    Ok((outcome.flows[0].clone(), log.matches("\"idle_restart\":{").count()))
}

const FLOW: &str = "[[flow]]\ncontroller = \"under-test\"\n";

#[test]
fn twenty_microseconds_are_enough() {
    let _shared = crate::shared();
    let text = format!("duration_s = 0.02\n[dumbbell]\nrate_mbps = 10000\nrtt_ms = 0.02\nbuffer_packets = 250\n{FLOW}");
    let scenario = |controller| Scenario::read("test", &text, Some(controller)).unwrap();
    let stacks: [&dyn Stack; 2] = [&Quinn, &Noq];
    for (stack, controller) in
        stacks.into_iter().flat_map(|stack| ["cubic", "native:cubic", "native:newreno"].map(|name| (stack, name)))
    {
        let outcome = stack.run(&scenario(controller), &mut |_| Ok(None), &|_| false).unwrap();
        let goodput = outcome.flows[0].goodput_mbps;
        assert!(goodput > 9000.0, "{controller} on {}: {goodput}", stack.name());
    }
}

#[test]
fn a_sender_with_data_is_never_idle() {
    let _shared = crate::shared();
    let lossy = format!(
        "duration_s = 20\n[dumbbell]\nrate_mbps = 2\nrtt_ms = 4\nbuffer_packets = 50\n[dumbbell.back]\nrate_mbps = 100\n\
         loss_percent = 70\n{FLOW}"
    );
    assert_eq!(run(&Noq, &lossy, "bbr").unwrap().1, 0);
    // Its pacer's gap is longer than a probe timeout for a while.
    let longer = format!(
        "duration_s = 80\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n[[dumbbell.change]]\nat_s = 10\n\
         delay_ms = 60\n[[dumbbell.change]]\nat_s = 13\ndelay_ms = 20\n{FLOW}"
    );
    let (flow, idle) = run(&Noq, &longer, "nice").unwrap();
    // Ten seconds after the path is what it was.
    let last = &flow.series.goodput_mbps[23..];
    assert_eq!(idle, 0);
    assert!(last.iter().sum::<f64>() / last.len() as f64 > 18.0, "{last:?}");
}

#[test]
fn a_sender_whose_application_pauses_is_idle() {
    let _shared = crate::shared();
    let text = format!(
        "duration_s = 9.5\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n{FLOW}burst_bytes = 250000\nburst_every_s = 2\n"
    );
    for (stack, controller) in [(&Quinn as &dyn Stack, "reno"), (&Noq, "reno"), (&Noq, "bbr")] {
        let (flow, idle) = run(stack, &text, controller).unwrap();
        assert_eq!(idle, 4, "{controller} on {}", stack.name());
        let expected = 5.0 * 2.0 / 9.5;
        assert!((flow.goodput_mbps / expected - 1.0).abs() < 0.1, "{} of {expected}", flow.goodput_mbps);
    }
}

#[test]
fn a_window_that_runs_away_ends_the_run() {
    let _shared = crate::shared();
    let text = format!(
        "duration_s = 5\nmax_packets_under_way = 20\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n{FLOW}"
    );
    let stopped = run(&Noq, &text, "reno").map(|_| ()).unwrap_err();
    assert!(matches!(stopped, RunError::Runaway(runaway) if runaway.packets > 20), "{stopped}");
    assert!(stopped.to_string().contains("more than max_packets_under_way = 20"), "{stopped}");
}

/// Windows of fifty flows that nothing bounds, on a path that holds 400 packets.
#[test]
fn fifty_flows_that_run_away_end_the_run() {
    let _shared = crate::shared();
    let text = format!(
        "duration_s = 20\nmax_packets_under_way = 5000\n[dumbbell]\nrate_mbps = 100\nrtt_ms = 20\nbuffer_bdp = 1\n{FLOW}\
         count = 50\nstagger_s = 0.02\n"
    );
    let scenario = Scenario::read("test", &text, Some("copa:profile=paper")).unwrap();
    let stopped = Noq.run(&scenario, &mut |_| Ok(None), &|_| false).map(|_| ()).unwrap_err();
    assert!(matches!(stopped, RunError::Runaway(runaway) if runaway.packets > 5000), "{stopped}");
    let scenario = Scenario::read("test", &text, Some("copa")).unwrap();
    assert!(Noq.run(&scenario, &mut |_| Ok(None), &|_| false).is_ok(), "losses bound its windows");
}

/// Where a stack paces as it is told, a flow that keeps its rate leaves another the rest; elsewhere it is refused.
#[test]
fn a_constant_rate_runs_where_stacks_pace() {
    let _shared = crate::shared();
    let text = format!(
        "duration_s = 10\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n{FLOW}[[flow]]\nname = \"rival\"\nconstant_rate_mbps = 6\n"
    );
    let scenario = Scenario::read("test", &text, Some("reno")).unwrap();
    let run = |stack: &dyn Stack| stack.run(&scenario, &mut |_| Ok(None), &|_| false);
    let outcome = run(&Noq).unwrap();
    let [reno, rival] = [0, 1].map(|flow| outcome.flows[flow].goodput_mbps);
    assert!((5.5..6.0).contains(&rival) && (2.5..4.0).contains(&reno), "{rival}, {reno}");
    let error = run(&Quinn).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.starts_with("flow \"rival\": fixed-window needs") && error.contains("quinn does not report"),
        "{error}"
    );
}

/// A hundred flows on a buffer that holds two packets of each (`RFC 9743 §5.1.3`).
#[test]
fn a_hundred_copa_flows_lose_at_most_twice_what_reno_loses() {
    let _shared = crate::shared();
    let text = format!(
        "duration_s = 6\n[dumbbell]\nrate_mbps = 100\nrtt_ms = 20\nbuffer_bdp = 1\n{FLOW}count = 100\nstagger_s = 0.02\n"
    );
    let dropped = |stack: &dyn Stack, controller| {
        let scenario = Scenario::read("test", &text, Some(controller)).unwrap();
        let outcome = stack.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
        let sent: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
        outcome.queues[0].packets_dropped as f64 / sent as f64
    };
    let stacks: [&dyn Stack; 2] = [&Quinn, &Noq];
    for stack in stacks {
        let (copa, reno) = (dropped(stack, "copa"), dropped(stack, "reno"));
        println!("{}: {copa:.4}, reno {reno:.4}", stack.name());
        assert!(copa <= 2.0 * reno, "{}: {copa}, reno {reno}", stack.name());
    }
}
