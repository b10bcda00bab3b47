//! The checks of MsQuic's source in the build script.

use std::path::Path;

use serde_json::json;

#[path = "../build/source.rs"]
#[allow(dead_code, reason = "the build script alone looks for the source")]
mod source;

/// Creates all files that are checked, with other contents.
fn tree(at: &Path) {
    for file in source::files() {
        let path = at.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "int x;\n").unwrap();
    }
}

#[test]
fn a_changed_file_is_named_with_both_hashes() {
    let directory = tempfile::tempdir().unwrap();
    tree(directory.path());
    let error = source::check(directory.path()).unwrap_err();
    let found = "7c725f30854a46033dd94f728ac6b08caf10845993cd3ed48e40079cdb0a76a6";
    assert!(error.contains(&format!("src/core/cubic.c: found {found}, expected ")), "{error}");
    assert_eq!(error.matches(": found ").count(), source::files().count());
    assert_eq!(error.matches(", expected ").count(), source::files().count());
    std::fs::remove_file(directory.path().join("src/core/path.h")).unwrap();
    let error = source::check(directory.path()).unwrap_err();
    assert!(error.contains("src/core/path.h: found No such file"), "{error}");
}

#[test]
fn a_release_is_known_by_the_hash_of_its_files() {
    let directory = tempfile::tempdir().unwrap();
    tree(directory.path());
    let error = source::check(directory.path()).unwrap_err();
    // The list of such a tree: the hash of its contents, and the name of each file.
    let (_, list) = error.split_once("has the sha256 ").unwrap();
    let known = format!("{}  1.2.3\n", &list[..64]);
    assert_eq!(source::check_with(directory.path(), &known), Ok(()));
    std::fs::write(directory.path().join("src/core/cubic.c"), "int y;\n").unwrap();
    let error = source::check_with(directory.path(), &known).unwrap_err();
    assert!(error.contains("none of 1.2.3 (its list of files has"), "{error}");
}

#[test]
fn a_second_native_msquic_is_refused() {
    let metadata = |features: &[&str]| {
        json!({"resolve": {"nodes": [
            {"id": "other 1", "features": ["src"]},
            {"id": "msquic 2", "features": features},
        ]}})
    };
    let id = json!("msquic 2");
    assert_eq!(source::one_native(&metadata(&[]), &id), Ok(()));
    assert_eq!(source::one_native(&metadata(&["preview-api"]), &id), Ok(()));
    for feature in ["src", "static", "find"] {
        let error = source::one_native(&metadata(&["default", feature]), &id).unwrap_err();
        assert!(error.contains(&format!("the feature {feature:?} of the package msquic")), "{error}");
    }
}
