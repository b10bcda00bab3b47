//! The book can be generated, holds a page for every controller, and its links lead
//! somewhere; and `windlass explain`, whose pages it has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Place, fails, stderr, stdout, windlass};

use windlass::book::generate;
use windlass_controllers::Algorithm;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The Markdown files of the book, relative to it.
fn pages(book: &Path) -> BTreeSet<PathBuf> {
    let list = |dir: &str| {
        let files = fs::read_dir(book.join(dir)).unwrap().map(|entry| Path::new(dir).join(entry.unwrap().file_name()));
        files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect::<Vec<_>>()
    };
    ["", "controllers", "findings", "notebooks", "papers", "questions"].into_iter().flat_map(list).collect()
}

/// Relative links of a page, without their fragments.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains(':') && !link.starts_with('#'))
        .map(|link| link.split('#').next().unwrap())
        .collect()
}

#[test]
fn every_controller_has_a_page_and_every_link_leads_somewhere() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book");
    generate(&docs(), &book).unwrap();
    // An earlier book is replaced.
    fs::write(book.join("controllers/left-over.md"), "").unwrap();
    generate(&docs(), &book).unwrap();

    let summary = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    let mut pages = pages(&book);
    assert!(pages.remove(Path::new("SUMMARY.md")));
    let odd: Vec<_> = pages.symmetric_difference(&listed).collect();
    assert!(odd.is_empty(), "in docs/ or in its SUMMARY.md, but not in both: {odd:?}");

    for entry in Algorithm::ALL {
        let page = fs::read_to_string(book.join(format!("controllers/{}.md", entry.name))).unwrap();
        assert!(page.contains(entry.page.trim()), "{}", entry.name);
        for heading in ["## Parameters", "## Signals", "## Source and size", "## Golden trace"] {
            assert!(page.contains(heading), "{} has no {heading}", entry.name);
        }
        assert!(book.join(format!("controllers/{}.svg", entry.name)).is_file());
    }
    for page in pages {
        let text = fs::read_to_string(book.join(&page)).unwrap();
        for link in links(&text) {
            let target = book.join(&page).parent().unwrap().join(link);
            assert!(target.exists(), "{}: broken link {link}", page.display());
        }
    }
}

#[test]
fn what_is_not_a_book_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "").unwrap();
    let error = generate(&docs(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("holds \"letter.txt\""), "{error}");
    assert!(dir.path().join("letter.txt").exists());
    // Its sources look like one.
    fs::remove_file(dir.path().join("letter.txt")).unwrap();
    fs::write(dir.path().join("book.toml"), "").unwrap();
    assert!(generate(dir.path(), dir.path()).is_err());
    assert!(dir.path().join("book.toml").exists());
}

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
