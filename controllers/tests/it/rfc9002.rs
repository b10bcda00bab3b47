//! RFC 9002 §7 by its letter: initial windows of every controller, and one response to one
//! congestion.

use crate::shared::Flows;
use windlass_controllers::event::{EcnCe, IdleRestart, PacketsAcked, PacketsLost, RttSample, SpuriousLoss};
use windlass_controllers::param::Value;
use windlass_controllers::{Algorithm, ConfiguredController, Decision, Event, EventKind, Path, Span, Time};

const MS: u64 = 1_000_000;
const MTU: u64 = 1000;

/// Datagram sizes of QUIC's minimum, IPv6 and IPv4 on Ethernet, a whole Ethernet frame, jumbo
/// frames, and the largest there are.
const MTUS: [u32; 8] = [1200, 1452, 1472, 1473, 1500, 7361, 8972, 65_527];

struct Flow(Flows<Algorithm>);

impl Flow {
    fn new(text: &str, mtu: u32) -> Flow {
        let mut flows = Flows::new(Algorithm::read(text).unwrap());
        flows.join(&Path::new(Time::ZERO, mtu, 1));
        Flow(flows)
    }

    fn decision(&self) -> Decision {
        self.0.decide(0)
    }

    /// `kind` happens `ms` milliseconds after the start; window and threshold then, bytes.
    fn event(&mut self, ms: u64, kind: EventKind) -> (u64, Option<u64>) {
        self.0.step(0, &Event::new(Time(ms * MS), kind));
        (self.decision().cwnd, self.decision().ssthresh)
    }

    fn acked(&mut self, ms: u64, sent_ms: u64, packets: u32) -> (u64, Option<u64>) {
        let bytes = u64::from(packets) * MTU;
        let acked = PacketsAcked::new(bytes, packets, Time(sent_ms * MS), 0, bytes).with_rtt(Some(rtt(100)));
        self.event(ms, EventKind::PacketsAcked(acked))
    }
}

fn rtt(ms: u64) -> RttSample {
    let rtt = Span::from_millis(ms);
    RttSample::new(rtt, rtt, Span::from_millis(ms / 4), rtt)
}

fn lost(sent_ms: u64, packets: u32) -> PacketsLost {
    PacketsLost::new(u64::from(packets) * MTU, packets, Time(sent_ms * MS), 50 * MTU)
}

/// `iw` of a controller; `None` where it has no such parameter.
fn packets(algorithm: &Algorithm) -> Option<f64> {
    let mut found = None;
    algorithm.describe(&mut |param| {
        if let ("iw", Value::Number(packets)) = (param.name, param.value) {
            found = Some(packets);
        }
    });
    found
}

/// §7.2, with 1472 bytes in place of its 14,720 for each packet of `iw`.
fn initial_window(packets: f64, mtu: u32) -> u64 {
    let (mtu, packets) = (u64::from(mtu), packets as u64);
    (packets * mtu).min((1472 * packets).max(2 * mtu))
}

fn all() -> impl Iterator<Item = (Algorithm, f64)> {
    let algorithms = Algorithm::ALL.iter().map(|entry| (entry.default)());
    algorithms.filter_map(|algorithm| packets(&algorithm).map(|packets| (algorithm, packets)))
}

/// §7.2: ten datagrams, but no more than 14,720 bytes or two datagrams, whichever is more.
#[test]
fn the_initial_window_is_limited_in_bytes() {
    assert_eq!(initial_window(10.0, 8972), 17_944);
    assert!(all().count() > 35);
    for (algorithm, packets) in all() {
        for mtu in MTUS {
            let cwnd = Flow::new(algorithm.name(), mtu).decision().cwnd;
            assert_eq!(cwnd, initial_window(packets, mtu), "{algorithm} with datagrams of {mtu} bytes");
        }
    }
}

/// An `iw` of the user's own is as many packets of up to 1472 bytes.
#[test]
fn an_initial_window_of_the_user_s_own_is_limited_alike() {
    for name in ["reno", "cubic", "copa", "prague", "bbr"] {
        for (iw, mtu, bytes) in
            [(1, 9000, 9000), (2, 9000, 18_000), (3, 9000, 18_000), (32, 1472, 47_104), (32, 9000, 47_104)]
        {
            assert_eq!(Flow::new(&format!("{name}:iw={iw}"), mtu).decision().cwnd, bytes, "{name}:iw={iw}");
        }
    }
}

