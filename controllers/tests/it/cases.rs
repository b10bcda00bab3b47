//! How many cases of a property are tried.
#![allow(dead_code, reason = "each test uses what it needs")]

use proptest::prelude::*;
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
