use super::*;

const NONE: &[&Path] = &[];

fn owned() -> Owned<'static> {
    Owned { marker: "marker", is_marker: &Path::is_file, is_entry: &|path| !path.ends_with("thesis.tex") }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A hidden name as a process leaves it that was killed.
const LEFT: &str = ".windlass-out~0000000100000001";

#[test]
fn a_file_is_whole_or_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out");
    fs::write(&path, "earlier").unwrap();
    let mut begun = OutputFile::open(&path, NONE).unwrap();
    io::Write::write_all(&mut begun, b"half").unwrap();
    drop(begun);
    assert_eq!(fs::read_to_string(&path).unwrap(), "earlier");
    replace(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(place.path()), ["out"]);
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_lives_is_not() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out");
    let alive = OutputFile::open(&path, NONE).unwrap();
    // A directory is swept once in a process: this one is another.
    let other = place.path().join("other");
    fs::create_dir_all(other.join(LEFT)).unwrap();
    fs::write(other.join(".windlass-mine"), "a user's").unwrap();
    fs::write(other.join(".windlass-mine~short"), "a user's").unwrap();
    replace(&other.join("out"), "new").unwrap();
    assert_eq!(names(&other), [".windlass-mine", ".windlass-mine~short", "out"]);
    alive.finish_with("whole").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
}

