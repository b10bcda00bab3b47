use std::os::unix::fs::PermissionsExt;

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

#[test]
fn a_change_that_size_and_times_do_not_show_applies() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, "controller = \"reno:iw=7\"\n").unwrap();
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let settings = read(path.to_str().unwrap()).ok().unwrap();
    std::fs::write(&path, "controller = \"reno:iw=8\"\n").unwrap();
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
    let mut control = windlass_msquic_abi::Control::default();
    settings.start(&connection()).ok().unwrap().update(&mut control, |_| {});
    assert_eq!(control.cwnd, 8 * 1400);
}

#[test]
fn a_file_that_others_can_change_is_refused() {
    let set = |path: &File, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (path, below) = (directory.path().join("cc.toml"), directory.path().join("below"));
    std::fs::write(&path, "controller = \"reno\"\n").unwrap();
    std::fs::create_dir(&below).unwrap();
    std::os::unix::fs::symlink("../cc.toml", below.join("link")).unwrap();
    set(&path, 0o664);
    assert_eq!(trust(&path).ok(), Some(()));
    assert_eq!(trust(&below.join("link")).ok(), Some(()));
    assert_eq!(trust(&below.join("../cc.toml")).ok(), Some(()));
    // The directory of the link, though not that of the file.
    set(&below, 0o777);
    let error = trust(&below.join("link")).unwrap_err().to_string();
    assert!(error.starts_with("every user can write to ") && error.contains("/below; "), "{error}");
    set(&below, 0o1777);
    assert_eq!(trust(&below.join("link")).ok(), Some(()));
    set(&path, 0o666);
    let error = read(path.to_str().unwrap()).err().unwrap();
    assert!(error.contains("cannot read the configuration") && error.contains("cc.toml; expected"), "{error}");
    std::os::unix::fs::symlink("loop", directory.path().join("loop")).unwrap();
    assert_eq!(trust(&directory.path().join("loop")).unwrap_err().to_string(), "too many symbolic links");
    assert_eq!(trust(&below).unwrap_err().to_string(), "it is no regular file");
}

#[test]
fn a_file_that_becomes_another_users_keeps_its_settings() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, "controller = \"reno:iw=7\"\n").unwrap();
    let settings = read(path.to_str().unwrap()).ok().unwrap();
    std::fs::write(&path, "controller = \"reno:iw=9\"\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    let mut control = windlass_msquic_abi::Control::default();
    settings.start(&connection()).ok().unwrap().update(&mut control, |_| {});
    assert_eq!(control.cwnd, 7 * 1400);
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
