//! `spec: arumaithurai §2.1, §3`; invariants I9, I10, I29.

use std::string::ToString;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::event::ProbeReceived;
use crate::parts::compose::{Detector, Estimator, FlowControl, Input};
use crate::parts::proecn::Phase;
use crate::schemes::reno;
use crate::testkit::trace::{Act, Script, run, scripts};
use crate::testkit::{MTU, PATH, acked, cases, marked, rtt, step};
use crate::{Algorithm, Controller, Ecn, Event, EventKind, Parameters, Signals, Span, Time, View};

type State = <NfTcp as Controller>::State;

fn decide(params: &Params, state: &State) -> Decision {
    NfTcp::decide(params, state, View::solo(&()))
}

/// A flow whose first round trip of 100 ms has just ended.
fn begun(params: &Params) -> State {
    let sample = Some(rtt(Span::from_millis(100)));
    let acked = crate::event::PacketsAcked { rtt: sample, ..acked(2, Time::ZERO) };
    step::<NfTcp>(params, NfTcp::start(params, &PATH), Time::from_micros(100_000), EventKind::PacketsAcked(acked))
}

/// Answers the train under way, all probes clean.
fn answered(params: &Params, mut state: State, now: Time) -> State {
    let plan = decide(params, &state).train.unwrap();
    for index in 0..plan.packets {
        let probed = ProbeReceived { train: plan.id, index, ce: false, one_way: None, sent_at: Time::ZERO };
        state = step::<NfTcp>(params, state, now, EventKind::ProbeReceived(probed));
    }
    state
}

#[test]
fn state_fits_in_eight_cache_lines() {
    assert!(size_of::<State>() <= 512, "{} bytes", size_of::<State>());
}

#[test]
fn needs_follow_from_the_parameters() {
    let needs = |text: &str| Algorithm::read(text).unwrap().needs();
    let ecn_only = Signals::ACKS | Signals::LOSS | Signals::ECN;
    let probing = Signals::RTT | Signals::PROBE_TRAINS | Signals::WAKE_UP;
    assert_eq!(needs("nf-tcp"), ecn_only | probing);
    assert_eq!(needs("nf-tcp:fallback=on"), ecn_only);
    assert_eq!(needs("nf-tcp-prime"), ecn_only);
    // spec: arumaithurai §3.9, case 6: a path that bleaches ECN.
    let bleached = needs("nf-tcp:w2=0,signal_source=delay");
    assert_eq!(bleached, Signals::ACKS | Signals::LOSS | Signals::ONE_WAY_DELAY | probing);
}

/// The first train: two probes at the floor, under their own codepoint.
#[test]
fn probing_begins_with_the_first_round_trip() {
    let params = Params::default();
    let state = begun(&params);
    let decision = decide(&params, &state);
    let plan = decision.train.unwrap();
    assert_eq!((plan.packets, plan.bytes, plan.min_rate, plan.spread), (2, MTU, 1e6, 1.2));
    assert_ne!(plan.dscp, decision.dscp);
    // 8 ms of train, 100 ms of RTT, 4 times 25 ms of variation, 25 ms of ACK delay.
    assert_eq!(decision.wake_at, Some(Time::from_micros(100_000 + 8_000 + 100_000 + 100_000 + 25_000)));
}

/// F1, F8.
#[test]
fn data_is_labelled_and_paced() {
    let params = Params::default();
    let before = decide(&params, &NfTcp::start(&params, &PATH));
    assert_eq!((before.dscp, before.ecn, before.pacing_rate), (8, Ecn::Ect0, None));
    // A window of 12 packets of 8000 bits in 100 ms, and a quarter more.
    assert_eq!(decide(&params, &begun(&params)).pacing_rate, Some(1_200_000));
    let mut unpaced = params;
    unpaced.set("pacing_gain", "0").unwrap();
    unpaced.set("dscp", "1").unwrap();
    let decision = decide(&unpaced, &begun(&unpaced));
    assert_eq!((decision.dscp, decision.pacing_rate), (1, None));
}