/// A window some stack began with, as the `iw` that makes it.
#[test]
fn an_initial_window_in_bytes_has_its_packets() {
    for (bytes, mtu) in [(12_000, 1200), (14_720, 1500), (17_944, 8972), (9000, 9000), (32_384, 1472), (90_000, 9000)] {
        let iw = windlass_controllers::parts::limits::iw_of(bytes, mtu);
        assert_eq!(Flow::new(&format!("reno:iw={iw}"), mtu).decision().cwnd, bytes, "{iw}");
    }
}

/// §7.2: computed anew when the datagram size changes before the window grew or was reduced.
#[test]
fn a_datagram_size_found_in_the_handshake_sets_the_initial_window_anew() {
    for (algorithm, packets) in all() {
        for (before, after) in [(8972, 1200), (1200, 1452), (1500, 1280), (65_527, 1200)] {
            let mut flow = Flow::new(algorithm.name(), before);
            let (cwnd, ssthresh) = flow.event(5, EventKind::MtuUpdated(after));
            assert_eq!(cwnd, initial_window(packets, after), "{algorithm} from {before} to {after} bytes");
            let fresh = Flow::new(algorithm.name(), after).decision();
            assert_eq!((ssthresh, fresh.pacing_rate), (fresh.ssthresh, flow.decision().pacing_rate), "{algorithm}");
        }
    }
}

/// The same where a handshake was acknowledged that left the window as it was.
#[test]
fn a_handshake_that_does_not_use_the_initial_window_leaves_it_to_be_set_anew() {
    let mut unmoved = 0;
    for (algorithm, packets) in all() {
        let mut flow = Flow::new(algorithm.name(), 1200);
        let before = flow.decision().cwnd;
        let acked = PacketsAcked::new(1200, 1, Time(MS), 0, 1200).with_rtt(Some(rtt(100))).with_app_limited(true);
        if flow.event(100, EventKind::PacketsAcked(acked)).0 == before {
            unmoved += 1;
            let (cwnd, _) = flow.event(105, EventKind::MtuUpdated(1452));
            assert_eq!(cwnd, initial_window(packets, 1452), "{algorithm}");
        }
    }
    assert!(unmoved > 30, "{unmoved}");
}

/// Later the window keeps its bytes, and an idle period leads back to the initial window of now.
#[test]
fn a_datagram_size_found_later_keeps_the_window() {
    for name in ["reno", "cubic", "prague"] {
        let mut flow = Flow::new(name, 8000);
        let (grown, _) = flow.acked(100, 1, 8);
        assert_eq!(flow.event(105, EventKind::MtuUpdated(1000)).0, grown, "{name}");
        flow.acked(200, 110, 8);
        let idle = IdleRestart::new(Span::from_millis(5000), Span::from_millis(300));
        assert_eq!(flow.event(6000, EventKind::IdleRestart(idle)).0, 10_000, "{name}");
    }
}

/// What a controller gives up of 100 packets, and what it is left with, in packets.
const ONE_RESPONSE: [(&str, u64); 5] = [("reno", 50), ("cubic", 70), ("cubic-2005", 80), ("prague", 50), ("dctcp", 50)];

/// §7.3.2, §B.8: marks and persistent congestion in one frame are one congestion.
#[test]
fn marks_and_persistent_congestion_of_a_frame_reduce_once() {
    for (name, threshold) in ONE_RESPONSE {
        let mut flow = Flow::new(&format!("{name}:iw=100"), MTU as u32);
        flow.event(1000, EventKind::RttSampled(rtt(100)));
        flow.event(1000, EventKind::EcnCe(EcnCe::new(1, Time(990 * MS), 50 * MTU)));
        let over = flow.event(1000, EventKind::PersistentCongestion(lost(980, 50)));
        assert_eq!(over, (2 * MTU, Some(threshold * MTU)), "{name}");
        assert_eq!(flow.decision().recovery_start, None, "{name}");
    }
}

