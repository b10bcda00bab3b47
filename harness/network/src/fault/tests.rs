use super::*;
use crate::{Delivery, Fate, LinkSpec, Network, RouteId, Topology};

const MS: fn(u64) -> Span = Span::from_millis;

fn time(ms: u64) -> Time {
    Time::from_micros(1000 * ms)
}

fn network(faults: &[Fault]) -> (Network, RouteId) {
    let mut topology = Topology::default();
    let mut link = LinkSpec::new("link", 8e6, MS(10));
    link.faults = faults.to_vec();
    let link = topology.link(link);
    let route = topology.route(vec![link]);
    let mut network = Network::new(&topology, 3).unwrap();
    network.report_losses(true);
    (network, route)
}

fn fault(at: u64, until: u64, kind: FaultKind) -> Fault {
    Fault { at: time(at), until: time(until), kind }
}

/// Sends a packet of 1000 bytes each millisecond, 100 of them, and returns what comes out.
fn hundred(network: &mut Network, route: RouteId) -> Vec<Delivery> {
    let mut deliveries = Vec::new();
    for id in 0..100 {
        let now = time(id);
        deliveries.extend(std::iter::from_fn(|| network.poll(now)));
        let packet = Packet { ecn: Codepoint::Ect0, ..Packet::new(0, id, 1000) };
        network.send(now, route, packet);
    }
    deliveries.extend(std::iter::from_fn(|| network.poll(time(10_000))));
    assert_eq!(network.sent(), network.delivered() + network.gone() + network.holds());
    assert_eq!(network.holds(), 0);
    deliveries
}

fn ids(deliveries: &[Delivery], of: impl Fn(&Delivery) -> bool) -> Vec<u64> {
    deliveries.iter().filter(|delivery| of(delivery)).map(|delivery| delivery.packet.id).collect()
}

fn delivered(delivery: &Delivery) -> bool {
    delivery.fate == Fate::Delivered
}

#[test]
fn a_blackout_takes_everything_from_its_beginning_on_and_before_its_end() {
    let (mut network, route) = network(&[fault(10, 30, FaultKind::Blackout)]);
    let deliveries = hundred(&mut network, route);
    assert_eq!(ids(&deliveries, |delivery| !delivered(delivery)), (10..30).collect::<Vec<_>>());
    assert_eq!(ids(&deliveries, delivered).len(), 80);
}

#[test]
fn packets_beyond_the_mtu_are_lost() {
    for (bytes, lost) in [(1000, 0), (999, 20)] {
        let (mut network, route) = network(&[fault(10, 30, FaultKind::Mtu { bytes })]);
        assert_eq!(ids(&hundred(&mut network, route), |delivery| !delivered(delivery)).len(), lost);
    }
}

#[test]
fn codepoints_are_cleared_and_marked() {
    let faults = [
        fault(0, 20, FaultKind::EcnBleaching),
        fault(10, 40, FaultKind::CeStorm { share: 1.0 }),
        fault(40, 100, FaultKind::CeStorm { share: 0.5 }),
    ];
    let (mut network, route) = network(&faults);
    let deliveries = hundred(&mut network, route);
    let with = |ecn| ids(&deliveries, |delivery| delivery.packet.ecn == ecn);
    assert_eq!(with(Codepoint::NotEct), (0..20).collect::<Vec<_>>(), "what is not capable is not marked");
    let marked = with(Codepoint::Ce);
    assert_eq!(marked[..20], (20..40).collect::<Vec<_>>());
    assert!((40..60).contains(&marked.len()), "{}", marked.len());
}

#[test]
fn packets_are_held_back_and_overtaken() {
    let kind = FaultKind::Reordering { share: 0.3, by: MS(20) };
    let (mut network, route) = network(&[fault(10, 60, kind)]);
    let deliveries = hundred(&mut network, route);
    let order = ids(&deliveries, delivered);
    assert_eq!(order.len(), 100);
    assert!(!order.is_sorted());
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    let took = |delivery: &Delivery| delivery.at.since(delivery.packet.sent_at);
    assert!(deliveries.iter().all(|delivery| took(delivery) <= MS(11 + 20 + 20)), "held back and queued");
}

