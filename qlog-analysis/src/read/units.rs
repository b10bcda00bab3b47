//! What RTTs, times and pacing rates are in, where a logger does not write milliseconds and
//! bits per second. The first events of a trace show it.

use std::collections::HashMap;

use super::block::Block;
use super::encoding::Encoding;
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, EventKind, INITIAL_RTT, Name, Packet, PacketType, Units};

/// A unit that values are in instead of the one they should be in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// A unit a thousand times larger.
    Larger,
    /// A unit a thousand times smaller.
    Smaller,
}

impl Unit {
    const fn places(self) -> i32 {
        match self {
            Unit::Larger => 3,
            Unit::Smaller => -3,
        }
    }

    /// What values are in whose unit should be 10^`places` ns.
    const fn name(self, places: i32) -> &'static str {
        match places + self.places() {
            ..=0 => "ns",
            3 => "us",
            6 => "ms",
            _ => "s",
        }
    }

    const fn correct(self, value: i64) -> i64 {
        match self {
            Unit::Larger => value.saturating_mul(1000),
            Unit::Smaller => value / 1000,
        }
    }
}

/// Bits of a byte, by which a rate in bytes per second is too low.
const BYTES: u64 = 8;

/// Units that are not what they should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Judgement {
    rtt: Option<Unit>,
    time: Option<Unit>,
    /// Pacing rates are bytes per second.
    pacing_in_bytes: bool,
    /// Acknowledged ranges end before their second number.
    pub(super) half_open: bool,
}

impl Judgement {
    /// The judgement of the first events of a trace.
    pub(super) fn of(batch: &mut Batch) -> Self {
        let half_open = half_open(batch);
        if half_open {
            let ranges = batch.ranges.iter_mut().chain(&mut batch.path_ranges);
            ranges.for_each(|(low, high)| *high = high.saturating_sub(1).max(*low));
        }
        let (rtt, time) = match thousandfold(batch) {
            Some(Mismatch::Rtt(unit)) => (Some(unit), None),
            Some(Mismatch::Time(unit)) => (None, Some(unit)),
            None => (None, None),
        };
        if let Some(unit) = time {
            batch.events.iter_mut().for_each(|event| event.time = unit.correct(event.time));
        }
        if let Some(unit) = rtt {
            correct_rtts(unit, batch);
        }
        let pacing_in_bytes = paced_in_bytes(batch);
        if pacing_in_bytes {
            for rate in batch.metrics.iter_mut().filter_map(|metrics| metrics.pacing_rate.as_mut()) {
                *rate = rate.saturating_mul(BYTES);
            }
        }
        Judgement { rtt, time, pacing_in_bytes, half_open }
    }

    pub(super) const fn rtt_places(self) -> i32 {
        match self.rtt {
            Some(unit) => unit.places(),
            None => 0,
        }
    }

    pub(super) const fn time_places(self) -> i32 {
        match self.time {
            Some(unit) => unit.places(),
            None => 0,
        }
    }

    pub(super) const fn pacing_factor(self) -> u64 {
        if self.pacing_in_bytes { BYTES } else { 1 }
    }

    /// The units of a trace whose encoding was `declared`.
    pub(super) fn units(self, declared: &Encoding) -> Units {
        Units {
            rtt: self.rtt.map(|unit| unit.name(declared.rtt_places)),
            time: self.time.map(|unit| unit.name(declared.time_places)).or(declared.unpadded.then_some(UNPADDED)),
            pacing_rate: self.pacing_in_bytes.then_some("byte/s"),
            ranges: self.half_open.then_some("half-open form (each ends before its second number)"),
        }
    }
}

/// What times with thousandths without leading zeros are in.
const UNPADDED: &str = "ms.us without leading zeros (1.9 is 1 ms and 9 us)";

/// Whether times have whole thousandths behind the point and no leading zeros there, as Haskell's quic writes them: read
/// so they are in order, and read as decimal fractions they go back. Three times are needed, or once and a zero at
/// an end, which no decimal fraction of varying length has.
pub(super) fn unpadded(block: &Block, encoding: &Encoding) -> bool {
    if encoding.delta || encoding.time_places < 3 {
        return false;
    }
    let (mut before, mut back, mut zero) = ([i64::MIN; 2], [0_u32; 2], false);
    for (_, text) in block.records() {
        if !text.starts_with(b"{") {
            return false;
        }
        let mut time = None;
        // What follows the time is not looked at.
        let _ = Cursor::new(text).object(|key, value| match key {
            b"time" => {
                time = value.decimal()?;
                Err(Malformed { at: 0, expected: "" })
            }
            _ => value.skip(),
        });
        let Some(time) = time else { continue };
        let Some((_, thousandths, digits)) = time.parts().filter(|parts| parts.2 <= 3) else { return false };
        if digits > 1 && thousandths < 10_u64.pow(digits - 1) {
            return false;
        }
        zero |= digits > 1 && thousandths % 10 == 0;
        let (Some(decimal), Some(counted)) = (time.scaled(encoding.time_places), time.unpadded(encoding.time_places))
        else {
            return false;
        };
        for (at, time) in [decimal, counted].into_iter().enumerate() {
            back[at] += u32::from(time < before[at]);
            before[at] = time;
        }
    }
    let [decimal, counted] = back;
    counted.saturating_mul(4) <= decimal && decimal >= if zero { 1 } else { 3 }
}

