//! quinn and the simulator, which share nothing but the network model and the
//! controllers, agree on what a controller does to a clean link. `docs/quinn.md` explains
//! the differences that remain.

use windlass_simulator::outcome::{FlowOutcome, FrameOutcome, Outcome};
use windlass_simulator::scenario::{Builtin, Scenario};
use windlass_simulator::sim;
use windlass_stacks::noq::Noq;
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::Stack;

/// Bytes of a full packet that are not the application's: short header with an 8-byte
/// connection ID and a 2-byte packet number, authentication tag, STREAM frame. The
/// simulator has no headers.
const HEADERS: f64 = 33.0;
const PACKET: f64 = 1200.0;

/// One flow on the simulator and on quinn.
struct Pair {
    sim: FlowOutcome,
    quinn: FlowOutcome,
}

impl Pair {
    fn run(mbps: u32, rtt_ms: u32, controller: &str, pacing: bool) -> Pair {
        let text = format!(
            "duration_s = 30\n[dumbbell]\nrate_mbps = {mbps}\nrtt_ms = {rtt_ms}\nbuffer_bdp = 1\n\
             [[flow]]\ncontroller = \"{controller}\"\nack = \"delayed\"\npacing = {pacing}"
        );
        let scenario = Scenario::read("agreement", &text, None).unwrap();
        let sim = sim::run(&scenario).unwrap().flows.remove(0);
        let quinn = Quinn.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap().flows.remove(0);
        Pair { sim, quinn }
    }

    /// Goodput of quinn over that of the simulator, headers taken out.
    fn goodput(&self) -> f64 {
        self.quinn.goodput_mbps * PACKET / (PACKET - HEADERS) / self.sim.goodput_mbps
    }

    fn rtt(&self) -> f64 {
        self.quinn.rtt_mean_ms.unwrap() / self.sim.rtt_mean_ms.unwrap()
    }

    fn print(&self, link: &str) {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        println!(
            "| {link} | {} | {:.2} | {:.2} | {:+.2} % | {:.2} | {:.2} | {:+.2} % | {:.1} | {:.1} | {} | {} |",
            self.sim.controller,
            self.sim.goodput_mbps,
            self.quinn.goodput_mbps,
            percent(self.goodput()),
            self.sim.rtt_mean_ms.unwrap(),
            self.quinn.rtt_mean_ms.unwrap(),
            percent(self.rtt()),
            self.sim.cwnd_mean_packets,
            self.quinn.cwnd_mean_packets,
            self.sim.congestion_events,
            self.quinn.congestion_events,
        );
    }
}

#[track_caller]
fn assert_within(ratio: f64, tolerance: f64) {
    assert!((ratio - 1.0).abs() <= tolerance, "{ratio} is not 1 within {tolerance}");
}

/// Goodput within 1.5 % once headers are taken out, mean RTT and mean window within 2 %.
#[test]
fn one_flow_on_a_clean_link() {
    let _machine = crate::shared();
    println!(
        "| link | controller | sim Mbit/s | quinn | without headers | sim RTT ms | quinn | | sim cwnd | quinn | sim responses | quinn |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (mbps, rtt_ms, controllers) in [(10, 40, &["reno", "cubic", "vegas"][..]), (100, 50, &["reno", "cubic"])] {
        for controller in controllers {
            let pair = Pair::run(mbps, rtt_ms, controller, true);
            pair.print(&format!("{mbps} Mbit/s, {rtt_ms} ms"));
            assert_within(pair.goodput(), 0.015);
            assert_within(pair.rtt(), 0.02);
            assert_within(pair.quinn.cwnd_mean_packets / pair.sim.cwnd_mean_packets, 0.02);
            assert!(pair.quinn.congestion_events.abs_diff(pair.sim.congestion_events) <= 1);
        }
    }
}

