//! How many cases of a property are tried.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::boxed::Box;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};

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
