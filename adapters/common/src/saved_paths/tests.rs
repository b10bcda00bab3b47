//! `RFC 9959 §3.1, §3.2, §3.5, §4.3.1`.

use windlass_controllers::event::{PacketSent, PacketsAcked, PacketsLost, RttSample};
use windlass_controllers::{Algorithm, EventKind, Signals};

use super::*;
use crate::{Flow, FlowBuilder, NamedController, NewFlow, Peer, Stack};

const MTU: u64 = 1200;
const RTT: Span = Span::from_millis(100);
const STACK: Stack = Stack { name: "test", provides: Signals::ALL };

fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

fn acked(packets: u64, sent_at: Time, delivered: u64, in_flight: u64) -> EventKind {
    let acked = PacketsAcked::new(packets * MTU, packets as u32, sent_at, in_flight * MTU, delivered * MTU);
    EventKind::PacketsAcked(acked.with_rtt(Some(RttSample::new(RTT, RTT, Span(0), RTT))))
}

/// A recorder that saves `packets` a round trip under `key` when it is dropped.
fn observe(paths: &SavedPaths<u8>, key: u8, path: &Path, packets: u64) {
    let mut observer = paths.observe(key, path, None);
    let decision = Decision::new(0);
    for round in 0..3 {
        let sent_at = path.now + Span(round * RTT.0);
        let event = Event::new(sent_at + RTT, acked(packets, sent_at, packets * (round + 1), 0));
        observer.record(&event, &decision, &|_| {});
    }
}

fn path(ms: u64) -> Path {
    Path::new(at(ms), MTU as u32, 1)
}

fn settings() -> ResumeSettings {
    ResumeSettings::default()
}

/// "A sender MUST NOT retain more than one set of CC parameters for a Remote Endpoint, but the set […] SHOULD be updated
/// (or replaced) after a later observation".
#[test]
fn a_later_observation_replaces_an_earlier_one() {
    let paths = SavedPaths::new(settings().with_max_jump(123));
    observe(&paths, 1, &path(0), 100);
    observe(&paths, 1, &path(1000), 200);
    observe(&paths, 2, &path(1000), 39);
    assert_eq!(paths.len(), 1, "39 packets are less than four initial windows");
    let saved = paths.resume(&1, path(2000)).saved;
    assert_eq!(saved, Some(SavedPath::new(200 * MTU, RTT).with_max_jump(123)));
    assert_eq!(paths.resume(&2, path(2000)).saved, None, "another path");
}

/// "If another connection has already started to use the saved_cwnd, the sender MUST exit Careful Resume".
#[test]
fn one_flow_alone_uses_what_is_saved() {
    let paths = SavedPaths::new(settings());
    observe(&paths, 1, &path(0), 100);
    let first = paths.resume(&1, path(1000));
    assert!(first.saved.is_some());
    assert_eq!(paths.resume(&1, path(1000)).saved, None);
    drop(paths.observe(1, &first, None));
    assert!(paths.resume(&1, path(1000)).saved.is_some(), "it is over and did not use it");
}

/// "If the Lifetime of the observed CC parameters is exceeded, this set of CC parameters are not used, the saved CC
/// parameters are deleted".
#[test]
fn what_is_older_than_its_lifetime_is_deleted() {
    let paths = SavedPaths::new(settings().with_lifetime(Span::from_millis(5000)));
    observe(&paths, 1, &path(0), 100);
    let ended = 300;
    let in_time = paths.resume(&1, path(ended + 5000));
    assert!(in_time.saved.is_some());
    drop(paths.observe(1, &in_time, None));
    assert_eq!(paths.resume(&1, path(ended + 5001)).saved, None);
    assert!(paths.is_empty());
}

#[test]
fn the_path_observed_longest_ago_makes_room() {
    let paths = SavedPaths::new(settings().with_max_paths(2));
    for (key, ms) in [(1, 0), (2, 10), (1, 20), (3, 30)] {
        observe(&paths, key, &path(ms), 100);
    }
    let known: Vec<u8> = (1..=3).filter(|key| paths.resume(key, path(1000)).saved.is_some()).collect();
    assert_eq!(known, [1, 3]);
    paths.clear();
    assert!(paths.is_empty());
    let none = SavedPaths::new(settings().with_max_paths(0));
    observe(&none, 1, &path(0), 100);
    assert!(none.is_empty());
}

