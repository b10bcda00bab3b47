//! Every controller of the catalogue survives long random sequences of plausible and
//! hostile events: no panic, no NaN or infinity, the window within its limits, and a
//! decision that is a function of the state alone.
//!
//! `WINDLASS_FUZZ_STEPS` sets the number of steps per controller (default 2·10⁶ when
//! optimised, 2·10⁵ otherwise), `WINDLASS_FUZZ_SEED` the first seed.

use crate::sender::Sender;
use crate::shared::Flows;
use windlass_controllers::event::{PacketSent, WindowSet};
use windlass_controllers::parts::careful_resume::Resuming;
use windlass_controllers::{Algorithm, Decision, Event, EventKind, Member, SavedPath, Signals, Span, Table, View};

/// 1 048 576 packets of at most 65 527 bytes.
const CAP: u64 = 1_048_576 * 65_527;

/// A window of at least one packet (documents' profiles go to one after a timeout,
/// where the datagram may have shrunk to one byte) and at most the cap.
fn within_limits(decision: &Decision) -> bool {
    (1..=CAP).contains(&decision.cwnd)
}

fn check(flows: &Flows<Algorithm>, me: usize) -> Result<(), &'static str> {
    let before = flows.states[me];
    let decision = flows.decide(me);
    if decision != flows.decide(me) {
        return Err("decide is not pure, or decides a NaN");
    }
    // `PartialEq` of a state that holds a NaN is false.
    if before != flows.states[me] {
        return Err("there is a NaN in the state");
    }
    if decision
        .train
        .is_some_and(|plan| !(plan.min_rate.is_finite() && plan.min_rate > 0.0 && (2..=1000).contains(&plan.packets)))
    {
        return Err("a train that cannot be sent");
    }
    let mut nan = false;
    flows.engine.inspect(&flows.states[me], flows.view(me), &mut |_, value| nan |= value.is_nan());
    if nan { Err("a state variable is NaN") } else { Ok(()) }
}

fn run(text: &str, steps: u64, seed: u64) {
    let algorithm = Algorithm::read(text).unwrap_or_else(|error| panic!("{error}"));
    let mut done = 0;
    let mut round = seed;
    while done < steps {
        round += 1;
        let length = 20_000.min(steps - done);
        let mut sender = Sender::new(round, round % 2 == 0);
        let mut flows = Flows::new(algorithm);
        flows.join(&sender.path());
        let mut decision = flows.decide(0);
        for i in 0..length {
            if flows.states.len() < 4 && sender.random.one_in(2000) {
                flows.join(&sender.path());
            } else if flows.states.len() > 1 && sender.random.one_in(4000) {
                let me = sender.random.below(flows.states.len() as u64) as usize;
                flows.leave(me, sender.now, i % 2 == 0);
            }
            let me = sender.random.below(flows.states.len() as u64) as usize;
            let event = sender.event(&decision);
            flows.step(me, &event);
            decision = flows.decide(me);
            let whole = if i % 16 == 0 { check(&flows, me) } else { Ok(()) };
            assert!(within_limits(&decision), "cwnd {}: {text}, seed {round}, step {i}, {event:?}", decision.cwnd);
            if let Err(what) = whole {
                panic!("{what}: {text}, seed {round}, step {i}, {event:?}, {:?}", flows.states[me]);
            }
        }
        done += length;
    }
}

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}; expected a whole number")),
        Err(_) => default,
    }
}

#[test]
fn every_controller_survives() {
    let steps = setting("WINDLASS_FUZZ_STEPS", if cfg!(debug_assertions) { 200_000 } else { 2_000_000 });
    let seed = setting("WINDLASS_FUZZ_SEED", 1);
    let texts: Vec<(String, u64)> = Algorithm::ALL
        .iter()
        .flat_map(|entry| {
            let plain = [(entry.name.to_owned(), steps), (format!("{}:profile=paper", entry.name), steps / 4)];
            let fallback = entry.fallback.map(|_| (format!("{}:fallback=on", entry.name), steps / 4));
            plain.into_iter().chain(fallback)
        })
        .collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((text, steps)) = texts.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    run(text, *steps, seed);
                }
            });
        }
    });
}

