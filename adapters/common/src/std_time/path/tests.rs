//! Events of a stack's calls, kept by a controller that decides nothing.

use std::sync::{Arc, Mutex};

use windlass_controllers::event::{
    Delivery, EcnCe, IdleRestart, LossTrigger, PacketSent, PacketsAcked, PacketsLost, SpuriousLoss,
};
use windlass_controllers::{Decision, Event, EventKind, Info, Path as PathInfo, Phase, Signals, Span, Table, View};

use super::*;

#[derive(Clone, Debug)]
struct Spy {
    events: Arc<Mutex<Vec<Event>>>,
    needs: Signals,
    wants_packet_sent: bool,
    decision: Decision,
}

impl ConfiguredController for Spy {
    type State = ();
    type Group = ();

    fn info(&self) -> Info {
        Info { name: "spy", summary: "records its events", source: "none", fallback: None }
    }
    fn needs(&self) -> Signals {
        self.needs
    }
    fn wants_packet_sent(&self) -> bool {
        self.wants_packet_sent
    }
    fn group(&self) {}
    fn start(&self, _: &PathInfo) {}
    fn step(&self, (): &mut (), _: Table<'_, ()>, event: &Event) {
        self.events.lock().unwrap().push(*event);
    }
    fn decide(&self, (): &(), _: View<'_, ()>) -> Decision {
        self.decision
    }
    fn inspect(&self, (): &(), _: View<'_, ()>, _: &mut dyn FnMut(&'static str, f64)) {}
}

const MTU: u16 = 1200;

struct Bench {
    path: Path<Spy>,
    origin: Instant,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Bench {
    fn new(change: impl FnOnce(&mut Spy)) -> Bench {
        let decision = Decision::new(12_000)
            .with_ssthresh(Some(9_000))
            .with_pacing_rate(Some(5_000_000))
            .with_phase(Phase::CongestionAvoidance);
        let mut spy = Spy { events: Arc::default(), needs: Signals::NONE, wants_packet_sent: false, decision };
        change(&mut spy);
        let events = Arc::clone(&spy.events);
        let flow = Flow::ungrouped(spy, &PathInfo::new(Time::ZERO, u32::from(MTU), 1));
        let origin = Instant::now();
        Bench { path: Path::new(flow, Clock::new(origin, origin), MTU), origin, events }
    }

    fn at(&self, ms: u64) -> Instant {
        self.origin + Duration::from_millis(ms)
    }

    fn sent(&mut self, ms: u64, bytes: u64, pn: u64) {
        self.path.on_packet_sent(self.at(ms), bytes, pn, true);
    }

    fn ack(&mut self, sent_ms: u64, bytes: u64) {
        let sent = self.at(sent_ms);
        let estimates = || (Duration::from_millis(40), Duration::from_millis(30));
        self.path.on_packet_acked(Packet { sent, bytes, pn: None }, false, estimates);
    }

    fn end(&mut self, ms: u64, in_flight: u64, largest: u64) {
        self.path.on_end_acks(self.at(ms), in_flight, false, Some(largest));
    }

    fn lost(&mut self, ms: u64, sent_ms: u64, persistent: bool, bytes: u64) {
        let loss = Loss { bytes, persistent, ..Loss::default() };
        self.path.on_packets_lost(self.at(ms), self.at(sent_ms), loss);
    }

    fn marked(&mut self, ms: u64, sent_ms: u64) {
        self.path.on_ecn_ce(self.at(ms), self.at(sent_ms), None);
    }

    fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap())
    }

    fn acked(&self) -> PacketsAcked {
        match self.events()[..] {
            [Event { kind: EventKind::PacketsAcked(acked), .. }] => acked,
            ref other => panic!("expected one Acked, events {other:?}"),
        }
    }
}

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

#[test]
fn the_packets_of_a_frame_become_one_event() {
    let mut bench = Bench::new(|_| {});
    bench.sent(1, 1200, 0);
    bench.sent(2, 1200, 1);
    bench.sent(3, 1200, 2);
    bench.ack(1, 1200);
    bench.ack(2, 1000);
    assert!(bench.events().is_empty(), "not before the frame ends");
    bench.end(42, 1200, 1);
    let acked = bench.acked();
    assert_eq!((acked.bytes, acked.packets, acked.fresh_bytes), (2200, 2, 2200));
    assert_eq!((acked.newest_sent_at, acked.newest_pn), (ms(2), Some(1)));
    assert_eq!((acked.in_flight_before, acked.in_flight, acked.delivered), (3400, 1200, 2200));
    let rtt = acked.rtt.unwrap();
    assert_eq!((rtt.latest, rtt.smoothed, rtt.min), (Span::from_millis(40), Span::from_millis(40), rtt.latest));

    bench.ack(3, 1200);
    bench.end(63, 0, 2);
    let rtt = bench.acked().rtt.unwrap();
    assert_eq!(rtt.latest, Span::from_millis(60));
    assert_eq!(rtt.smoothed, Span((7 * 40 + 60) * 1_000_000 / 8));
    assert_eq!(rtt.min, Span::from_millis(30), "the stack's own minimum");
}

