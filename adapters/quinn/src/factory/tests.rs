use std::sync::mpsc;

use quinn_proto::congestion::Controller as _;
use windlass_adapter::Facts;
use windlass_controllers::{Decision, Event, Fixed, schemes::reno};

use super::*;

#[test]
fn names_what_quinn_cannot_run_or_read() {
    let error = Factory::named("renno").unwrap_err().to_string();
    assert!(error.contains("unknown controller \"renno\""), "{error}");
    for entry in Algorithm::ALL {
        let missing = (entry.default)().needs().without(PROVIDES);
        match Factory::named(entry.name) {
            Ok(_) => assert!(missing.is_empty()),
            Err(error) => {
                assert!(!missing.is_empty());
                assert!(error.to_string().contains("quinn does not report"), "{error}");
            }
        }
    }
}

#[test]
fn every_controller_starts_with_its_own_window() {
    for entry in Algorithm::ALL.iter().filter(|entry| PROVIDES.contains((entry.default)().needs())) {
        let controller = Arc::new(Factory::named(entry.name).unwrap()).build(Instant::now(), 1200);
        assert!(controller.window() > 1200, "{}", entry.name);
        assert_eq!(controller.window(), controller.initial_window(), "{}", entry.name);
    }
}

#[test]
fn a_controller_outside_the_catalogue_plugs_in() {
    let factory = Factory::new(Fixed::<reno::Reno>(reno::Params::default())).unwrap();
    assert_eq!(factory.make(Instant::now(), 1200).metrics().congestion_window, 12_000);
}

#[test]
fn connections_of_one_key_share_a_group() {
    let groups = Groups::default();
    let (now, key) = (Instant::now(), "192.0.2.1");
    let first = Factory::named("reno").unwrap().group(&groups, key);
    let second = Factory::named("reno").unwrap().group(&groups, key);
    let flows = (first.make(now, 1200), first.make(now, 1200), second.make(now, 1200));
    let moved = flows.0.clone_box();
    assert_eq!(groups.with(&key, |group| group.members().len()), Some(3), "a copy is no member");
    drop(flows);
    assert_eq!(groups.with(&key, |group| group.members().len()), Some(1));
    drop(moved);
    assert!(groups.is_empty());
}

#[test]
fn a_recorder_is_made_for_every_flow() {
    struct Tell(mpsc::Sender<u64>);
    impl Recorder for Tell {
        fn record(&mut self, event: &Event, _: &Decision, _: &Facts<'_>) {
            self.0.send(event.now.0).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    let (paths, made) = mpsc::channel();
    let (paths, sender) = (std::sync::Mutex::new(paths), std::sync::Mutex::new(sender));
    let factory = Factory::named("reno").unwrap().seed(7).record_with(move |path| {
        paths.lock().unwrap().send(*path).unwrap();
        Box::new(Tell(sender.lock().unwrap().clone()))
    });
    let origin = Instant::now();
    let mut flows = [factory.make(origin, 1200), factory.make(origin + std::time::Duration::from_nanos(5), 1400)];
    flows[1].on_mtu_update(1300);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [5]);
    let made: Vec<Path> = made.try_iter().collect();
    assert_eq!(made[0], Path { now: Time(0), mtu: 1200, seed: 7 });
    assert_eq!(made[1], Path { now: Time(5), mtu: 1400, seed: 8 });
}
