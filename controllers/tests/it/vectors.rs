//! The table that says which test holds the code to which vector and invariant of the
//! documents is whole, and the tests it names exist.

use std::fs;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A row: the document, the number it gives, and the tests, as `file::function`.
struct Row<'a> {
    document: &'a str,
    section: &'a str,
    tests: Vec<&'a str>,
}

/// The rows of `csv`, whose cells have commas only between quotes and no quotes inside.
fn rows(csv: &str) -> Vec<Row<'_>> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("document,section,what,tests"));
    let row = |line| {
        let mut cells = Vec::new();
        let (mut start, mut quoted) = (0, false);
        for (at, letter) in str::char_indices(line) {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => {
                    cells.push(line[start..at].trim_matches('"'));
                    start = at + 1;
                }
                _ => {}
            }
        }
        cells.push(&line[start..]);
        let [document, section, _, tests] = cells[..] else { panic!("expected four cells: {line}") };
        Row { document, section, tests: tests.split(' ').collect() }
    };
    lines.map(row).collect()
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join("docs").join(file)).unwrap()
}

/// Whether `file`, as the table names it, has a test called `name`.
fn exists(file: &str, name: &str) -> Result<(), String> {
    let below = match file.split('/').next() {
        Some("schemes" | "parts") => "controllers/src",
        Some("tests") => "controllers",
        _ => "",
    };
    let path = root().join(below).join(file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("fn {name}(")));
    let at = at.ok_or_else(|| format!("{file} has no {name}"))?;
    let is_test = lines[..at].iter().rev().take_while(|line| line.starts_with('#')).any(|line| *line == "#[test]");
    if is_test { Ok(()) } else { Err(format!("{name} of {file} is not a test")) }
}

#[test]
fn every_test_named_exists() {
    let mut missing = Vec::new();
    for Row { document, section, tests } in rows(&read("vectors.csv")) {
        for test in tests {
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{document} {section}: {test}"));
            missing.extend(exists(file, name).err());
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The ids of each document's lists of invariants, and the sections that hold vectors.
#[test]
fn no_number_of_a_document_is_left_out() {
    let csv = read("vectors.csv");
    let all = rows(&csv);
    let page = read("vectors.md");
    let numbered = |letter: &str, last: u32| (1..=last).map(|i| format!("{letter}{i}")).collect::<Vec<_>>();
    let sections = |numbers: &[&str]| numbers.iter().map(|number| format!("§{number}")).collect::<Vec<_>>();
    let expected = [
        (
            "sharma",
            [sections(&["1.4", "1.7", "2", "3", "3.1", "3.2", "4", "5", "6", "7", "8"]), numbered("§10.", 9)].concat(),
        ),
        (
            "cho",
            [
                sections(&["3.3", "4.6", "6.5", "10.8", "10.9", "10.10"]),
                numbered("D", 6),
                numbered("P", 7),
                numbered("K", 5),
                numbered("C", 6),
                numbered("AT", 5),
                numbered("AP", 5),
            ]
            .concat(),
        ),
        ("chan", [sections(&["3.9", "4.9", "5.6", "6.5", "7.6", "11.3"]), numbered("P", 20)].concat()),
        ("arumaithurai", [sections(&["10"]), numbered("I", 38)].concat()),
    ];
    for (document, ids) in expected {
        let sections: Vec<&str> = all.iter().filter(|row| row.document == document).map(|row| row.section).collect();
        for wanted in ids {
            let found = sections.iter().any(|section| section.split([' ', ',']).any(|part| part == wanted));
            assert!(found, "{document} {wanted} has no row");
        }
        let count = format!("| {} |", sections.len());
        let title = |line: &&str| line.to_lowercase().starts_with(&format!("| {document}:"));
        assert!(page.lines().find(title).is_some_and(|line| line.ends_with(&count)), "{document}: {count}");
    }
}
