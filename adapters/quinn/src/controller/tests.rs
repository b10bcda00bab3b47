//! quinn's calls reach the flow; what is made of them is tested with
//! [`Path`](windlass_adapter::std_time::Path).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quinn_proto::congestion::{Controller as _, ControllerFactory as _};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::event::{EcnCe, PacketsLost};
use windlass_controllers::{Decision, Event, EventKind};

use super::*;
use crate::Factory;

#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<EventKind>>>);

impl Recorder for Recorded {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push(event.kind);
    }
}

fn controller(text: &str) -> (Controller, Recorded, Instant) {
    let recorded = Recorded::default();
    let (recorder, now) = (recorded.clone(), Instant::now());
    let factory = Factory::named(text).unwrap().record_with(move |_| Box::new(recorder.clone()));
    (factory.make(now, 1200), recorded, now)
}

#[test]
fn quinn_may_fill_the_window() {
    let (controller, ..) = controller("reno:iw=10");
    assert_eq!(controller.window(), 12_001);
    assert_eq!(controller.initial_window(), 12_001);
    assert_eq!(controller.flow().decision().cwnd, 12_000);
}

#[test]
fn metrics_are_the_decision() {
    let (mut controller, _, now) = controller("reno:iw=10");
    controller.on_congestion_event(now, now, false, 1200);
    let metrics = controller.metrics();
    assert_eq!((metrics.congestion_window, metrics.ssthresh, metrics.pacing_rate), (6000, Some(6000), None));
}

#[test]
fn a_congestion_event_without_bytes_is_a_mark() {
    let (mut controller, recorded, now) = controller("reno");
    let later = now + Duration::from_millis(50);
    controller.on_sent(now, 6000, 4);
    controller.on_congestion_event(later, now, false, 0);
    controller.on_congestion_event(later, now, false, 1300);
    controller.on_congestion_event(later, now, true, 1200);
    controller.on_mtu_update(1400);
    assert!(matches!(
        recorded.0.lock().unwrap()[..],
        [
            EventKind::EcnCe(EcnCe { packets: 1, .. }),
            EventKind::PacketsLost(PacketsLost { packets: 2, in_flight_before: 6000, .. }),
            EventKind::PersistentCongestion(PacketsLost { bytes: 1200, .. }),
            EventKind::MtuUpdated(1400),
        ]
    ));
}

#[test]
fn a_path_that_moves_keeps_the_state() {
    let factory = Arc::new(Factory::named("reno:iw=10").unwrap());
    let now = Instant::now();
    let mut running = factory.build(now, 1200);
    running.on_congestion_event(now, now, false, 1200);
    let moved = running.clone_box();
    assert_eq!(moved.window(), 6001);
    assert!(moved.into_any().downcast::<Controller>().is_ok());
}
