//! Groups of flows and what happens to their members, for the tests of grouped schemes.

use std::vec::Vec;

use super::flows::Flows;
use super::{PATH, acked, lost};
use crate::{Controller, Engine, Event, Fixed, Time, What};

/// A group whose members are in congestion avoidance with these windows.
pub fn group<C: Controller + core::fmt::Debug + 'static>(params: C::Params, windows: &[f64]) -> Flows<Fixed<C>> {
    let mut group = Flows::new(Fixed(params));
    for cwnd in windows {
        group.join(&PATH);
        let me = group.members.len() - 1;
        group.members[me].cwnd = *cwnd;
        group.members[me].ssthresh = 2.0;
    }
    group
}

/// An event of member `me` at `ms`.
pub fn on<E: Engine>(group: &mut Flows<E>, me: usize, ms: u64, what: What) {
    group.step(me, &Event { now: Time(ms * 1_000_000), what });
}

/// Loses a packet just sent.
pub fn lose<E: Engine>(group: &mut Flows<E>, me: usize, ms: u64) {
    on(group, me, ms, What::Lost(lost(Time(ms * 1_000_000))));
}

/// Acknowledges packets just sent.
pub fn ack<E: Engine>(group: &mut Flows<E>, me: usize, ms: u64, packets: u32) {
    on(group, me, ms, What::Acked(acked(packets, Time(ms * 1_000_000))));
}

/// Persistent congestion.
pub fn time_out<E: Engine>(group: &mut Flows<E>, me: usize, ms: u64) {
    on(group, me, ms, What::PersistentCongestion(lost(Time(ms * 1_000_000))));
}

/// The members' windows.
pub fn windows<E: Engine>(group: &Flows<E>) -> Vec<f64> {
    group.members.iter().map(|member| member.cwnd).collect()
}

/// The members' thresholds.
pub fn thresholds<E: Engine>(group: &Flows<E>) -> Vec<f64> {
    group.members.iter().map(|member| member.ssthresh).collect()
}
