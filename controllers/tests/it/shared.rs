//! What these tests share with the unit tests: how many cases of a property are tried, and a group of flows.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::boxed::Box;
use std::fmt::Debug;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};
use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Member, Path, Table, Time, View};

/// `n` cases of a property, or as many as `PROPTEST_CASES` says (`proptest!` has it override
/// any number); the same ones in every run.
pub fn cases(n: u32) -> Config {
    config(wanted(n))
}

/// `n`, or what `PROPTEST_CASES` says, for what is not a property of proptest's.
pub fn wanted(n: u32) -> u32 {
    match std::env::var("PROPTEST_CASES") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("PROPTEST_CASES is {text:?}; expected a whole number")),
        Err(_) => n,
    }
}

/// Tries a property over whole connections, each thousands of steps, `n` times: no more for
/// `PROPTEST_CASES`.
#[track_caller]
pub fn runs<S: Strategy>(n: u32, strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    if let Err(error) = TestRunner::new(config(n)).run(&strategy, property) {
        panic!("{error}");
    }
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        // Cases that an assumption discards are not tried.
        max_global_rejects: 100_000.max(cases.saturating_mul(10)),
        // Half of a case's time would go into the default's cryptography.
        rng_algorithm: RngAlgorithm::XorShift,
        rng_seed: RngSeed::Fixed(0x5eed),
        failure_persistence: None,
        ..Config::default()
    }
}

/// One of several strategies, each as often as its weight says. For what is drawn many times a case: `prop_oneof!` copies the
/// test runner for each alternative that it leaves, a third of a case's time. A case shrinks within its alternative.
pub fn one_of<T: Debug, const N: usize>(alternatives: [(u32, BoxedStrategy<T>); N]) -> OneOf<T, N> {
    OneOf { total: alternatives.iter().map(|(weight, _)| weight).sum(), alternatives }
}

#[derive(Clone, Debug)]
pub struct OneOf<T, const N: usize> {
    alternatives: [(u32, BoxedStrategy<T>); N],
    total: u32,
}

impl<T: Debug, const N: usize> Strategy for OneOf<T, N> {
    type Tree = Box<dyn ValueTree<Value = T>>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut drawn = (0..self.total).new_tree(runner)?.current();
        let (_, strategy) = self
            .alternatives
            .iter()
            .find(|(weight, _)| {
                let found = drawn < *weight;
                drawn = drawn.wrapping_sub(*weight);
                found
            })
            .expect("what is drawn is below the sum of the weights");
        strategy.new_tree(runner)
    }
}

/// Flows of one group with the table they share, as an adapter would keep it; an ungrouped controller ignores the table.
pub struct Flows<E: ConfiguredController> {
    pub engine: E,
    pub shared: E::Group,
    pub members: Vec<Member>,
    pub states: Vec<E::State>,
    next_id: u64,
}

impl<E: ConfiguredController> Flows<E> {
    pub fn new(engine: E) -> Self {
        let shared = engine.group();
        Flows { engine, shared, members: Vec::new(), states: Vec::new(), next_id: 0 }
    }

    pub fn join(&mut self, path: &Path) {
        let state = self.engine.start(path);
        self.adopt(state, path.now);
    }

    /// A flow that comes from elsewhere joins.
    pub fn adopt(&mut self, state: E::State, now: Time) {
        self.members.push(Member::new(self.next_id));
        self.states.push(state);
        self.next_id += 1;
        self.step(self.states.len() - 1, &Event::new(now, EventKind::Joined));
    }

    /// A flow leaves, announced or not.
    pub fn leave(&mut self, me: usize, now: Time, says_so: bool) -> E::State {
        if says_so {
            self.step(me, &Event::new(now, EventKind::Left));
        }
        self.members.remove(me);
        self.states.remove(me)
    }

    pub fn step(&mut self, me: usize, event: &Event) {
        let table = Table { shared: &mut self.shared, members: &mut self.members, me };
        self.engine.step(&mut self.states[me], table, event);
    }

    pub fn view(&self, me: usize) -> View<'_, E::Group> {
        View { shared: &self.shared, members: &self.members, me }
    }

    pub fn decide(&self, me: usize) -> Decision {
        self.engine.decide(&self.states[me], self.view(me))
    }
}
