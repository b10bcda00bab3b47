//! The page that says which test holds the code to which vector and invariant of the
//! documents is whole, and the tests it names exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Ids and tests of each document, by the heading of its table's first column.
fn tables(page: &str) -> BTreeMap<&str, Vec<(&str, Vec<&str>)>> {
    let mut tables = BTreeMap::new();
    let mut document = "";
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, tests] = cells[..] else { panic!("expected three cells: {line}") };
        if tests == "tests" {
            document = id;
        } else {
            let named = tests.split("<br>").map(|test| test.trim_matches('`')).collect();
            tables.entry(document).or_insert_with(Vec::new).push((id, named));
        }
    }
    tables
}

/// Whether `file`, as the page names it, has a test called `name`.
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
fn every_test_the_page_names_exists() {
    let page = fs::read_to_string(root().join("docs/vectors.md")).unwrap();
    let mut missing = Vec::new();
    for (document, rows) in tables(&page) {
        for (id, tests) in rows {
            assert!(!tests.is_empty(), "{document} {id}");
            for test in tests {
                let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{document} {id}: {test}"));
                missing.extend(exists(file, name).err());
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The ids of each document's lists of invariants, and the sections that hold vectors.
#[test]
fn the_page_is_whole() {
    let page = fs::read_to_string(root().join("docs/vectors.md")).unwrap();
    let tables = tables(&page);
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
        let rows = &tables[document];
        for wanted in ids {
            let found = rows.iter().any(|(id, _)| id.split([' ', ',']).any(|part| part == wanted));
            assert!(found, "{document} {wanted} is not on the page");
        }
    }
}
