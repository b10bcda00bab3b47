//! What every loss-based controller owes whatever its increase and decrease
//! (`spec: sharma §2, §10`; `spec: arumaithurai §1.5, §1.6, §8`). To hold another one to
//! it: its line in [`SCHEMES`].

use crate::script::{Flow, MTU, TestEvent, script};
use crate::shared::cases;
use proptest::prelude::*;
use windlass_controllers::param::Value;
use windlass_controllers::{Algorithm, Decision, Event, Phase, Time};

/// A controller, and the laws that hold of some only.
#[derive(Clone, Copy)]
struct Scheme {
    name: &'static str,
    pace: Pace,
    /// A further congestion event never leads to a larger window.
    monotone: bool,
    /// Up to this window it is Reno.
    low_window: Option<&'static str>,
    /// Of packets acknowledged together and one by one it makes the same.
    divides: bool,
    /// Delay takes from the window too, with an ACK.
    lowers_on_delay: bool,
    /// Marks have a response of their own, beside that to losses; it may open no recovery.
    has_mark_response: bool,
}

/// What comes of stretching all times.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// Its windows do not depend on time.
    Timeless,
    /// Its windows depend on real time.
    RealTime,
    /// Other windows or not: smoothed times are rounded.
    Either,
}

const PLAIN: Scheme = Scheme {
    name: "",
    pace: Pace::Timeless,
    monotone: false,
    low_window: None,
    divides: true,
    lowers_on_delay: false,
    has_mark_response: false,
};

const SCHEMES: &[Scheme] = &[
    Scheme { name: "reno", monotone: true, ..PLAIN },
    Scheme { name: "cubic", pace: Pace::RealTime, ..PLAIN },
    Scheme { name: "cubic-2005", pace: Pace::RealTime, ..PLAIN },
    Scheme { name: "highspeed", monotone: true, low_window: Some("38"), ..PLAIN },
    Scheme { name: "highspeed:form=formula", monotone: true, low_window: Some("38"), ..PLAIN },
    Scheme { name: "highspeed:form=table", monotone: true, low_window: Some("38"), ..PLAIN },
    // A smaller window may be the one that grows fast.
    Scheme { name: "tcp-africa", ..PLAIN },
    Scheme { name: "multcp", ..PLAIN },
    Scheme { name: "multcp:n=1.5", monotone: true, ..PLAIN },
    Scheme { name: "tcp-k", ..PLAIN },
    // Where it turns from Reno's mode to its own a smaller window may come out ahead.
    Scheme { name: "scalable", low_window: Some("16"), ..PLAIN },
    Scheme { name: "scalable:low_window=1", monotone: true, ..PLAIN },
    // So may a window below √a.
    Scheme { name: "aimd", ..PLAIN },
    Scheme { name: "aimd:a=1,b=0.5", monotone: true, ..PLAIN },
    Scheme { name: "h-tcp", pace: Pace::RealTime, ..PLAIN },
    Scheme { name: "bic", low_window: Some("14"), ..PLAIN },
    Scheme { name: "bic:form=divided", low_window: Some("14"), ..PLAIN },
    Scheme { name: "dctcp", monotone: true, has_mark_response: true, ..PLAIN },
    // The packets of a frame with marks in it grow less.
    Scheme { name: "prague", monotone: true, divides: false, has_mark_response: true, ..PLAIN },
    // What a round trip measured is used by the ACK that ends it, if that is in avoidance.
    Scheme { name: "ctcp", divides: false, lowers_on_delay: true, ..PLAIN },
    Scheme { name: "a-tcp", pace: Pace::Either, ..PLAIN },
    Scheme { name: "a-tcp-p", pace: Pace::Either, ..PLAIN },
    Scheme { name: "tcp-p", pace: Pace::Either, monotone: true, ..PLAIN },
    Scheme { name: "fractional", monotone: true, ..PLAIN },
    Scheme { name: "combined", monotone: true, ..PLAIN },
    Scheme { name: "cocoon", monotone: true, ..PLAIN },
    Scheme { name: "dual", pace: Pace::Either, lowers_on_delay: true, ..PLAIN },
    Scheme { name: "dca-s", pace: Pace::Either, lowers_on_delay: true, ..PLAIN },
    Scheme { name: "dca-c", pace: Pace::Either, lowers_on_delay: true, ..PLAIN },
];

