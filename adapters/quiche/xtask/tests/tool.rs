//! The tool as a user runs it, on the released quiche and on ones that are not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use xtask::{FEATURE, HARNESS_MODULE, KNOWN, MODULE, Tree, released};

fn tool(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("quiche").args(arguments.iter().map(AsRef::as_ref));
    command.output().unwrap()
}

/// Its output; it has to succeed.
fn output_of(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let output = tool(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Its error message; it has to fail.
fn error_of(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let output = tool(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn archive() -> PathBuf {
    released(KNOWN[0].version).unwrap()
}

/// A source as it was released, for a user to have.
fn checkout() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("quiche");
    output_of(&[&"--pristine", &"--out", &source]);
    (directory, source)
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// Files of `after` that are missing in `before` or differ, relative to them.
fn differing(before: &Path, after: &Path) -> BTreeSet<String> {
    let old = files(before);
    let relative = |path: &Path| path.strip_prefix(after).unwrap().to_owned();
    let new = files(after).into_iter().map(|(path, contents)| (relative(&path), contents));
    let changed = new.filter(|(path, contents)| old.get(&before.join(path)) != Some(contents));
    changed.map(|(path, _)| path.display().to_string()).collect()
}

#[test]
fn a_tree_is_made_once_and_repaired_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("below/quiche");
    assert!(output_of(&[&"--out", &out]).contains(" 0 as before, 0 removed"));
    let made = files(&out);
    assert!(made.contains_key(&out.join(MODULE)));
    let times = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let untouched = times(&out.join("src/lib.rs"));
    fs::write(out.join("src/frame.rs"), "edited").unwrap();
    fs::write(out.join("src/stray.rs"), "").unwrap();
    assert!(output_of(&[&"--out", &out]).contains(": 1 files written"));
    assert_eq!(files(&out), made);
    assert_eq!(times(&out.join("src/lib.rs")), untouched, "Cargo would build it again");
    let left: Vec<_> = fs::read_dir(directory.path().join("below")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn only_the_hook_differs_from_the_release() {
    let (directory, source) = checkout();
    let out = directory.path().join("hooked");
    output_of(&[&"--out", &out]);
    let expected = [
        "Cargo.toml",
        "src/frame.rs",
        "src/lib.rs",
        "src/packet.rs",
        "src/path.rs",
        "src/recovery/congestion/mod.rs",
        // Their tests make packets with the fields added for controllers.
        "src/recovery/gcongestion/bbr/bandwidth_sampler.rs",
        "src/recovery/gcongestion/bbr2/network_model.rs",
        "src/recovery/gcongestion/external/slots.rs",
        MODULE,
        "src/recovery/gcongestion/mod.rs",
        "src/recovery/gcongestion/pacer.rs",
        "src/recovery/gcongestion/recovery.rs",
        "src/recovery/mod.rs",
    ];
    assert_eq!(differing(&source, &out), expected.map(str::to_owned).into());
}

#[test]
fn the_harness_s_patch_goes_on_top_of_the_hook() {
    let directory = tempfile::tempdir().unwrap();
    let [hooked, harness] = ["hooked", "harness"].map(|name| directory.path().join(name));
    output_of(&[&"--out", &hooked]);
    output_of(&[&"--harness", &"--out", &harness]);
    let expected = ["Cargo.toml", "src/build.rs", HARNESS_MODULE, "src/lib.rs", "src/rand.rs", MODULE];
    assert_eq!(differing(&hooked, &harness), expected.map(str::to_owned).into());
    let text = |path: &str| fs::read_to_string(harness.join(path)).unwrap();
    assert!(!text("src/lib.rs").contains("Instant::now()") && !text(MODULE).contains("Instant::now()"));
    let error = error_of(&[&"--harness", &"--src", &hooked]);
    assert!(error.contains("has the hook already"), "{error}");
}

#[test]
fn the_hook_has_neither_virtual_time_nor_seeds() {
    let (directory, source) = checkout();
    let out = directory.path().join("hooked");
    output_of(&[&"--out", &out]);
    let count =
        |root: &Path, path: &str, text: &str| fs::read_to_string(root.join(path)).unwrap().matches(text).count();
    for (path, clock) in [("src/lib.rs", "Instant::now()"), ("src/lib.rs", ".elapsed()")] {
        assert_eq!(count(&out, path, clock), count(&source, path, clock), "{path}: {clock}");
    }
    assert_eq!(count(&out, MODULE, "thread_local"), 0);
}

#[test]
fn a_truncated_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let whole = fs::read(archive()).unwrap();
    let (cut, out) = (directory.path().join("quiche-0.30.0.crate"), directory.path().join("out"));
    fs::write(&cut, &whole[..whole.len() - 1000]).unwrap();
    let error = error_of(&[&"--crate", &cut, &"--out", &out]);
    assert!(error.contains("quiche-0.30.0.crate has sha256") && error.contains(KNOWN[0].sha256), "{error}");
    assert!(error.contains("remove it and run this again"), "{error}");
    assert!(!out.exists());
    // The hash of an unknown version is not known, its end is.
    let error = error_of(&[&"--crate", &cut, &"--version", &"9.9.9", &"--unknown-version", &"--out", &out]);
    assert!(error.contains("quiche-0.30.0.crate: "), "{error}");
    assert!(!out.exists());
}

#[test]
fn an_edited_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut edited = fs::read(archive()).unwrap();
    let middle = edited.len() / 2;
    edited[middle] ^= 1;
    let (cache, out) = (directory.path().join("quiche-0.30.0.crate"), directory.path().join("out"));
    fs::write(&cache, edited).unwrap();
    let error = error_of(&[&"--crate", &cache, &"--out", &out]);
    assert!(error.contains("it was changed or is incomplete"), "{error}");
    assert!(!out.exists());
}

#[test]
fn a_cache_of_another_user_is_not_trusted_either() {
    let home = tempfile::tempdir().unwrap();
    let registry = home.path().join("registry/cache/some-registry");
    fs::create_dir_all(&registry).unwrap();
    fs::write(registry.join("quiche-0.30.0.crate"), b"not quiche at all").unwrap();
    let out = home.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = command.args(["quiche", "--out"]).arg(&out).env("CARGO_HOME", home.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("has sha256"), "{error}");
    assert!(!out.exists());
}

#[test]
fn an_unknown_version_is_refused_with_what_to_do() {
    let error = error_of(&[&"--version", &"0.1.2"]);
    assert!(error.contains("quiche 0.1.2 is not known here; known: 0.30.0, 0.29.3"), "{error}");
    assert!(
        error.contains("--unknown-version") && error.contains("--crate FILE") && error.contains("release.rs"),
        "{error}"
    );
    let (_directory, source) = checkout();
    let manifest = source.join("Cargo.toml");
    let newer = fs::read_to_string(&manifest).unwrap().replacen("version = \"0.30.0\"", "version = \"0.31.0\"", 1);
    fs::write(&manifest, newer).unwrap();
    let before = files(&source);
    let error = error_of(&[&"--src", &source]);
    assert!(error.contains("quiche 0.31.0 is not known here"), "{error}");
    assert_eq!(files(&source), before);
    output_of(&[&"--src", &source, &"--unknown-version"]);
    assert!(source.join(MODULE).is_file());
}

#[test]
fn a_source_whose_anchors_moved_is_left_alone() {
    let (_directory, source) = checkout();
    let path = source.join("src/recovery/gcongestion/pacer.rs");
    let moved = fs::read_to_string(&path).unwrap().replace("impl Pacer {", "impl  Pacer {");
    fs::write(&path, moved).unwrap();
    fs::remove_file(source.join("src/frame.rs")).unwrap();
    let before = files(&source);
    let error = error_of(&[&"--src", &source]);
    assert!(error.contains("nothing was written"), "{error}");
    assert!(error.contains("src/recovery/gcongestion/pacer.rs has \"impl Pacer {\" 0 times, expected 1."), "{error}");
    assert!(error.contains("src/frame.rs is missing"), "{error}");
    // The lines to look at follow.
    assert!(error.contains("    src/recovery/gcongestion/pacer.rs:") && error.contains(": impl  Pacer {"), "{error}");
    assert_eq!(error.lines().filter(|line| line.starts_with("  edit ")).count(), 2, "{error}");
    assert_eq!(files(&source), before);
}

#[test]
fn a_checkout_is_changed_in_place_or_copied() {
    let (directory, source) = checkout();
    let before = files(&source);
    let out = directory.path().join("copy");
    output_of(&[&"--src", &source, &"--out", &out]);
    assert_eq!(files(&source), before);
    output_of(&[&"--src", &source]);
    let relative = |root: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        files(root).into_iter().map(|(path, text)| (path.strip_prefix(root).unwrap().to_owned(), text)).collect()
    };
    assert_eq!(relative(&source), relative(&out));
    let error = error_of(&[&"--src", &source]);
    assert!(error.contains("has the hook already"), "{error}");
}

/// A checkout of quiche's repository: the source with a manifest as it is written by hand.
fn repository() -> (TempDir, PathBuf) {
    let (directory, source) = checkout();
    let manifest = source.join("Cargo.toml");
    let mut table: toml::Table = toml::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    let log: toml::Table = toml::from_str("workspace = true").unwrap();
    table["dependencies"]["log"] = log.clone().into();
    table["package"].as_table_mut().unwrap().insert("edition".to_owned(), log.into());
    fs::write(&manifest, toml::to_string(&table).unwrap()).unwrap();
    let root = "[workspace]\nmembers = ['quiche']\n[workspace.package]\nedition = '2021'\n\
                [workspace.dependencies]\nlog = { version = '0.4', features = ['std'] }\n";
    fs::write(directory.path().join("Cargo.toml"), root).unwrap();
    (directory, source)
}

#[test]
fn a_repository_is_taken_by_its_root_and_copied_without_its_workspace() {
    let (directory, source) = repository();
    let text = |path: &Path| fs::read_to_string(path.join("Cargo.toml")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for (from, arguments) in [(directory.path(), &[][..]), (&source, &["--harness"])] {
        let out = elsewhere.path().join(format!("copy{}", arguments.len()));
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"--src", &from, &"--out", &out];
        all.extend(arguments.iter().map(|argument| argument as &dyn AsRef<std::ffi::OsStr>));
        output_of(&all);
        let manifest = text(&out);
        assert!(!manifest.contains("workspace") && manifest.contains(FEATURE), "{manifest}");
        assert!(out.join(MODULE).is_file());
    }
    assert!(!source.join(MODULE).exists());
    output_of(&[&"--src", &directory.path()]);
    // In its place it still inherits.
    assert!(source.join(MODULE).is_file() && text(&source).contains("workspace = true"));
}

#[test]
fn every_known_release_takes_both_patches() {
    // Those that Cargo has; the nightly matrix has it fetch the others.
    for release in KNOWN {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cargo"));
        let caches = fs::read_dir(home.join("registry/cache")).unwrap().flatten();
        let name = format!("quiche-{}.crate", release.version);
        if !caches.into_iter().any(|cache| cache.path().join(&name).is_file()) {
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("quiche");
        let message = output_of(&[&"--version", &release.version, &"--harness", &"--out", &out]);
        assert_eq!(message.contains("edits of test code"), release.version != KNOWN[0].version, "{message}");
    }
}

#[test]
fn help_is_no_mistake() {
    for arguments in [&["--help"][..], &["quiche", "--help"], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().unwrap();
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("--unknown-version"));
    }
}

#[test]
fn missing_tools_are_reported_first_with_their_packages() {
    let empty = tempfile::tempdir().unwrap();
    let out = empty.path().join("quiche");
    let run = |option: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(["quiche", "--out"]).arg(&out).arg(option).env("PATH", empty.path()).env("CARGO", env!("CARGO"));
        command.output().unwrap()
    };
    let output = run("--harness");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && !out.exists());
    assert!(error.contains("there is no cmake") && error.contains("apt-get install cmake g++ gcc"), "{error}");
    assert!(run("--skip-tools").status.success() && out.is_dir());
}