#[test]
fn fresh_bytes_were_sent_after_the_recovery_started() {
    let mut bench = Bench::new(|spy| spy.decision.recovery_start = Some(ms(10)));
    bench.ack(10, 1200);
    bench.ack(11, 1200);
    bench.end(50, 0, 1);
    assert_eq!(bench.acked().fresh_bytes, 1200);
}

#[test]
fn a_frame_of_bare_acks_is_no_event_but_updates_bytes_in_flight() {
    let mut bench = Bench::new(|_| {});
    bench.sent(1, 9000, 0);
    bench.end(20, 4800, 0);
    assert!(bench.events().is_empty());
    bench.lost(21, 1, false, 1200);
    match bench.events()[..] {
        [Event { now, kind: EventKind::PacketsLost(lost), .. }] => {
            assert_eq!((now, lost.in_flight_before, lost.in_flight), (ms(21), 4800, 3600));
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn acknowledgements_then_losses_then_marks() {
    let mut bench = Bench::new(|_| {});
    for pn in 0..6 {
        bench.sent(pn, 1200, pn);
    }
    bench.ack(5, 1200);
    bench.end(45, 6000, 5);
    bench.lost(45, 2, false, 2500);
    bench.marked(45, 5);
    let events = bench.events();
    assert!(events.iter().all(|event| event.now == ms(45)));
    match events[..] {
        [
            Event { kind: EventKind::PacketsAcked(_), .. },
            Event { kind: EventKind::PacketsLost(lost), .. },
            Event { kind: EventKind::EcnCe(marked), .. },
        ] => {
            assert_eq!((lost.bytes, lost.packets, lost.newest_sent_at), (2500, 3, ms(2)));
            assert_eq!((lost.in_flight_before, lost.in_flight), (6000, 3500));
            assert_eq!((lost.newest_pn, lost.trigger, lost.transmissions), (None, LossTrigger::Unknown, 1));
            assert_eq!((marked.packets, marked.newest_sent_at, marked.newest_pn), (1, ms(5), Some(5)));
            assert_eq!(marked.in_flight, 7200, "when the frame arrived");
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn persistent_congestion_replaces_the_loss() {
    let mut bench = Bench::new(|_| {});
    bench.sent(1, 2400, 1);
    bench.lost(500, 1, true, 2400);
    assert!(matches!(
        bench.events()[..],
        [Event { kind: EventKind::PersistentCongestion(PacketsLost { bytes: 2400, .. }), .. }]
    ));
}

#[test]
fn the_datagram_size_is_passed_on() {
    let mut bench = Bench::new(|_| {});
    bench.sent(7, 1200, 0);
    bench.path.on_mtu_update(1452);
    assert_eq!(bench.events(), [Event::new(ms(7), EventKind::MtuUpdated(1452))]);
    bench.lost(9, 7, false, 1453);
    assert!(matches!(bench.events()[..], [Event { kind: EventKind::PacketsLost(PacketsLost { packets: 2, .. }), .. }]));
}

#[test]
fn packets_sent_are_reported_to_controllers_that_want_them() {
    let mut deaf = Bench::new(|_| {});
    deaf.sent(1, 1200, 0);
    assert!(deaf.events().is_empty());
    let mut bench = Bench::new(|spy| spy.wants_packet_sent = true);
    bench.sent(1, 1200, 0);
    bench.sent(2, 2400, 2);
    let sent = PacketSent::new(2400, 3600).with_pn(Some(2));
    assert_eq!(bench.events()[1], Event::new(ms(2), EventKind::PacketSent(sent)));
}

#[test]
fn the_flight_at_departure_is_kept_for_those_who_need_it() {
    let mut bench = Bench::new(|spy| spy.needs = Signals::WINDOW_AT_SEND);
    bench.sent(1, 1200, 0);
    bench.sent(2, 1200, 1);
    bench.sent(3, 1200, 2);
    bench.ack(2, 1200);
    bench.end(30, 2400, 1);
    assert_eq!(bench.acked().newest_in_flight, Some(2400));
}

#[test]
fn deliveries_are_sampled_for_those_who_need_them() {
    let mut deaf = Bench::new(|_| {});
    deaf.sent(1, 1200, 0);
    deaf.ack(1, 1200);
    deaf.end(30, 0, 0);
    assert_eq!(deaf.acked().delivery, None);
    let mut bench = Bench::new(|spy| spy.needs = Signals::DELIVERY_RATE);
    for (at, pn) in [(1, 0), (2, 1), (3, 2)] {
        bench.sent(at, 1200, pn);
    }
    bench.ack(1, 1200);
    bench.end(30, 2400, 0);
    bench.events();
    bench.sent(30, 1200, 3);
    bench.lost(31, 2, false, 1200);
    bench.events();
    bench.ack(3, 1200);
    bench.ack(30, 1200);
    bench.end(60, 0, 3);
    let expected = Delivery::new(1200, ms(30), ms(1)).with_lost(1200);
    assert_eq!(bench.acked().delivery, Some(expected));
}

#[test]
fn resuming_after_a_silence_is_an_idle_restart() {
    let mut bench = Bench::new(|_| {});
    bench.sent(1, 1200, 0);
    bench.ack(1, 1200);
    bench.end(41, 0, 0);
    bench.events();
    bench.sent(45, 40, 1); // a bare ACK
    assert!(bench.events().is_empty());
    bench.sent(541, 1200, 2);
    // Smoothed 40 ms, variation 20 ms, ACK delay 25 ms.
    let idle = IdleRestart::new(Span::from_millis(500), Span::from_millis(40 + 4 * 20 + 25));
    assert_eq!(bench.events(), [Event::new(ms(541), EventKind::IdleRestart(idle))]);
}

#[test]
fn a_sender_whose_flight_an_ack_emptied_is_not_idle() {
    let mut bench = Bench::new(|_| {});
    bench.sent(1, 1200, 0);
    bench.ack(1, 1200);
    bench.end(41, 0, 0);
    bench.events();
    bench.sent(41, 1200, 1);
    bench.ack(41, 1200);
    bench.end(81, 0, 1);
    bench.events();
    // Less than a probe timeout: 40 ms smoothed, 60 ms of variation, 25 ms of ACK delay.
    bench.sent(81 + 120, 1200, 2);
    assert!(bench.events().is_empty());
}

#[test]
fn a_sender_that_waits_for_its_pacer_is_not_idle() {
    // A datagram each second, bursts of ten.
    let mut bench = Bench::new(|spy| spy.decision.pacing_rate = Some(9_600));
    bench.sent(1, 1200, 0);
    bench.ack(1, 1200);
    bench.end(41, 0, 0);
    bench.events();
    bench.sent(10_001, 1200, 1);
    assert!(bench.events().is_empty());
    bench.ack(10_001, 1200);
    bench.end(10_041, 0, 1);
    bench.events();
    bench.sent(22_001, 1200, 2);
    assert!(
        matches!(bench.events()[..], [Event { kind: EventKind::IdleRestart(restart), .. }] if restart.idle == Span::from_millis(2000))
    );
}

#[test]
fn two_datagrams_may_always_be_sent() {
    assert_eq!(Bench::new(|_| {}).path.window(), 12_000);
    assert_eq!(Bench::new(|spy| spy.decision.cwnd = 0).path.window(), 2400);
}

#[test]
fn the_stacks_reports_of_losses_are_passed_on() {
    let mut bench = Bench::new(|_| {});
    bench.sent(3, 9000, 8);
    let loss = Loss { bytes: 2500, packets: Some(4), newest_pn: Some(7), persistent: false };
    bench.path.on_packets_lost(bench.at(50), bench.at(3), loss);
    bench.path.on_ecn_ce(bench.at(50), bench.at(3), Some(8));
    match bench.events()[..] {
        [Event { kind: EventKind::PacketsLost(lost), .. }, Event { kind: EventKind::EcnCe(marked), .. }] => {
            assert_eq!((lost.packets, lost.newest_pn, lost.in_flight), (4, Some(7), 6500));
            assert_eq!(marked.newest_pn, Some(8));
        }
        ref other => panic!("{other:?}"),
    }
    bench.path.on_spurious_loss();
    let kind = EventKind::SpuriousLoss(SpuriousLoss::new(ms(3)));
    assert_eq!(bench.events(), [Event::new(ms(50), kind)]);
}

#[test]
fn a_frame_that_fills_a_hole_has_the_largest_number() {
    let mut bench = Bench::new(|_| {});
    let rtt = Duration::from_millis(40);
    for (sent, pn) in [(1, 4), (2, 5)] {
        bench.path.on_packet_acked(Packet { sent: bench.at(sent), bytes: 1200, pn: Some(pn) }, false, || (rtt, rtt));
    }
    bench.end(50, 0, 5);
    assert_eq!(bench.acked().newest_pn, Some(5));
    bench.path.on_packet_acked(Packet { sent: bench.at(1), bytes: 1200, pn: Some(3) }, false, || (rtt, rtt));
    bench.end(51, 0, 5);
    let late = bench.acked();
    assert_eq!((late.newest_pn, late.rtt), (Some(3), None));
    bench.marked(52, 2);
    assert!(matches!(bench.events()[..], [Event { kind: EventKind::EcnCe(EcnCe { newest_pn: Some(5), .. }), .. }]));
}

#[test]
fn a_stack_that_distinguishes_bare_acks_is_believed() {
    let mut bench = Bench::new(|_| {});
    bench.sent(1, 1200, 0);
    bench.ack(1, 1200);
    bench.end(41, 0, 0);
    bench.events();
    bench.path.set_max_ack_delay(Duration::from_millis(5));
    bench.path.on_packet_sent(bench.at(541), 40, 1, false);
    let idle = IdleRestart::new(Span::from_millis(500), Span::from_millis(40 + 4 * 20 + 5));
    assert_eq!(bench.events(), [Event::new(ms(541), EventKind::IdleRestart(idle))]);
}

#[test]
fn time_never_goes_back_and_nothing_overflows() {
    let mut bench = Bench::new(|spy| spy.wants_packet_sent = true);
    bench.sent(10, u64::MAX, u64::MAX);
    bench.sent(3, u64::MAX, 0);
    bench.ack(99, u64::MAX);
    bench.ack(0, u64::MAX);
    bench.end(5, u64::MAX, u64::MAX);
    bench.path.on_mtu_update(0);
    bench.lost(1, 1000, true, u64::MAX);
    bench.marked(1, 1000);
    let before = bench.origin.checked_sub(Duration::from_secs(1)).unwrap_or(bench.origin);
    bench.path.on_packet_sent(before, 1, 1, true);
    let events = bench.events();
    assert_eq!(events.len(), 7);
    assert!(events.is_sorted_by_key(|event| event.now));
}

#[test]
fn a_path_that_moves_keeps_the_state() {
    let mut bench = Bench::new(|_| {});
    bench.ack(1, 700);
    bench.end(20, 0, 0);
    bench.events();
    let mut moved = bench.path.clone();
    assert_eq!(moved.window(), 12_000);
    moved.on_ecn_ce(bench.at(30), bench.at(25), None);
    assert!(matches!(bench.events()[..], [Event { kind: EventKind::EcnCe(EcnCe { newest_pn: Some(0), .. }), .. }]));
}

#[test]
fn a_frame_without_a_new_largest_packet_brings_no_sample() {
    let mut bench = Bench::new(|_| {});
    let mut sample = |sent_ms, ms, largest| {
        bench.ack(sent_ms, 1200);
        bench.end(ms, 0, largest);
        bench.acked().rtt.map(|rtt| (rtt.latest, rtt.variation))
    };
    let millis = Span::from_millis;
    assert_eq!(sample(10, 50, 5), Some((millis(40), millis(20))), "the first is taken whole");
    assert_eq!(sample(9, 60, 5), None, "a hole filled late");
    let folded = Span(15 * 1_000_000 + (60 - 40) * 1_000_000 / 4);
    assert_eq!(sample(10, 70, 6), Some((millis(60), folded)), "same burst, next packet");
    assert!(sample(30, 80, 0).is_some(), "first of the next number space");
}

#[test]
fn the_unknown_is_less_than_any_number() {
    let [none, first, second] = [None, Some(0), Some(1)].map(Number::from);
    assert!(none < first && first < second);
    assert_eq!([none, first, second].map(Number::get), [None, Some(0), Some(1)]);
    assert!(first.is_known() && !none.is_known());
    assert_eq!(Number::from(Some(u64::MAX)).get(), None);
}