/// Whether the ranges of ACK frames end before their second number, as noq 1.4 writes them: no range is of one number, and
/// an ACK is beyond what was sent (`RFC 9000 §13.1` has none), each time by one. The first packet's shows it.
fn half_open(batch: &Batch) -> bool {
    let mut sent: HashMap<(PacketType, u32), u64> = HashMap::new();
    let mut beyond = false;
    for event in &batch.events {
        match event.kind {
            EventKind::PacketSent(index) => {
                let packet = &batch.packets[index as usize];
                if let Some(number) = packet.number {
                    let largest = sent.entry((packet.kind.space(), packet.path)).or_default();
                    *largest = number.max(*largest);
                }
            }
            EventKind::PacketReceived(index) => {
                let packet = &batch.packets[index as usize];
                let own = [(packet.path, batch.ranges_of(packet))];
                let paths = batch.path_acks_of(packet).iter().map(|ack| (ack.path, batch.ranges_of_path_ack(ack)));
                for (path, ranges) in own.into_iter().chain(paths) {
                    if ranges.iter().any(|(low, high)| low == high) {
                        return false;
                    }
                    let highest = ranges.iter().map(|range| range.1).max();
                    let Some((&sent, acked)) = sent.get(&(packet.kind.space(), path)).zip(highest) else { continue };
                    match acked.saturating_sub(sent) {
                        0 => {}
                        1 => beyond = true,
                        _ => return false,
                    }
                }
            }
            _ => {}
        }
    }
    beyond
}

/// Corrects what was read already.
fn correct_rtts(unit: Unit, batch: &mut Batch) {
    let correct = |rtt: &mut Option<i64>| *rtt = rtt.map(|rtt| unit.correct(rtt));
    for metrics in &mut batch.metrics {
        correct(&mut metrics.min_rtt);
        correct(&mut metrics.smoothed_rtt);
        correct(&mut metrics.latest_rtt);
        correct(&mut metrics.rtt_variance);
    }
    batch.packets.iter_mut().for_each(|packet| correct(&mut packet.ack_delay));
}

/// Values that are a thousand times too large or small.
enum Mismatch {
    Rtt(Unit),
    Time(Unit),
}

/// An RTT that is longer than this by the times of the events shows that those are wrong, ns.
const LONGEST: i64 = 10_000_000_000;

/// No stack begins with an RTT as long as this, ns.
const BEYOND: i64 = 5_000_000_000;

/// The same for one that is shorter, ns.
const SHORTEST: i64 = 5_000;

/// Judges the RTTs of the first events of a trace by its acknowledgements, or where there
/// are none, by the initial RTT.
fn thousandfold(batch: &Batch) -> Option<Mismatch> {
    let mut sent: HashMap<(PacketType, u32, u64), i64> = HashMap::new();
    let mut sample = None;
    let (mut right, mut larger, mut smaller) = (0, 0, 0);
    let mut least = i64::MAX;
    let began = batch.events.first().map_or(0, |event| event.time);
    // RTTs that are longer than the trace, and in microseconds are not; and other ones.
    let (mut beyond, mut within) = (0, 0);
    for event in &batch.events {
        match event.kind {
            EventKind::PacketSent(index) => {
                let packet = &batch.packets[index as usize];
                if let Some(number) = packet.number {
                    sent.insert((packet.kind.space(), packet.path, number), event.time);
                }
            }
            EventKind::PacketReceived(index) | EventKind::PacketsAcked(index) => {
                let packet = &batch.packets[index as usize];
                let left = largest(batch, packet)
                    .and_then(|largest| sent.remove(&(packet.kind.space(), packet.path, largest)));
                if let Some(left) = left {
                    sample = Some(event.time.saturating_sub(left));
                }
            }
            EventKind::MetricsUpdated(index) => {
                let Some(latest) = batch.metrics[index as usize].latest_rtt.filter(|&latest| latest > 0) else {
                    continue;
                };
                let elapsed = event.time.saturating_sub(began);
                let has_min = batch.metrics[index as usize].min_rtt.is_some();
                if has_min && latest > elapsed.max(BEYOND) && latest / 1000 <= elapsed {
                    beyond += 1;
                } else {
                    within += 1;
                }
                let Some(sample) = sample.take() else { continue };
                let ratio = sample as f64 / latest as f64;
                right += u32::from((0.33..=3.0).contains(&ratio));
                larger += u32::from((300.0..=3000.0).contains(&ratio));
                smaller += u32::from((0.00033..=0.0033).contains(&ratio));
                least = least.min(sample);
            }
            _ => {}
        }
    }
    let first = batch.metrics.iter().find_map(|metrics| metrics.smoothed_rtt.or(metrics.min_rtt));
    // Where the initial RTT is in milliseconds, all RTTs are.
    let rtts_are_right = first == Some(INITIAL_RTT);
    if larger >= 3 && larger > right {
        let times = rtts_are_right || least > LONGEST;
        return Some(if times { Mismatch::Time(Unit::Smaller) } else { Mismatch::Rtt(Unit::Larger) });
    }
    if smaller >= 3 && smaller > right {
        let times = rtts_are_right || least < SHORTEST;
        return Some(if times { Mismatch::Time(Unit::Larger) } else { Mismatch::Rtt(Unit::Smaller) });
    }
    let acknowledged = !batch.ranges.is_empty();
    if !acknowledged && beyond >= 3 && within == 0 {
        return Some(Mismatch::Rtt(Unit::Smaller));
    }
    (right == 0 && first == Some(INITIAL_RTT / 1000)).then_some(Mismatch::Rtt(Unit::Larger))
}