fn builder(text: &str, paths: &SavedPaths<u8>) -> FlowBuilder {
    FlowBuilder::named(text, &STACK).expect("the stack has every signal").resume(paths, |_| 1)
}

fn start(builder: &FlowBuilder, ms: u64) -> Flow {
    let peer = Peer::from(([192, 0, 2, 7], 443));
    builder.start(&builder.choose(&peer), peer, at(ms), MTU as u32)
}

/// A flow of `builder` that has just resumed.
fn resumed(builder: &FlowBuilder) -> Flow {
    let mut flow = start(builder, 1000);
    flow.on_event(&Event::new(at(1000), EventKind::PacketSent(PacketSent::new(MTU, 10 * MTU))));
    flow.on_event(&Event::new(at(1100), acked(10, at(1000), 10, 0)));
    flow
}

#[test]
fn a_flow_goes_on_with_half_of_what_was_saved() {
    for text in ["cubic", "reno", "vegas"] {
        let paths = SavedPaths::new(settings());
        observe(&paths, 1, &path(0), 400);
        let builder = builder(text, &paths);
        let mut flow = resumed(&builder);
        assert_eq!((flow.cwnd() / MTU, flow.wants_packet_sent()), (200, true), "{text}");
        assert_eq!(start(&builder, 1000).cwnd() / MTU, 10, "{text}: it is in use");
        // It sends nothing, which ends it; what is left is a flow like any other.
        flow.on_event(&Event::new(at(1300), EventKind::TimerExpired));
        assert!(!flow.wants_packet_sent(), "{text}");
        flow.on_event(&Event::new(at(1300), EventKind::TimerExpired));
        assert!(matches!(flow.state(), crate::Named::Catalogue(_)), "{text}");
        drop(flow);
        assert_eq!(resumed(&builder).cwnd() / MTU, 200, "{text}: nothing is known against it");
    }
}

/// "The set of saved CC parameters for the path are deleted, to prevent these from being used again by later flows."
#[test]
fn a_safe_retreat_deletes_what_was_saved() {
    let paths = SavedPaths::new(settings());
    observe(&paths, 1, &path(0), 400);
    let mut flow = resumed(&builder("cubic", &paths));
    assert_eq!(paths.len(), 1);
    flow.on_event(&Event::new(at(1110), EventKind::PacketSent(PacketSent::new(MTU, 10 * MTU))));
    let lost = PacketsLost::new(MTU, 1, at(1110), 100 * MTU);
    flow.on_event(&Event::new(at(1150), EventKind::PacketsLost(lost)));
    assert!(paths.is_empty());
}

/// They share more than what is saved of a path.
#[test]
fn flows_of_groups_do_not_resume_and_all_others_do() {
    for entry in Algorithm::ALL {
        let text = entry.name;
        let fresh = NamedController::read(text).unwrap();
        let paths = SavedPaths::new(settings());
        observe(&paths, 1, &path(0), 400);
        let flow = start(&builder(text, &paths), 1000);
        let groups = fresh.needs().contains(Signals::GROUPS);
        assert_eq!(paths.resume(&1, path(1000)).saved.is_some(), groups, "{text}: only one flow at a time has it");
        let plain = Flow::ungrouped(fresh, &path(1000));
        assert_eq!(flow.cwnd(), plain.cwnd(), "{text}: nothing is confirmed yet");
    }
}

/// The path that a log begins with has what was saved, so that a replay resumes as well.
#[test]
fn recorders_see_the_path_that_is_resumed() {
    let paths = SavedPaths::new(settings());
    observe(&paths, 1, &path(0), 400);
    let seen = Arc::new(Mutex::new(None));
    let builder = {
        let seen = Arc::clone(&seen);
        builder("cubic", &paths).record_with(move |new: &NewFlow<'_, NamedController>| {
            *seen.lock().unwrap() = new.path.saved;
            struct Nothing;
            impl Recorder for Nothing {
                fn record(&mut self, _: &Event, _: &Decision, _: &StateVariables<'_>) {}
            }
            Box::new(Nothing)
        })
    };
    drop(start(&builder, 1000));
    assert_eq!(*seen.lock().unwrap(), Some(SavedPath::new(400 * MTU, RTT)));
}
