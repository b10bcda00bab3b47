//! The tool as a user runs it, on the released quiche and on ones that are not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use xtask::{KNOWN, MODULE, Tree, released};

fn tool(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("quiche").args(arguments.iter().map(AsRef::as_ref));
    command.output().unwrap()
}

/// What it said, if it succeeded.
fn told(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let output = tool(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What it complained of.
fn complained(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let output = tool(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn archive() -> PathBuf {
    released(&KNOWN[0]).unwrap()
}

/// A source as it was released, for a user to have.
fn checkout() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("quiche");
    told(&[&"--pristine", &"--out", &source]);
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

#[test]
fn a_tree_is_made_once_and_repaired_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("below/quiche");
    assert!(told(&[&"--out", &out]).contains(" 0 as before, 0 removed"));
    let made = files(&out);
    assert!(made.contains_key(&out.join(MODULE)));
    let times = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let untouched = times(&out.join("src/lib.rs"));
    fs::write(out.join("src/frame.rs"), "edited").unwrap();
    fs::write(out.join("src/stray.rs"), "").unwrap();
    assert!(told(&[&"--out", &out]).contains(": 1 files written"));
    assert_eq!(files(&out), made);
    assert_eq!(times(&out.join("src/lib.rs")), untouched, "Cargo would build it again");
    let left: Vec<_> = fs::read_dir(directory.path().join("below")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn only_the_hook_differs_from_the_release() {
    let (directory, source) = checkout();
    let out = directory.path().join("hooked");
    told(&[&"--out", &out]);
    let (before, after) = (files(&source), files(&out));
    let differing: Vec<String> = after
        .iter()
        .map(|(path, contents)| (path.strip_prefix(&out).unwrap(), contents))
        .filter(|(path, contents)| before.get(&source.join(path)) != Some(contents))
        .map(|(path, _)| path.display().to_string())
        .collect();
    let expected = [
        "Cargo.toml",
        "src/build.rs",
        "src/frame.rs",
        "src/lib.rs",
        "src/packet.rs",
        "src/path.rs",
        "src/rand.rs",
        "src/recovery/congestion/mod.rs",
        // Their tests make packets of what a controller is told of.
        "src/recovery/gcongestion/bbr/bandwidth_sampler.rs",
        "src/recovery/gcongestion/bbr2/network_model.rs",
        "src/recovery/gcongestion/external/slots.rs",
        MODULE,
        "src/recovery/gcongestion/mod.rs",
        "src/recovery/gcongestion/pacer.rs",
        "src/recovery/gcongestion/recovery.rs",
        "src/recovery/mod.rs",
    ];
    let (mut differing, mut expected) = (differing, expected.map(str::to_owned).to_vec());
    differing.sort();
    expected.sort();
    assert_eq!(differing, expected);
}

#[test]
fn a_truncated_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let whole = fs::read(archive()).unwrap();
    let (cut, out) = (directory.path().join("quiche-0.30.0.crate"), directory.path().join("out"));
    fs::write(&cut, &whole[..whole.len() - 1000]).unwrap();
    let said = complained(&[&"--crate", &cut, &"--out", &out]);
    assert!(said.contains("quiche-0.30.0.crate has sha256") && said.contains(KNOWN[0].sha256), "{said}");
    assert!(said.contains("remove it and run this again"), "{said}");
    assert!(!out.exists());
    // The hash of an unknown version is not known, its end is.
    let said = complained(&[&"--crate", &cut, &"--version", &"9.9.9", &"--unknown-version", &"--out", &out]);
    assert!(said.contains("quiche-0.30.0.crate: "), "{said}");
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
    let said = complained(&[&"--crate", &cache, &"--out", &out]);
    assert!(said.contains("it was changed or is incomplete"), "{said}");
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
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("has sha256"), "{said}");
    assert!(!out.exists());
}

#[test]
fn an_unknown_version_is_refused_with_what_to_do() {
    let said = complained(&[&"--version", &"0.1.2"]);
    assert!(said.contains("quiche 0.1.2 is not known here; known: 0.30.0"), "{said}");
    assert!(said.contains("--unknown-version") && said.contains("known.rs"), "{said}");
    let (_directory, source) = checkout();
    let manifest = source.join("Cargo.toml");
    let newer = fs::read_to_string(&manifest).unwrap().replacen("version = \"0.30.0\"", "version = \"0.31.0\"", 1);
    fs::write(&manifest, newer).unwrap();
    let before = files(&source);
    let said = complained(&[&"--src", &source]);
    assert!(said.contains("quiche 0.31.0 is not known here"), "{said}");
    assert_eq!(files(&source), before);
    told(&[&"--src", &source, &"--unknown-version"]);
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
    let said = complained(&[&"--src", &source]);
    assert!(said.contains("nothing was written"), "{said}");
    assert!(said.contains("src/recovery/gcongestion/pacer.rs has \"impl Pacer {\" 0 times, expected 1."), "{said}");
    assert!(said.contains("src/frame.rs is missing"), "{said}");
    assert_eq!(said.lines().count(), 3, "{said}");
    assert_eq!(files(&source), before);
}

#[test]
fn a_checkout_is_changed_in_place_or_copied() {
    let (directory, source) = checkout();
    let before = files(&source);
    let out = directory.path().join("copy");
    told(&[&"--src", &source, &"--out", &out]);
    assert_eq!(files(&source), before);
    told(&[&"--src", &source]);
    let relative = |root: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        files(root).into_iter().map(|(path, text)| (path.strip_prefix(root).unwrap().to_owned(), text)).collect()
    };
    assert_eq!(relative(&source), relative(&out));
    let said = complained(&[&"--src", &source]);
    assert!(said.contains("carries the hook already"), "{said}");
}

#[test]
fn what_is_not_quiche_is_neither_taken_nor_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let precious = directory.path().join("letter");
    fs::write(&precious, "dear").unwrap();
    let said = complained(&[&"--out", &directory.path()]);
    assert!(said.contains("is not the source of quiche"), "{said}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "dear");
    fs::write(directory.path().join("Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
    let said = complained(&[&"--src", &directory.path()]);
    assert!(said.contains("Cargo.toml is of \"other\""), "{said}");
    let said = complained(&[&"--src", &directory.path().join("none")]);
    assert!(said.contains("in quiche's repository the source is the folder quiche"), "{said}");
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
    let said = Tree::unpack("evil.crate", &archive).unwrap_err().to_string();
    assert!(said.contains("leads out of the archive"), "{said}");
}

#[test]
fn what_is_typed_wrong_is_told() {
    for arguments in [&["--outt", "x"][..], &["--out"], &["--src", "a", "--pristine"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("quiche").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cargo xtask quiche [--version"));
    }
}
