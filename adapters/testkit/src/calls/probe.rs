//! Digests of the events that an adapter makes of its stack's calls.

use windlass_controllers::{
    ConfiguredController, Decision, Event, EventKind, Info, Path, Phase, Signals, Table, Time, View,
};

use super::choices::{Choices, bytes_of};
use super::model::run_on;
use super::{Stack, datagram};

/// Sequences of calls for each variant of the probe.
const SEQUENCES: u64 = 1000;

/// A controller that no rule moves: what it decides follows from the events it gets in a way that makes adapters do
/// all they can do.
#[derive(Clone, Debug)]
pub struct Probe {
    needs: Signals,
    wants_packet_sent: bool,
}

/// State of a probe's flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    mixed: u64,
    mtu: u32,
    recovery_start: Option<Time>,
}

impl Probe {
    fn variants(provides: Signals) -> [Probe; 4] {
        let snapshots = Signals::WINDOW_AT_SEND.and(Signals::DELIVERY_RATE);
        let one_way = Signals::ONE_WAY_DELAY;
        let all = if provides.contains(one_way) { snapshots.and(one_way) } else { snapshots };
        [(Signals::NONE, false), (snapshots, false), (Signals::NONE, true), (all, true)]
            .map(|(needs, wants_packet_sent)| Probe { needs, wants_packet_sent })
    }
}

impl ConfiguredController for Probe {
    type State = State;
    type Group = ();

    fn info(&self) -> Info {
        Info { name: "probe", summary: "decides what its events add up to", source: "this test", fallback: None }
    }
    fn needs(&self) -> Signals {
        self.needs
    }
    fn wants_packet_sent(&self) -> bool {
        self.wants_packet_sent
    }
    fn group(&self) {}
    fn start(&self, path: &Path) -> State {
        State { mixed: 0, mtu: path.mtu, recovery_start: None }
    }
    fn step(&self, state: &mut State, _: Table<'_, ()>, event: &Event) {
        let bytes = match event.kind {
            EventKind::PacketsAcked(acked) => acked.fresh_bytes,
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => {
                state.recovery_start = Some(event.now);
                lost.bytes
            }
            EventKind::SpuriousLoss(_) => {
                state.recovery_start = None;
                1
            }
            EventKind::MtuUpdated(mtu) => {
                state.mtu = mtu;
                2
            }
            _ => 3,
        };
        state.mixed = (state.mixed ^ event.now.0 ^ bytes).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
    fn decide(&self, state: &State, _: View<'_, ()>) -> Decision {
        let mixed = state.mixed;
        let phases = [Phase::SlowStart, Phase::CongestionAvoidance, Phase::Recovery];
        let mut decision = Decision::new(datagram(state.mtu.into()) * (2 + mixed % 61));
        decision.phase = phases[(mixed >> 8) as usize % phases.len()];
        decision.pacing_rate = (mixed >> 16 & 7 == 0).then_some(mixed >> 32);
        decision.ssthresh = (mixed >> 20 & 1 == 0).then_some(mixed >> 40);
        decision.recovery_start = state.recovery_start;
        decision
    }
    fn inspect(&self, _: &State, _: View<'_, ()>, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// Digests of all events and answers of seeded sequences of calls: of correct and of faulty stacks.
/// They are the same as long as the adapter makes the same events of the same calls.
///
/// # Panics
/// If the events, answers or decisions break a rule.
#[must_use]
pub fn digests<S: Stack<Probe>>() -> [String; 2] {
    [0, 1].map(|wrong| {
        let mut digest = Some(0xcbf2_9ce4_8422_2325);
        for (variant, probe) in Probe::variants(S::PROVIDES).into_iter().enumerate() {
            for seed in 0..SEQUENCES {
                let mut bytes = bytes_of(seed << 2 | variant as u64, 32 << seed.trailing_ones().min(5));
                bytes[0] = (seed as u8 & 1) << 1 | wrong;
                let text = format!("{probe:?}");
                digest = run_on::<Probe, S>(probe.clone(), text, 2, digest, Choices::new(&bytes));
            }
        }
        format!("{:016x}", digest.unwrap_or_default())
    })
}
