//! `windlass choose`: recommendations that follow from the committed results; and `windlass judged`: suites of others,
//! met or with a text that decides against them.

use std::path::Path;

use crate::command::{stderr, stdout, windlass};

fn docs() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").display().to_string()
}

/// `docs/choose.md` is what the results say.
#[test]
fn the_page_is_made_by_the_command() {
    let made = windlass(&["choose", "--markdown", "--results", &docs()]);
    assert!(made.status.success(), "{}", stderr(&made));
    let page = std::fs::read_to_string(Path::new(&docs()).join("choose.md")).unwrap();
    assert!(page.contains(stdout(&made)), "windlass choose --markdown has\n{}", stdout(&made));
}

#[test]
fn a_use_has_a_recommendation_with_its_evidence() {
    let docs = docs();
    for args in [vec!["bulk"], vec!["background", "--stack", "quinn"], vec!["data-centre", "--ecn"]] {
        let chosen = windlass(&[&["choose", "--results", &docs], args.as_slice()].concat());
        assert!(chosen.status.success(), "{}", stderr(&chosen));
        let text = stdout(&chosen);
        assert!(text.starts_with(&format!("{}: ", args[0])) && text.contains("\n  1. "), "{text}");
        assert!(text.contains("\n  asked: ") && text.contains("\n  ranked by: "), "{text}");
    }
}

#[test]
fn what_is_not_known_is_said() {
    for (args, expected) in [
        (["gaming", "--results", "."], "unknown use \"gaming\"; expected bulk, background, video"),
        (["bulk", "--results", "/nowhere"], "/nowhere/harm.csv: "),
        (["bulk", "--stack", "quin"], "unknown stack \"quin\""),
    ] {
        let output = windlass(&[&["choose"], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn every_suite_is_met_or_a_text_decides_against_it() {
    let output = windlass(&["judged"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.len() >= 9, "{text}");
    for row in rows {
        let [tests, expectations, met, decided, faults] = [1, 2, 3, 4, 5].map(|at| row[at].parse::<u32>().unwrap());
        assert!(tests > 0 && met > 0 && met + decided == expectations && faults == 0, "{row:?}");
    }
}

#[test]
fn a_wrong_parameter_is_a_fault_with_its_value() {
    let output = windlass(&["judged", "mvfst", "-c", "copa:delta=1"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("facebook/mvfst") && !text.contains("neqo"), "{text}");
    assert!(text.contains(": expected ") && text.contains(", ours "), "{text}");
    assert!(stderr(&output).contains("no text decides against them"), "{}", stderr(&output));
}

#[test]
fn texts_that_decide_are_shown_on_demand() {
    let [each, faults] = [windlass(&["judged", "neqo", "--each"]), windlass(&["judged", "neqo"])];
    assert!(stdout(&each).contains("; RFC 9438 §4.3: "), "{}", stdout(&each));
    assert!(!stdout(&faults).contains("RFC 9438 §4.3"), "{}", stdout(&faults));
}

#[test]
fn mistakes_are_reported() {
    for (arguments, says) in [
        (["nothing"].as_slice(), "error: unknown suite \"nothing\"; expected a part of aws/s2n-quic, "),
        (&["-c", "renno"], "error: unknown controller \"renno\""),
        (&["-c", "reno:iw=0"], "error: reno: iw is \"0\"; expected 1 to 10000"),
    ] {
        let output = windlass(&[&["judged"], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).starts_with(says), "{}", stderr(&output));
    }
}
