//! Media object sequences: the order of groups, the delivery timeout, what becomes of every object.

use windlass_simulator::outcome::{FlowOutcome, FrameOutcome, ObjectOutcome};
use windlass_simulator::scenario::Builtin;
use windlass_simulator::sim;

use crate::common::scenario;

/// Groups of 2 s, 30 objects a second, 4 Mbit/s.
const MEDIA: &str = "application_mbps = 4\nframes_per_s = 30\nkey_frame_every = 60\n";

/// Half a minute of objects on a link of `mbps`, 40 ms and one BDP, with these `keys`.
fn run(controller: &str, mbps: f64, keys: &str) -> FlowOutcome {
    let text = format!(
        "duration_s = 30\nsample_ms = 100\n[dumbbell]\nrate_mbps = {mbps}\nrtt_ms = 40\nbuffer_bdp = 1\n\
         [[flow]]\ncontroller = \"under-test\"\n{MEDIA}{keys}"
    );
    sim::run(&scenario(&text, controller)).unwrap().flows.remove(0)
}

fn frames(controller: &str, mbps: f64, keys: &str) -> (FrameOutcome, ObjectOutcome) {
    let frames = run(controller, mbps, keys).frames.unwrap();
    (frames, frames.objects.unwrap())
}

#[test]
fn a_sequence_keeps_its_rate_where_there_is_room_and_drops_nothing() {
    let one_stream = run("cubic", 20.0, "").frames.unwrap();
    assert_eq!(one_stream.objects, None);
    for keys in [
        "group_order = \"ascending\"",
        "group_order = \"descending\"",
        "group_order = \"descending\"\ndelivery_timeout_ms = 500",
    ] {
        let (frames, objects) = frames("cubic", 20.0, keys);
        assert_eq!((frames.written, frames.late, objects.groups), (901, 0, 16), "{keys}: {frames:?}");
        assert_eq!((objects.groups_dropped, objects.dropped), (0, 0), "{keys}: {objects:?}");
        assert!(objects.pending <= 3, "{keys}: {objects:?}");
        assert!(objects.goodput_mbps.is_some_and(|mbps| (3.95..=4.05).contains(&mbps)), "{keys}: {objects:?}");
        // Nothing is to be preferred where nothing waits.
        let [groups, single] = [frames, one_stream].map(|frames| frames.delay_median_ms.unwrap());
        assert!((groups - single).abs() < 2.0, "{keys}: {groups} and {single} ms");
    }
}

#[test]
fn newest_first_spares_new_objects_the_wait_for_old_ones() {
    for controller in ["cubic", "bbr", "copa", "scream"] {
        let median =
            |order: &str| frames(controller, 3.0, &format!("group_order = \"{order}\"")).0.delay_median_ms.unwrap();
        let (in_order, newest) = (median("ascending"), median("descending"));
        // What is written and cannot be sent grows by a quarter of the time; of a new group it begins anew.
        assert!(in_order > 2000.0 && newest < in_order / 4.0, "{controller}: {newest} and {in_order} ms");
    }
}

#[test]
fn a_timeout_drops_and_nothing_comes_later() {
    for controller in ["cubic", "bbr", "copa", "scream"] {
        for order in ["ascending", "descending"] {
            // What was sent at the last moment takes half of the 40 ms and what waits before it: 40 ms in the buffer and a packet.
            let keys = format!("group_order = \"{order}\"\ndelivery_timeout_ms = 400\nframe_late_ms = 465");
            let flow = run(controller, 3.0, &keys);
            let frames = flow.frames.unwrap();
            let objects = frames.objects.unwrap();
            assert_eq!(frames.late, 0, "{controller}, {order}: {frames:?}");
            assert!(objects.groups_dropped >= 10 && objects.dropped > 50, "{controller}, {order}: {objects:?}");
            assert!(frames.delivered > 100, "{controller}, {order}: {frames:?}");
            // Each object became one of three things, and what is under way is no older than the timeout.
            assert_eq!(frames.delivered + objects.dropped + objects.pending, frames.written, "{frames:?}");
            assert!(objects.pending <= 12, "{controller}, {order}: {objects:?}");
            // What of a group came before it was dropped is part of what the path carried.
            let goodput = objects.goodput_mbps.unwrap();
            assert!(
                goodput > 0.8 && goodput <= flow.goodput_mbps,
                "{controller}, {order}: {goodput} of {}",
                flow.goodput_mbps
            );
        }
    }
}