#[test]
fn no_hidden_name_is_in_an_error() {
    let place = tempfile::tempdir().unwrap();
    for missing in ["missing/out", "missing/dir/"] {
        let path = place.path().join(missing);
        let error = OutputFile::open(&path, NONE).map(drop).unwrap_err().to_string();
        assert!(!error.contains(".windlass-"), "{error}");
        let reason = if cfg!(windows) { "os error 3" } else { "No such file" };
        assert!(error.contains("missing") && error.contains(reason), "{error}");
    }
    let error = OutputFile::open(place.path(), NONE).map(drop).unwrap_err();
    assert!(error.to_string().ends_with("it is a directory; expected a file"), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn paths_are_as_long_as_they_are() {
    let place = tempfile::tempdir().unwrap();
    let deep = (0..8).fold(place.path().to_owned(), |path, _| path.join("d".repeat(50)));
    for text in ["one", "two"] {
        let folder = Folder::owned(&deep.join("results"), &owned(), NONE).unwrap();
        folder.write("marker", text).unwrap();
        folder.finish().unwrap();
        replace(&deep.join("file"), text).unwrap();
        for name in ["results/marker", "file"] {
            assert_eq!(fs::read_to_string(deep.join(name)).unwrap(), text);
        }
    }
}

#[cfg(windows)]
#[test]
fn a_file_that_another_program_holds_is_named_and_all_stay() {
    use std::os::windows::fs::OpenOptionsExt;
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("dir");
    let write = |text: &str| {
        let folder = Folder::owned(&dir, &owned(), NONE).unwrap();
        for name in ["a", "held", "marker"] {
            folder.write(name, text).unwrap();
        }
        folder.finish()
    };
    write("old").unwrap();
    // Read and written by others, but not removed.
    let held = fs::File::options().read(true).share_mode(3).open(dir.join("held")).unwrap();
    let error = write("new").unwrap_err().to_string();
    assert!(error.contains("held"), "{error}");
    for name in ["a", "held", "marker"] {
        assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), "old");
    }
    let error = replace(&dir.join("held"), "new").unwrap_err().to_string();
    assert!(error.contains("held"), "{error}");
    drop(held);
    write("new").unwrap();
    assert_eq!(fs::read_to_string(dir.join("held")).unwrap(), "new");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_lead_where_they_led() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("inner")).unwrap();
    for (link, to) in [("there", "inner/file"), ("again", "there"), ("nowhere", "missing/file"), ("loop", "loop")] {
        symlink(to, at(link)).unwrap();
    }
    for text in ["new", "newer"] {
        replace(&at("again"), text).unwrap();
        assert_eq!(fs::read_to_string(at("inner/file")).unwrap(), text);
        assert!(at("again").is_symlink() && at("there").is_symlink());
    }
    for dangling in ["nowhere", "loop"] {
        let error = OutputFile::open(&at(dangling), NONE).map(drop).unwrap_err().to_string();
        assert!(error.contains(dangling), "{error}");
    }
    symlink("inner", at("dir")).unwrap();
    fs::remove_file(at("inner/file")).unwrap();
    let folder = Folder::owned(&at("dir"), &owned(), NONE).unwrap();
    folder.write("marker", "").unwrap();
    folder.finish().unwrap();
    assert!(at("dir").is_symlink());
    assert_eq!(names(&at("inner")), ["marker"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_written_into() {
    use std::io::Read;
    let place = tempfile::tempdir().unwrap();
    let fifo = place.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut text = String::new();
            fs::File::open(fifo).unwrap().read_to_string(&mut text).map(|_| text)
        }
    });
    replace(&fifo, "through").unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), "through");
    assert!(!fs::symlink_metadata(&fifo).unwrap().is_file(), "it is a FIFO still");
    let device = place.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    replace(&device, "nothing").unwrap();
    assert!(device.is_symlink() && !fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn an_input_is_not_written_over() {
    let place = tempfile::tempdir().unwrap();
    let trace = place.path().join("trace");
    fs::write(&trace, "years of work").unwrap();
    let other = place.path().join("other");
    fs::hard_link(&trace, &other).unwrap();
    let around = place.path().join("../").join(place.path().file_name().unwrap()).join("trace");
    // Elsewhere a further name is not known for the same file; it is replaced, and what is read stays.
    let outputs = [trace.clone(), around].into_iter().chain(cfg!(unix).then_some(other));
    for output in outputs {
        let error = OutputFile::open(&output, &[&trace]).map(drop).unwrap_err();
        assert!(matches!(error, StoreError::Input { .. }), "{error}");
    }
    assert!(OutputFile::open(&place.path().join("new"), &[&trace]).is_ok());
    let owned = Owned { marker: "trace", is_marker: &Path::is_file, is_entry: &|_| true };
    let error = Folder::owned(place.path(), &owned, &[&trace]).unwrap_err();
    assert!(matches!(error, StoreError::Input { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn permissions_stay_those_of_what_was_there() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let (file, dir) = (place.path().join("file"), place.path().join("dir"));
    fs::write(&file, "").unwrap();
    fs::create_dir(&dir).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
    replace(&file, "private").unwrap();
    let folder = Folder::owned(&dir, &owned(), NONE).unwrap();
    assert_eq!(mode(folder.path()), 0o700, "nor can others read it before");
    folder.write("marker", "").unwrap();
    folder.finish().unwrap();
    assert_eq!((mode(&file), mode(&dir)), (0o600, 0o700));
}

#[test]
fn a_directory_is_written_by_one_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("deep/out");
    let first = Folder::owned(&path, &owned(), NONE).unwrap();
    let error = Folder::owned(&path, &owned(), NONE).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    first.write("marker", "first").unwrap();
    first.finish().unwrap();
    let second = Folder::owned(&path, &owned(), NONE).unwrap();
    second.write("marker", "second").unwrap();
    drop(second);
    assert_eq!(fs::read_to_string(path.join("marker")).unwrap(), "first");
    drop(Folder::owned(&place.path().join("new/out"), &owned(), NONE).unwrap());
    assert_eq!(names(place.path()), ["deep"], "directories made in vain are gone");
    fs::write(path.join("thesis.tex"), "years of work").unwrap();
    assert!(matches!(Folder::owned(&path, &owned(), NONE), Err(StoreError::Occupied { .. })));
}

#[test]
fn a_directory_that_two_make_at_once_is_written_by_one() {
    let place = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for race in 0..2000 {
        let path = place.path().join(format!("made-{race}"));
        let begin = || Folder::owned(&path, &owned(), NONE);
        let both = std::thread::scope(|scope| {
            let other = scope.spawn(begin);
            [begin(), other.join().unwrap()]
        });
        for error in both.iter().filter_map(|one| one.as_ref().err()) {
            assert!(matches!(error, StoreError::InUse { .. }), "race {race}: {error}");
            refused += 1;
        }
        let written: Vec<_> = both.into_iter().flatten().collect();
        assert_eq!(written.len(), 1, "race {race}");
        drop(written);
    }
    assert_eq!(refused, 2000);
}

#[test]
fn what_was_being_moved_when_a_process_was_killed_is_moved_by_the_next() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let write = |name: &str, text: &str| {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), text).unwrap();
    };
    // Killed while the earlier result was being removed, then while the new one was being moved.
    for hidden in [".windlass-ready", ".windlass-moving"] {
        write("out/marker", "earlier");
        write(&format!("out/{hidden}/marker"), "new");
        write(&format!("out/{hidden}/table"), "new");
        drop(Folder::owned(&at("out"), &owned(), NONE).unwrap());
        assert_eq!(names(&at("out")), ["marker", "table"], "{hidden}");
        assert_eq!(fs::read_to_string(at("out/marker")).unwrap(), "new", "{hidden}");
        fs::remove_dir_all(at("out")).unwrap();
    }
}

