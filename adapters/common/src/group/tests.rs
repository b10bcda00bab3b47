use std::thread;

use windlass_controllers::event::PacketsLost;
use windlass_controllers::{Event, EventKind, Path, Time};

use super::*;
use crate::{Flow, NamedController};

const PATH: Path = Path::new(Time::ZERO, 1200, 1);

fn flow<K: Hash + Eq>(name: &str, groups: &Groups<NamedController, K>, key: K) -> Flow {
    Flow::grouped(NamedController::named(name).unwrap(), &PATH, groups, key)
}

fn loss(now: u64) -> Event {
    let lost = PacketsLost::new(1200, 1, Time(now - 1), 10_800).with_in_flight_before(12_000);
    Event::new(Time(now), EventKind::PacketsLost(lost))
}

fn visited<K>(groups: &Groups<NamedController, K>) -> usize {
    lock(&groups.by_key).visited
}

#[test]
fn a_join_does_not_look_at_all_groups() {
    const PEERS: usize = if cfg!(miri) { 100 } else { 30_000 };
    let groups = Groups::default();
    let flows: Vec<_> = (0..PEERS).map(|peer| flow("reno", &groups, peer)).collect();
    assert_eq!((groups.len(), visited(&groups)), (PEERS, 0));
    // As many come as leave: each join pays for a bounded number of those that left.
    let mut flows = std::collections::VecDeque::from(flows);
    for peer in PEERS..3 * PEERS {
        flows.pop_front();
        flows.push_back(flow("reno", &groups, peer));
    }
    assert_eq!(groups.len(), PEERS);
    assert!(visited(&groups) <= 3 * 2 * PEERS, "{} visited", visited(&groups));
    assert!(lock(&groups.by_key).kept <= 2 * PEERS + 1, "ended groups are taken out");
    drop(flows);
    assert!(groups.is_empty());
}

#[test]
fn flows_that_come_and_go_with_the_same_key_leave_nothing_behind() {
    let groups = Groups::default();
    let times = if cfg!(miri) { 100 } else { 10_000 };
    for _ in 0..times {
        drop(flow("reno", &groups, 1));
    }
    assert!(groups.is_empty());
    assert_eq!(lock(&groups.by_key).groups[&1].len(), 1);
    assert!(visited(&groups) <= times, "{} visited", visited(&groups));
}

#[test]
fn more_flows_of_a_key_than_a_group_holds_form_another() {
    let groups = Groups::default();
    let sizes = |groups: &Groups<NamedController, u8>| {
        let keys = lock(&groups.by_key);
        let living: Vec<_> = keys.groups[&1].iter().filter_map(Weak::upgrade).collect();
        drop(keys);
        living.iter().map(|group| group.lock().unwrap().members().len()).collect::<Vec<_>>()
    };
    let mut flows: Vec<_> = (0..2 * MAX_MEMBERS + 1).map(|_| flow("a-tcp-p", &groups, 1)).collect();
    assert_eq!(sizes(&groups), [MAX_MEMBERS, MAX_MEMBERS, 1]);
    assert_eq!(groups.len(), 3);
    assert_eq!(groups.with(&1, |group| group.members().len()), Some(1), "the group that the next one joins");
    flows.push(flow("a-tcp-p", &groups, 1));
    flows.drain(..MAX_MEMBERS);
    assert_eq!(sizes(&groups), [MAX_MEMBERS, 2]);
    flows.clear();
    assert!(groups.is_empty());
    drop(flow("a-tcp-p", &groups, 1));
    assert_eq!(lock(&groups.by_key).groups[&1].len(), 1);
}

#[test]
fn exactly_one_of_the_clones_dropped_at_once_leaves() {
    /// Counts the events that say a member left.
    #[derive(Clone, Default)]
    struct Left(Arc<AtomicUsize>);
    impl crate::Recorder for Left {
        fn record(&mut self, event: &Event, _: &windlass_controllers::Decision, _: &crate::StateVariables<'_>) {
            self.0.fetch_add(usize::from(matches!(event.kind, EventKind::Left)), Ordering::Relaxed);
        }
    }
    let groups = Groups::default();
    for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
        let left = Left::default();
        let (mut first, other) = (flow("tcp-p", &groups, 1), flow("tcp-p", &groups, 1));
        let mut second = first.clone();
        first.record(Box::new(left.clone()));
        second.record(Box::new(left.clone()));
        let start = std::sync::Barrier::new(2);
        thread::scope(|scope| {
            for flow in [first, second] {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    drop(flow);
                });
            }
        });
        assert_eq!(left.0.load(Ordering::Relaxed), 1);
        assert_eq!(groups.with(&1, |group| group.members().len()), Some(1));
        drop(other);
    }
}

#[test]
fn a_member_is_asked_while_its_group_is_held() {
    let groups = Groups::default();
    let mut first = flow("tcp-p", &groups, 1);
    let mut second = flow("tcp-p", &groups, 1);
    let own = first.on_event(&loss(5)).cwnd;
    let last = *second.on_event(&loss(6));
    assert!(first.cwnd() < own, "its sibling's loss lowered its window");
    let seen = groups.with(&1, |group| {
        assert_eq!(group.members().len(), 2);
        assert_eq!(groups.len(), 1);
        let mut variables = 0;
        first.inspect(&mut |_, _| variables += 1);
        assert_eq!(variables, 0);
        (first.cwnd(), second.decision())
    });
    assert_eq!(seen, Some((own, last)), "the decisions of their own latest events");
    // Elsewhere it is asked for as ever.
    first.on_event(&loss(7));
    assert!(first.decision().cwnd > 0);
}

#[test]
fn a_member_dropped_while_its_group_is_held_leaves() {
    let groups = Groups::default();
    let (first, second) = (flow("tcp-p", &groups, 1), flow("tcp-p", &groups, 1));
    groups.with(&1, |_| drop(first));
    assert_eq!(groups.with(&1, |group| group.members().len()), Some(1));
    groups.with(&1, |_| drop(second));
    assert!(groups.is_empty());
}

#[test]
fn what_cannot_be_done_while_a_group_is_held_says_so() {
    let groups = Groups::default();
    let mut member = flow("tcp-p", &groups, 1);
    let attempt = |what: &mut dyn FnMut()| {
        let held = || groups.with(&1, |_| what());
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(held)).unwrap_err();
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|&text| text.into()))
    };
    let said = attempt(&mut || {
        let _ = member.on_event(&loss(5));
    });
    assert!(said.unwrap().contains("no event of a member occurs inside Groups::with"));
    let said = attempt(&mut || drop(flow("tcp-p", &groups, 1)));
    assert!(said.unwrap().contains("no flow joins a group inside Groups::with"));
    let said = attempt(&mut || {
        let _ = groups.with(&1, |_| ());
    });
    assert!(said.unwrap().contains("not called inside itself"));
    // And nothing stays locked.
    member.on_event(&loss(6));
    assert_eq!(groups.with(&1, |group| group.members().len()), Some(1));
}
