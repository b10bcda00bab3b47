//! Queue disciplines and ways, as they are read.

use super::*;

#[test]
fn queueing_times_take_their_room() {
    let sizes = |flow: &str| {
        let scenario = read(&dumbbell("", flow));
        let flow = scenario.flows.last().unwrap().clone();
        (flow.wire_bytes(), flow.ack_wire_bytes)
    };
    assert_eq!(sizes(""), (1228, 68));
    assert_eq!(sizes("[[flow]]\ncontroller = \"rovegas\"\n"), (1236, 76));
    assert_eq!(sizes("[[flow]]\ncontroller = \"rovegas\"\noption_bytes = 0\n"), (1228, 68));
    assert_eq!(sizes("[[flow]]\ncontroller = \"vegas\"\noption_bytes = 8\n"), (1236, 76));
}

#[test]
fn queues_are_read_with_their_defaults() {
    let queue = |text: &str| read(&dumbbell(text, "")).topology.links[0].queue.clone();
    let step = |threshold, sojourn, marks| Queue::Step(StepSpec { threshold, sojourn, marks });
    let after = |millis| Some(Span::from_millis(millis));
    assert_eq!(queue("queue = { kind = \"step\", threshold_packets = 65 }"), step(Some(65), None, Marks::Any));
    assert_eq!(
        queue("queue = { kind = \"step\", sojourn_ms = 2, marks = \"ect1\" }"),
        step(None, after(2), Marks::Ect1)
    );
    let codel = CoDelSpec::new(1228);
    assert_eq!(queue("queue = \"codel\""), Queue::CoDel(codel));
    assert_eq!(queue("queue = \"fq-codel\""), Queue::FqCoDel(FqCoDelSpec::new(1228)));
    assert_eq!(queue("queue = \"drr\""), Queue::Drr { quantum: 1228, queues: 1024 });
    assert_eq!(
        queue("queue = { kind = \"drr\", quantum_bytes = 99, queues = 8 }"),
        Queue::Drr { quantum: 99, queues: 8 }
    );
    assert_eq!(queue("queue = \"dualpi2\""), Queue::DualPi2(DualPi2Spec::new()));
    assert_eq!(
        queue("queue = { kind = \"dualpi2\", target_ms = 20, coupling = 1.5, min_threshold_us = 500, range_us = 0 }"),
        Queue::DualPi2(DualPi2Spec {
            target: Span::from_millis(20),
            coupling: 1.5,
            min_threshold: Span::from_micros(500),
            range: Span::ZERO,
            ..DualPi2Spec::new()
        })
    );
    assert_eq!(
        queue("queue = { kind = \"fq-codel\", quantum_bytes = 300, queues = 64, mtu_bytes = 1500 }"),
        Queue::FqCoDel(FqCoDelSpec { codel: CoDelSpec::new(1500), quantum: 300, queues: 64 })
    );
    assert_eq!(
        queue("queue = { kind = \"codel\", target_ms = 1, interval_ms = 20, mtu_bytes = 1500, on_hit = \"drop\" }"),
        Queue::CoDel(CoDelSpec {
            target: Span::from_millis(1),
            interval: Span::from_millis(20),
            mtu: 1500,
            mark: false
        })
    );
    assert_eq!(queue("queue = \"l4s\""), Queue::L4s { sojourn: Span::from_millis(1), classic: None });
    let red = queue("queue = { kind = \"l4s\", classic = \"red\", min_th_packets = 5, max_th_packets = 15 }");
    let classic = Some(RedSpec::new(5.0, 15.0, 0.1, 1228.0));
    assert_eq!(red, Queue::L4s { sojourn: Span::from_millis(1), classic });
    assert_eq!(
        queue("queue = { kind = \"pcn\", ac_rate_mbps = 40, ft_rate_mbps = 80 }"),
        Queue::Pcn(PcnSpec::new(40e6, 80e6))
    );
}

