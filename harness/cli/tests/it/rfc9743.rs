//! `windlass rfc9743`: a table for each controller, a table with every number, a page.

use std::fs;
use std::path::Path;

use crate::command::{Place, stderr, stdout, windlass};

#[test]
fn a_controller_is_evaluated_on_a_path() {
    let place = Place::new();
    let out = place.path("out");
    let some = ["--quick", "--path", "iot", "--criterion", "queue,fairness,cubic-goodput", "--out", &out];
    let run = [&["rfc9743", "copa,cubic"], &some[..]].concat();
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(text.starts_with("27 runs, 27 of them made now"), "{text}");
    let cubic = text.split_once("\ncubic on sim\n").unwrap_or_else(|| panic!("{text}")).1;
    for criterion in ["5.1.2  queue ", "5.1.4  fairness ", "5.2.1  cubic-goodput "] {
        let line = cubic.lines().find(|line| line.starts_with(criterion)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            line.split_whitespace().skip(2).collect::<Vec<_>>(),
            ["–", "–", "1", "–", "–"],
            "CUBIC bounds itself"
        );
    }
    assert!(text.contains("§7.10 Multipath Transport: a controller here has one path"), "{text}");
    let again = windlass(&[&run[..], &["--markdown"]].concat());
    assert!(stdout(&again).starts_with("| § | criterion | `copa` | `cubic` |\n"), "{}", stdout(&again));
    let csv = fs::read_to_string(Path::new(&out).join("rfc9743.csv")).unwrap();
    assert_eq!(csv.lines().count(), 7);
    assert!(fs::read_to_string(Path::new(&out).join("rfc9743.html")).unwrap().contains("id=\"rfc9743\""));
}

#[test]
fn what_does_not_exist_is_said() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["cobic"], "unknown controller \"cobic\" (did you mean"),
        (vec!["cubic", "--path", "moon"], "--path \"moon\": expected tail-drop, shallow"),
        (vec!["cubic", "--criterion", "beauty"], "--criterion \"beauty\": expected overload, outage"),
        (vec!["cubic", "--stack", "quin"], "unknown stack \"quin\""),
    ] {
        let output = windlass(&[&["rfc9743", "--out", &out], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    assert!(place.entries().is_empty());
}
