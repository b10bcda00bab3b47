//! Candidates that take turns in short rounds, each compared with its baseline in the same
//! round, so that a noisy machine disturbs both sides alike.

use std::time::Duration;

const ROUNDS: usize = 41;
/// Blocks per round, whose times are worked out before the clock starts: in a stack they
/// are at hand.
const BLOCKS: usize = 100;
/// Blocks before anything counts, by which all flows have left slow start.
const WARM_UP: usize = 100;
/// ACK frames per block.
pub const BLOCK: usize = 512;
/// Connections taking turns, as on a server: the next ACK is not this one's.
pub const FLOWS: usize = 16;

/// What a block of frames took, and what there was to do in it: candidates that lose more, or whose
/// windows do not grow, do not do the same.
pub struct Block {
    /// Time the block took.
    pub took: Duration,
    /// Packets lost in the block.
    pub lost: u64,
    /// The mean window at its end, packets.
    pub window: f64,
}

impl Block {
    /// A block that took so long on connections with these windows, packets.
    pub fn of(took: Duration, lost: u64, windows: impl ExactSizeIterator<Item = f64>) -> Block {
        let connections = windows.len() as f64;
        Block { took, lost, window: windows.sum::<f64>() / connections }
    }
}

/// A controller to measure, by name.
pub struct Candidate<'a> {
    name: String,
    baseline: &'a str,
    run: Box<dyn FnMut() -> Block + 'a>,
    nanos: Vec<f64>,
    lost: u64,
    windows: f64,
}

impl<'a> Candidate<'a> {
    /// `run` carries out a block; the candidate called `baseline` is what it is compared with.
    pub fn new(name: impl Into<String>, baseline: &'a str, run: impl FnMut() -> Block + 'a) -> Candidate<'a> {
        Candidate { name: name.into(), baseline, run: Box::new(run), nanos: Vec::new(), lost: 0, windows: 0.0 }
    }

    /// The least of a round's blocks: the one that nothing interrupted.
    fn round(&mut self) {
        let mut least = Duration::MAX;
        for _ in 0..BLOCKS {
            let block = (self.run)();
            least = least.min(block.took);
            self.lost += block.lost;
            self.windows += block.window;
        }
        self.nanos.push(least.as_nanos() as f64 / BLOCK as f64);
    }
}

/// The median of values, of which there is one at least.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Whether this is `cargo test` trying that the benchmark runs: only `cargo bench` says so.
pub fn tried_only() -> bool {
    std::env::args().len() == 1
}

/// What `cargo bench … -- [ROUNDS] [NAME]…` asks for: how many rounds, and candidates whose
/// names contain one of the others.
fn asked() -> (usize, Vec<String>) {
    let (mut rounds, mut names) = (ROUNDS, Vec::new());
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        match argument.parse() {
            Ok(number) => rounds = number,
            Err(_) => names.push(argument),
        }
    }
    (rounds, names)
}

/// Measures and prints a table of `what`: the least of all rounds, and the median of the
/// rounds' ratios; the mean window, and packets lost of a thousand frames.
pub fn compare(what: &str, mut candidates: Vec<Candidate<'_>>) {
    if tried_only() {
        candidates.iter_mut().for_each(|candidate| _ = (candidate.run)());
        return println!("{} candidates run", candidates.len());
    }
    let (rounds, names) = asked();
    candidates.retain(|candidate| names.is_empty() || names.iter().any(|name| candidate.name.contains(name)));
    for candidate in &mut candidates {
        (0..WARM_UP).for_each(|_| _ = (candidate.run)());
    }
    for _ in 0..rounds {
        candidates.iter_mut().for_each(Candidate::round);
    }

    println!("| {what} | ns | beside | ratio | window | lost, ‰ |");
    println!("|---|--:|---|--:|--:|--:|");
    for candidate in &candidates {
        let Some(least) = candidate.nanos.iter().copied().min_by(f64::total_cmp) else { continue };
        let ratio = candidates
            .iter()
            .find(|other| other.name == candidate.baseline)
            .map(|other| median(candidate.nanos.iter().zip(&other.nanos).map(|(own, others)| own / others).collect()));
        let ratio = ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        let blocks = (candidate.nanos.len() * BLOCKS) as f64;
        let (window, lost) = (candidate.windows / blocks, 1e3 * candidate.lost as f64 / (blocks * BLOCK as f64));
        println!("| {} | {least:.1} | {} | {ratio} | {window:.0} | {lost:.1} |", candidate.name, candidate.baseline);
    }
}
