use super::*;
use crate::connections::connections;
use crate::metrics::tests::file;
use crate::read::Options;

fn observed(records: &[String]) -> Observed {
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let (_, mut found) = connections(file(&records).as_slice(), &Options::default(), Observed::default).unwrap();
    found.pop().unwrap().follower
}

fn packet(time: f64, event: &str, number: u64, frames: &str, bytes: u32) -> String {
    format!(
        r#"{{"time":{time},"name":"quic:packet_{event}","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":{bytes}}},"frames":[{frames}]}}}}"#
    )
}

const STREAM: &str = r#"{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"payload_length":1}}"#;

#[test]
fn a_sender_s_acknowledgements_are_arrivals() {
    let ack = |low, high| format!(r#"{{"frame_type":"ack","acked_ranges":[[{low},{high}]]}}"#);
    let seen = observed(&[
        packet(0.0, "sent", 0, STREAM, 1000),
        // An ACK without acknowledgement is not lost.
        packet(1.0, "sent", 1, &ack(0, 0), 40),
        packet(2.0, "sent", 2, STREAM, 1100),
        packet(30.0, "received", 0, &ack(0, 2), 50),
        packet(31.0, "received", 1, &ack(0, 2), 50),
    ]);
    assert_eq!((seen.end(), seen.min_rtt()), (End::Sender, Some(28_000_000)));
    let arrivals: Vec<_> = seen.arrivals().iter().map(|a| (a.time, a.number, a.bytes)).collect();
    assert_eq!(arrivals, [(30_000_000, 0, 1000), (30_000_000, 1, 1100)]);
}

#[test]
fn a_receiver_s_packets_are_arrivals() {
    let seen = observed(&[
        packet(0.0, "sent", 0, STREAM, 100),
        packet(40.0, "received", 7, STREAM, 1200),
        packet(41.0, "received", 9, STREAM, 1200),
    ]);
    assert_eq!((seen.end(), seen.min_rtt()), (End::Receiver, Some(40_000_000)));
    assert_eq!(seen.arrivals().iter().map(|a| a.number).collect::<Vec<_>>(), [7, 9]);
    assert_eq!(features(seen.arrivals(), seen.min_rtt()), Err(TooLittle::Packets(2)));
}

#[test]
fn a_name_or_state_in_the_trace_is_used() {
    let name = |name: &str| {
        format!(r#"{{"time":0,"name":"quic:recovery_parameters_set","data":{{"congestion_controller":"{name}"}}}}"#)
    };
    let state =
        |state: &str| format!(r#"{{"time":1,"name":"quic:congestion_state_updated","data":{{"new":"{state}"}}}}"#);
    for (text, controller) in [
        ("CUBIC_BYTES", "cubic"),
        ("native:newreno", "reno"),
        ("BBRv2", "bbr"),
        ("copa:delta=1", "copa"),
        ("windlass/a-tcp", "a-tcp"),
    ] {
        let declared = observed(&[name(text)]).declared().unwrap();
        assert_eq!(
            (declared.controller.as_str(), declared.text.as_str(), declared.by_state),
            (controller, text, false)
        );
    }
    for text in ["bbr_startup", "probe_bw", "bbr2_probe_rtt", "ProbeBW"] {
        let declared = observed(&[state(text)]).declared().unwrap();
        assert_eq!((declared.controller.as_str(), declared.by_state), ("bbr", true), "{text}");
    }
    for text in ["slow_start", "recovery", "application_limited"] {
        assert_eq!(observed(&[state(text)]).declared(), None, "{text}");
    }
}

/// Packets of 1000 bytes at `rate` packets a round trip of 100 ms, of which those `lost` says are missing.
fn arrivals(rate: impl Fn(u64) -> u64, lost: impl Fn(u64) -> bool) -> Vec<Arrival> {
    let mut found = Vec::new();
    let mut number = 0;
    for round in 0..300 {
        let packets = rate(round);
        for packet in 0..packets {
            if !lost(number) {
                let time = ((round * packets + packet) * 100_000_000 / packets) as i64;
                found.push(Arrival { time, number, bytes: 1000 });
            }
            number += 1;
        }
    }
    found
}

fn feature(name: &str, of: &Features) -> f64 {
    of[FEATURES.iter().position(|feature| *feature == name).unwrap()]
}

#[test]
fn features_say_what_arrivals_do() {
    let rtt = Some(100_000_000);
    let flat = features(&arrivals(|_| 50, |_| false), rtt).unwrap();
    assert!(feature("loss_rate", &flat) < -4.9 && feature("deviation", &flat) < 0.02, "{flat:?}");
    let lossy = features(&arrivals(|_| 50, |number| number % 1000 == 999), rtt).unwrap();
    assert!((feature("loss_rate", &lossy) + 3.0).abs() < 0.1, "{lossy:?}");
    assert!((feature("interval_rtts", &lossy) - 20_f64.ln()).abs() < 0.1, "{lossy:?}");
    let probing = features(&arrivals(|round| if round % 50 == 49 { 4 } else { 50 }, |_| false), rtt).unwrap();
    assert!((feature("dips", &probing) - 2.0).abs() < 0.3, "every 5 s: {probing:?}");
}

#[test]
fn arrivals_that_do_not_suffice_are_refused() {
    let many = arrivals(|_| 50, |_| false);
    assert_eq!(features(&[], None), Err(TooLittle::Arrivals));
    assert_eq!(features(&many, None), Err(TooLittle::Rtt));
    assert_eq!(features(&many[..999], Some(1)), Err(TooLittle::Packets(999)));
    assert_eq!(features(&many, Some(1_000_000_000)), Err(TooLittle::Rounds(29)));
}

#[test]
fn hostile_arrivals_are_taken() {
    let wild: Vec<Arrival> = (0..2000_u64)
        .map(|at| Arrival {
            time: if at % 2 == 0 { i64::MAX } else { i64::MIN }.wrapping_add(at as i64),
            number: at.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            bytes: u32::MAX,
        })
        .collect();
    let found = features(&wild, Some(i64::MAX));
    assert!(found.is_err() || found.is_ok_and(|values| values.iter().all(|value| value.is_finite())));
    let mut sorted = wild;
    sorted.sort_by_key(|arrival| arrival.time);
    let found = features(&sorted, Some(1)).unwrap();
    assert!(found.iter().all(|value| value.is_finite()), "{found:?}");
}

#[test]
fn what_is_like_nothing_known_is_unknown() {
    let sample = |controller: &str, stack: &str, value| Sample {
        controller: controller.to_owned(),
        stack: stack.to_owned(),
        sender: format!("{stack} {controller}"),
        features: [value; FEATURES.len()],
    };
    let samples =
        [("a", "x", 0.0), ("a", "y", 0.1), ("b", "x", 5.0), ("b", "y", 5.1)].map(|(c, s, value)| sample(c, s, value));
    let model = Model::train(samples.to_vec());
    let name = |value| model.classify(&[value; FEATURES.len()]).controller;
    assert_eq!((name(0.05), name(5.12), name(2.5)), (Some("a".to_owned()), Some("b".to_owned()), None));
    let nearest = model.classify(&[4.0; FEATURES.len()]).nearest;
    assert_eq!(nearest.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    let again = Model::parse(&model.to_csv()).unwrap();
    assert_eq!(again.classify(&[0.05; FEATURES.len()]).controller, Some("a".to_owned()));
    assert_eq!(
        Model::parse("h\na,x,x a,1\n"),
        Err(ModelError { line: 2, expected: "a finite number for each feature" })
    );
}

#[test]
fn flows_of_one_sender_are_joined_by_ratios_of_distances() {
    let flow = |distances: [(&str, f64); 2]| {
        Match::of(distances.map(|(name, distance)| (name.to_owned(), distance)).to_vec(), 0.5, false)
    };
    let joined = |flows: &[Match]| Match::of_one_sender(flows).unwrap();
    // Neither flow names one; both together lean one way.
    let (one, other) = (flow([("a", 0.2), ("b", 0.3)]), flow([("b", 0.4), ("a", 0.2)]));
    assert_eq!((one.controller.as_deref(), joined(std::slice::from_ref(&one)).controller), (None, None));
    let both = joined(&[one.clone(), other]);
    assert_eq!(both.controller.as_deref(), Some("a"));
    assert!((both.nearest[0].1 - 0.2).abs() < 1e-12 && (both.nearest[1].1 - 0.12_f64.sqrt()).abs() < 1e-12, "{both:?}");
    // One that leans the other way takes it back; so does one that is too far from all.
    assert_eq!(joined(&[one.clone(), flow([("a", 0.3), ("b", 0.2)])]).controller, None);
    assert_eq!(joined(&[flow([("a", 0.2), ("b", 0.4)]), flow([("a", 2.0), ("b", 4.0)])]).controller, None);
    // A flow that is known exactly does not silence the others.
    assert_eq!(joined(&[flow([("a", 0.0), ("b", 0.0005)]), flow([("a", 0.4), ("b", 0.2)])]).nearest[0].0, "b");
    assert_eq!(Match::of_one_sender([]), None);
}

/// A link that a flow fills without a loss shows its own rate, whatever the controller.
#[test]
fn a_flow_that_loses_next_to_nothing_has_no_name() {
    let steady = |lost: fn(u64) -> bool| features(&arrivals(|_| 70, lost), Some(100_000_000)).unwrap();
    // One packet of 10 000 after start-up, and none.
    let (one, none) = (steady(|number| number % 10_000 == 9_999), steady(|_| false));
    let sample = |controller: &str, features| {
        let [controller, stack, sender] = [controller, "x", "x a"].map(str::to_owned);
        Sample { controller, stack, sender, features }
    };
    let mut far = one;
    far.iter_mut().for_each(|value| *value += 10.0);
    let model = Model::train(vec![sample("a", one), sample("b", far)]);
    let (named, quiet) = (model.classify(&one), model.classify(&none));
    assert_eq!((named.controller.as_deref(), named.lost_too_little), (Some("a"), false), "{named:?}");
    assert_eq!((quiet.controller.as_deref(), quiet.lost_too_little), (None, true), "{quiet:?}");
    assert_eq!(quiet.nearest[0].0, "a", "what it is like is said nevertheless");
    // Beside a flow that lost some it counts.
    assert_eq!(Match::of_one_sender([&quiet, &named]).unwrap().controller.as_deref(), Some("a"));
    assert_eq!(Match::of_one_sender([&quiet, &quiet]).unwrap().controller, None);
}

#[test]
fn the_built_in_model_is_read() {
    let model = Model::builtin().unwrap();
    assert!(model.classify(&[0.0; FEATURES.len()]).nearest.len() >= 12);
}
