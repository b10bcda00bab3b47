//! The book can be generated, holds a page for every controller, and its links lead
//! somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
