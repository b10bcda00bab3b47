//! noq's calls reach the flow; what is made of them is tested with
//! [`Path`](windlass_adapter::std_time::Path).

use std::sync::{Arc, Mutex};

use noq_proto::congestion::{Controller as _, ControllerFactory as _};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::event::{EcnCe, IdleRestart, PacketsLost, SpuriousLoss};
use windlass_controllers::fixed_window::{self, FixedWindow};
use windlass_controllers::{Algorithm, Decision, Event, EventKind, Span, Static, Time};

use super::*;
use crate::{Factory, PROVIDES};

#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<Event>>>);

impl Recorder for Recorded {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push(*event);
    }
}

impl Recorded {
    fn take(&self) -> Vec<EventKind> {
        self.0.lock().unwrap().drain(..).map(|event| event.kind).collect()
    }
}

fn controller(text: &str) -> (Controller, Recorded, Instant) {
    let recorded = Recorded::default();
    let (recorder, now) = (recorded.clone(), Instant::now());
    let factory = Factory::named(text).unwrap().origin(now).record_with(move |_| Box::new(recorder.clone()));
    (factory.make(now, 1200), recorded, now)
}

#[test]
fn a_window_is_what_noq_may_fill() {
    let (mut controller, _, now) = controller("reno:iw=10");
    assert_eq!((controller.window(), controller.initial_window()), (12_000, 12_000));
    controller.on_congestion_event(now, now, true, false, 12_000, 9);
    assert!(controller.window() >= 2400 && controller.metrics().congestion_window >= 2400);
    assert_eq!(controller.initial_window(), 12_000);
}

#[test]
fn losses_are_counted_and_numbered() {
    let (mut controller, recorded, now) = controller("reno");
    for pn in 0..5 {
        controller.on_packet_sent(now, 1200, pn);
    }
    let later = now + Duration::from_millis(50);
    controller.on_packet_lost(0, 0, later); // a bare ACK
    controller.on_packet_lost(1200, 1, later);
    controller.on_packet_lost(1200, 2, later);
    controller.on_congestion_event(later, now, false, false, 2400, 2);
    controller.on_congestion_event(later, now, false, true, 0, 4);
    controller.on_congestion_event(later, now, true, false, 1200, 3);
    let recorded = recorded.take();
    match recorded[..] {
        [
            EventKind::PacketsLost(lost),
            EventKind::EcnCe(marked),
            EventKind::PersistentCongestion(PacketsLost { packets: 1, .. }),
        ] => {
            assert_eq!((lost.packets, lost.bytes, lost.newest_pn), (2, 2400, Some(2)));
            assert_eq!((lost.in_flight_before, lost.in_flight), (6000, 3600));
            assert!(matches!(marked, EcnCe { packets: 1, newest_pn: Some(4), .. }));
        }
        _ => panic!("{recorded:?}"),
    }
}

#[test]
fn a_spurious_loss_is_taken_back() {
    let (mut controller, recorded, now) = controller("reno:iw=10");
    let sent = now + Duration::from_millis(1);
    controller.on_congestion_event(now + Duration::from_millis(50), sent, false, false, 1200, 2);
    assert_eq!(controller.window(), 6000);
    controller.on_spurious_congestion_event();
    assert_eq!(controller.window(), 12_000);
    let spurious = SpuriousLoss::new(Time(1_000_000));
    assert_eq!(recorded.take()[1..], [EventKind::SpuriousLoss(spurious)]);
}

#[test]
fn the_peers_ack_delay_is_part_of_the_probe_timeout() {
    let (mut controller, recorded, now) = controller("reno");
    controller.on_ack_frequency_update(9, Duration::from_millis(100));
    controller.on_packet_sent(now, 1200, 0);
    controller.on_end_acks(now, 0, false, Some(0));
    controller.on_packet_sent(now + Duration::from_secs(2), 40, 1);
    let recorded = recorded.take();
    let [EventKind::IdleRestart(IdleRestart { idle, pto, .. })] = recorded[..] else { panic!("{recorded:?}") };
    assert_eq!((idle, pto), (Span::from_millis(2000), Span::from_millis(101)));
}

/// noq's pacer wants bytes per second.
#[test]
fn the_pacing_rate_drives_the_pacer() {
    let metrics = |rate: f64| {
        let controller = Static::<FixedWindow>(fixed_window::Params { rate, ..Default::default() });
        let metrics = Factory::new(controller).unwrap().make(Instant::now(), 1200).metrics();
        (metrics.pacing_rate, metrics.send_quantum)
    };
    assert_eq!(metrics(80.0), (Some(10_000_000), Some(10_000)), "a millisecond's bytes at once");
    assert_eq!(metrics(8.0), (Some(1_000_000), Some(2400)));
    assert_eq!(metrics(0.000_001), (Some(1), Some(2400)), "never none");
    assert_eq!(metrics(0.0), (None, None), "the pacer's own");
}

#[test]
fn what_noq_does_not_report_is_refused() {
    let error = Factory::named("nf-tcp").unwrap_err().to_string();
    assert!(error.starts_with("nf-tcp needs probe trains") && error.contains("noq does not report"), "{error}");
    for entry in Algorithm::ALL {
        let missing = (entry.default)().needs().without(PROVIDES);
        assert_eq!(Factory::named(entry.name).is_ok(), missing.is_empty(), "{}", entry.name);
    }
}

#[test]
fn a_path_that_moves_keeps_the_state() {
    let factory = Arc::new(Factory::named("reno:iw=10").unwrap());
    let now = Instant::now();
    let mut running = factory.build(now, 1200);
    running.on_congestion_event(now, now, false, false, 1200, 0);
    let moved = running.clone_box();
    assert_eq!(moved.window(), 6000);
    assert!(moved.into_any().downcast::<Controller>().is_ok());
}
