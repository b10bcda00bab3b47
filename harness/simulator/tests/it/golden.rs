//! The golden traces: what every controller of the catalogue does on the golden
//! scenario chosen for it is what is frozen in `golden/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use windlass_adapter::NamedController;
use windlass_controllers::Algorithm;
use windlass_simulator::golden::{GoldenScenario, Trace, record};

const ACCEPT: &str = "WINDLASS_ACCEPT_GOLDEN";
/// Names of controllers, separated by commas, to run only those.
const ONLY: &str = "WINDLASS_GOLDEN";
/// Largest file, bytes.
const LARGEST: usize = 10_000;

fn frozen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.csv"))
}

/// The trace of `name`.
fn run(name: &str) -> Trace {
    let golden = GoldenScenario::of(&NamedController::named(name).unwrap());
    record(&golden, name, &golden.scenario(name).unwrap()).unwrap()
}

/// Draws the windows and the queue of `found`, and those that are frozen in grey, and returns where.
fn draw(name: &str, frozen: Option<&Trace>, found: &Trace) -> PathBuf {
    const SIZE: (f64, f64) = (760.0, 420.0);
    const TITLE: f64 = 22.0;
    let end = found.time_ms.last().map_or(1.0, |end| *end as f64);
    let windows = |trace: &Trace| trace.flows.iter().map(|flow| flow.cwnd.clone()).collect::<Vec<_>>();
    let queue = |trace: &Trace| vec![trace.queue.iter().copied().map(Some).collect::<Vec<_>>()];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        SIZE.0, SIZE.1
    );
    let mut part = |title: &str,
                    top: f64,
                    height: f64,
                    frozen: Vec<Vec<Option<u64>>>,
                    found_lines: Vec<Vec<Option<u64>>>| {
        let highest = frozen.iter().chain(&found_lines).flatten().flatten().max().copied().unwrap_or(0).max(1) as f64;
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"{}\">{name}: {title}, up to {highest}, {} s</text>",
            top + 14.0,
            end / 1000.0
        );
        let grey = frozen.iter().map(|line| (line, "#bbb"));
        let own = found_lines.iter().zip(["#0072b2", "#d55e00", "#009e73", "#cc79a7"].iter().cycle());
        for (line, colour) in grey.chain(own.map(|(line, colour)| (line, *colour))) {
            let points = found.time_ms.iter().zip(line).filter_map(|(time, value)| {
                let (x, y) = (*time as f64 / end * SIZE.0, top + TITLE + height * (1.0 - (*value)? as f64 / highest));
                Some(format!("{x:.1},{y:.1} "))
            });
            let points: String = points.collect();
            let _ =
                writeln!(svg, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>");
        }
    };
    part("windows, bytes", 0.0, 270.0, frozen.map(windows).unwrap_or_default(), windows(found));
    part("queue, packets", 300.0, 90.0, frozen.map(queue).unwrap_or_default(), queue(found));
    svg.push_str("</svg>\n");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    fs::create_dir_all(&directory).unwrap();
    let picture = directory.join(format!("{name}.svg"));
    fs::write(&picture, svg).unwrap();
    picture
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
    let only = env::var(ONLY).unwrap_or_default();
    let only: Vec<&str> = only.split(',').filter(|name| !name.is_empty()).collect();
    for name in &only {
        assert!(Algorithm::named(name).is_some(), "{ONLY} names {name:?}, which is no controller");
    }
    let mut changed = Vec::new();
    for entry in Algorithm::ALL.iter().filter(|entry| only.is_empty() || only.contains(&entry.name)) {
        let trace = run(entry.name);
        let found = trace.to_string();
        assert!(found.len() <= LARGEST, "{}: {} bytes, more than {LARGEST}", entry.name, found.len());
        let path = frozen(entry.name);
        let before = fs::read_to_string(&path).ok();
        let difference = match &before {
            Some(frozen) => difference(frozen, &found),
            None => Some("no golden trace yet".to_owned()),
        };
        let Some(difference) = difference else { continue };
        let before = before.and_then(|before| before.parse().ok());
        let picture = draw(entry.name, before.as_ref(), &trace);
        if accept {
            fs::write(&path, found).unwrap();
            println!("accepted {}: {difference}; {}", entry.name, picture.display());
        } else {
            changed.push(format!("{}: {difference}\n    its picture: {}", entry.name, picture.display()));
        }
    }
    assert!(
        changed.is_empty(),
        "controllers that do not do what their golden traces say:\n{}\nLook at the pictures, which show the frozen \
         trace in grey. If the change is meant, accept it:\n    {ACCEPT}=1 cargo test --profile quick -p windlass-simulator --test it golden",
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
