//! `windlass start-up`: a table for each path, a table with every number, a page.

use std::fs;
use std::path::Path;

use crate::command::{Place, stderr, stdout, windlass};

#[test]
fn schemes_are_compared_on_a_path() {
    let place = Place::new();
    let out = place.path("out");
    let run =
        ["start-up", "reno:slow_start=hystart++,lss=50,cubic+resume", "--rtt", "20", "--buffer", "1", "--out", &out];
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(text.starts_with("20 runs, 20 of them made now"), "{text}");
    assert!(text.contains("\nRTT 20 ms, buffer 1 BDP\n"), "{text}");
    for scheme in ["reno:slow_start=hystart++,lss=50 ", "cubic+resume "] {
        let line = text.lines().find(|line| line.starts_with(scheme)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(line.matches(" / ").count(), 7, "{line}");
        // Alone the path is filled; beside another flow half of it need not be.
        assert!(!line.contains("– / "), "{line}");
    }
    let again = windlass(&run);
    assert!(stdout(&again).starts_with("20 runs, 0 of them made now"), "{}", stdout(&again));
    let csv = fs::read_to_string(Path::new(&out).join("start-up.csv")).unwrap();
    assert_eq!(csv.lines().count(), 21);
    assert!(fs::read_to_string(Path::new(&out).join("start-up.html")).unwrap().contains("id=\"start-up\""));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["cobic"], "unknown controller \"cobic\" (did you mean"),
        (vec!["native:cubic+resume"], "native:cubic+resume: a stack's own controller does not resume"),
        (vec!["--link", "wifi"], "--link wifi: expected steady, policer, batches, cellular"),
        (vec!["--link", "policer", "--rtt", "20"], "no path has all of these; links other than steady have --rtt 100"),
        (vec!["--rtt", "21"], "--rtt 21: expected 20, 100, 600"),
        (vec!["--buffer", "2"], "--buffer 2: expected 0.1, 1, 10, 100"),
        (vec!["--stack", "quin"], "unknown stack \"quin\""),
    ] {
        let output = windlass(&[&["start-up", "--out", &out], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    assert!(place.entries().is_empty());
}
