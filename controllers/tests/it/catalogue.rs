//! What every line of the catalogue owes its readers and its hosts.

use windlass_controllers::{Algorithm, ConfiguredController};

/// Largest state of a flow, bytes: a host of a million flows pays for each.
const LARGEST: usize = 608;

#[test]
fn names_are_unique_and_read_back() {
    for (i, entry) in Algorithm::ALL.iter().enumerate() {
        assert!(Algorithm::ALL[..i].iter().all(|other| other.name != entry.name), "{} twice", entry.name);
        let read = Algorithm::read(entry.name).unwrap();
        assert_eq!((ConfiguredController::name(&read), read), (entry.name, (entry.default)()));
        assert!(Algorithm::read(&format!("{}:profile=paper", entry.name)).is_ok());
    }
}

#[test]
fn a_name_may_have_the_prefix_of_the_catalogue() {
    assert_eq!(Algorithm::read("windlass/tcp-k:k=8"), Algorithm::read("tcp-k:k=8"));
    assert_eq!(Algorithm::read("windlass/tcp-k:k=8").unwrap().to_string(), "tcp-k:k=8");
    for wrong in ["windlass/", "windlass/windlass/reno", "windlas/reno", "/reno"] {
        assert!(Algorithm::read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_most_similar_name_is_suggested() {
    for (typed, meant) in [("renno", "reno"), ("vega", "vegas"), ("atcp", "a-tcp"), ("BBR2", "bbr"), ("cubci", "cubic")]
    {
        assert_eq!(Algorithm::nearest(typed), Some(meant), "{typed}");
        let error = Algorithm::read(typed).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("unknown controller {typed:?} (did you mean {meant:?}?); the catalogue has "))
        );
    }
    for entry in Algorithm::ALL {
        assert_eq!(Algorithm::nearest(entry.name), Some(entry.name));
    }
    for far in ["", "x", "no-such", "quadratic", &"r".repeat(1000), "ürëñö"] {
        assert_eq!(Algorithm::nearest(far), None, "{far}");
        assert!(!Algorithm::read(far).unwrap_err().to_string().contains("did you mean"));
    }
}

#[test]
fn states_are_small() {
    for entry in Algorithm::ALL {
        assert!(entry.state_size <= LARGEST, "{}: {} bytes, more than {LARGEST}", entry.name, entry.state_size);
    }
}

#[test]
fn every_page_is_whole() {
    let mut wrong = Vec::new();
    for entry in Algorithm::ALL {
        if entry.page.lines().any(|line| line.starts_with("# ")) {
            wrong.push(format!("{}: a title; the name is one already", entry.name));
        }
        for heading in ["## States", "## Known limits"] {
            if !entry.page.lines().any(|line| line == heading) {
                wrong.push(format!("{}: no {heading:?}", entry.name));
            }
        }
        if entry.page.contains("](") || entry.page.contains("::") {
            wrong.push(format!("{}: a link or a path into the code, which other readers cannot follow", entry.name));
        }
    }
    assert!(wrong.is_empty(), "pages beside controllers/src/schemes/*.rs:\n{}", wrong.join("\n"));
}

/// A line of `catalogue.rs`: the stem of its page, and its module.
fn catalogue_lines() -> Vec<(String, String)> {
    let text = read("src/catalogue.rs");
    let lines = text.lines().skip_while(|line| !line.starts_with("catalogue! {")).skip(1);
    let lines = lines.take_while(|line| *line != "}").map(|line| {
        let (_, rest) = line.split_once("(\"")?;
        let (page, controller) = rest.split_once("\") => ")?;
        let path = controller.trim_end_matches(',').trim_end_matches('>');
        let path = path.strip_prefix("WindowController<").unwrap_or(path);
        Some((page.to_owned(), path.split_once("::")?.0.to_owned()))
    });
    lines.map(|line| line.expect("a line of the catalogue")).collect()
}

/// A file of this crate, or of the repository for a path from `../`.
fn read(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of all files below a directory of this crate; empty if there is none.
fn read_all(path: &str) -> String {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let Ok(entries) = std::fs::read_dir(directory) else { return String::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    names.sort();
    names.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_scheme_has_tests_a_source_and_rows() {
    let (table, readme) = (read("../docs/controllers.md"), read("../README.md"));
    let lines = catalogue_lines();
    assert_eq!(lines.len(), Algorithm::ALL.len());
    let mut wrong = Vec::new();
    for (entry, (page, module)) in Algorithm::ALL.iter().zip(&lines) {
        let file = format!("src/schemes/{module}");
        let tests = read(&format!("{file}.rs"))
            + &read_all(&format!("{file}/tests"))
            + &std::fs::read_to_string(format!("{}/{file}/tests.rs", env!("CARGO_MANIFEST_DIR"))).unwrap_or_default();
        if !tests.contains("#[test]") {
            wrong.push(format!("{}: no test in controllers/{file}.rs or controllers/{file}/tests.rs", entry.name));
        }
        if read(&format!("src/schemes/{page}.md")) != entry.page {
            wrong.push(format!("{}: its page is not controllers/src/schemes/{page}.md", entry.name));
        }
        for specification in entry.source.split("spec: ").skip(1) {
            let name = specification.split([' ', ',']).next().unwrap_or_default();
            read(&format!("../specs/{name}.md"));
        }
        if entry.source.trim().is_empty() {
            wrong.push(format!("{}: no source", entry.name));
        }
        let row = format!("| [`{}`](../controllers/src/schemes/{page}.md) |", entry.name);
        if !table.contains(&row) {
            wrong.push(format!("{}: no row of docs/controllers.md begins {row}", entry.name));
        }
    }
    let count = Algorithm::ALL.len();
    for text in [format!("\n{count} controllers, "), format!("[All {count}](docs/controllers.md)")] {
        if !readme.contains(&text) {
            wrong.push(format!("README.md does not say {:?}", text.trim()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
