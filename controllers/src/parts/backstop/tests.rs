use super::*;
use crate::event::{PacketsLost, SpuriousLoss};
use crate::parts::splitmix::SplitMix64;
use crate::testkit::{MTU, acked, window};

const RTT: u64 = 100;

/// A window with its backstop, driven round trip by round trip.
struct Bounded {
    settings: Settings,
    limits: Limits,
    window: Window,
    backstop: Backstop,
    now: u64,
}

impl Bounded {
    fn new(cwnd: f64) -> Bounded {
        let (settings, limits) = (Settings::default(), Limits::default());
        let mut bounded = Bounded { settings, limits, window: window(cwnd), backstop: Backstop::default(), now: RTT };
        bounded.round(1, 0);
        bounded
    }

    fn apply(&mut self, kind: EventKind) -> bool {
        let event = Event::new(Time(self.now), kind);
        if let EventKind::SpuriousLoss(spurious) = &kind {
            self.window.on_spurious_loss(spurious);
        }
        if let EventKind::MtuUpdated(mtu) = kind {
            self.window.resize(&self.limits, mtu);
        }
        let lowered = self.backstop.on_event(&self.settings, &self.limits, &mut self.window, &event);
        self.backstop.hold(&self.limits, &mut self.window);
        lowered
    }

    /// A round trip in which `lost` packets sent just after it began are lost and `arrived`
    /// acknowledged, all but the last of which were sent before it. Whether losses lowered the window.
    fn round(&mut self, arrived: u32, lost: u32) -> bool {
        let began = self.now;
        self.now += RTT;
        if lost > 0 {
            self.apply(EventKind::PacketsLost(PacketsLost { packets: lost, ..crate::testkit::lost(Time(began + 1)) }));
        }
        let mut lowered = false;
        if arrived > 1 {
            lowered |= self.apply(EventKind::PacketsAcked(acked(arrived - 1, Time(began - 1))));
        }
        lowered | self.apply(EventKind::PacketsAcked(acked(1, Time(began + 2))))
    }
}

#[test]
fn a_round_trip_that_loses_beyond_the_share_halves_the_flight() {
    let mut flow = Bounded::new(100.0);
    assert!(!flow.round(93, 7), "2 beyond the share may be chance");
    let mut flow = Bounded::new(100.0);
    assert!(flow.round(92, 8));
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (50.0, 2.0));
    assert!(flow.window.recovery.in_recovery());
}

#[test]
fn of_a_flight_of_which_less_than_half_arrives_that_much_is_left() {
    let mut flow = Bounded::new(1000.0);
    assert!(flow.round(80, 920));
    assert_eq!(flow.window.cwnd, 80.0);
    let mut flow = Bounded::new(1000.0);
    assert!(flow.round(1, 999));
    assert_eq!(flow.window.cwnd, flow.limits.min_window);
}

/// Losses just below the share never act, whatever the window.
#[test]
fn what_persists_within_the_share_is_no_congestion() {
    for packets in [20, 100, 1000] {
        let mut flow = Bounded::new(f64::from(packets));
        let lost = (flow.settings.loss_bound * f64::from(packets)) as u32;
        assert!((0..1000).all(|_| !flow.round(packets - lost, lost)));
        assert_eq!(flow.window.cwnd, f64::from(packets));
    }
}

/// A window too small for a share: what exceeds it adds up over round trips.
#[test]
fn what_persists_over_round_trips_adds_up() {
    let mut flow = Bounded::new(4.0);
    assert!(!flow.round(3, 1) && !flow.round(3, 1));
    assert!(flow.round(3, 1), "2.4 of 12 beyond the share");
    let mut flow = Bounded::new(4.0);
    assert!((0..100).all(|round| !flow.round(4 - u32::from(round % 6 == 0), u32::from(round % 6 == 0))));
}

