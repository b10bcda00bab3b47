//! How many cases of a property are tried.

use proptest::test_runner::{Config, RngSeed};

/// `n` cases of a property, or as many as `PROPTEST_CASES` says if that is more; the same
/// ones in every run.
pub fn cases(n: u32) -> Config {
    let wanted = match std::env::var("PROPTEST_CASES") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("PROPTEST_CASES is {text:?}; expected a whole number")),
        Err(_) => 0,
    };
    let cases = n.max(wanted);
    config(cases)
}

/// `n` runs of a property over whole connections, each thousands of steps: no more for
/// `PROPTEST_CASES`.
#[allow(dead_code, reason = "not every test that shares this has such a property")]
pub fn runs(n: u32) -> Config {
    config(n)
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        // Cases that an assumption discards are not tried.
        max_global_rejects: 100_000.max(cases.saturating_mul(10)),
        rng_seed: RngSeed::Fixed(0x5eed),
        failure_persistence: None,
        ..Config::default()
    }
}
