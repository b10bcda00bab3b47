//! Candidates that take turns in short rounds, each compared with its baseline in the same
//! round, so that a noisy machine disturbs both sides alike.

use std::time::Duration;

const ROUNDS: usize = 41;
/// ACK frames per round, in blocks whose times are worked out before the clock starts:
/// in a stack they are at hand.
const BLOCKS: usize = 400;
/// ACK frames per block.
pub const BLOCK: usize = 256;

/// What is measured.
pub struct Candidate<'a> {
    name: &'a str,
    baseline: usize,
    run: Box<dyn FnMut() -> Duration + 'a>,
    nanos: Vec<f64>,
}

impl<'a> Candidate<'a> {
    /// `run` carries out a block and says how long it took; candidate number `baseline` is
    /// what it is compared with.
    pub fn new(name: &'a str, baseline: usize, run: impl FnMut() -> Duration + 'a) -> Candidate<'a> {
        Candidate { name, baseline, run: Box::new(run), nanos: Vec::new() }
    }
}

/// The mean without the slowest fifth: those the machine interrupted.
fn undisturbed(mut blocks: Vec<Duration>) -> Duration {
    blocks.sort();
    blocks.truncate(blocks.len() * 4 / 5);
    blocks.iter().sum::<Duration>() / blocks.len() as u32
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures and prints a table of medians over the rounds.
pub fn compare(mut candidates: Vec<Candidate<'_>>) {
    for _ in 0..ROUNDS {
        for candidate in &mut candidates {
            let blocks = (0..BLOCKS).map(|_| (candidate.run)()).collect();
            candidate.nanos.push(undisturbed(blocks).as_nanos() as f64 / BLOCK as f64);
        }
    }

    println!("| per ACK frame of two packets | ns | beside | ratio |");
    println!("|---|---|---|---|");
    for candidate in &candidates {
        let baseline = &candidates[candidate.baseline];
        let ratios = candidate.nanos.iter().zip(&baseline.nanos).map(|(own, other)| own / other).collect();
        let (nanos, ratio) = (median(candidate.nanos.clone()), median(ratios));
        println!("| {} | {nanos:.1} | {} | {ratio:.2} |", candidate.name, baseline.name);
    }
}
