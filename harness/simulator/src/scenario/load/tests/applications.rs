//! What applications write and ask for, as it is read.

use super::*;

#[test]
fn requests_that_cannot_be_are_named() {
    let few = problems(&dumbbell("", "requests = 3\ntransfer_bytes = 3000"));
    assert!(few.contains("less than a packet for each of its requests (make transfer_bytes 3600 or more"), "{few}");
    let moved = problems(&dumbbell("", "requests = 2\nfault = [{ kind = \"rebinding\", at_s = 1 }]"));
    assert!(moved.contains("is rebound, but a server that answers requests keeps its address"), "{moved}");
    let scenario = read(&dumbbell("", "receive_window_bytes = 10_000"));
    let refused = crate::sim::run(&scenario).unwrap_err().to_string();
    assert!(refused.contains("the simulator has no receive_window_bytes"), "{refused}");
}

#[test]
fn a_video_in_chunks_is_read() {
    let keys = "video = { chunk_s = 2, rates_mbps = [0.5, 1, 4], buffer_s = 20 }";
    let flow = read(&dumbbell("", keys)).flows.remove(0);
    let video = flow.video.unwrap();
    assert_eq!((video.rates.as_slice(), video.bytes(2), flow.requests), (&[0.5e6, 1e6, 4e6][..], 1_000_000, Some(1)));
    for (keys, expected) in [
        ("video = 4", "video is 4; expected a table, [video]"),
        ("video = { chunk_s = 2, buffer_s = 20 }", "has no rates_mbps"),
        ("video = { rates_mbps = [1], buffer_s = 20 }", "has no chunk_s"),
        ("video = { chunk_s = 2, rates_mbps = [], buffer_s = 20 }", "has no rates (add one, Mbit/s)"),
        ("video = { chunk_s = 2, rates_mbps = [2, 1], buffer_s = 20 }", "expected an ascending list"),
        (
            "video = { chunk_s = 2, rates_mbps = [1], buffer_s = 1 }",
            "its buffer has 1 s, less than a chunk (make it 2 or more)",
        ),
        (
            "video = { chunk_s = 0.001, rates_mbps = [1], buffer_s = 1 }",
            "its smallest chunk has 125 bytes, less than a packet",
        ),
        ("video = { chunk_s = 2, rates_mbps = [1], buffer_s = 2, fps = 3 }", "fps"),
        ("video = { chunk_s = 2, rates_mbps = [1], buffer_s = 2 }\nrequests = 2", "has a video and requests"),
    ] {
        let found = problems(&dumbbell("", keys));
        assert!(found.contains(expected), "{keys}: {found}");
    }
}

#[test]
fn media_object_sequences_are_read() {
    const FRAMES: &str = "application_mbps = 4\nframes_per_s = 25\nkey_frame_every = 50";
    let objects = |keys: &str| read(&dumbbell("", &format!("{FRAMES}\n{keys}"))).flows[0].objects();
    assert_eq!(objects(""), None);
    let ascending = Objects { order: GroupOrder::Ascending, timeout: None };
    assert_eq!(objects("group_order = \"ascending\""), Some(ascending));
    let newest = Objects { order: GroupOrder::Descending, timeout: Some(Span::from_millis(500)) };
    assert_eq!(objects("group_order = \"descending\"\ndelivery_timeout_ms = 500"), Some(newest));
    let newest = "group_order = \"descending\"";
    for (keys, expected) in [
        (
            format!("{FRAMES}\ngroup_order = \"newest\""),
            "group_order is \"newest\"; expected \"ascending\" or \"descending\"",
        ),
        (
            format!("{FRAMES}\ndelivery_timeout_ms = 500"),
            "has delivery_timeout_ms, but no group_order (add group_order)",
        ),
        (
            format!("{FRAMES}\n{newest}\ndelivery_timeout_ms = 0"),
            "delivery_timeout_ms is 0; expected a number above 0 and up to 3600000 ms",
        ),
        (
            format!("application_mbps = 4\nframes_per_s = 25\n{newest}"),
            "has group_order, but no key_frame_every (add key_frame_every, the objects of a group)",
        ),
        (format!("application_mbps = 4\n{newest}"), "has group_order, but no frames_per_s (add frames_per_s)"),
        (newest.to_owned(), "has group_order, but no frames_per_s"),
        (
            format!("{FRAMES}\n{newest}\ntransfer_bytes = 100000"),
            "has group_order and transfer_bytes, but each of its groups has a stream",
        ),
        (format!("{FRAMES}\n{newest}\nrequests = 1"), "has group_order and requests"),
        (format!("{FRAMES}\n{newest}\narrivals = {{ every_s = 1 }}"), "has group_order and arrivals"),
        (
            format!("{FRAMES}\n{newest}\nrecovery = \"tcp-sack\""),
            "has group_order, but recovers as TCP does, which has one stream",
        ),
    ] {
        let found = problems(&dumbbell("", &keys));
        assert!(found.contains(expected), "{keys}: {found}");
    }
}