#[test]
fn mistakes_of_queues_and_ways_are_named_too() {
    for (keys, flow, said) in [
        (
            "queue = \"pcn\"",
            "",
            "3:1: [dumbbell]: queue = \"pcn\" needs rates (write [link.queue] (or [dumbbell.queue]) with kind = \"pcn\" and its rates)",
        ),
        (
            "queue = { kind = \"step\" }",
            "",
            "7:9: queue of [dumbbell] has neither threshold_packets nor sojourn_ms (give one of them, or both: either will do for a mark)",
        ),
        (
            "queue = { kind = \"pcn\", ac_rate_mbps = 4, ft_rate_mbps = 3 }",
            "",
            "7:58: queue of [dumbbell]: ft_rate_mbps is 3, less than ac_rate_mbps, 4",
        ),
        (
            "queue = { kind = \"pcn\", ac_rate_mbps = 4, ft_rate_mbps = 8, ac_bucket_ms = 5, ac_threshold_ms = 6 }",
            "",
            "7:9: queue of [dumbbell]: ac_threshold_ms is more than ac_bucket_ms (the bucket never holds that much, so everything would be marked)",
        ),
        (
            "queue = { kind = \"codel\", target_ms = 0 }",
            "",
            "7:39: queue of [dumbbell]: target_ms is 0; expected a number above 0 and up to 3600000 ms",
        ),
        (
            "queue = { kind = \"fq-codel\", queues = 0 }",
            "",
            "7:39: queue of [dumbbell]: queues is 0; expected a whole number from 1 to 65536 queues",
        ),
        (
            "",
            "direction = \"back\"\n",
            "8:1: flow \"flow1\" goes back, where nothing queues (add [dumbbell.back], with rate_mbps or whatever else its way back has)",
        ),
        ("", "group = \"g\"\n[[group]]\nname = \"g\"\n", "12:8: group \"g\": reno has no group weight (tcp-p does)"),
        (
            "",
            "group = \"good\"\n[[group]]\nname = \"goood\"\nchange = [{ at_s = 1 }]\n",
            "12:8: no flow is in the group \"goood\" (did you mean \"good\"?)\n13:11: a change of group \"goood\" changes nothing (give k)",
        ),
        (
            "",
            "idle_timeout_s = 4\n",
            "10:18: flow \"flow1\" has idle_timeout_s, but its receiver never falls silent (add vanishes_s)",
        ),
        (
            "",
            "recovery = \"tcp-reno\"\ndupthresh_frac = 100\n",
            "11:18: flow \"flow1\" has dupthresh_frac, but takes three duplicate ACKs for a loss (leave it out, or recovery)",
        ),
        (
            "",
            "arrivals = { times = 3 }\n",
            "10:12: arrivals of flow \"flow1\" has neither every_s nor poisson_s (give every_s, the time between arrivals, or poisson_s, its mean if it is random)",
        ),
        (
            "",
            "arrivals = { every_s = 3, poisson_s = 2 }\n",
            "10:39: arrivals of flow \"flow1\" has both every_s and poisson_s (give one of them)",
        ),
        (
            "",
            "arrivals = { every_s = 3, size_shape = 2 }\n",
            "10:40: arrivals of flow \"flow1\" has size_shape but no size_bytes (add size_bytes, the mean)",
        ),
        (
            "",
            "arrivals = { poisson_s = 1e-5 }\n",
            "8:1: flow \"flow1\" would be about 1000001 flows; expected at most 100000 (let fewer come, or less often)",
        ),
        (
            "",
            "[[web]]\ncontroller = \"reno\"\ntransfer_bytes = 9\n",
            "10:1: web \"web1\": objects have sizes of their own (give object_packets, their mean)",
        ),
        (
            "",
            "access_buffer_packets = 4\n",
            "10:25: flow \"flow1\" has access_buffer_packets but no access_mbps (add access_mbps)",
        ),
        (
            "",
            "[[traffic]]\nkind = \"poisson\"\nrate_mbps = 1\nmax_rate_mbps = 4\n",
            "13:17: traffic \"traffic1\": max_rate_mbps clips rates that are drawn anew, but none are (add redraw_s)",
        ),
    ] {
        assert_eq!(problems(&dumbbell(keys, flow)), said);
    }
}
