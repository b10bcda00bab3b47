//! What RTTs are in, where a logger does not write milliseconds.

use std::collections::HashMap;

use crate::model::{Batch, EventKind, PacketType};

/// A unit that RTTs are in instead of the one they should be in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// A unit a thousand times larger.
    Larger,
    /// A unit a thousand times smaller.
    Smaller,
}

impl Unit {
    pub(super) const fn places(self) -> i32 {
        match self {
            Unit::Larger => 3,
            Unit::Smaller => -3,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Unit::Larger => "s",
            Unit::Smaller => "us",
        }
    }

    /// Corrects what was read already.
    pub(super) fn apply(self, batch: &mut Batch) {
        let correct = |rtt: &mut Option<i64>| {
            *rtt = rtt.map(|rtt| match self {
                Unit::Larger => rtt.saturating_mul(1000),
                Unit::Smaller => rtt / 1000,
            });
        };
        for metrics in &mut batch.metrics {
            correct(&mut metrics.min_rtt);
            correct(&mut metrics.smoothed_rtt);
            correct(&mut metrics.latest_rtt);
            correct(&mut metrics.rtt_variance);
        }
    }
}

/// The initial RTT of `RFC 9002 §6.2.2` in seconds, read as milliseconds.
const INITIAL_IN_SECONDS: i64 = 333_000;

/// Judges the RTTs of the first events of a trace by its acknowledgements, or where there
/// are none, by the initial RTT.
pub(super) fn detect(batch: &Batch) -> Option<Unit> {
    let mut sent: HashMap<(PacketType, u64), i64> = HashMap::new();
    let mut sample = None;
    let (mut right, mut larger, mut smaller) = (0, 0, 0);
    for event in &batch.events {
        match event.kind {
            EventKind::PacketSent(index) => {
                let packet = &batch.packets[index as usize];
                if let Some(number) = packet.number {
                    sent.insert((packet.kind.space(), number), event.time);
                }
            }
            EventKind::PacketReceived(index) => {
                let packet = &batch.packets[index as usize];
                let largest = batch.ranges_of(packet).iter().map(|range| range.1).max();
                let left = largest.and_then(|largest| sent.remove(&(packet.kind.space(), largest)));
                if let Some(left) = left {
                    sample = Some(event.time - left);
                }
            }
            EventKind::MetricsUpdated(index) => {
                let Some(latest) = batch.metrics[index as usize].latest_rtt.filter(|&latest| latest > 0) else {
                    continue;
                };
                let Some(sample) = sample.take() else { continue };
                let ratio = sample as f64 / latest as f64;
                right += u32::from((0.33..=3.0).contains(&ratio));
                larger += u32::from((300.0..=3000.0).contains(&ratio));
                smaller += u32::from((0.00033..=0.0033).contains(&ratio));
            }
            _ => {}
        }
    }
    if larger >= 3 && larger > right {
        return Some(Unit::Larger);
    }
    if smaller >= 3 && smaller > right {
        return Some(Unit::Smaller);
    }
    let first = batch.metrics.iter().find_map(|metrics| metrics.smoothed_rtt.or(metrics.min_rtt));
    (right == 0 && first == Some(INITIAL_IN_SECONDS)).then_some(Unit::Larger)
}
