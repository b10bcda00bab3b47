//! What differs from target to target, and what does not: a line of each kind with a hash of a million results.

use std::collections::HashSet;

/// A number of [1, 2) for each step, seeded: SplitMix64.
fn number(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from_bits(((z ^ (z >> 31)) >> 12) | 1.0_f64.to_bits())
}

fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

fn of(name: &str, function: impl Fn(f64, f64, f64) -> f64) {
    let mut state = 1;
    let mut one = || number(&mut state);
    let results = (0..1_000_000).map(|_| function(one(), one(), one()).to_bits());
    println!("{name}\t{:016x}", hash(results));
}

fn main() {
    of("`a * b + c`", |a, b, c| a * b + c);
    of("`f64::mul_add`", |a, b, c| a.mul_add(b, c));
    of("`f64::sqrt`", |a, _, _| a.sqrt());
    of("`f64::ln`", |a, _, _| a.ln());
    of("`f64::exp`", |a, _, _| a.exp());
    of("`f64::powf`", |a, b, _| a.powf(b));
    of("`f64::cbrt`", |a, _, _| a.cbrt());
    of("`f64::tanh`", |a, _, _| a.tanh());
    of("`f64::powi`", |a, _, _| a.powi(7));
    let walked: HashSet<u64> = (0..1000).collect();
    println!("a `HashSet` walked\t{:016x}", hash(walked.into_iter()));
    println!("a time of 5 s in ns, in a `usize`\t{:016x}", std::hint::black_box(5_000_000_000_u64) as usize as u64);
}
