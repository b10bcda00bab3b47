//! A controller decides the window of a connection, and the flow gets the events of the connection.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_controllers::{Decision, Event, EventKind, Span, Time};
use windlass_msquic::{Definition, Recorder, StateVariables, register, register_as};

use crate::transfer::{Link, transfer};

/// UDP payload of a full datagram in IPv4, bytes.
fn payload(mtu: u16) -> u32 {
    u32::from(mtu) - 28
}

/// A controller of the catalogue whose window is always `packets`.
fn fixed(packets: u32) -> String {
    windlass_controllers::fixed_window::catalogue(packets).unwrap().to_string()
}

#[test]
fn an_id_chooses_the_controller() {
    let ids = [20, 160].map(|packets| (packets, register(&fixed(packets)).unwrap()));
    for (packets, id) in ids {
        assert!((0x4000..0x8000).contains(&id));
        assert_eq!(register(&fixed(packets)), Ok(id), "an id stays");
        let statistics = transfer(32, Some(id), Link::default());
        assert_eq!(statistics.SendCongestionWindow, packets * payload(statistics.SendPathMtu));
    }
}

/// Records every event and the window after it.
#[derive(Clone, Default)]
struct EventLog(Arc<Mutex<Vec<(Event, u64)>>>);

impl Recorder for EventLog {
    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push((*event, decision.cwnd));
    }
}

#[test]
fn a_window_is_used_and_kept() {
    for packets in [20_u32, 40, 80, 160] {
        let events = EventLog::default();
        let recorder = events.clone();
        let definition = Definition::named(&fixed(packets)).unwrap().record_with(move |_| Box::new(recorder.clone()));
        let id = register_as(&format!("{packets} packets"), definition).unwrap();
        let link = Link { delay: Duration::from_millis(20), ..Link::default() };
        let statistics = transfer(48, Some(id), link);
        let window = u64::from(packets * payload(statistics.SendPathMtu));
        let events = events.0.lock().unwrap();
        let flights: Vec<u64> = events.iter().filter_map(|(event, _)| event.flight()).collect();
        let most = *flights.iter().max().unwrap();
        let datagram = u64::from(payload(statistics.SendPathMtu));
        assert!(most > window - datagram, "{most} bytes in flight at most, of a window of {window}");
        // A timeout sends two datagrams, whatever the window (RFC 9002 §6.2.4, §7.5), and comes where the machine is busy.
        let probed = flights.iter().filter(|flight| **flight >= window + datagram).count();
        assert!(most < window + 9 * datagram, "{most} bytes in flight with a window of {window}");
        assert!(10 * probed <= flights.len(), "{probed} of {} times beyond a window of {window}", flights.len());
    }
}

#[test]
fn the_events_of_a_connection_add_up() {
    const CHUNKS: usize = 64;
    let events = EventLog::default();
    let recorder = events.clone();
    let definition = Definition::named("bbr").unwrap().record_with(move |_| Box::new(recorder.clone()));
    let id = register_as("recorded", definition).unwrap();
    let statistics = transfer(CHUNKS, Some(id), Link { drop_every: 40, ..Link::default() });
    let events = events.0.lock().unwrap();
    let (mut now, mut newest_sent, mut lost) = (Time::ZERO, Time::ZERO, 0);
    let (mut delivered, mut samples, mut deliveries) = (0, 0, 0);
    for (event, cwnd) in events.iter() {
        assert!(event.now >= now, "time goes back at {event:?}");
        now = event.now;
        assert!(*cwnd > 0);
        match event.kind {
            EventKind::PacketsAcked(acked) => {
                assert!(acked.newest_sent_at >= Time::ZERO && acked.newest_sent_at < event.now);
                assert!(acked.bytes <= u64::from(acked.packets) * 1500);
                newest_sent = newest_sent.max(acked.newest_sent_at);
                delivered = acked.delivered;
                deliveries += usize::from(acked.delivery.is_some());
                if let Some(rtt) = acked.rtt {
                    samples += 1;
                    // The losses of the frame have a later reading of the clock.
                    assert!(rtt.latest <= event.now.since(acked.newest_sent_at), "{acked:?}");
                    assert!(rtt.min > Span::ZERO && rtt.min <= rtt.smoothed.max(rtt.latest));
                }
            }
            EventKind::PacketsLost(losses) | EventKind::PersistentCongestion(losses) => {
                lost += u64::from(losses.packets);
                assert_eq!(losses.in_flight_before - losses.in_flight, losses.bytes);
                assert!(losses.bytes <= u64::from(losses.packets) * 1500, "{losses:?}");
                assert!(losses.newest_pn.is_some() && losses.newest_sent_at < event.now, "{losses:?}");
            }
            _ => {}
        }
    }
    assert!(newest_sent > Time::ZERO);
    // Without spurious losses, with headers.
    assert!(delivered >= (CHUNKS << 16) as u64 * 9 / 10, "{delivered} bytes");
    assert!(samples > 10 && deliveries > 10, "{samples} samples, {deliveries} deliveries");
    assert!(
        lost > 10 && lost <= statistics.SendSuspectedLostPackets,
        "{lost} of {}",
        statistics.SendSuspectedLostPackets
    );
    let window = u64::from(statistics.SendCongestionWindow);
    assert!(events.iter().any(|(_, cwnd)| *cwnd == window), "nothing led to a window of {window}");
}

/// Panics after 20 events.
#[derive(Clone)]
struct Fuse(Arc<AtomicUsize>, EventLog);

impl Recorder for Fuse {
    fn record(&mut self, event: &Event, decision: &Decision, state: &StateVariables<'_>) {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) < 20, "on purpose");
        self.1.record(event, decision, state);
    }
}

#[test]
fn after_a_panic_msquics_cubic_takes_over() {
    let fuse = Fuse(Arc::default(), EventLog::default());
    let recorder = fuse.clone();
    let definition = Definition::named(&fixed(20)).unwrap().record_with(move |_| Box::new(recorder.clone()));
    let id = register_as("fragile", definition).unwrap();
    let link = Link { delay: Duration::from_millis(5), ..Link::default() };
    let statistics = transfer(64, Some(id), link);
    assert_eq!(fuse.0.load(Ordering::Relaxed), 21, "no events after a panic");
    let last = fuse.1.0.lock().unwrap().last().unwrap().1;
    // Without losses CUBIC's window grows with what is sent.
    assert!(u64::from(statistics.SendCongestionWindow) > 2 * last, "{last}, {}", statistics.SendCongestionWindow);
}
