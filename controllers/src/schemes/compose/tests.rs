//! `spec: arumaithurai §2.1–§2.3`.

use std::string::ToString;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::event::OneWay;
use crate::schemes::nf_tcp::{self, NfTcp};
use crate::testkit::trace::{run, scripts};
use crate::testkit::{PATH, acked, cases, lost, marked, rtt, step};
use crate::{Algorithm, Controller, Ecn, Event, EventKind, Parameters, Signals, Span, Time, View};

fn params(settings: &[(&str, &str)]) -> Params {
    let mut params = Params::default();
    for (name, value) in settings {
        params.set(name, value).unwrap();
    }
    params
}

fn read(text: &str) -> Algorithm {
    Algorithm::read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// §2.2: what is needed is what the parts need.
#[test]
fn needs_follow_from_the_parts() {
    let alone = Signals::ACKS | Signals::LOSS;
    assert_eq!(read("compose").needs(), alone);
    assert_eq!(read("compose:detect=ecn").needs(), alone | Signals::ECN);
    let all = read("compose:detect=ecn+delay,flow=cubic,estimate=proecn").needs();
    let probing = Signals::PROBE_TRAINS | Signals::WAKE_UP;
    assert_eq!(all, alone | Signals::ECN | Signals::ONE_WAY_DELAY | Signals::RTT | probing);
    assert!(read("compose:detect=aqm").needs().contains(Signals::CONGESTION_INDICATION));
    assert!(read("compose:detect=backlog").needs().contains(Signals::RTT));
}

#[test]
fn the_text_of_a_composition_can_be_read_again() {
    for text in [
        "compose",
        "compose:detect=loss+ecn+delay,flow=cubic,beta=0.8,estimate=proecn,alpha=0.25",
        "compose:detect=rtt,late=5,flow=tcp-k,k=7",
        "compose:flow=highspeed,form=table,dscp=8",
    ] {
        let algorithm = read(text);
        let again = algorithm.to_string();
        assert_eq!(read(&again), algorithm, "{again}");
        algorithm.describe(&mut |param| assert!(!param.source.is_empty() && !param.doc.is_empty(), "{}", param.name));
    }
    assert_eq!(read("compose:flow=cubic,beta=0.8").to_string(), "compose:flow=cubic,beta=0.8");
    assert_eq!(read("compose:detect=delay+ecn").to_string(), "compose:detect=ecn+delay");
}

#[test]
fn mistakes_are_reported() {
    let error = |text| Algorithm::read(text).unwrap_err().to_string();
    assert_eq!(
        error("compose:detect=ecn+luck"),
        "compose: detect is \"ecn+luck\"; expected one or more, joined by +, of loss, ecn, aqm, delay, rtt, backlog"
    );
    assert!(error("compose:detect=").contains("one or more"));
    assert!(error("compose:flow=vegan").contains("reno or aimd or guided"), "{}", error("compose:flow=vegan"));
    assert!(error("compose:estimate=guess").contains("none or proecn"));
    assert!(error("compose:k=4").contains("no parameter"), "that is tcp-k's");
}

#[test]
fn only_a_flow_that_heeds_marks_is_sent_as_capable() {
    let ecn = |text| {
        let algorithm = read(text);
        algorithm.decide(&algorithm.start(&PATH), View::solo(&algorithm.group())).ecn
    };
    assert_eq!((ecn("compose"), ecn("compose:detect=loss+ecn")), (Ecn::NotEct, Ecn::Ect0));
}

/// What is heeded is answered, and nothing else.
#[test]
fn detectors_hear_what_they_are_for() {
    let at = |ms: u64| Time(ms * 1_000_000);
    let late = |one_way: i64, rtt_ms: u64| {
        let sample = crate::event::RttSample { min: Span::from_millis(100), ..rtt(Span::from_millis(rtt_ms)) };
        let one_way = Some(OneWay { forward: one_way * 1_000_000, backward: 0 });
        let in_flight_before = 10_000;
        EventKind::PacketsAcked(crate::event::PacketsAcked {
            one_way,
            rtt: Some(sample),
            in_flight_before,
            ..acked(1, at(150))
        })
    };
    let answers = |detect: &str, kind: EventKind| {
        let params = params(&[("detect", detect)]);
        let mut state = Compose::start(&params, &PATH);
        state = step::<Compose>(&params, state, at(100), late(-7, 100));
        let before = Compose::decide(&params, &state, View::solo(&())).cwnd;
        state = step::<Compose>(&params, state, at(200), kind);
        Compose::decide(&params, &state, View::solo(&())).cwnd < before
    };
    for (detect, kind, answered) in [
        ("loss", EventKind::PacketsLost(lost(at(150))), true),
        ("loss", EventKind::EcnCe(marked(at(150))), false),
        ("ecn", EventKind::EcnCe(marked(at(150))), true),
        ("ecn", EventKind::PacketsLost(lost(at(150))), false),
        ("loss+ecn", EventKind::PacketsLost(lost(at(150))), true),
        ("delay", late(18, 100), true),
        ("delay", late(17, 200), false),
        ("rtt", late(-7, 125), true),
        ("rtt", late(100, 124), false),
        // 10 packets in flight: 4 wait from an RTT of 166.7 ms on.
        ("backlog", late(-7, 167), true),
        ("backlog", late(-7, 166), false),
    ] {
        assert_eq!(answers(detect, kind), answered, "{detect}: {kind:?}");
    }
}

/// Eq. 3.1: indications of one round trip add up by their weights.
#[test]
fn weights_add_up_to_the_threshold() {
    let params = params(&[("detect", "loss+ecn"), ("w2", "0.5"), ("theta", "1.5")]);
    let mut state = Compose::start(&params, &PATH);
    let mut cwnds = Vec::new();
    for kind in [
        EventKind::EcnCe(marked(Time(5))),
        EventKind::PacketsLost(lost(Time(6))),
        EventKind::PacketsLost(lost(Time(7))),
    ] {
        state = step::<Compose>(&params, state, Time(10), kind);
        cwnds.push(Compose::decide(&params, &state, View::solo(&())).cwnd / 1000);
    }
    assert_eq!(cwnds, [10, 5, 5]);
}

#[test]
fn the_state_is_that_of_the_largest_parts() {
    let size = size_of::<<Compose as Controller>::State>();
    assert!(size <= 568, "{size} bytes");
}

proptest! {
    #![proptest_config(cases(3000))]

    /// §2.3: early detection, ProECN and guided flow control are NF-TCP, to the bit.
    #[test]
    fn the_modules_of_nf_tcp_make_nf_tcp(script in scripts(40)) {
        let composed = params(&[("detect", "loss+ecn"), ("flow", "guided"), ("estimate", "proecn")]);
        let nf = nf_tcp::Params::default();
        let mut events: Vec<Event> = Vec::new();
        run::<NfTcp>(&nf, 1, &script, |_, event, _| events.push(*event));
        let (mut ours, mut theirs) = (Compose::start(&composed, &PATH), NfTcp::start(&nf, &PATH));
        for event in events {
            ours = step::<Compose>(&composed, ours, event.now, event.kind);
            theirs = step::<NfTcp>(&nf, theirs, event.now, event.kind);
            let decision = NfTcp::decide(&nf, &theirs, View::solo(&()));
            let labelled = crate::Decision {
                dscp: decision.dscp,
                pacing_rate: decision.pacing_rate,
                ..Compose::decide(&composed, &ours, View::solo(&()))
            };
            prop_assert_eq!(labelled, decision);
        }
    }

    /// I29: a wake-up call and a probe move no window; no composition panics or decides
    /// differently twice.
    #[test]
    fn any_composition_keeps_the_contract(
        script in scripts(40),
        detect in prop::sample::select(std::vec!["loss", "ecn", "loss+ecn", "ecn+delay", "rtt+backlog", "loss+aqm"]),
        flow in prop::sample::select(std::vec!["reno", "aimd", "guided", "tcp-k", "cubic", "highspeed", "scalable", "bic", "westwood"]),
        estimate in prop::sample::select(std::vec!["none", "proecn"]),
    ) {
        let params = params(&[("detect", detect), ("flow", flow), ("estimate", estimate)]);
        let cwnd = |state: &_| Compose::decide(&params, state, View::solo(&())).cwnd;
        let mut failure = None;
        let once = run::<Compose>(&params, 1, &script, |before, event, after| {
            if matches!(event.kind, EventKind::TimerExpired | EventKind::ProbeReceived(_)) && cwnd(before) != cwnd(after) {
                failure = Some("a probe or a timer moved the window");
            }
            if cwnd(after) == 0 {
                failure = Some("no window");
            }
        });
        prop_assert_eq!(failure, None);
        prop_assert_eq!(once, run::<Compose>(&params, 1, &script, |_, _, _| {}));
    }
}