fn read(text: &str, more: &str) -> Algorithm {
    let separator = if text.contains(':') { ',' } else { ':' };
    let text = format!("{text}{separator}{more}");
    Algorithm::read(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// Each scheme as QUIC stacks run it, as its document did, and packet by packet.
fn variants(scheme: &Scheme) -> [Algorithm; 3] {
    [read(scheme.name, ""), read(scheme.name, "profile=paper"), read(scheme.name, "growth=packets,ssthresh=20")]
}

fn parameter(algorithm: &Algorithm, name: &str) -> f64 {
    let mut found = None;
    algorithm.describe(&mut |param| {
        if let (true, Value::Number(value)) = (param.name == name, param.value) {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("no parameter {name}"))
}

/// What a flow's parameters allow.
struct Limits {
    min: f64,
    max: f64,
    timeout: f64,
    iw: f64,
}

impl Limits {
    fn of(engine: &Algorithm) -> Limits {
        let [min, max, timeout, iw] =
            ["min_window", "max_window", "timeout_window", "iw"].map(|name| parameter(engine, name));
        Limits { min, max, timeout, iw }
    }
}

/// What is known of a flow before or after an event.
struct Observation {
    window: f64,
    decision: Decision,
    rtt: Option<f64>,
}

impl Observation {
    fn at(flow: &Flow) -> Observation {
        Observation { window: flow.window(), decision: flow.decision(), rtt: flow.rtt() }
    }
}

/// What may come of `test_event`.
fn check(
    scheme: &Scheme,
    limits: &Limits,
    before: &Observation,
    (after, flow): (&Observation, &Flow),
    test_event: &TestEvent,
    event: &Event,
) -> Result<(), TestCaseError> {
    let (old, new) = (before.window, after.window);
    let (was, is) = (before.decision, after.decision);
    let floor = limits.min.min(limits.timeout);
    prop_assert!(new.is_finite() && floor <= new && new <= limits.max, "the window is {new}");
    let state = flow.flows.states[0];
    prop_assert!(state == flow.flows.states[0], "there is a NaN in {state:?}");
    prop_assert_eq!(is.cwnd, (new * MTU as f64) as u64);
    match *test_event {
        TestEvent::Ack { limited, .. } => {
            prop_assert!(new >= old || scheme.lowers_on_delay, "an ACK took {} packets", old - new);
            prop_assert!(!limited || new <= old, "grew while limited by the application");
            prop_assert!(is.phase != Phase::Recovery || new <= old, "grew in recovery");
        }
        TestEvent::Loss { ago } | TestEvent::Mark { ago } => {
            let sent_at = Time(event.now.0.saturating_sub(1000 * flow.stretch * ago));
            let own = scheme.has_mark_response && matches!(test_event, TestEvent::Mark { .. });
            prop_assert!(new <= old.max(limits.min), "congestion gave {} packets", new - old);
            prop_assert!(is.ssthresh.is_some_and(|bytes| bytes >= 2 * MTU) || new == old);
            if was.recovery_start.is_some_and(|start| sent_at <= start) {
                // A loss after a mark of its flight was answered takes the rest of what losses take.
                prop_assert!(is == was || scheme.has_mark_response, "a second response in one recovery period");
            } else if !own {
                prop_assert_eq!((is.recovery_start, is.phase), (Some(event.now), Phase::Recovery));
                prop_assert!(is.ssthresh.is_some_and(|bytes| bytes >= 2 * MTU));
            }
            prop_assert!(!own || new >= (0.5 * old).max(floor).min(old), "a mark took more than a half");
        }
        TestEvent::PersistentCongestion => {
            prop_assert_eq!(new, limits.timeout);
            prop_assert!(is.ssthresh.is_some_and(|bytes| bytes >= 2 * MTU));
            prop_assert_eq!(is.recovery_start, None);
        }
        TestEvent::SpuriousLoss => {
            prop_assert!(new >= old && (is.phase != Phase::Recovery || was.phase == Phase::Recovery))
        }
        TestEvent::Idle { idle, pto } => {
            prop_assert!(new == old || idle > pto && new == limits.iw, "idling led to {new}");
        }
        TestEvent::RttSample { .. } => {
            let apart_from_pacing = |decision: Decision| decision.with_pacing_rate(None);
            prop_assert!(
                apart_from_pacing(is) == apart_from_pacing(was) || scheme.lowers_on_delay && new <= old,
                "a sample alone gave {new}"
            );
        }
    }
    prop_assert!(event.rtt().is_some() || after.rtt == before.rtt, "an RTT out of nowhere");
    Ok(())
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `spec: sharma §10.1–3, 5, 9`.
    #[test]
    fn windows_are_bounded_and_move_only_when_they_may(script in script(), which in 0..3usize) {
        for scheme in SCHEMES {
            let algorithm = variants(scheme)[which];
            let limits = Limits::of(&algorithm);
            let mut flow = Flow::new(algorithm, 1);
            let mut before = Observation::at(&flow);
            for (after, test_event) in &script {
                let event = flow.step(*after, test_event);
                let now = Observation::at(&flow);
                check(scheme, &limits, &before, (&now, &flow), test_event, &event)
                    .map_err(|error| TestCaseError::fail(format!("{algorithm}: {test_event:?}: {error}")))?;
                before = now;
            }
            // Replaying the script gives the same state, to the bit.
            let mut again = Flow::new(algorithm, 1);
            for (after, test_event) in &script {
                again.step(*after, test_event);
            }
            prop_assert_eq!(again.flows.states[0], flow.flows.states[0]);
        }
    }

    /// `spec: sharma §10.4`: an ACK of n packets is n ACKs of one. The one that ends a
    /// recovery period is left out: in the document it alone does not grow (§1.3).
    #[test]
    fn an_ack_of_many_packets_is_as_many_acks_of_one(script in script(), packets in 2..64u32, paper: bool) {
        for scheme in SCHEMES.iter().filter(|scheme| scheme.divides) {
            let algorithm = variants(scheme)[if paper { 1 } else { 2 }];
            if paper && !algorithm.to_string().contains("growth=packets") {
                continue;
            }
            // HyStart++ counts the samples of ACKs, not the packets in them.
            let algorithm = read(&algorithm.to_string(), "slow_start=standard");
            let mut flow = Flow::new(algorithm, 1);
            for (after, test_event) in &script {
                flow.step(*after, test_event);
            }
            if flow.decision().phase == Phase::Recovery {
                continue;
            }
            let (mut at_once, mut one_by_one) = (flow.fork(), flow);
            at_once.step(50, &TestEvent::Ack { packets, ago: 10, limited: false, rtt: Some(50_000) });
            for i in 0..packets {
                let single = TestEvent::Ack { packets: 1, ago: 10, limited: false, rtt: Some(50_000) };
                one_by_one.step(if i == 0 { 50 } else { 0 }, &single);
            }
            let (a, b) = (at_once.window(), one_by_one.window());
            prop_assert!((a - b).abs() <= 1e-9 * b, "{algorithm}: {a} at once, {b} one by one");
        }
    }

    /// `spec: sharma §10.6`.
    #[test]
    fn stretched_times_leave_timeless_windows_alone(script in script(), stretch in 2..20u64, which in 0..3usize) {
        for scheme in SCHEMES.iter().filter(|scheme| scheme.pace == Pace::Timeless) {
            let algorithm = variants(scheme)[which];
            let (mut plain, mut stretched) = (Flow::new(algorithm, 1), Flow::new(algorithm, stretch));
            for (after, test_event) in &script {
                plain.step(*after, test_event);
                stretched.step(*after, test_event);
                prop_assert_eq!(plain.window(), stretched.window(), "{}: {:?}", algorithm, test_event);
            }
        }
    }

    /// `spec: sharma §10.7`: rounds of ACKs, each closed or not by a congestion event.
    #[test]
    fn more_congestion_never_leads_to_a_larger_window(
        rounds in prop::collection::vec((1..40u32, prop::bool::weighted(0.2), prop::bool::weighted(0.2)), 1..20),
    ) {
        for scheme in SCHEMES.iter().filter(|scheme| scheme.monotone) {
            let algorithm = read(scheme.name, "");
            let (mut fewer, mut more) = (Flow::new(algorithm, 1), Flow::new(algorithm, 1));
            for &(acks, both, further) in &rounds {
                for flow in [&mut fewer, &mut more] {
                    for _ in 0..acks {
                        flow.step(1000, &TestEvent::Ack { packets: 1, ago: 500, limited: false, rtt: None });
                    }
                }
                more.step(1000, if both || further { &TestEvent::Loss { ago: 0 } } else { &TestEvent::RttSample { rtt: 1000 } });
                fewer.step(1000, if both { &TestEvent::Loss { ago: 0 } } else { &TestEvent::RttSample { rtt: 1000 } });
                prop_assert!(more.window() <= fewer.window(), "{algorithm}: {} after more", more.window());
            }
        }
    }

    /// `spec: sharma §10.8`.
    #[test]
    fn below_its_low_window_a_scheme_is_reno(script in script(), which in 0..3usize) {
        for scheme in SCHEMES {
            let Some(low) = scheme.low_window else { continue };
            let within = ["", "profile=paper,", "growth=packets,ssthresh=20,"][which];
            let more = format!("{within}max_window={low}");
            let (mut own, mut reno) = (Flow::new(read(scheme.name, &more), 1), Flow::new(read("reno", &more), 1));
            for (after, test_event) in &script {
                own.step(*after, test_event);
                reno.step(*after, test_event);
                prop_assert_eq!(own.decision(), reno.decision());
                prop_assert_eq!(own.window(), reno.window());
            }
        }
    }
}

/// `spec: sharma §10.6`: where real time matters, the law above must not hold.
#[test]
fn stretched_times_change_windows_that_follow_real_time() {
    for scheme in SCHEMES.iter().filter(|scheme| scheme.pace == Pace::RealTime) {
        let algorithm = read(scheme.name, "");
        let window = |stretch| {
            let mut flow = Flow::new(algorithm, stretch);
            flow.step(0, &TestEvent::Ack { packets: 990, ago: 500, limited: false, rtt: Some(40_000) });
            flow.step(1000, &TestEvent::Loss { ago: 0 });
            for _ in 0..2000 {
                flow.step(1000, &TestEvent::Ack { packets: 8, ago: 500, limited: false, rtt: Some(40_000) });
            }
            flow.window()
        };
        assert!(window(2) > window(1), "{algorithm}: {} and {}", window(2), window(1));
    }
}
