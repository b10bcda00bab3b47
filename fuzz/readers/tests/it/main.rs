//! Every reader on hostile input: the seeds of the fuzz targets and what fuzzing found, as
//! they are and mutated. Nothing may panic, hang, or keep more than it should.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use windlass_fuzz_readers::{self as readers, seeds};
use windlass_lab::testkit::recorded_traces;

/// A fuzzed reader and its corpus.
pub struct Reader {
    /// What it is called; its seeds and findings stand in a directory of that name.
    pub name: &'static str,
    /// Reads an input and must not panic.
    pub read: fn(&[u8]),
}

/// The readers, each with the folder of its corpus.
pub const READERS: [Reader; 19] = [
    Reader { name: "contained", read: readers::contained },
    Reader { name: "sequence", read: readers::sequence },
    Reader { name: "lines", read: readers::lines },
    Reader { name: "netlog", read: readers::netlog },
    Reader { name: "compressed", read: readers::compressed },
    Reader { name: "lint", read: readers::both_profiles },
    Reader { name: "recorded", read: readers::recorded },
    Reader { name: "replay", read: readers::replay },
    Reader { name: "scenario", read: readers::scenario },
    Reader { name: "config", read: readers::config },
    Reader { name: "convert", read: readers::convert },
    Reader { name: "report", read: readers::report },
    Reader { name: "comparison", read: readers::comparison },
    Reader { name: "frames", read: readers::frames },
    Reader { name: "controller", read: readers::controller },
    Reader { name: "path_flow_calls", read: readers::path_flow_calls },
    Reader { name: "quinn_calls", read: readers::quinn_calls },
    Reader { name: "noq_calls", read: readers::noq_calls },
    Reader { name: "s2n_quic_calls", read: readers::s2n_quic_calls },
];

/// What fuzzing found, and inputs that reach much: one directory a reader in each.
fn kept(name: &str) -> Vec<PathBuf> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    ["regressions", "corpus"].iter().flat_map(|folder| files(&fuzz.join(folder).join(name))).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Runs a reader and expects it to come to an end soon.
fn within(limit: Duration, reader: &Reader, data: &[u8], what: &str) {
    let begin = Instant::now();
    (reader.read)(data);
    let took = begin.elapsed();
    assert!(took < limit, "{} took {took:?} for {what}", reader.name);
}

#[test]
fn every_reader_reads_every_seed() {
    for reader in &READERS {
        assert!(!seeds(reader.name).is_empty(), "{} has no seeds", reader.name);
        // Of all readers: what is a trace to one is rubbish to another.
        for other in &READERS {
            for (number, seed) in seeds(other.name).iter().enumerate() {
                let what = format!("seed {number} of {}", other.name);
                within(Duration::from_secs(20), reader, seed, &what);
            }
        }
    }
}

#[test]
fn what_fuzzing_found_stays_mended() {
    for reader in &READERS {
        for file in kept(reader.name) {
            let data = std::fs::read(&file).unwrap();
            within(Duration::from_secs(20), reader, &data, &file.display().to_string());
        }
    }
}

/// What a hostile file puts in, besides what it takes out and repeats.
const TOKENS: [&[u8]; 22] = [
    b"\x1e",
    b"\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"",
    b"\\",
    b"null",
    b"-1",
    b"1e308",
    b"-1e999",
    b"1e-400",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-9223372036854775808",
    b"\"\\ud800\"",
    b"\0",
    b"\xff",
    b"[[0,18446744073709551615]]",
    b"\"time\":9223372036854775807,",
];

#[derive(Clone, Debug)]
enum Change {
    Insert(&'static [u8]),
    Remove(usize),
    Repeat(usize, usize),
    Flip(u8),
    End,
}

fn change() -> impl Strategy<Value = (prop::sample::Index, Change)> {
    let change = prop_oneof![
        4 => prop::sample::select(TOKENS.to_vec()).prop_map(Change::Insert),
        2 => (1_usize..200).prop_map(Change::Remove),
        1 => (1_usize..600, 2_usize..40).prop_map(|(length, times)| Change::Repeat(length, times)),
        2 => any::<u8>().prop_map(Change::Flip),
        1 => Just(Change::End),
    ];
    (any::<prop::sample::Index>(), change)
}

fn apply(data: &mut Vec<u8>, changes: &[(prop::sample::Index, Change)]) {
    for (place, change) in changes {
        if data.is_empty() {
            return;
        }
        let at = place.index(data.len());
        match change {
            Change::Insert(token) => drop(data.splice(at..at, token.iter().copied())),
            Change::Remove(length) => drop(data.drain(at..data.len().min(at + length))),
            Change::Repeat(length, times) => {
                let piece = data[at..data.len().min(at + length)].repeat(*times);
                drop(data.splice(at..at, piece));
            }
            Change::Flip(bits) => data[at] ^= bits,
            Change::End => data.truncate(at),
        }
    }
}

/// Some seeds of each reader, cut short so that many mutations fit into a moment.
fn short_seeds() -> &'static [(usize, Vec<u8>)] {
    static SEEDS: std::sync::OnceLock<Vec<(usize, Vec<u8>)>> = std::sync::OnceLock::new();
    SEEDS.get_or_init(|| {
        let of =
            |(index, reader): (usize, &Reader)| seeds(reader.name).into_iter().take(4).map(move |seed| (index, seed));
        READERS.iter().enumerate().flat_map(of).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(3000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_seeds_are_read_to_an_end(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        let (index, seed) = seed.get(short_seeds());
        let mut data = seed.clone();
        apply(&mut data, &changes);
        within(Duration::from_secs(20), &READERS[*index], &data, "a mutated seed");
    }
}

/// Writes the seeds for the fuzz targets into the directory named by WINDLASS_SEEDS.
#[test]
#[ignore = "ci/fuzz runs it"]
fn write_the_seeds() {
    let folder = PathBuf::from(std::env::var_os("WINDLASS_SEEDS").expect("WINDLASS_SEEDS names a directory"));
    for reader in &READERS {
        let folder = folder.join(reader.name);
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds(reader.name).iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
    }
}

/// Traces made to hang readers, and everything else that is at hand: read, linted, measured
/// and searched for a controller in a second each.
#[test]
fn recorded_traces_are_read_in_a_second_each() {
    for file in files(&recorded_traces()).iter().filter(|file| file.extension().is_some_and(|end| end != "md")) {
        let data = std::fs::read(file).unwrap();
        for name in ["contained", "lint", "replay"] {
            let reader = READERS.iter().find(|reader| reader.name == name).unwrap();
            // Both profiles, and three passes of 44 controllers, are more than one reading.
            let limit = Duration::from_secs(if name == "contained" { 1 } else { 3 });
            within(limit, reader, &data, &file.display().to_string());
        }
    }
}