/// Flows that resume a path, of which anything may be saved, survive as well; and controllers, whatever window is set.
#[test]
fn every_flow_that_resumes_survives() {
    let steps = setting("WINDLASS_FUZZ_STEPS", if cfg!(debug_assertions) { 200_000 } else { 2_000_000 }) / 20;
    for entry in Algorithm::ALL {
        let algorithm = (entry.default)();
        let mut group = algorithm.group();
        for seed in 0..(steps / 2000).max(1) {
            let mut sender = Sender::new(seed, seed % 2 == 0);
            let (cwnd, rtt) = (sender.random.below(1 << 34), Span(sender.random.below(1_000_000_000)));
            let saved = if seed % 7 == 0 { SavedPath::new(u64::MAX, Span(1)) } else { SavedPath::new(cwnd, rtt) };
            let path = sender.path().with_saved(Some(saved));
            let Some(mut flow) = Resuming::start(&algorithm, &path) else { continue };
            for step in 0..2000 {
                let decision = flow.decide(&algorithm, View::solo(&group));
                assert!(within_limits(&decision), "cwnd {}: {}, seed {seed}, step {step}", decision.cwnd, entry.name);
                let event = match sender.random.below(10) {
                    0..=3 => {
                        let sent = PacketSent::new(1200, sender.random.below(2 * decision.cwnd + 1));
                        Event::new(sender.now, EventKind::PacketSent(sent))
                    }
                    4 if step % 50 == 0 => {
                        let set = WindowSet::new(sender.random.hostile()).with_ssthresh(Some(sender.random.hostile()));
                        Event::new(sender.now, EventKind::WindowSet(set))
                    }
                    _ => sender.event(&decision),
                };
                flow.step(&algorithm, Table::solo(&mut group), &event);
                let mut nan = false;
                flow.inspect(&algorithm, View::solo(&group), &mut |_, value| nan |= value.is_nan());
                assert!(!nan, "{}, seed {seed}, step {step}, {event:?}", entry.name);
            }
        }
    }
}

/// Members of a group come, new or from elsewhere, and go, announced or not, every few dozen events. Whoever's event it is, siblings' windows are only lowered
/// and their thresholds left alone, and everybody's decision stays within the limits.
fn changing_group(text: &str, steps: u64, seed: u64) {
    let algorithm = Algorithm::read(text).unwrap_or_else(|error| panic!("{error}"));
    let mut sender = Sender::new(seed, seed % 2 == 0);
    let mut flows = Flows::new(algorithm);
    let mut elsewhere = Vec::new();
    flows.join(&sender.path());
    for i in 0..steps {
        if flows.states.is_empty() || flows.states.len() < 12 && sender.random.one_in(40) {
            let before = flows.members.clone();
            match elsewhere.pop() {
                Some(state) if sender.random.one_in(2) => flows.adopt(state, sender.now),
                _ => flows.join(&sender.path()),
            }
            only_lower(&before, &flows.members, before.len(), text, seed, i);
        } else if sender.random.one_in(50) {
            let me = sender.random.below(flows.states.len() as u64) as usize;
            let says_so = sender.random.one_in(2);
            elsewhere.push(flows.leave(me, sender.now, says_so));
            if flows.states.is_empty() {
                // The group is gone with its last member, with all it knew.
                flows.shared = windlass_controllers::ConfiguredController::group(&algorithm);
                continue;
            }
        }
        let me = sender.random.below(flows.states.len() as u64) as usize;
        let event = sender.event(&flows.decide(me));
        let before = flows.members.clone();
        flows.step(me, &event);
        only_lower(&before, &flows.members, me, text, seed, i);
        for member in 0..flows.states.len() {
            let decision = flows.decide(member);
            assert!(within_limits(&decision), "cwnd {}: {text}, seed {seed}, step {i}, {event:?}", decision.cwnd);
            check(&flows, member).unwrap_or_else(|what| panic!("{what}: {text}, seed {seed}, step {i}, {event:?}"));
        }
    }
}

fn only_lower(before: &[Member], after: &[Member], me: usize, text: &str, seed: u64, step: u64) {
    for (j, (old, new)) in before.iter().zip(after).enumerate().filter(|(j, _)| *j != me) {
        let fine = new.id == old.id && new.cwnd <= old.cwnd && new.ssthresh == old.ssthresh;
        assert!(fine, "{text}, seed {seed}, step {step}: {me} made {old:?} of {j} into {new:?}");
    }
}

#[test]
fn groups_survive_comings_and_goings() {
    let steps = setting("WINDLASS_FUZZ_STEPS", if cfg!(debug_assertions) { 200_000 } else { 2_000_000 }).min(2_000_000);
    let seed = setting("WINDLASS_FUZZ_SEED", 1);
    for entry in Algorithm::ALL.iter().filter(|entry| (entry.default)().needs().contains(Signals::GROUPS)) {
        for profile in ["quic", "paper"] {
            let text = format!("{}:profile={profile}", entry.name);
            for round in 0..10 {
                changing_group(&text, steps / 100, seed + round);
            }
        }
    }
}

#[test]
fn equal_inputs_give_equal_outputs() {
    for entry in Algorithm::ALL {
        let trajectory = || {
            let mut sender = Sender::new(7, true);
            let mut flows = Flows::new((entry.default)());
            flows.join(&sender.path());
            let mut decision = flows.decide(0);
            let mut taken = Vec::new();
            for _ in 0..5_000 {
                let event = sender.event(&decision);
                flows.step(0, &event);
                decision = flows.decide(0);
                taken.push((flows.states[0], decision));
            }
            taken
        };
        assert!(trajectory() == trajectory(), "{}", entry.name);
    }
}