/// §B.8: `OnCongestionEvent` does nothing for packets sent before the recovery period, inside it
/// and after it.
#[test]
fn persistent_congestion_of_an_answered_flight_reduces_once() {
    for (name, threshold) in ONE_RESPONSE {
        for over in [false, true] {
            let mut flow = Flow::new(&format!("{name}:iw=100"), MTU as u32);
            flow.event(1000, EventKind::PacketsLost(lost(100, 1)));
            if over {
                flow.acked(1050, 1001, 1);
            }
            let before = flow.decision().ssthresh;
            let after = flow.event(1100, EventKind::PersistentCongestion(lost(980, 50)));
            assert_eq!(after, (2 * MTU, before), "{name}");
            assert_eq!(before, Some(threshold * MTU), "{name}");
        }
    }
}

/// Packets of after the response are another congestion.
#[test]
fn persistent_congestion_of_a_later_flight_is_answered() {
    for (name, first, second) in [("reno", 50, 25), ("cubic", 70, 49), ("dctcp", 50, 25), ("prague", 50, 25)] {
        let mut flow = Flow::new(&format!("{name}:iw=100"), MTU as u32);
        assert_eq!(flow.event(1000, EventKind::PacketsLost(lost(100, 1))).1, Some(first * MTU), "{name}");
        let after = flow.event(1500, EventKind::PersistentCongestion(lost(1001, 50)));
        assert_eq!(after, (2 * MTU, Some(second * MTU)), "{name}");
    }
}

/// The marks of a flight cost DCTCP little; its persistent congestion as much as a loss
/// (`RFC 8257 §3.5`), of the window before the marks.
#[test]
fn persistent_congestion_makes_a_small_response_to_marks_a_halving() {
    let mut flow = Flow::new("dctcp:iw=100,gain=1,ssthresh=90", MTU as u32);
    for round in 1..4 {
        flow.acked(100 * round, 100 * round - 50, 1);
    }
    let before = flow.decision().cwnd;
    let (marked, _) = flow.event(350, EventKind::EcnCe(EcnCe::new(1, Time(340 * MS), 50 * MTU)));
    assert!(marked > before * 9 / 10, "alpha has become small: {marked} of {before}");
    let (cwnd, ssthresh) = flow.event(350, EventKind::PersistentCongestion(lost(330, 50)));
    assert_eq!((cwnd, ssthresh), (2 * MTU, Some(before / 2)));
}

/// Documents of TCP lower the threshold with each timeout (`RFC 5681 §3.1`).
#[test]
fn a_tcp_s_timeout_reduces_again() {
    let mut flow = Flow::new("reno:profile=paper,ssthresh=inf,first_halving=off,iw=100", MTU as u32);
    flow.event(1000, EventKind::PacketsLost(lost(100, 1)));
    let over = flow.event(1100, EventKind::PersistentCongestion(lost(980, 50)));
    assert_eq!(over, (MTU, Some(25 * MTU)));
}

/// §B.5 goes packet by packet: of an ACK of 64 one packet is slow start, the rest avoidance.
#[test]
fn an_ack_across_the_threshold_is_slow_start_up_to_it() {
    for (name, exact) in
        [("reno:growth=bytes", 70_900), ("reno:growth=packets", 70_894), ("cubic:growth=bytes", 70_900)]
    {
        let mut flow = Flow::new(&format!("{name},iw=69,ssthresh=70"), MTU as u32);
        assert_eq!(flow.acked(100, 1, 64).0, exact, "{name}");
    }
    // Where it is not crossed nothing changes.
    let mut flow = Flow::new("reno:iw=5,ssthresh=70", MTU as u32);
    assert_eq!(flow.acked(100, 1, 64).0, 69 * MTU);
}

/// A window of before a long idle period does not come back with a loss that proves spurious.
#[test]
fn idle_discards_the_undo() {
    for name in ["reno", "cubic", "ctcp", "h-tcp", "bic"] {
        let mut flow = Flow::new(&format!("{name}:iw=10"), MTU as u32);
        for round in 1..5 {
            let packets = flow.decision().cwnd / MTU;
            flow.acked(100 * round, 100 * round - 99, packets as u32);
        }
        flow.event(500, EventKind::PacketsLost(lost(410, 1)));
        let idle = IdleRestart::new(Span::from_millis(5000), Span::from_millis(300));
        let (restarted, _) = flow.event(6000, EventKind::IdleRestart(idle));
        assert!(restarted <= 10 * MTU, "{name}");
        let (after, _) = flow.event(6010, EventKind::SpuriousLoss(SpuriousLoss::new(Time(410 * MS))));
        assert_eq!(after, restarted, "{name}");
    }
}
