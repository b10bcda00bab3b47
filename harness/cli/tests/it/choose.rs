//! `windlass choose`: recommendations that follow from the committed results.

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
