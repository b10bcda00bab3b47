//! `windlass explain` and `windlass book` as a user meets them.

use crate::command::{Place, fails, stderr, stdout, windlass};

#[test]
fn a_controller_is_explained_with_the_parameters_given() {
    let place = Place::new();
    let file = place.path("picture.svg");
    let output = windlass(&["explain", "tcp-k:k=3", "--svg", &file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "tcp-k:k=3\n=========\n",
        "\nParameters\n---",
        "\nk ",
        "\nSignals\n---",
        "- sim: provides all",
        " congestion responses\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    // Braille, and no line wider than the terminal.
    assert!(text.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count() > 100, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("cwnd") && svg.trim_end().ends_with("</svg>"));
    // Other parameters, another picture; the same ones, the same.
    let again = place.path("again.svg");
    assert!(windlass(&["explain", "tcp-k:k=3", "--svg", &again]).status.success());
    assert_eq!(std::fs::read_to_string(&again).unwrap(), svg);
    assert!(windlass(&["explain", "tcp-k", "--svg", &again]).status.success());
    assert_ne!(std::fs::read_to_string(&again).unwrap(), svg);
}

#[test]
fn the_page_is_the_markdown_of_the_book() {
    let output = windlass(&["explain", "vegas", "--markdown"]);
    let text = stdout(&output);
    assert!(
        text.starts_with("# vegas\n") && text.contains("\n## Parameters\n\n| parameter | quic | paper |"),
        "{text}"
    );
}

#[test]
fn mistakes_are_reported() {
    let unknown = "unknown controller \"renno\" (did you mean \"reno\"?); `windlass list` names all of them";
    fails(&["explain", "renno"], 2, unknown);
    fails(&["explain", "reno:iw=0"], 2, "reno: iw is \"0\"; expected 1 to 10000");
    let place = Place::new();
    let output = windlass(&["explain", "reno", "--svg", &place.path("no/such/file.svg")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error: cannot write "), "{}", stderr(&output));
    let output = windlass(&["book", "--docs", &place.path("nothing"), "--out", &place.path("book")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nothing: No such file"), "{}", stderr(&output));
    assert!(place.entries().is_empty(), "{:?}", place.entries());
}
