use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::Peer;

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
fn settings_of_a_stack_are_in_no_configuration() {
    let file = "controller = \"reno\"\n[msquic]\nMaxAckDelayMs = 5\n[app.demo]\ncontroller = \"cubic\"\n\
        [recording]\ndirectory = \"d\"\n";
    let parts = Parts::of(file);
    assert_eq!(lines(&parts.common), ["controller = \"reno\"", "", "", "", "", "[recording]", "directory = \"d\""]);
    assert_eq!(lines(&parts.stacks["msquic"]), ["", "", "MaxAckDelayMs = 5", "", "", "", ""]);
    assert_eq!(lines(&parts.apps["demo"]), ["", "", "", "", "controller = \"cubic\"", "", ""]);
}

/// The user who may change what this process makes.
fn user(directory: &Path) -> u32 {
    directory.metadata().unwrap().uid()
}

fn read(path: &Path) -> Result<SettingsFile<String>, String> {
    let make = |config: &Config| Ok(config.choose(&Peer::from(([192, 0, 2, 1], 443))).text.clone());
    SettingsFile::read(path, user(path.parent().unwrap()), make, |_| {}).map_err(|error| error.to_string())
}

fn controller(file: &SettingsFile<String>) -> String {
    file.settings().of_app(None).unwrap().clone()
}

#[test]
fn a_changed_file_applies_from_then_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("controller = \"reno:iw=7\"\n[app.demo]\ncontroller = \"cubic\"\n[quiche]\noverride = true\n");
    let settings = read(&path).unwrap();
    assert_eq!(controller(&settings), "reno:iw=7");
    assert_eq!(settings.settings().of_app(Some("demo")).unwrap(), "cubic");
    assert_eq!(settings.settings().of_app(Some("other")).unwrap(), "reno:iw=7");
    assert!(settings.settings().overrides());
    write("controller = \"reno:iw=12\"\n");
    assert_eq!((controller(&settings).as_str(), settings.settings().overrides()), ("reno:iw=12", false));
    // After a mistake, or without the file, the last valid settings stay in effect.
    write("controller = \"reno:iw=0\"\n # longer");
    assert_eq!(controller(&settings), "reno:iw=12");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(controller(&settings), "reno:iw=12");
    write("controller = \"reno:iw=3\"\n");
    assert_eq!(controller(&settings), "reno:iw=3");
}

#[test]
fn a_change_that_size_and_times_do_not_show_applies() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, "controller = \"reno:iw=7\"\n").unwrap();
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let settings = read(&path).unwrap();
    std::fs::write(&path, "controller = \"reno:iw=8\"\n").unwrap();
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
    assert_eq!(controller(&settings), "reno:iw=8");
}

#[test]
fn a_file_that_others_can_change_is_refused() {
    let trust = |path: &Path| trust(path, std::fs::metadata("/proc/self").unwrap().uid());
    let set = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
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
    let error = read(&path).err().unwrap();
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
    let settings = read(&path).unwrap();
    std::fs::write(&path, "controller = \"reno:iw=9\"\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    assert_eq!(controller(&settings), "reno:iw=7");
}

#[test]
fn a_file_for_one_application_leaves_the_others_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, "# for one\nplugin = \"x\"\n[app.demo]\ncontroller = \"cubic\"\n").unwrap();
    let settings = read(&path).unwrap().settings();
    assert_eq!(settings.of_app(Some("demo")).map(String::as_str), Some("cubic"));
    assert_eq!((settings.of_app(Some("other")), settings.of_app(None)), (None, None));
}

fn error(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    std::fs::write(&path, text).unwrap();
    let error = read(&path).err().expect("a mistake");
    error.replace(&format!("{}/", directory.path().display()), "")
}

#[test]
fn mistakes_are_reported_with_file_and_line() {
    assert!(error("controller = \"rneo\"\n").starts_with("cc.toml:1:14: "));
    let wrong = error("controller = \"reno\"\n\n[app.demo]\ncontroller = \"reno\"\n[app.demo.parameters]\niw = 0\n");
    assert!(wrong.starts_with("cc.toml:6:6: reno: iw is \"0\""), "{wrong}");
    let wrong = error("plugin = \"x\"\n[group]\nipv4_prefix = 24\n[app.demo]\ncontroller = \"reno\"\n");
    assert!(wrong.contains("missing field `controller`"), "{wrong}");
    let key = error("contoller = \"reno\"\n");
    assert!(key.contains("`controller`") && key.ends_with("`recording`, `plugin`, `app`, `msquic`, `quiche`"), "{key}");
    let key = error("controller = \"reno\"\n[app.demo]\ncontroller = \"reno\"\nplugin = 1\n");
    assert!(key.ends_with("`recording`"), "{key}");
    let key = error("controller = \"reno\"\n[quiche]\n  overide = true\n");
    assert_eq!(key, "cc.toml:3:3: [quiche]: unknown field `overide`, expected `override`");
    let both = error("controller = \"rneo\"\n[app.demo]\ncontroller = \"cbic\"\n");
    assert!(both.contains("cc.toml:1:14") && both.contains("cc.toml:3:14"), "{both}");
    assert!(
        read(Path::new("/etc/no-such-file")).err().unwrap().contains("cannot read the configuration /etc/no-such-file")
    );
}

/// The settings files of quiche's and MsQuic's READMEs that name controllers; what is MsQuic's alone, its `storage.c` reads.
#[test]
fn settings_that_the_readmes_show_are_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cc.toml");
    let mut controllers = Vec::new();
    for page in [include_str!("../../../../quiche/README.md"), include_str!("../../../../msquic/README.md")] {
        let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks.filter(|block| block.starts_with("controller = ") || block.contains("\ncontroller = ")) {
            std::fs::write(&path, block).unwrap();
            let file = read(&path).unwrap_or_else(|error| panic!("{error} in\n{block}"));
            controllers.extend(file.settings().of_app(None).cloned());
        }
    }
    assert_eq!(controllers, ["tcp-k", "tcp-k"], "those of the rule for 192.0.2.0/24");
}