#[test]
fn the_bound_rises_by_a_packet_per_round_trip_without_loss_and_is_lifted() {
    let mut flow = Bounded::new(100.0);
    flow.round(80, 20);
    let held = |flow: &mut Bounded| {
        flow.window.cwnd = 500.0;
        flow.apply(EventKind::PacketsAcked(acked(1, Time(flow.now - 1))));
        flow.window.cwnd
    };
    assert_eq!(held(&mut flow), 50.0);
    assert!(!flow.round(50, 0));
    assert_eq!(held(&mut flow), 51.0);
    flow.round(47, 3);
    assert_eq!(held(&mut flow), 51.0, "3 of 50 are beyond the share");
    let rounds = (0..1000).take_while(|_| !flow.round(50, 0) && flow.backstop.is_bounding()).count();
    assert_eq!(rounds, 149, "up to twice the flight of 100");
    assert_eq!(held(&mut flow), 500.0);
}

/// `RFC 9002 §7.3.2`: one response per flight.
#[test]
fn what_was_sent_before_the_response_is_not_judged_again() {
    let mut flow = Bounded::new(100.0);
    flow.round(50, 50);
    let sent_before = Time(flow.now - 1);
    flow.now += RTT;
    flow.apply(EventKind::PacketsLost(PacketsLost { packets: 50, ..crate::testkit::lost(sent_before) }));
    assert!(!flow.apply(EventKind::PacketsAcked(acked(50, Time(flow.now - 1)))));
    assert_eq!(flow.window.cwnd, 50.0);
    assert!(flow.round(25, 25), "what was sent after it is");
    assert_eq!(flow.window.cwnd, 25.0);
}

/// Losses that were none leave neither a sum nor a bound.
#[test]
fn a_spurious_loss_takes_it_back() {
    let mut flow = Bounded::new(100.0);
    flow.round(93, 7);
    flow.apply(EventKind::SpuriousLoss(SpuriousLoss::new(Time(flow.now - 1))));
    assert!(!flow.round(93, 7));
    let mut flow = Bounded::new(100.0);
    let sent_at = Time(flow.now + 1);
    flow.round(80, 20);
    flow.apply(EventKind::SpuriousLoss(SpuriousLoss::new(sent_at)));
    assert_eq!((flow.window.cwnd, flow.backstop.is_bounding()), (100.0, false));
}

/// Packets that overtake each other prove spurious again and again; losses of other episodes count all the same.
#[test]
fn what_was_lost_counts_beside_what_proves_spurious() {
    let mut flow = Bounded::new(100.0);
    let overtaken = |flow: &mut Bounded| {
        flow.apply(EventKind::PacketsLost(PacketsLost { packets: 1, ..crate::testkit::lost(Time(flow.now)) }));
        flow.apply(EventKind::SpuriousLoss(SpuriousLoss::new(Time(flow.now))));
    };
    let mut responses = 0;
    for _ in 0..10 {
        let began = flow.now;
        flow.now += RTT;
        flow.apply(EventKind::PacketsLost(PacketsLost { packets: 6, ..crate::testkit::lost(Time(began + 1)) }));
        flow.now += 1;
        overtaken(&mut flow);
        responses += u32::from(flow.apply(EventKind::PacketsAcked(acked(94, Time(began + 2)))));
        overtaken(&mut flow);
    }
    assert!(responses > 1, "{responses}: a packet beyond the share in each round trip");
    assert!(flow.backstop.is_bounding());
}

#[test]
fn the_bound_keeps_its_bytes() {
    let mut flow = Bounded::new(100.0);
    flow.round(80, 20);
    flow.apply(EventKind::MtuUpdated(2 * MTU));
    flow.window.cwnd = 500.0;
    flow.apply(EventKind::PacketsAcked(acked(1, Time(flow.now - 1))));
    assert_eq!(flow.window.cwnd, 25.0);
}

/// Random losses of one packet in a hundred, with which delay-based schemes go on (`Copa (NSDI
/// 2018) §5`): of 10⁵ round trips less than one in two hundred is taken for congestion, and none
/// of one in a thousand.
#[test]
fn random_loss_below_the_share_hardly_ever_acts() {
    let mut random = SplitMix64::new(7);
    for (one_in, most) in [(1000, 0), (100, 125)] {
        for packets in [8u32, 83, 1000] {
            let mut flow = Bounded::new(f64::from(packets));
            let acts = (0..25_000).filter(|_| {
                let lost = (0..packets).filter(|_| random.uniform() * f64::from(one_in) < 1.0).count() as u32;
                flow.round(packets - lost, lost)
            });
            let acts = acts.count();
            assert!(acts <= most, "{packets} packets, one in {one_in}: {acts} times");
        }
    }
}
