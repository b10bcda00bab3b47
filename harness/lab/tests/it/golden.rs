//! The golden traces: what every controller of the catalogue does on the golden
//! scenario chosen for it is what is frozen in `golden/`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use windlass_controllers::Algorithm;
use windlass_lab::golden::{GoldenScenario, Picture, Trace, record};

const ACCEPT: &str = "WINDLASS_ACCEPT_GOLDEN";
/// Largest file, bytes.
const LARGEST: usize = 10_000;

fn frozen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.csv"))
}

/// The trace of `name`, and its picture where a changed one can be looked at.
fn run(name: &str) -> (Trace, PathBuf) {
    let golden = GoldenScenario::of(&Algorithm::named(name).unwrap());
    let scenario = golden.scenario(name).unwrap();
    let trace = record(&golden, name, &scenario).unwrap();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    fs::create_dir_all(&dir).unwrap();
    let picture = dir.join(format!("{name}.svg"));
    fs::write(&picture, Picture::new(&trace, &scenario).svg().unwrap()).unwrap();
    (trace, picture)
}

/// Where `found` first differs from `frozen`.
fn difference(frozen: &str, found: &str) -> Option<String> {
    if frozen == found {
        return None;
    }
    let mut pairs = frozen.lines().zip(found.lines()).enumerate();
    Some(match pairs.find(|(_, (frozen, found))| frozen != found) {
        Some((i, (frozen, found))) => format!("line {} is {found:?}, was {frozen:?}", i + 1),
        None => format!("{} lines, were {}", found.lines().count(), frozen.lines().count()),
    })
}

#[test]
fn every_controller_does_what_it_did() {
    let accept = env::var_os(ACCEPT).is_some_and(|value| value == "1");
    let mut changed = Vec::new();
    for entry in Algorithm::ALL {
        let (trace, picture) = run(entry.name);
        let found = trace.to_string();
        assert!(found.len() <= LARGEST, "{}: {} bytes, more than {LARGEST}", entry.name, found.len());
        let path = frozen(entry.name);
        let difference = match fs::read_to_string(&path) {
            Ok(frozen) => difference(&frozen, &found),
            Err(_) => Some("no golden trace yet".to_owned()),
        };
        let Some(difference) = difference else { continue };
        if accept {
            fs::write(&path, found).unwrap();
            println!("accepted {}: {difference}; {}", entry.name, picture.display());
        } else {
            changed.push(format!("{}: {difference}\n    its picture now: {}", entry.name, picture.display()));
        }
    }
    assert!(
        changed.is_empty(),
        "controllers that do not do what their golden traces say:\n{}\nLook at the pictures; \
         `windlass explain NAME --svg FILE` of a build without the change draws the old one. If the change \
         is meant, accept it:\n    {ACCEPT}=1 cargo test --release -p windlass-lab --test it golden",
        changed.join("\n")
    );
}

#[test]
fn every_golden_trace_belongs_to_a_controller_and_can_be_read() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "csv") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(Algorithm::named(name).is_some(), "{} belongs to no controller; remove it", path.display());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.parse::<Trace>().unwrap_or_else(|error| panic!("{name}: {error}")).to_string(), text);
    }
}
