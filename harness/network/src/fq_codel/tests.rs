use super::*;

const MS: u64 = 1_000_000;

fn held(flow: u32, bytes: u32, arrived: u64) -> Held {
    Held { packet: Packet::new(flow, 0, bytes), hop: 0, arrived, marked: false }
}

fn filled(spec: FqCoDelSpec, packets: &[(u32, u32, u32)]) -> FqCoDel {
    let mut queue = FqCoDel::new(spec);
    let mut dropped = VecDeque::new();
    for &(flow, bytes, count) in packets {
        (0..count).for_each(|_| queue.enqueue(held(flow, bytes, 0), true, &mut dropped));
    }
    assert!(dropped.is_empty());
    queue
}

/// The flows of the next `count` packets, which leave at `now`.
fn leave(queue: &mut FqCoDel, now: u64, count: usize) -> Vec<u32> {
    let mut dropped = VecDeque::new();
    (0..count).map_while(|_| queue.dequeue(now, &mut dropped)).map(|held| held.packet.flow).collect()
}

#[test]
fn flows_share_by_bytes() {
    // One flow of large packets, one of small ones (RFC 8290 §1.3: byte-based fairness).
    let mut queue = filled(FqCoDelSpec::new(1500), &[(1, 1500, 100), (2, 300, 500)]);
    let mut bytes = [0; 2];
    let mut dropped = VecDeque::new();
    for _ in 0..300 {
        let held = queue.dequeue(0, &mut dropped).unwrap();
        bytes[held.packet.flow as usize - 1] += held.packet.bytes;
    }
    assert!(bytes[0].abs_diff(bytes[1]) <= 1500, "{bytes:?}");
}

/// Deficit round robin alone: what flows got differs by no more than a quantum and a packet, however large their packets.
#[test]
fn plain_round_robin_shares_by_bytes_and_new_flows_wait_their_turn() {
    let mut queue = FqCoDel::plain(1500, 1024);
    let mut dropped = VecDeque::new();
    for (flow, bytes) in [(1, 1500), (2, 300), (3, 40)] {
        (0..300_000 / bytes).for_each(|_| queue.enqueue(held(flow, bytes, 0), true, &mut dropped));
    }
    let mut got = [0u32; 4];
    for i in 0..3000 {
        // An hour late: nothing is dropped for that.
        let next = queue.dequeue(3_600_000 * MS, &mut dropped).unwrap();
        got[next.packet.flow as usize] += next.packet.bytes;
        let (least, most) = (got[1..].iter().min().unwrap(), got[1..].iter().max().unwrap());
        assert!(most - least <= 1500 + 1500, "{i}: {got:?}");
    }
    assert!(dropped.is_empty());
    // A round is five packets of the second flow, or 38 of the third, before a flow that begins now.
    queue.enqueue(held(4, 100, 0), true, &mut dropped);
    assert_ne!(queue.dequeue(0, &mut dropped).unwrap().packet.flow, 4);
}

#[test]
fn a_new_flow_goes_first_and_then_waits_its_turn() {
    let mut queue = filled(FqCoDelSpec::new(1000), &[(1, 1000, 20), (2, 1000, 20)]);
    leave(&mut queue, 0, 6);
    let mut dropped = VecDeque::new();
    for _ in 0..3 {
        queue.enqueue(held(3, 1000, 0), true, &mut dropped);
    }
    // A quantum of it, then as the others.
    let flows = leave(&mut queue, 0, 7);
    assert_eq!(flows[0], 3);
    assert_eq!(flows[1..].iter().filter(|flow| **flow == 3).count(), 2, "{flows:?}");
    assert_ne!(flows[1], 3, "{flows:?}");
}

/// `RFC 8290 §4.2`: a queue that empties as a new one goes to the old ones first, so that it cannot starve them.
#[test]
fn a_flow_that_comes_back_at_once_is_not_new_again() {
    let mut queue = filled(FqCoDelSpec::new(1000), &[(1, 1000, 50)]);
    leave(&mut queue, 0, 2);
    let mut dropped = VecDeque::new();
    let mut served = [0; 2];
    for _ in 0..40 {
        queue.enqueue(held(2, 1000, 0), true, &mut dropped);
        served[leave(&mut queue, 0, 1)[0] as usize - 1] += 1;
    }
    assert!(served[0] >= 19 && served[1] >= 19, "{served:?}");
}

#[test]
fn overflow_takes_half_of_the_longest_queue_from_its_head() {
    let mut queue = FqCoDel::new(FqCoDelSpec::new(1000));
    let mut dropped = VecDeque::new();
    for at in 0..10 {
        queue.enqueue(held(1, 1000, at), true, &mut dropped);
    }
    queue.enqueue(held(2, 1000, 10), false, &mut dropped);
    let times: Vec<u64> = dropped.iter().map(|held| held.arrived).collect();
    assert_eq!(times, [0, 1, 2, 3, 4]);
    assert!(dropped.iter().all(|held| held.packet.flow == 1));
    assert_eq!((queue.packets(), queue.bytes()), (6, 6000));
    // No more than 64 at once.
    let mut queue = filled(FqCoDelSpec::new(1000), &[(1, 1000, 500)]);
    dropped.clear();
    queue.enqueue(held(1, 1000, 0), false, &mut dropped);
    assert_eq!((dropped.len(), queue.packets()), (64, 437));
    // As much leaves as came.
    let mut queue = filled(FqCoDelSpec::new(1500), &[(1, 40, 3), (1, 1500, 1), (2, 40, 2)]);
    dropped.clear();
    queue.enqueue(held(3, 1500, 0), false, &mut dropped);
    assert!(queue.bytes() <= 1700, "{}", queue.bytes());
}

#[test]
fn each_flow_has_a_controlled_delay_of_its_own() {
    let spec = FqCoDelSpec::new(1000);
    let mut queue = FqCoDel::new(spec);
    let mut dropped = VecDeque::new();
    // Flow 1 stands at 50 packets, flow 2 sends one at a time; one leaves each millisecond.
    for now in 0..600 {
        while queue.queues[queue.queue_of(&Packet::new(1, 0, 1000))].codel.packets() < 50 {
            queue.enqueue(held(1, 1000, (now * MS).saturating_sub(20 * MS)), true, &mut dropped);
        }
        if now % 4 == 0 {
            queue.enqueue(held(2, 100, now * MS), true, &mut dropped);
        }
        queue.dequeue(now * MS, &mut dropped);
    }
    assert!(dropped.len() > 5, "{}", dropped.len());
    assert!(dropped.iter().all(|held| held.packet.flow == 1));
}

#[test]
fn counts_are_those_of_its_queues() {
    let mut queue =
        filled(FqCoDelSpec { queues: 3, ..FqCoDelSpec::new(1000) }, &[(1, 1000, 30), (2, 500, 30), (7, 40, 9)]);
    let mut dropped = VecDeque::new();
    let mut now = 0;
    while queue.packets() > 0 {
        now += 30 * MS;
        queue.dequeue(now, &mut dropped);
        let mut each = (0, 0);
        queue.each(&mut |held| each = (each.0 + 1, each.1 + u64::from(held.packet.bytes)));
        assert_eq!((queue.packets(), queue.bytes()), each);
    }
    assert_eq!(queue.dequeue(now, &mut dropped).map(|held| held.packet.flow), None);
    assert!(!dropped.is_empty());
}
