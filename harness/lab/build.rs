//! Hashes the sources that decide what a run yields, so that cached runs of other code are
//! not taken for those of this one.
//!
//! The hashes become the environment variables `WINDLASS_CODE` and `WINDLASS_STACK_CODE`.

use std::fs;
use std::path::{Path, PathBuf};

/// Sources that decide what a simulated run yields.
const SOURCES: [&str; 13] = [
    "../../controllers/src",
    "../../adapters/common/src",
    "../network/src",
    "../simulator/src",
    "../simulator/traces",
    "src/evaluation",
    "src/frame_delay/mod.rs",
    "src/regimes/measure.rs",
    "src/results/metrics.rs",
    "src/send_rate/mod.rs",
    "src/start_up/measure.rs",
    "src/sweep/measure.rs",
    "build.rs",
];

/// Further sources that decide what a run on a real stack yields.
const STACKS: [&str; 4] =
    ["../../adapters/noq/src", "../../adapters/quinn/src", "../../adapters/s2n-quic/src", "../stacks/src"];

fn main() {
    println!("cargo:rustc-env=WINDLASS_CODE={:016x}", hash(&SOURCES));
    println!("cargo:rustc-env=WINDLASS_STACK_CODE={:016x}", hash(&STACKS));
}

fn hash(sources: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    // FNV-1a.
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    // In a published package the other crates' sources are not beside it; then their common version stands for them.
    add(env!("CARGO_PKG_VERSION").as_bytes());
    for source in sources.iter().filter(|source| Path::new(source).exists()) {
        println!("cargo:rerun-if-changed={source}");
        for file in files(Path::new(source)) {
            let name = file.to_string_lossy().replace('\\', "/");
            let content = fs::read(&file).unwrap_or_default();
            add(name.as_bytes());
            add(&[0]);
            add(&content);
        }
    }
    hash
}

/// The Rust files and link traces in `path`, or itself, sorted; tests decide nothing.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let wanted = |path: &PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        path.is_dir() || (stem != "tests" && path.extension().is_some_and(|ending| ending == "rs" || ending == "trace"))
    };
    paths.into_iter().filter(wanted).flat_map(|path| files(&path)).collect()
}
