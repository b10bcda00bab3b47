//! The table of `docs/controllers.md` says of every controller what the catalogue says.

use std::fs;
use std::path::{Path, PathBuf};

use windlass::book::runs_on;
use windlass_controllers::Algorithm;

/// The controllers' page, and the directory its links start from.
fn page() -> (String, PathBuf) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/controllers.md");
    let docs = path.parent().unwrap().to_owned();
    (fs::read_to_string(path).unwrap(), docs)
}

/// A row of the table: name, target of its link, and the other cells.
#[derive(Debug)]
struct Row<'a> {
    name: &'a str,
    link: &'a str,
    summary: &'a str,
    source: &'a str,
    runs_on: &'a str,
}

/// The rows of the only table of `page`, without its head.
fn rows(page: &str) -> Vec<Row<'_>> {
    let lines = page.lines().filter(|line| line.starts_with('|')).skip(2);
    let row = |line| read(line).unwrap_or_else(|| panic!("not a row of the table: {line}"));
    lines.map(row).collect()
}

fn read(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [name, summary, source, runs_on] = cells[..] else { return None };
    let (name, link) = name.strip_prefix("[`")?.strip_suffix(')')?.split_once("`](")?;
    Some(Row { name, link, summary, source, runs_on })
}

#[test]
fn every_controller_has_one_row_and_no_row_is_of_anything_else() {
    let (page, _) = page();
    let mut listed: Vec<&str> = rows(&page).iter().map(|row| row.name).collect();
    let mut names: Vec<&str> = Algorithm::ALL.iter().map(|entry| entry.name).collect();
    listed.sort_unstable();
    names.sort_unstable();
    assert_eq!(listed, names);
}

#[test]
fn rows_say_what_the_catalogue_says() {
    let (page, _) = page();
    let mut wrong = Vec::new();
    for row in rows(&page) {
        let Some(entry) = Algorithm::ALL.iter().find(|entry| entry.name == row.name) else { continue };
        // The page has the stacks that every build of the command knows.
        let mut stacks = runs_on((entry.default)().needs());
        stacks.retain(|stack| ["sim", "quinn", "noq"].contains(stack));
        let expected = [entry.summary, entry.source, &stacks.join(", ")];
        for (found, expected) in [row.summary, row.source, row.runs_on].into_iter().zip(expected) {
            if found != expected {
                wrong.push(format!("{}: {found:?}; expected {expected:?}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/controllers.md differs from the catalogue:\n{}", wrong.join("\n"));
}

#[test]
fn names_lead_to_the_controllers_pages() {
    let (page, docs) = page();
    for row in rows(&page) {
        let text = fs::read_to_string(docs.join(row.link)).unwrap_or_else(|error| panic!("{}: {error}", row.link));
        let entry = Algorithm::ALL.iter().find(|entry| entry.name == row.name);
        assert!(entry.is_none_or(|entry| entry.page == text), "{}: {} is another page", row.name, row.link);
    }
}

#[test]
fn a_line_that_is_no_row_is_noticed() {
    assert!(read("| [`a`](b.md) | one | two | three |").is_some());
    assert!(read("| `a` | one | two | three |").is_none());
    assert!(read("| [`a`](b.md) | one | two |").is_none());
}
