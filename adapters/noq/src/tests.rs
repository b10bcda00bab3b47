use std::time::Instant;

use noq_proto::congestion::Controller as _;
use windlass_adapter::config::{Config, Peer};
use windlass_controllers::Algorithm;

use super::*;

#[test]
fn names_what_noq_cannot_run_or_read() {
    let error = Factory::named("renno").unwrap_err().to_string();
    assert!(error.contains("unknown controller \"renno\" (did you mean \"reno\"?)"), "{error}");
    assert!(Factory::named("windlass/tcp-k:k=4").is_ok());
    for entry in Algorithm::ALL {
        let missing = (entry.default)().needs().without(PROVIDES);
        match Factory::named(entry.name) {
            Ok(_) => assert!(missing.is_empty()),
            Err(error) => {
                assert!(!missing.is_empty());
                assert!(error.to_string().contains("noq does not report"), "{error}");
            }
        }
    }
}

#[test]
fn a_file_chooses_by_peer_and_its_factories_share_groups_and_recordings() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cc.toml");
    let text = "controller = \"nice\"\n[[rule]]\nto = \"*.example.org\"\ncontroller = \"tcp-p:k=2\"\n\
                [[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"reno:iw=20\"\n[recording]\ndirectory = \"logs\"";
    std::fs::write(&file, text).unwrap();
    let config = Config::read(&file).unwrap();
    let now = Instant::now();
    let make = |peer: Peer<'_>| Factory::from_config(&config, peer).unwrap().make(now, 1200);
    let address = |last| std::net::SocketAddr::from(([192, 0, 2, last], 443));
    let named = Peer { address: address(7), name: Some("www.example.org") };
    let (first, second) = (make(named), make(named));
    assert_eq!(first.flow().controller().to_string(), "tcp-p:k=2");
    let key = config.group_key(first.flow().controller(), address(7).ip());
    assert_eq!(config.groups().with(&key, |group| group.members().len()), Some(2));
    let near = make(address(8).into());
    assert_eq!(near.metrics().congestion_window, 20 * 1200);
    // quinn cannot run it: it needs the pacing signal.
    let other = make(Peer::from(std::net::SocketAddr::from(([198, 51, 100, 1], 443))));
    assert_eq!(other.flow().controller().to_string(), "nice");
    drop((first, second, near, other));
    assert!(config.groups().is_empty());
    config.recording().unwrap().open().unwrap().wait();
    assert_eq!(std::fs::read_dir(directory.path().join("logs")).unwrap().count(), 4);
}

#[test]
fn a_file_with_what_noq_cannot_run_says_where() {
    let config = Config::parse("cc.toml", "\ncontroller = \"nf-tcp\"").unwrap();
    let error = Factory::from_config(&config, ([192, 0, 2, 7], 443)).unwrap_err().to_string();
    assert!(error.starts_with("cc.toml:2:14: nf-tcp needs") && error.contains("noq does not report"), "{error}");
}
