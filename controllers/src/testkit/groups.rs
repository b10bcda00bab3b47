//! Groups of flows and what happens to their members, for the tests of grouped schemes.

use std::vec::Vec;

use super::flows::Flows;
use super::{PATH, acked, lost};
use crate::{ConfiguredController, Controller, Event, EventKind, Static, Time};

/// A group whose members are in congestion avoidance with these windows.
pub fn group<C: Controller + core::fmt::Debug + 'static>(params: C::Params, windows: &[f64]) -> Flows<Static<C>> {
    let mut group = Flows::new(Static(params));
    for cwnd in windows {
        group.join(&PATH);
        let me = group.members.len() - 1;
        group.members[me].cwnd = *cwnd;
        group.members[me].ssthresh = 2.0;
    }
    group
}

/// An event of member `me` at `ms`.
pub fn on<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64, kind: EventKind) {
    group.step(me, &Event::new(Time(ms * 1_000_000), kind));
}

/// Loses a packet just sent.
pub fn lose<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64) {
    on(group, me, ms, EventKind::PacketsLost(lost(Time(ms * 1_000_000))));
}

/// Acknowledges `packets` sent one RTT before.
pub fn ack<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64, packets: u32) {
    on(group, me, ms, EventKind::PacketsAcked(acked(packets, Time(ms * 1_000_000))));
}

/// Persistent congestion.
pub fn time_out<E: ConfiguredController>(group: &mut Flows<E>, me: usize, ms: u64) {
    on(group, me, ms, EventKind::PersistentCongestion(lost(Time(ms * 1_000_000))));
}

/// The members' windows.
pub fn windows<E: ConfiguredController>(group: &Flows<E>) -> Vec<f64> {
    group.members.iter().map(|member| member.cwnd).collect()
}

/// The members' thresholds.
pub fn thresholds<E: ConfiguredController>(group: &Flows<E>) -> Vec<f64> {
    group.members.iter().map(|member| member.ssthresh).collect()
}