/// The evaluation's clean link, where the simulator has quinn's headers and bursts: the
/// numbers as they stand in its report, goodput within 3 % and mean RTT within 5 %.
#[test]
fn the_evaluations_clean_link() {
    let _machine = crate::shared();
    println!("| controller | sim Mbit/s | quinn | | sim RTT ms | quinn | |");
    println!("|---|---|---|---|---|---|---|");
    for controller in ["reno", "cubic", "vegas"] {
        let text = Builtin::named("clean-link").unwrap().text;
        let scenario = Scenario::read("clean-link", text, Some(controller)).unwrap();
        let sim = sim::run(&scenario).unwrap().flows.remove(0);
        let quinn = Quinn.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap().flows.remove(0);
        let goodput = quinn.goodput_mbps / sim.goodput_mbps;
        let (sim_rtt, quinn_rtt) = (sim.rtt_mean_ms.unwrap(), quinn.rtt_mean_ms.unwrap());
        println!(
            "| {controller} | {:.2} | {:.2} | {:+.2} % | {sim_rtt:.2} | {quinn_rtt:.2} | {:+.2} % |",
            sim.goodput_mbps,
            quinn.goodput_mbps,
            100.0 * (goodput - 1.0),
            100.0 * (quinn_rtt / sim_rtt - 1.0),
        );
        assert_within(goodput, 0.03);
        assert_within(quinn_rtt / sim_rtt, 0.05);
    }
}

/// quinn's pacer lets ten packets and more go back to back, the simulator's spaces every
/// packet. Vegas takes the burst's own queue for the path's and leaves slow start early:
/// quinn lies between the simulator with pacing and without.
#[test]
fn bursts_explain_how_vegas_starts() {
    let _machine = crate::shared();
    let (paced, unpaced) = (Pair::run(100, 50, "vegas", true), Pair::run(100, 50, "vegas", false));
    paced.print("100 Mbit/s, 50 ms");
    unpaced.print("100 Mbit/s, 50 ms, unpaced sim");
    assert_eq!(paced.quinn.goodput_mbps, unpaced.quinn.goodput_mbps, "quinn always paces");
    assert!(paced.goodput() < 0.97, "{}", paced.goodput());
    assert!(unpaced.goodput() > 1.0, "{}", unpaced.goodput());
    assert_within(unpaced.rtt(), 0.01);
    // Once it has got there, it stays where the simulator is.
    let last = |flow: &FlowOutcome| flow.series.cwnd_packets.last().copied().unwrap();
    assert_within(last(&paced.quinn) / last(&paced.sim), 0.01);
}

/// Paths that are hard for a controller: its name, the path, and of its flow (a stack's headers are 3 %) how many Mbit/s
/// it gets at least in the simulator and on noq.
const HARD: [(&str, &str, [f64; 2]); 9] = [
    (
        "copa",
        "duration_s = 300\n\
         [dumbbell]\nrate_mbps = 0.128\nrtt_ms = 100\nbuffer_packets = 50\n\
         [[flow]]\n",
        [0.11; 2],
    ),
    (
        "copa",
        "duration_s = 10\n\
         [dumbbell]\nrate_mbps = 100\nrtt_ms = 20\nbuffer_bdp = 1\n\
         [[flow]]\ncount = 10\nstagger_s = 0.02\n",
        [90.0; 2],
    ),
    (
        "bbr",
        "duration_s = 60\n\
         [dumbbell]\nrate_mbps = 100\nrtt_ms = 50\nbuffer_packets = 500\n\
         [[dumbbell.change]]\nat_s = 10\nrate_mbps = 10\n\
         [[flow]]\n",
        [22.0; 2],
    ),
    (
        "bbr",
        "duration_s = 60\n\
         [dumbbell]\nrate_mbps = 20\nrtt_ms = 50\nbuffer_bdp = 1\n\
         [[dumbbell.fault]]\nkind = \"reordering\"\nat_s = 0.001\nfor_ms = 60000\npercent = 5\nby_ms = 10\n\
         [[flow]]\n",
        [17.0, 16.0],
    ),
    (
        "cubic",
        "duration_s = 0.1\n\
         [dumbbell]\nrate_mbps = 10000\nrtt_ms = 0.05\nbuffer_packets = 250\n\
         [[flow]]\n",
        [9000.0; 2],
    ),
    (
        "bbr",
        "duration_s = 60\n\
         [dumbbell]\nrate_mbps = 20\nrtt_ms = 20\nbuffer_bdp = 4\n\
         [[dumbbell.change]]\nat_s = 10\ndelay_ms = 90\n\
         [[dumbbell.fault]]\nkind = \"ce-storm\"\nat_s = 0.001\nfor_ms = 60000\npercent = 100\n\
         [[flow]]\necn = true\n",
        [14.5; 2],
    ),
    (
        "bbr",
        "duration_s = 240\n\
         [dumbbell]\nrate_mbps = 20\nrtt_ms = 20\nbuffer_bdp = 4\nqueue = { kind = \"step\", threshold_packets = 5 }\n\
         [[flow]]\necn = true\n\
         [[flow]]\ncontroller = \"cubic\"\nstart_s = 2\n",
        [5.0; 2],
    ),
    (
        "copa",
        "duration_s = 49\n\
         [dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_packets = 81\n\
         [[dumbbell.change]]\nat_s = 5\ndelay_ms = 980\n\
         [[dumbbell.change]]\nat_s = 24\ndelay_ms = 20\n\
         [[flow]]\n",
        [10.0; 2],
    ),
    (
        "nice",
        "duration_s = 100\n\
         [dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n\
         [[dumbbell.change]]\nat_s = 10\ndelay_ms = 60\n\
         [[dumbbell.change]]\nat_s = 13\ndelay_ms = 20\n\
         [[flow]]\n",
        [16.0; 2],
    ),
];