#[test]
fn after_a_blackout_the_receiver_goes_on_with_a_later_group() {
    let blackout = |keys: &str| {
        let text = format!(
            "duration_s = 20\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n\
             fault = [{{ kind = \"blackout\", at_s = 8.5, for_ms = 3000 }}]\n[[flow]]\ncontroller = \"cubic\"\n{MEDIA}{keys}"
        );
        sim::run(&scenario(&text, "cubic")).unwrap().flows.remove(0).frames.unwrap()
    };
    let all = blackout("group_order = \"ascending\"");
    let objects = all.objects.unwrap();
    assert!((objects.dropped, all.late > 80) == (0, true), "{all:?}");
    let newest = blackout("group_order = \"ascending\"\ndelivery_timeout_ms = 500");
    let objects = newest.objects.unwrap();
    // Those of 8 s and 10 s; that of 12 s if the sender finds out late that the path is back.
    assert!((2..=3).contains(&objects.groups_dropped), "{newest:?}");
    assert!(newest.late < all.late / 4 && newest.delivered < all.delivered, "{newest:?} {all:?}");
}

#[test]
fn the_example_drops_while_its_path_is_too_small_and_no_longer() {
    let text = Builtin::named("media-objects").unwrap().text;
    for controller in ["cubic", "bbr", "copa", "scream"] {
        let frames = |text: &str| sim::run(&scenario(text, controller)).unwrap().flows[0].frames.unwrap();
        let objects = frames(text).objects.unwrap();
        // Of sixteen groups those of 10 to 20 s, and one on either side.
        assert!((1..=7).contains(&objects.groups_dropped), "{controller}: {objects:?}");
        let wide = frames(&text.replace("rate_mbps = 3 }", "rate_mbps = 30 }")).objects.unwrap();
        assert!(wide.groups_dropped < objects.groups_dropped, "{controller}: {wide:?} {objects:?}");
    }
}

#[test]
fn an_encoder_that_follows_the_rate_drops_less() {
    let keys = "group_order = \"descending\"\ndelivery_timeout_ms = 400\n";
    let (_, fixed) = frames("scream", 3.0, keys);
    let (follows, less) = frames("scream", 3.0, &format!("{keys}encoder_least_mbps = 0.5"));
    assert!(follows.encoded_mbps.is_some_and(|mbps| (0.5..3.0).contains(&mbps)), "{follows:?}");
    assert!(less.dropped < fixed.dropped / 2, "{less:?} {fixed:?}");
}

#[test]
fn every_group_has_a_stream_in_the_log() {
    use windlass_simulator::sim::{QlogSettings, Simulation};
    let keys = "group_order = \"descending\"\ndelivery_timeout_ms = 400";
    let text = format!(
        "duration_s = 9\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n[[flow]]\ncontroller = \"cubic\"\n{MEDIA}{keys}"
    );
    let mut simulation = Simulation::new(&scenario(&text, "cubic")).unwrap();
    let trace = simulation.qlog(0, Vec::new(), QlogSettings::default());
    let _ = simulation.finish();
    let log = String::from_utf8(trace.finish().unwrap().unwrap()).unwrap();
    for (id, begins) in [(0, false), (2, true), (6, true), (18, true), (22, false)] {
        let first = format!("\"stream_id\":{id},\"offset\":0,");
        assert_eq!(log.contains(&first), begins, "stream {id}");
    }
}
