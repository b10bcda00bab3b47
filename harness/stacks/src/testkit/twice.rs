//! What two processes do alike, each with its own keys, addresses and hash seeds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the directory a child writes to.
const CHILD: &str = "WINDLASS_TEST_TWICE";

/// Has two processes run the test called `test` (with its modules), which calls this, as far as `write`, each with a
/// directory of its own. Each of `files` is the same in both, and has more than so many bytes.
pub fn twice<'a>(test: &str, write: impl FnOnce(&Path), files: impl IntoIterator<Item = (&'a str, usize)>) {
    if let Ok(directory) = std::env::var(CHILD) {
        return write(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    let [first, second]: [PathBuf; 2] = ["first", "second"].map(|name| {
        let path = directory.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let status =
            Command::new(std::env::current_exe().unwrap()).args(["--exact", test]).env(CHILD, &path).status().unwrap();
        assert!(status.success());
        path
    });
    for (file, least) in files {
        let [one, other] = [&first, &second].map(|run| std::fs::read(run.join(file)).unwrap());
        assert!(one.len() > least, "{file}: {} bytes", one.len());
        assert!(one == other, "{file} differs");
    }
}
