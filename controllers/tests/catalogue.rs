//! What every line of the catalogue owes its readers and its hosts.

use windlass_controllers::{Algorithm, Engine};

/// Largest state of a flow, bytes: a host of a million flows pays for each.
const LARGEST: usize = 512;

#[test]
fn names_are_unique_and_read_back() {
    for (i, entry) in Algorithm::ALL.iter().enumerate() {
        assert!(Algorithm::ALL[..i].iter().all(|other| other.name != entry.name), "{} twice", entry.name);
        let read = Algorithm::read(entry.name).unwrap();
        assert_eq!((Engine::name(&read), read), (entry.name, (entry.default)()));
        assert!(Algorithm::read(&format!("{}:profile=paper", entry.name)).is_ok());
    }
}

#[test]
fn states_are_small() {
    for entry in Algorithm::ALL {
        assert!(entry.state_size <= LARGEST, "{}: {} bytes, more than {LARGEST}", entry.name, entry.state_size);
    }
}