/// A slow link, many flows, a bandwidth that falls, packets overtaken, a data centre, marks on every ACK, marks of a queue
/// that another fills, paths that were longer for a while: noq is within a tenth of the simulator.
#[test]
fn noq_and_the_simulator_agree_where_it_is_hard() {
    let _machine = crate::shared();
    for (controller, text, least) in HARD {
        let text = text.replacen("[[flow]]\n", "[[flow]]\ncontroller = \"under-test\"\n", 1);
        let scenario = Scenario::read("hard", &text, Some(controller)).unwrap();
        let goodput = |flows: &[FlowOutcome]| {
            let tested = flows.iter().filter(|flow| flow.controller == controller);
            tested.map(|flow| flow.goodput_mbps).sum::<f64>()
        };
        let sim = goodput(&sim::run(&scenario).unwrap().flows);
        let noq = goodput(&Noq.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap().flows);
        println!("{controller}: {sim:.2}, noq {noq:.2}");
        assert!(sim >= least[0] && noq >= least[1], "{controller}: {sim}, noq {noq}\n{text}");
        assert_within(noq / sim, 0.1);
    }
}

/// What an application writes, and links that do not send at a steady rate, are the same to the simulator and to real stacks.
#[test]
fn videos_pauses_and_links_of_every_kind_agree() {
    const LINK: &str = "[dumbbell]\nrtt_ms = 40\nbuffer_packets = 200\n";
    let run = |link: &str, flow: &str| {
        let text = format!("duration_s = 6\n{LINK}{link}\n[[flow]]\ncontroller = \"cubic\"\n{flow}");
        let scenario = Scenario::read("agreement", &text, None).unwrap();
        let sim = sim::run(&scenario).unwrap().flows.remove(0);
        let stacks: [&dyn Stack; 2] = [&Quinn, &Noq];
        let of = |stack: &dyn Stack| stack.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap().flows.remove(0);
        (sim, stacks.map(of))
    };
    for link in [
        "capacity = { file = \"builtin:lte-like\", scale = 0.5 }",
        "rate_mbps = 3\nshaper = { burst_bytes = 300_000, peak_mbps = 20 }",
        "rate_mbps = 3\nbatches = { every_ms = 4, jitter_ms = 2, packets = 16 }",
        "rate_mbps = 3\nqueue = \"pie\"",
        "rate_mbps = 3\nqueue = \"dualpi2\"",
    ] {
        let (sim, stacks) = run(link, "");
        for stack in stacks {
            let ratio = stack.goodput_mbps * PACKET / (PACKET - HEADERS) / sim.goodput_mbps;
            assert!((0.8..1.2).contains(&ratio), "{link}: {} and {} Mbit/s", stack.goodput_mbps, sim.goodput_mbps);
        }
    }
    let (sim, stacks) = run("rate_mbps = 20", "application_mbps = 1\nframes_per_s = 25\nkey_frame_every = 50");
    let expected = sim.frames.unwrap();
    for stack in stacks {
        let frames = stack.frames.unwrap();
        // It begins a handshake later.
        assert!(expected.written - frames.written <= 4 && frames.written - frames.delivered <= 3, "{frames:?}");
        assert_eq!((frames.late, expected.late), (0, 0), "{frames:?}");
        let (theirs, ours) = (frames.delay_median_ms.unwrap(), expected.delay_median_ms.unwrap());
        assert!((theirs - ours).abs() < 8.0, "{theirs} and {ours} ms");
    }
    let chunks = "video = { chunk_s = 0.5, rates_mbps = [0.5, 1, 2], buffer_s = 2 }";
    let (sim, stacks) = run("rate_mbps = 5", chunks);
    let expected = sim.video.unwrap();
    for video in stacks.map(|stack| stack.video.unwrap()) {
        assert!(
            expected.chunks - video.chunks <= 1 && video.stalls == 0 && expected.stalls == 0,
            "{video:?}, {expected:?}"
        );
        let [theirs, ours] = [video, expected].map(|video| video.rate_mbps.unwrap());
        assert!((theirs - ours).abs() < 0.3 && ours > 1.0, "{theirs} and {ours} Mbit/s");
    }
    let (sim, stacks) = run("rate_mbps = 20", "application_mbps = 3\non_s = 1\noff_s = 3");
    for stack in stacks {
        // Two of six seconds.
        let [ours, theirs] = [&sim, &stack].map(|flow| flow.goodput_mbps);
        assert!((ours - 1.0).abs() < 0.05 && (theirs - 1.0).abs() < 0.05, "{ours} and {theirs} Mbit/s");
    }
}