#[test]
fn copies_and_damage_come_only_to_those_who_carry_bytes() {
    let faults =
        [fault(0, 50, FaultKind::Duplication { share: 1.0 }), fault(50, 100, FaultKind::Corruption { share: 1.0 })];
    let (mut network, route) = network(&faults);
    network.carry_bytes(true);
    let deliveries = hundred(&mut network, route);
    assert_eq!(ids(&deliveries, delivered).len(), 150);
    assert_eq!(ids(&deliveries, |delivery| matches!(delivery.fate, Fate::Copied(_))), (0..50).collect::<Vec<_>>());
    assert_eq!(ids(&deliveries, |delivery| delivery.packet.damaged), (50..100).collect::<Vec<_>>());
    let (mut network, route) = self::network(&faults);
    let deliveries = hundred(&mut network, route);
    assert_eq!(ids(&deliveries, delivered), (0..50).collect::<Vec<_>>());
    assert_eq!(ids(&deliveries, |delivery| !delivered(delivery)), (50..100).collect::<Vec<_>>());
}

/// A caller that reuses a packet's number once nothing of it is under way has to know of the copy by then.
#[test]
fn a_copy_is_reported_before_a_full_queue_drops_the_original() {
    let mut topology = Topology::default();
    let mut link = LinkSpec::new("link", 8e4, MS(10));
    link.limit = crate::Limit::Packets(1);
    link.faults = vec![fault(0, 100, FaultKind::Duplication { share: 1.0 })];
    let link = topology.link(link);
    let route = topology.route(vec![link]);
    let mut network = Network::new(&topology, 3).unwrap();
    network.report_losses(true);
    network.carry_bytes(true);
    let deliveries = hundred(&mut network, route);
    let mut under_way = [1; 100];
    for delivery in &deliveries {
        let number = &mut under_way[delivery.packet.id as usize];
        assert!(*number > 0, "{delivery:?}");
        *number += if matches!(delivery.fate, Fate::Copied(_)) { 1 } else { -1 };
    }
    assert_eq!(under_way, [0; 100]);
    let dropped = ids(&deliveries, |delivery| matches!(delivery.fate, Fate::Dropped(_)));
    assert!(dropped.windows(2).any(|pair| pair[0] == pair[1]), "of some neither fits: {dropped:?}");
}

#[test]
fn what_happens_depends_on_the_seed_alone() {
    let run = || {
        let kind = FaultKind::Reordering { share: 0.5, by: MS(5) };
        let (mut network, route) = network(&[fault(0, 90, kind), fault(0, 50, FaultKind::Corruption { share: 0.2 })]);
        hundred(&mut network, route)
    };
    assert_eq!(run(), run());
}

#[test]
fn damage_changes_a_payload_and_not_its_length() {
    let mut random = Stream::new(1, "damage");
    for length in [1, 2, 1200] {
        let whole = vec![7; length];
        let changed = (0..100).filter(|_| {
            let mut payload = whole.clone();
            damage(&mut random, &mut payload);
            assert_eq!(payload.len(), length);
            payload != whole
        });
        // Two changes of one byte can undo each other.
        assert!(changed.count() > 90);
    }
    damage(&mut random, &mut []);
}

#[test]
fn a_share_is_a_probability() {
    let mut topology = Topology::default();
    let mut link = LinkSpec::new("link", 8e6, MS(10));
    link.faults = vec![fault(0, 1, FaultKind::Corruption { share: 1.5 })];
    topology.link(link);
    let error = Network::new(&topology, 1).err().unwrap().to_string();
    assert_eq!(error, "link \"link\": share of a fault is 1.5; expected 0 to 1");
}
