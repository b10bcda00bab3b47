use super::*;

#[test]
fn the_file_of_the_moment_starts_a_connection_by_its_application() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("controller = \"reno:iw=7\"\n[app.demo]\ncontroller = \"reno:iw=9\"\n");
    let settings = read(path.to_str().unwrap()).ok().unwrap();
    let window = |app| {
        let mut decision = windlass_abi::Decision::default();
        settings.start(&connection(app)).ok().unwrap().update(&mut decision, |_| {});
        decision.cwnd
    };
    assert_eq!((window(None), window(Some("demo"))), (7 * 1400, 9 * 1400));
    write("controller = \"reno:iw=12\"\n");
    assert_eq!((window(None), window(Some("demo"))), (12 * 1400, 12 * 1400));
}

#[test]
fn a_file_for_one_application_leaves_the_others_to_msquic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, "[app.demo]\ncontroller = \"reno\"\n").unwrap();
    let settings = read(path.to_str().unwrap()).ok().unwrap();
    assert!(settings.start(&connection(Some("demo"))).is_ok());
    assert_eq!(settings.start(&connection(Some("other"))).err().as_deref(), Some(""), "no reason, no warning");
}

#[test]
fn a_folder_that_cannot_be_written_costs_the_recordings_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    for folder in ["/proc/self", "/proc/self/no/such"] {
        std::fs::write(&path, format!("controller = \"reno:iw=7\"\n[recording]\ndirectory = \"{folder}\"\n")).unwrap();
        let settings = read(path.to_str().unwrap()).ok().unwrap();
        assert!(settings.start(&connection(None)).is_ok(), "{folder}");
    }
}

fn connection(app: Option<&str>) -> NewConnection<'_> {
    NewConnection {
        now: windlass_controllers::Time::ZERO,
        peer: windlass_adapter::config::Peer { address: ([192, 0, 2, 1], 443).into(), name: None },
        mtu: 1400,
        in_flight: 0,
        app,
        ecn: false,
        one_way_delay: false,
        packets: None,
        client: true,
    }
}