/// Probes that answer a train raise the window of the ACKs that follow.
#[test]
fn an_answered_train_guides_growth() {
    let params = Params::default();
    let mut state = begun(&params);
    state = answered(&params, state, Time::from_micros(210_000));
    assert_eq!(state.flow.window.cwnd, 12.0);
    // 1.2 Mbit/s are 15 packets per 100 ms; half of them per window.
    let acked =
        crate::event::PacketsAcked { rtt: Some(rtt(Span::from_millis(100))), ..acked(1, Time::from_micros(200_000)) };
    state = step::<NfTcp>(&params, state, Time::from_micros(300_000), EventKind::PacketsAcked(acked));
    assert_eq!(state.flow.window.cwnd, 12.0 + 7.5 / 12.0);
    // A mark on data voids it.
    state =
        step::<NfTcp>(&params, state, Time::from_micros(310_000), EventKind::EcnCe(marked(Time::from_micros(250_000))));
    assert_eq!(state.flow.window.cwnd, 12.625 * 0.875);
    assert_eq!(state.flow.scheme.guide.available(), Some(0.0));
}

/// Marks on probes are none of the data's.
#[test]
fn a_marked_probe_is_no_congestion() {
    let params = Params::default();
    let state = begun(&params);
    let train = decide(&params, &state).train.unwrap().id;
    let probed =
        EventKind::ProbeReceived(ProbeReceived { train, index: 0, ce: true, one_way: None, sent_at: Time::ZERO });
    let after = step::<NfTcp>(&params, state, Time::from_micros(200_000), probed);
    assert_eq!((after.flow, after.detector), (state.flow, state.detector));
}

#[test]
fn private_facts_are_told_with_their_units() {
    let params = Params::default();
    let state = answered(&params, begun(&params), Time::from_micros(210_000));
    let mut shown = Vec::new();
    NfTcp::inspect(&params, &state, View::solo(&()), &mut |name, value| shown.push((name, value)));
    for (name, expected) in [
        ("window", 12.0),
        ("slow_start", 0.0),
        ("bw_mbps", 1.2),
        ("w_ref", 12.0),
        ("base_rtt_ms", 100.0),
        ("congestion_score", 0.0),
        ("prober_phase", f64::from(Phase::SlowProbe as u8)),
        ("train_packets", 4.0),
        ("min_rate_mbps", 1.0),
        ("trains_sent", 1.0),
        ("train_outstanding", 0.0),
        ("zero_streak", 0.0),
    ] {
        let found: Vec<f64> = shown.iter().filter(|(shown, _)| *shown == name).map(|&(_, value)| value).collect();
        assert_eq!(found, [expected], "{name}");
    }
}

#[test]
fn every_parameter_has_a_source_and_keeps_its_text() {
    for text in ["nf-tcp:alpha=0.25,n=20,theta=3,b=0.5,signal_source=both", "nf-tcp-prime:profile=paper,b=0.125"] {
        let algorithm = Algorithm::read(text).unwrap();
        algorithm.describe(&mut |param| assert!(!param.source.is_empty() && !param.doc.is_empty(), "{}", param.name));
        assert_eq!(Algorithm::read(&algorithm.to_string()), Ok(algorithm));
    }
    assert_eq!(Params::paper().flow.base.limits, Limits::arumaithurai());
    assert_eq!(PrimeParams::paper().flow.base.limits, Limits::arumaithurai());
}

fn any_base() -> impl Strategy<Value = Base> {
    prop::sample::select(Vec::from([
        Base::default(),
        Limits::arumaithurai().into(),
        Limits::cho().into(),
        Base::sharma_limited(),
    ]))
}

fn without_estimator(base: Base, b: f64) -> Params {
    let mut params = Params::default();
    (params.flow.base, params.flow.b, params.probing.fallback) = (base, b, true);
    params.flow.bound.loss_bound = 0.0;
    params
}

fn prime(base: Base, b: f64) -> PrimeParams {
    PrimeParams { flow: PrimeFlowParams { base, b }, ..Default::default() }
}

/// The events of a script, made up for a flow of `C`.
fn trace<C: Controller<Group = ()>>(params: &C::Params, script: &Script) -> Vec<Event> {
    let mut events = Vec::new();
    run::<C>(params, 1, script, |_, event, _| events.push(*event));
    events
}