/// A media object sequence: groups on streams of their own, with priorities, and resets.
#[test]
fn media_objects_are_delivered_and_dropped_as_in_the_simulator() {
    let run = |mbps: f64, keys: &str| {
        let text = format!(
            "duration_s = 12\nheader_bytes = 33\npacing_burst_packets = 10\n[dumbbell]\nrate_mbps = {mbps}\nrtt_ms = 40\nbuffer_bdp = 1\n[[flow]]\n\
             controller = \"copa\"\napplication_mbps = 4\nframes_per_s = 30\nkey_frame_every = 60\n{keys}"
        );
        let scenario = Scenario::read("agreement", &text, None).unwrap();
        let frames = |mut outcome: Outcome| {
            let frames = outcome.flows.remove(0).frames.unwrap();
            let objects = frames.objects.unwrap();
            assert_eq!(frames.delivered + objects.dropped + objects.pending, frames.written, "{frames:?}");
            (frames, objects)
        };
        let stacks: [&dyn Stack; 2] = [&Quinn, &Noq];
        let of = |stack: &dyn Stack| frames(stack.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap());
        (frames(sim::run(&scenario).unwrap()), stacks.map(of))
    };
    let median = |frames: &FrameOutcome| frames.delay_median_ms.unwrap();
    let timeout = "group_order = \"descending\"\ndelivery_timeout_ms = 400\nframe_late_ms = 470";
    let ((ours, _), stacks) = run(20.0, timeout);
    for (theirs, objects) in stacks {
        // They begin a handshake later.
        assert!(ours.written - theirs.written <= 4 && objects.pending <= 3, "{theirs:?}, {ours:?}");
        assert_eq!((theirs.late, objects.dropped, objects.groups_dropped), (0, 0, 0), "{theirs:?}");
        assert!((median(&theirs) - median(&ours)).abs() < 8.0, "{theirs:?}, {ours:?}");
        assert!((objects.goodput_mbps.unwrap() - 4.0).abs() < 0.2, "{objects:?}");
    }
    let ((ours, expected), stacks) = run(3.0, timeout);
    assert!(expected.groups_dropped >= 4, "{expected:?}");
    for (theirs, objects) in stacks {
        assert!(objects.groups_dropped.abs_diff(expected.groups_dropped) <= 1, "{objects:?}, {expected:?}");
        let share = |dropped: u64, written: u64| dropped as f64 / written as f64;
        let [dropped, like] = [share(objects.dropped, theirs.written), share(expected.dropped, ours.written)];
        assert!((dropped - like).abs() < 0.1, "{objects:?}, {expected:?}");
        assert!((0.7..1.4).contains(&(median(&theirs) / median(&ours))) && theirs.late == 0, "{theirs:?}, {ours:?}");
    }
    let (_, in_order) = run(3.0, "group_order = \"ascending\"");
    let ((newest, _), stacks) = run(3.0, "group_order = \"descending\"");
    for ((old, _), (new, objects)) in in_order.into_iter().zip(stacks) {
        assert!(objects.dropped == 0 && median(&new) < median(&old) / 2.0, "{new:?}, {old:?}");
        assert!((0.6..1.6).contains(&(median(&new) / median(&newest))), "{new:?}, {newest:?}");
    }
}
