//! What the examples share: no request leaves the directory, and keys are private.

#[allow(dead_code)]
#[path = "../../common/files/mod.rs"]
mod files;

use std::fs;
use std::io::Read;

use files::{identity, open};

#[test]
fn a_request_names_a_file_inside_the_directory() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("served");
    fs::create_dir_all(root.join("below")).unwrap();
    fs::write(root.join("below/file"), "inside").unwrap();
    fs::write(place.path().join("secret"), "outside").unwrap();
    let mut text = String::new();
    open(&root, b"below/file").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "inside");
    let absolute = place.path().join("secret");
    let absolute = absolute.to_str().unwrap().as_bytes();
    let cases: [&[u8]; 10] = [
        b"../secret",
        b"below/../../secret",
        b"below/../below/file",
        b"./below/file",
        absolute,
        b"/",
        b"",
        b"below",
        b"below/file\0",
        b"\xff",
    ];
    for request in cases {
        assert!(open(&root, request).is_err(), "{}", String::from_utf8_lossy(request));
    }
    assert_eq!(open(&root, b"nothing").unwrap_err(), "there is no file \"nothing\"");
}

#[cfg(unix)]
#[test]
fn symlinks_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("served");
    fs::create_dir_all(&root).unwrap();
    fs::write(place.path().join("secret"), "outside").unwrap();
    fs::write(root.join("file"), "inside").unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("file", root.join("in")).unwrap();
    for request in ["out", "up/secret"] {
        assert!(open(&root, request.as_bytes()).is_err(), "{request}");
    }
    assert!(open(&root, b"in").is_ok());
    // The directory may itself be reached by one.
    symlink("served", place.path().join("alias")).unwrap();
    assert!(open(&place.path().join("alias"), b"file").is_ok());
}

#[test]
fn keys_are_made_once_and_for_their_owner_only() {
    let place = tempfile::tempdir().unwrap();
    let keys = place.path().join("keys");
    let first = identity(&keys).unwrap();
    let again = identity(&keys).unwrap();
    assert_eq!((first.certificate, first.key), (again.certificate, again.key));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = keys.join("key.der");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = identity(&keys).err().unwrap().to_string();
        assert!(error.ends_with("key.der has mode 644; others can read it, expected 600"), "{error}");
    }
}