#[test]
fn videos_and_pauses_are_read() {
    let writes = |keys: &str| read(&dumbbell("", keys)).flows[0].writes.unwrap();
    let on_off = writes("application_mbps = 8\non_s = 0.025\noff_s = 1");
    // Three writes of 10 ms begin in 25 ms.
    assert_eq!([0, 1, 2, 3, 4].map(|number| on_off.at(number).millis()), [0.0, 10.0, 20.0, 1025.0, 1035.0]);
    assert_eq!([0, 9, 10, 24, 1024, 1025].map(|ms| on_off.count(Span::from_millis(ms))), [1, 1, 2, 3, 3, 4]);
    let video = writes(
        "application_mbps = 4\nframes_per_s = 25\nkey_frame_every = 10\nkey_frame_factor = 3\nframe_late_ms = 80",
    );
    assert_eq!((video.every, video.frames.unwrap().late), (Span::from_millis(40), Span::from_millis(80)));
    let sizes: Vec<u64> = (0..11).map(|number| video.total(number + 1) - video.total(number)).collect();
    // Ten frames of 20 kB on average: one of 50 kB, nine of a third of that.
    assert_eq!((video.total(10), sizes[0], sizes[10]), (200_000, 50_000, 50_000));
    assert!(sizes[1..10].iter().all(|size| (16_666..=16_667).contains(size)), "{sizes:?}");
    for (keys, expected) in [
        ("application_mbps = 4\non_s = 1", "has on_s, but no off_s (add off_s)"),
        ("application_mbps = 4\noff_s = 1", "has off_s, but no on_s"),
        ("on_s = 1\noff_s = 1", "has on_s, but no application_mbps"),
        ("frames_per_s = 25", "has frames_per_s, but no application_mbps"),
        ("application_mbps = 4\nframe_late_ms = 25", "has frame_late_ms, but no frames_per_s"),
        ("application_mbps = 4\nencoder_least_mbps = 1", "has encoder_least_mbps, but no frames_per_s"),
        (
            "application_mbps = 4\nframes_per_s = 25\nencoder_lag_ms = 100",
            "has encoder_lag_ms, but no encoder_least_mbps (add encoder_least_mbps)",
        ),
        (
            "application_mbps = 4\nframes_per_s = 25\nencoder_least_mbps = 5",
            "has an encoder from 5 Mbit/s on, but application_mbps is 4 (make it 4 or less)",
        ),
        (
            "application_mbps = 4\nframes_per_s = 25\nencoder_least_mbps = 0.1",
            "its smallest frame has 500 bytes, less than a packet",
        ),
        (
            "application_mbps = 4\nframes_per_s = 25\nkey_frame_factor = 2",
            "has key_frame_factor, but no key_frame_every",
        ),
        ("application_mbps = 4\nframes_per_s = 2000", "frames_per_s is 2000; expected a number from 0.1 to 1000"),
        ("application_mbps = 0.1\nframes_per_s = 25", "its smallest frame has 500 bytes, less than a packet"),
        ("application_mbps = 4\nframes_per_s = 25\nrequests = 2", "has frames, which go on one stream, and 2 requests"),
    ] {
        let found = problems(&dumbbell("", keys));
        assert!(found.contains(expected), "{keys}: {found}");
    }
}