#[test]
fn files_are_added_to_a_directory_that_others_use() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("thesis.tex"), "years of work").unwrap();
    fs::write(place.path().join("one"), "earlier").unwrap();
    let folder = Folder::shared(place.path()).unwrap();
    let beside = Folder::shared(place.path()).unwrap();
    for (name, text) in [("one", "1"), ("two", "2")] {
        folder.write(name, text).unwrap();
    }
    beside.write("three", "3").unwrap();
    assert_eq!(fs::read_to_string(place.path().join("one")).unwrap(), "earlier");
    folder.finish().unwrap();
    beside.finish().unwrap();
    assert_eq!(names(place.path()), ["one", "thesis.tex", "three", "two"]);
    assert_eq!(fs::read_to_string(place.path().join("one")).unwrap(), "1");
}

#[test]
fn a_directory_that_is_added_to_is_as_it_was_until_all_is_there() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join("out").join(name);
    fs::create_dir_all(at("table")).unwrap();
    for (name, text) in [("marker", ""), ("table/one", "1"), ("table/two", "2")] {
        fs::write(at(name), text).unwrap();
    }
    let add = || {
        let folder = Folder::owned(&place.path().join("out"), &owned(), NONE).unwrap();
        folder.keep_earlier().unwrap();
        fs::remove_file(folder.path().join("table/one")).unwrap();
        replace(&folder.path().join("table/two"), "new").unwrap();
        folder.write("table/three", "3").unwrap();
        folder
    };
    drop(add());
    assert_eq!(
        (names(&at("table")), fs::read_to_string(at("table/two")).unwrap()),
        (vec!["one".into(), "two".into()], "2".into())
    );
    add().finish().unwrap();
    assert_eq!(names(&at("table")), ["three", "two"]);
    assert_eq!(
        (fs::read_to_string(at("table/two")).unwrap().as_str(), names(place.path())),
        ("new", vec!["out".into()])
    );
}

#[test]
fn what_nobody_named_is_only_replaced_if_it_is_known() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("report.html");
    let is_ours = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text == "ours");
    assert!(refuse_foreign(&path, is_ours).is_ok());
    fs::write(&path, "ours").unwrap();
    assert!(refuse_foreign(&path, is_ours).is_ok());
    fs::write(&path, "mine").unwrap();
    assert!(matches!(refuse_foreign(&path, is_ours), Err(StoreError::Foreign { .. })));
}

#[test]
fn what_is_being_written_is_found_by_where_it_will_be() {
    let place = tempfile::tempdir().unwrap();
    let (new, shared) = (place.path().join("new"), place.path().join("shared"));
    fs::create_dir_all(shared.join("deep")).unwrap();
    fs::create_dir(place.path().join(LEFT)).unwrap();
    let folder = Folder::owned(&new, &owned(), NONE).unwrap();
    let added = Folder::shared(&shared.join("deep")).unwrap();
    let of = |path: &Path| {
        let whole = |(dir, becomes): (PathBuf, PathBuf)| (fs::canonicalize(dir).unwrap(), becomes);
        let mut found: Vec<_> = in_progress(path).into_iter().map(whole).collect();
        found.sort_by(|one, other| one.1.cmp(&other.1));
        found
    };
    let path = |folder: &Folder| fs::canonicalize(folder.path()).unwrap();
    assert_eq!(of(&new), [(path(&folder), new.clone())]);
    let all = [(path(&folder), new.clone()), (path(&added), shared.join("deep"))];
    assert_eq!(of(place.path()), all);
    folder.finish().unwrap();
    drop(added);
    assert_eq!(of(place.path()), []);
}
