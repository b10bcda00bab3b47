//! Every controller decides the same, bit for bit, on every platform and in every version:
//! the decisions of seeded connections, digested, are those of `digests.txt`. A second digest is of the state variables
//! that lead to them, whose last bit seldom shows in a decision.
//!
//! `WINDLASS_ACCEPT_DIGESTS=1` writes the file anew, for a change that is meant to move
//! decisions.

use std::fmt::Write as _;
use std::path::Path;

use crate::sender::Sender;
use crate::shared::Flows;
use windlass_controllers::{Algorithm, Decision};

/// Events of each connection; four connections of up to four flows make a digest.
const EVENTS: u32 = 4_000;

/// FNV-1a over 64-bit words.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn decision(&mut self, decision: &Decision) {
        let none = u64::MAX;
        let words = [
            decision.cwnd,
            decision.ssthresh.unwrap_or(none),
            decision.pacing_rate.unwrap_or(none),
            decision.wake_at.map_or(none, |at| at.0),
            decision.ecn as u64,
            u64::from(decision.dscp),
            decision.phase as u64,
            decision.recovery_start.map_or(none, |at| at.0),
        ];
        words.into_iter().for_each(|word| self.add(word));
        if let Some(train) = decision.train {
            let words = [train.id, train.packets, train.bytes, u32::from(train.dscp), u32::from(train.carries_data)];
            words.into_iter().for_each(|word| self.add(u64::from(word)));
            self.add(train.min_rate.to_bits());
            self.add(train.spread.to_bits());
        }
    }
}

/// Of decisions, and of state variables.
fn digest(text: &str) -> (u64, u64) {
    let algorithm = Algorithm::read(text).unwrap_or_else(|error| panic!("{error}"));
    let mut decided = Digest(0xcbf2_9ce4_8422_2325);
    let mut state = decided;
    for seed in 1..=4 {
        let mut sender = Sender::new(seed, seed % 2 == 0);
        let mut flows = Flows::new(algorithm);
        flows.join(&sender.path());
        let mut decision = flows.decide(0);
        for i in 0..EVENTS {
            if flows.states.len() < 4 && sender.random.one_in(700) {
                flows.join(&sender.path());
            } else if flows.states.len() > 1 && sender.random.one_in(1500) {
                let me = sender.random.below(flows.states.len() as u64) as usize;
                flows.leave(me, sender.now, i % 2 == 0);
            }
            let me = sender.random.below(flows.states.len() as u64) as usize;
            let event = sender.event(&decision);
            flows.step(me, &event);
            decision = flows.decide(me);
            decided.decision(&decision);
            flows.engine.inspect(&flows.states[me], flows.view(me), &mut |_, value| state.add(value.to_bits()));
        }
    }
    (decided.0, state.0)
}

/// Each controller's defaults, its document's values, its fallback, and the choices that
/// every window scheme shares.
fn texts() -> Vec<String> {
    let shared = [
        "slow_start=hystart++",
        "slow_start=search",
        "slow_start=rapid",
        "lss=50,growth=packets",
        "growth=acks,grow_on_exit=off",
        "first_halving=on",
    ];
    let mut texts = Vec::new();
    for entry in Algorithm::ALL {
        texts.push(entry.name.to_owned());
        texts.push(format!("{}:profile=paper", entry.name));
        texts.extend(entry.fallback.map(|_| format!("{}:fallback=on", entry.name)));
        let shared = shared.iter().map(|assignments| format!("{}:{assignments}", entry.name));
        texts.extend(shared.filter(|text| Algorithm::read(text).is_ok()));
    }
    texts
}

#[test]
fn decisions_are_the_recorded_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/digests.txt");
    let mut found = String::new();
    for text in texts() {
        let (decided, state) = digest(&text);
        writeln!(found, "{text} {decided:016x} {state:016x}").unwrap();
    }
    if std::env::var_os("WINDLASS_ACCEPT_DIGESTS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    let moved: Vec<_> = found.lines().filter(|line| !recorded.lines().any(|known| known == *line)).collect();
    assert!(moved.is_empty(), "{} decide or compute otherwise: {moved:#?}", moved.len());
    assert_eq!(found.lines().count(), recorded.lines().count(), "digests of controllers that are no more");
}