fn largest(batch: &Batch, packet: &Packet) -> Option<u64> {
    batch.ranges_of(packet).iter().map(|range| range.1).max()
}

/// A span in which what is sent is held against the pacing rate, ns.
const SPAN: i64 = 50_000_000;

/// Packets that a span needs to say anything.
const PACKETS: u32 = 10;

/// A sender never exceeds its pacing rate by this factor over a span, but a rate in bytes
/// per second, taken for bits, is exceeded by up to eight.
const EXCEEDED: f64 = 2.5;

/// A stack paces by its window over the RTT, times a gain of one to three while it starts (RFC 9002 §7.7), and a settled BBR, whose
/// window is two BDP, by half of it. From this share of it on, a rate is bits per second.
const OF_WINDOW: f64 = 0.45;

/// An eighth of one to three, with a margin: bytes per second, taken for bits.
const EIGHTH: std::ops::RangeInclusive<f64> = 0.08..=0.4;

/// Rates that an eighth of the window needs to say anything, all others being no more.
const RATES: u32 = 3;

/// Whether pacing rates are an eighth of the window over the RTT, and none is more, so that they are bytes per second. That shows in
/// traces that are too short to be held against what is sent.
fn eighth_of_window(batch: &Batch, group: Name) -> bool {
    let (mut window, mut rtt) = (None, None);
    let mut eighths = 0;
    for event in batch.events.iter().filter(|event| event.group == group) {
        let EventKind::MetricsUpdated(index) = event.kind else { continue };
        let metrics = batch.metrics[index as usize];
        (window, rtt) = (metrics.cwnd.or(window), metrics.smoothed_rtt.or(rtt));
        let (Some(rate), Some(window), Some(rtt)) = (metrics.pacing_rate, window, rtt) else { continue };
        if rate == 0 || window == 0 || rtt <= 0 {
            continue;
        }
        let share = rate as f64 / 8.0 * (rtt as f64 / 1e9) / window as f64;
        if share >= OF_WINDOW {
            return false;
        }
        eighths += u32::from(EIGHTH.contains(&share));
    }
    eighths >= RATES
}

/// Whether pacing rates are far below what is sent for long, or far below the window, so that they are bytes per second.
fn paced_in_bytes(batch: &Batch) -> bool {
    let Some(first) = batch.metrics.iter().position(|metrics| metrics.pacing_rate.is_some_and(|rate| rate > 0)) else {
        return false;
    };
    let is_first = |kind: EventKind| matches!(kind, EventKind::MetricsUpdated(index) if index as usize == first);
    let Some(at) = batch.events.iter().position(|event| is_first(event.kind)) else { return false };
    let group = batch.events[at].group;
    if eighth_of_window(batch, group) {
        return true;
    }
    let mut rate = 0.0;
    let mut before = batch.events[at].time;
    let mut begin = before;
    let (mut paced, mut bits, mut packets) = (0.0, 0.0, 0);
    let (mut exceeded, mut kept) = (0_u32, 0_u32);
    for event in batch.events[at..].iter().filter(|event| event.group == group) {
        paced += rate * event.time.saturating_sub(before).max(0) as f64 / 1e9;
        before = before.max(event.time);
        match event.kind {
            EventKind::MetricsUpdated(index) => {
                if let Some(logged) = batch.metrics[index as usize].pacing_rate {
                    rate = logged as f64;
                }
            }
            EventKind::PacketSent(index) => {
                bits += f64::from(batch.packets[index as usize].bytes.unwrap_or(0)) * 8.0;
                packets += 1;
            }
            _ => {}
        }
        if before.saturating_sub(begin) >= SPAN {
            if packets >= PACKETS && paced > 0.0 {
                let ratio = bits / paced;
                exceeded += u32::from(ratio > EXCEEDED);
                kept += u32::from((0.2..=1.5).contains(&ratio));
            }
            (begin, paced, bits, packets) = (before, 0.0, 0.0, 0);
        }
    }
    exceeded >= 3 && exceeded >= kept
}