#[test]
fn what_is_not_quiche_is_neither_taken_nor_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let precious = directory.path().join("letter");
    fs::write(&precious, "dear").unwrap();
    let error = error_of(&[&"--out", &directory.path()]);
    assert!(error.contains("is not the source of quiche"), "{error}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "dear");
    fs::write(directory.path().join("Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
    let error = error_of(&[&"--src", &directory.path()]);
    assert!(error.contains("Cargo.toml is of \"other\""), "{error}");
    let error = error_of(&[&"--src", &directory.path().join("none")]);
    assert!(error.contains("expected quiche's source or a checkout of its repository"), "{error}");
}

#[test]
fn an_archive_cannot_write_outside() {
    let mut packed = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let mut header = tar::Header::new_gnu();
    let name = b"quiche-0.30.0/../../escaped";
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.set_size(1);
    header.set_cksum();
    packed.append(&header, &b"x"[..]).unwrap();
    let archive = packed.into_inner().unwrap().finish().unwrap();
    let error = Tree::unpack("evil.crate", &archive).unwrap_err().to_string();
    assert!(error.contains("leads out of the archive"), "{error}");
}

#[test]
fn mistyped_arguments_are_reported() {
    for arguments in [&["--outt", "x"][..], &["--out"], &["--src", "a", "--pristine"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("quiche").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cargo xtask quiche [--harness]"));
    }
}