/// Every state on the way through `events`.
fn states<C: Controller<Group = ()>>(params: &C::Params, events: &[Event]) -> Vec<C::State> {
    let mut state = C::start(params, &PATH);
    let mut steps = Vec::from([state]);
    for event in events {
        state = step::<C>(params, state, event.now, event.kind);
        steps.push(state);
    }
    steps
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// I9, contract rules 2 and 3: without its estimator NF-TCP is NF-TCP′ with the same
    /// decrease, decision for decision, and with one half both are Reno, window for
    /// window.
    #[test]
    fn without_estimator_it_is_aimd(base in any_base(), script in scripts(40), b in prop_oneof![Just(0.5), Just(0.125), 0.0..0.99f64]) {
        let (nf, prime) = (without_estimator(base, b), prime(base, b));
        let events = trace::<WindowController<reno::Reno>>(&reno::Params { base }, &script);
        let reno = states::<WindowController<reno::Reno>>(&reno::Params { base }, &events);
        for ((nf_state, prime_state), reno_state) in
            states::<NfTcp>(&nf, &events).iter().zip(states::<NfTcpPrime>(&prime, &events)).zip(reno)
        {
            prop_assert_eq!(decide(&nf, nf_state), NfTcpPrime::decide(&prime, &prime_state, View::solo(&())));
            prop_assert_eq!(nf_state.flow.window, prime_state.flow.window);
            if b == 0.5 {
                prop_assert_eq!(nf_state.flow.window, reno_state.window);
            }
        }
    }

    /// I10: marks and losses give identical windows.
    #[test]
    fn marks_weigh_what_losses_weigh(script in scripts(40)) {
        let swap = |act| match act {
            Act::Mark { age } => Act::Loss { age },
            Act::Loss { age } => Act::Mark { age },
            other => other,
        };
        // What a spurious loss takes back is not alike.
        let script: Script = script.into_iter().filter(|(_, act)| !matches!(act, Act::Spurious { .. })).collect();
        let swapped: Script = script.iter().map(|&(passed, act)| (passed, swap(act))).collect();
        let mut params = Params::default();
        // Which answers losses alone.
        params.flow.bound.loss_bound = 0.0;
        let windows = |script: &Script| {
            let mut windows = Vec::new();
            run::<NfTcp>(&params, 1, script, |_, _, state| {
                let mut flow = state.flow;
                flow.window.discard_undo();
                windows.push(flow);
            });
            windows
        };
        prop_assert_eq!(windows(&script), windows(&swapped));
    }

    /// I29, contract rules 1 and 4: no event that only detection or estimation heed moves
    /// the window; a detector run alone gives the same signals; flow control given those
    /// and the estimates arrives at the same window.
    #[test]
    fn the_modules_keep_to_themselves(script in scripts(40), paper: bool) {
        let params = if paper { Params::paper() } else { Params::default() };
        let mut detector = early::EarlyEcn::start(&params.detection, &PATH);
        let mut flow = guided::Guided::start(&params.flow, &PATH);
        let mut failure = None;
        run::<NfTcp>(&params, 1, &script, |before, event, after| {
            let heard_by_flow = !matches!(event.kind, EventKind::TimerExpired | EventKind::ProbeReceived(_));
            if !heard_by_flow && before.flow.window.cwnd != after.flow.window.cwnd {
                failure = Some("a probe or a timer moved the window");
            }
            let signal = early::EarlyEcn::update(&params.detection, &mut detector, event);
            let input = Input { event, path: &after.path, is_bounded: guided::Guided::is_bounded(&before.flow) };
            let mut estimator = before.estimator;
            let estimate = proecn::ProEcn::update(&params.probing, &mut estimator, input, signal);
            guided::Guided::update(&params.flow, &mut flow, input, signal, estimate);
            if (detector, estimator, flow) != (after.detector, after.estimator, after.flow) {
                failure = Some("the composition is not detection, estimation, flow control");
            }
        });
        prop_assert_eq!(failure, None);
    }

    /// Equal seeds, equal runs; a wake-up call before its time changes nothing.
    #[test]
    fn runs_repeat_and_early_ticks_are_harmless(script in scripts(40), seed: u64) {
        let params = Params::default();
        let mut failure = None;
        let once = run::<NfTcp>(&params, seed, &script, |_, event, state| {
            if decide(&params, state).wake_at.is_none_or(|due| event.now < due)
                && step::<NfTcp>(&params, *state, event.now, EventKind::TimerExpired) != *state
            {
                failure = Some((*event, *state));
            }
        });
        prop_assert_eq!(failure, None);
        prop_assert_eq!(once, run::<NfTcp>(&params, seed, &script, |_, _, _| {}));
    }
}
