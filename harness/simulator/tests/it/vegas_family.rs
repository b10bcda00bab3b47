//! What the Vegas family owes on whole paths (`spec: chan §11, §12`).

use crate::common::scenario;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::sim;

const RATE: f64 = 1.6;
const PACKET: f64 = 1000.0;

/// One flow over 1.6 Mbit/s there and as many ACKs as `k` times fewer packets back, queues of
/// ten (`spec: chan §14 E3.1`); packets/s over the second half of 200 s. What AQT-enabled
/// routers write into takes 8 bytes of every packet and adds 8 to every ACK (A7, A11).
fn packets_per_second(controller: &str, k: f64) -> f64 {
    let (packet, ack) = if controller == "rovegas" { (PACKET - 8.0, 48.0) } else { (PACKET, 40.0) };
    let text = format!(
        "duration_s = 200\nsample_ms = 1000\npacket_bytes = {packet}\noverhead_bytes = 0\nack_bytes = 40\n\
         [dumbbell]\nrate_mbps = {RATE}\nrtt_ms = 44\nbuffer_packets = 10\n\
         [dumbbell.back]\nrate_mbps = {}\nbuffer_packets = 10\n[[flow]]\ncontroller = \"under-test\"\npacing = false\n",
        RATE / k * ack / PACKET
    );
    let outcome = sim::run(&scenario(&text, &format!("{controller}:profile=paper"))).unwrap();
    let goodput = &outcome.flows[0].series.goodput_mbps;
    let half = &goodput[goodput.len() / 2..];
    half.iter().sum::<f64>() / half.len() as f64 * 1e6 / 8.0 / packet
}

/// P11: on a path whose ACKs are the bottleneck, Vegas sends as fast as they come:
/// `u_f/k` (Eq. 3.17). P10: RoVegas at most `min(k, 3)` times as fast, for its window stops
/// growing when two of three ACKs are dropped (Eq. 3.21), and faster than Vegas.
#[test]
fn p10_p11_a_slow_way_back() {
    let forward = RATE * 1e6 / 8.0 / PACKET;
    for k in [2.0f64, 4.0, 8.0, 16.0, 32.0] {
        let (vegas, rovegas) = (packets_per_second("vegas", k), packets_per_second("rovegas", k));
        assert!((vegas * k / forward - 1.0).abs() < 0.01, "k {k}: Vegas {vegas} of {} packets/s", forward / k);
        let factor = rovegas / vegas;
        assert!(factor > 1.0 && factor <= 1.025 * k.min(3.0), "k {k}: RoVegas is {factor} times as fast");
    }
}

/// `count` flows over one bottleneck, the next one `apart` seconds after the one before.
fn staggered_flows(controller: &str, count: u32, apart: u32) -> Outcome {
    let flows: String = (0..count)
        .map(|i| format!("[[flow]]\ncontroller = \"under-test\"\npacing = false\nstart_s = {}\n", i * apart))
        .collect();
    let text = format!(
        "duration_s = {}\nsample_ms = 100\npacket_bytes = 1000\noverhead_bytes = 0\nack_bytes = 40\n\
         [dumbbell]\nrate_mbps = {RATE}\nrtt_ms = 44\nbuffer_packets = 100\n{flows}",
        count * apart + 60
    );
    sim::run(&scenario(&text, controller)).unwrap()
}

/// Mean queue over the last ten seconds, packets.
fn standing(outcome: &Outcome) -> f64 {
    let packets = &outcome.queues[0].series.packets;
    let end = &packets[packets.len() - 100..];
    end.iter().sum::<f64>() / end.len() as f64
}

/// P12: flows that know the path's own delay keep `n·β` packets queued at most, whoever came
/// first; late Vegas flows take the queue of the others for the path (`spec: chan §11.5`). The document's senders
/// do not pace.
#[test]
fn p12_no_persistent_congestion() {
    for (count, apart) in [(5, 20), (8, 20), (8, 0)] {
        let queue = standing(&staggered_flows("rovegas:profile=paper", count, apart));
        let most = f64::from(count) * (3.0 + 1.0);
        assert!(queue <= most, "{count} RoVegas flows {apart} s apart: {queue} packets of {most}");
        let vegas = standing(&staggered_flows("vegas:profile=paper", count, apart));
        assert!(apart == 0 || vegas > most, "{count} Vegas flows {apart} s apart: {vegas} packets");
    }
}

/// P20: the backlog a flow alone estimates is what it has in the queue, within a packet.
/// (That packets are conserved is `sim_flows.rs`'s.)
#[test]
fn p20_the_estimated_backlog_is_the_queue() {
    for controller in ["vegas", "vegas:profile=paper", "quick-vegas", "rovegas", "red-vegas", "enhanced-vegas"] {
        let outcome = staggered_flows(controller, 1, 20);
        let (flow, queue) = (&outcome.flows[0], &outcome.queues[0].series.packets);
        let least = flow.rtt_min_ms.unwrap();
        let late = queue.len() / 2;
        let points = flow.series.cwnd_packets.iter().zip(&flow.series.rtt_ms).skip(late);
        let estimates: Vec<f64> = points.map(|(cwnd, rtt)| cwnd * (1.0 - least / rtt.unwrap())).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (estimate, queued) = (mean(&estimates), mean(&queue[late..]));
        assert!((estimate - queued).abs() <= 1.0, "{controller}: {estimate} packets, {queued} in the queue");
        assert!(queued > 0.5, "{controller} keeps none there: {queued}");
    }
}
