//! Response functions in the simulator against the closed forms of the documents, over
//! four decades of loss. The figure of the book is drawn from the same points.

use std::path::Path;
use std::{env, fs};

use rayon::prelude::*;
use windlass_lab::response::{LAWS, Law, Point, measure, svg};

const ACCEPT: &str = "WINDLASS_ACCEPT_GOLDEN";
/// Packets per loss: from 10² to 10⁶ in half decades.
const DISTANCES: [u64; 9] = [100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000];

/// Largest deviation, relative.
const TOLERANCE: f64 = 0.10;

fn curves() -> Vec<(&'static Law, Vec<Point>)> {
    let jobs: Vec<(&Law, u64)> = LAWS.iter().flat_map(|law| DISTANCES.map(|distance| (law, distance))).collect();
    let points: Vec<Point> = jobs.par_iter().with_max_len(1).map(|(law, distance)| measure(law, *distance)).collect();
    LAWS.iter().zip(points.chunks(DISTANCES.len())).map(|(law, points)| (law, points.to_vec())).collect()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "a minute when optimised, many otherwise")]
fn rates_follow_the_closed_forms() {
    let curves = curves();
    let mut wrong = Vec::new();
    for (law, points) in &curves {
        for point in points.iter().filter(|point| law.applies(point.loss())) {
            let (plain, full) = (point.cycle.window, point.cycle.with_recovery);
            let off = |form: f64| point.measured / form - 1.0;
            let line = format!(
                "{:<10} p = {:.1e}: {:>8.1} packets per round trip; closed form {plain:.1} ({:+.1} %), \
                 with recovery {full:.1} ({:+.1} %)",
                law.controller,
                point.loss(),
                point.measured,
                100.0 * off(plain),
                100.0 * off(full),
            );
            println!("{line}");
            if off(full).abs() > TOLERANCE || law.holds(point.loss()) && off(plain).abs() > TOLERANCE {
                wrong.push(line);
            }
        }
        let held = points.iter().filter(|point| law.holds(point.loss())).count();
        assert!(held >= 6, "{}: the closed form holds at {held} points only", law.controller);
    }
    assert!(wrong.is_empty(), "off by more than {TOLERANCE}:\n{}", wrong.join("\n"));

    let figure = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/response.svg");
    let drawn = svg(&curves).unwrap();
    if env::var_os(ACCEPT).is_some_and(|value| value == "1") {
        fs::write(&figure, drawn).unwrap();
    } else {
        let frozen = fs::read_to_string(&figure).unwrap_or_default();
        assert!(frozen == drawn, "docs/response.svg is out of date; {ACCEPT}=1 renews it");
    }
}
