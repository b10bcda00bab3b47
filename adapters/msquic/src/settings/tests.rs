use super::*;

const FILE: &str = "plugin = \"/lib/p.so\"\ncontroller = \"reno\"\n[app.demo]\ncontroller = \"a-tcp\"\n\
[[app.demo.rule]]\nto = \"*\"\ncontroller = \"cubic\"\n[app.\"b c\"]\ncontroller = \"reno\"\n[recording]\ndirectory = \"d\"\n";

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

#[test]
fn every_part_has_its_lines_where_they_stood() {
    let parts = Parts::of(FILE);
    assert_eq!(
        lines(&parts.common),
        ["", "controller = \"reno\"", "", "", "", "", "", "", "", "[recording]", "directory = \"d\""]
    );
    let demo = &parts.apps["demo"];
    assert_eq!(
        lines(demo).iter().map(|line| line.trim()).collect::<Vec<_>>(),
        ["", "", "", "controller = \"a-tcp\"", "[[rule]]", "to = \"*\"", "controller = \"cubic\"", "", "", "", ""]
    );
    assert_eq!(lines(&parts.apps["b c"])[8], "controller = \"reno\"");
    for part in [&parts.common, demo, &parts.apps["b c"]] {
        assert_eq!(part.lines().map(str::len).collect::<Vec<_>>(), FILE.lines().map(str::len).collect::<Vec<_>>());
    }
}

#[test]
fn a_key_called_like_the_plugin_stays_inside_sections() {
    let parts = Parts::of("controller = \"reno\"\n[parameters]\nplugin = 1\n");
    assert_eq!(lines(&parts.common)[2], "plugin = 1");
    assert!(Parts::of("plugins = 1\n").common.starts_with("plugins"));
}

#[test]
fn msquics_own_settings_are_in_no_part() {
    let file = "controller = \"reno\"\n[msquic]\nMaxAckDelayMs = 5\n[app.demo]\ncontroller = \"cubic\"\n\
        [recording]\ndirectory = \"d\"\n";
    let parts = Parts::of(file);
    assert_eq!(lines(&parts.common), ["controller = \"reno\"", "", "", "", "", "[recording]", "directory = \"d\""]);
    assert_eq!(lines(&parts.apps["demo"]), ["", "", "", "", "controller = \"cubic\"", "", ""]);
}

#[test]
fn a_changed_file_applies_to_new_connections() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    let file = |text: &str| std::fs::write(&path, text).unwrap();
    file("controller = \"reno:iw=7\"\n");
    let settings = read(path.to_str().unwrap()).ok().unwrap();
    let window = || {
        let mut control = windlass_msquic_abi::Control::default();
        settings.start(&connection()).ok().unwrap().update(&mut control, |_| {});
        control.cwnd
    };
    assert_eq!(window(), 7 * 1400);
    file("controller = \"reno:iw=12\"\n");
    assert_eq!(window(), 12 * 1400);
    // After a mistake, or without the file, the last valid settings stay in effect.
    file("controller = \"reno:iw=0\"\n # longer");
    assert_eq!(window(), 12 * 1400);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(window(), 12 * 1400);
    file("controller = \"reno:iw=3\"\n");
    assert_eq!(window(), 3 * 1400);
}

fn connection() -> NewConnection<'static> {
    NewConnection {
        now: windlass_controllers::Time::ZERO,
        peer: windlass_adapter::config::Peer { address: ([192, 0, 2, 1], 443).into(), name: None },
        mtu: 1400,
        in_flight: 0,
        app: None,
        ecn: false,
        one_way_delay: false,
        packets: None,
        client: true,
    }
}

fn error(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, text).unwrap();
    let error = read(path.to_str().unwrap()).err().expect("a mistake");
    error.replace(&format!("{}/", directory.path().display()), "")
}

#[test]
fn mistakes_are_reported_with_file_and_line() {
    assert!(error("controller = \"rneo\"\n").starts_with("cc.toml:1:14: "));
    let wrong = error("controller = \"reno\"\n\n[app.demo]\ncontroller = \"reno\"\n[app.demo.parameters]\niw = 0\n");
    assert!(wrong.starts_with("cc.toml:6:6: reno: iw is \"0\""), "{wrong}");
    let wrong = error("plugin = \"x\"\n[app.demo]\ncontroller = \"reno\"\n");
    assert!(wrong.contains("missing field `controller`"), "{wrong}");
    let both = error("controller = \"rneo\"\n[app.demo]\ncontroller = \"cbic\"\n");
    assert!(both.contains("cc.toml:1:14") && both.contains("cc.toml:3:14"), "{both}");
    assert!(read("/no/such/file").err().unwrap().contains("cannot read the configuration /no/such/file"));
}
