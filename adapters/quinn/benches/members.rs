//! Members of one group on several threads, which share a lock and a table: CPU time of an ACK frame of two packets and of the two
//! packets it lets go, one frame after the other with nothing between them, which is the worst for the lock. Medians of rounds by turns.
//! `cargo bench -p windlass-quinn --bench members`.

use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use windlass_adapter_testkit::calls::quinn::estimator::settled;
use windlass_adapter_testkit::rounds::{median, tried_only};
use windlass_quinn::{Factory, Groups};

const MEMBERS: usize = 16;
const THREADS: [usize; 4] = [1, 2, 4, 8];
const MTU: u64 = 1200;
const RTT: Duration = Duration::from_millis(40);
/// Bytes of a member in flight.
const IN_FLIGHT: u64 = 100 * MTU;
/// Frames between losses, which keep windows finite.
const BETWEEN_LOSSES: usize = 500;

fn main() {
    let (rounds, frames) = if tried_only() { (1, 100) } else { (11, 400_000) };
    println!("| group | 1 thread, ns of CPU | 2 threads | 4 | 8 |");
    println!("|---|--:|--:|--:|--:|");
    for name in ["tcp-p", "a-tcp-p", "dca-c", "fractional", "combined", "cocoon", "cm"] {
        let mut costs = THREADS.map(|_| Vec::new());
        for _ in 0..rounds {
            for (threads, costs) in THREADS.into_iter().zip(&mut costs) {
                costs.push(frame_cost(name, threads, frames));
            }
        }
        let [one, two, four, eight] = costs.map(median);
        println!("| `{name}` | {one:.0} | {two:.0} | {four:.0} | {eight:.0} |");
    }
}

/// Nanoseconds of CPU per frame.
fn frame_cost(name: &str, threads: usize, frames: usize) -> f64 {
    let factory = Arc::new(Factory::named(name).expect("it is in the catalogue").group(&Groups::default(), "peer"));
    let (now, rtt) = (Instant::now(), settled(RTT));
    let mut members: Vec<_> = (0..MEMBERS)
        .map(|_| {
            let mut member = Arc::clone(&factory).build(now, MTU as u16);
            member.on_sent(now, IN_FLIGHT, IN_FLIGHT / MTU);
            member
        })
        .collect();
    let frames = frames / threads;
    let mut parts: Vec<_> = members.chunks_mut(MEMBERS / threads).collect();
    let whole = on_threads(&mut parts, |members| {
        let count = members.len();
        (0..frames).for_each(|frame| one(members[frame % count].as_mut(), now, &rtt, frame, count));
    });
    whole / (frames * threads) as f64
}

/// Nanoseconds of CPU of a thread for each of `parts`, all at once.
fn on_threads<T: Send>(parts: &mut [T], run: impl Fn(&mut T) + Sync) -> f64 {
    let begin = Barrier::new(parts.len());
    thread::scope(|scope| {
        let running: Vec<_> = parts
            .iter_mut()
            .map(|part| {
                scope.spawn(|| {
                    begin.wait();
                    let before = ThreadTime::now();
                    run(part);
                    before.elapsed().as_nanos() as f64
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("it ends")).sum()
    })
}

fn one(member: &mut dyn Controller, begun: Instant, rtt: &RttEstimator, frame: usize, members: usize) {
    let now = begun + RTT + Duration::from_micros(200) * frame as u32;
    if frame % BETWEEN_LOSSES < members {
        member.on_congestion_event(now, now - RTT, false, 2 * MTU);
    } else {
        (0..2).for_each(|_| member.on_ack(now, now - RTT, MTU, false, rtt));
        member.on_end_acks(now, IN_FLIGHT - 2 * MTU, false, None);
    }
    (0..4).for_each(|_| _ = black_box(member.window()));
    member.on_sent(now, 2 * MTU, 2 * frame as u64);
}
