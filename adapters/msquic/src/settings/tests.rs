use super::*;

#[test]
fn the_file_of_the_moment_starts_a_connection_by_its_application() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("controller = \"reno:iw=7\"\n[app.demo]\ncontroller = \"reno:iw=9\"\n");
    let settings = read(path.to_str().unwrap()).ok().unwrap();
    let window = |app| {
        let mut control = windlass_msquic_abi::Control::default();
        settings.start(&connection(app)).ok().unwrap().update(&mut control, |_| {});
        control.cwnd
    };
    assert_eq!((window(None), window(Some("demo"))), (7 * 1400, 9 * 1400));
    write("controller = \"reno:iw=12\"\n");
    assert_eq!((window(None), window(Some("demo"))), (12 * 1400, 12 * 1400));
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
