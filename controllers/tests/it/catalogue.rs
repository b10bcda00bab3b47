//! What every line of the catalogue owes its readers and its hosts.

use windlass_controllers::{Algorithm, ConfiguredController};

/// Largest state of a flow, bytes: a host of a million flows pays for each.
const LARGEST: usize = 512;

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
