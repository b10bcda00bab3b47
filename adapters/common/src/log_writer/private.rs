//! Files and directories that only their owner can read: a recording has peers' addresses and times.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a directory for its owner alone, and what is missing above it. One that is there keeps its permissions.
pub(super) fn directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    match create(path) {
        // Made meanwhile by another.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// A new file: on Unix for its owner alone, on Windows for whom its directory is for.
pub(super) fn file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path)
}

/// On Windows files inherit who may do what from their directory. Its own tool sets that: the library call wants unsafe code.
#[cfg(windows)]
fn create(path: &Path) -> io::Result<()> {
    /// Nothing from above; everything to the owner of the directory and of what is made in it (the SID "owner rights").
    const RIGHTS: [&str; 3] = ["/inheritance:r", "/grant:r", "*S-1-3-4:(OI)(CI)F"];
    fs::create_dir(path)?;
    let done = tool().and_then(|mut tool| tool.arg(path).args(RIGHTS).output());
    let said = match done {
        Ok(done) if done.status.success() => return Ok(()),
        Ok(done) => String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    // Left as it is, it would be taken for private the next time.
    fs::remove_dir(path)?;
    Err(io::Error::other(format!("icacls does not make {} its owner's alone: {said}", path.display())))
}

#[cfg(not(any(unix, windows)))]
fn create(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Windows' own icacls: not one of the same name in the working directory or on the path.
#[cfg(windows)]
fn tool() -> io::Result<std::process::Command> {
    let windows = std::env::var_os("SystemRoot").ok_or_else(|| io::Error::other("SystemRoot is not set"))?;
    Ok(std::process::Command::new(Path::new(&windows).join("System32").join("icacls.exe")))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crate::LogWriter;

    /// Records to `directory`, which may not be there.
    fn record(directory: &std::path::Path) {
        let writer = LogWriter::open(directory).unwrap();
        writer.file("f").write_all(b"\x1ex\n").unwrap();
        writer.wait();
    }

    #[cfg(unix)]
    #[test]
    fn recordings_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let (made, there) = (place.path().join("above/made"), place.path().join("there"));
        std::fs::create_dir(&there).unwrap();
        std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o755)).unwrap();
        for directory in [&made, &there] {
            record(directory);
        }
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&made), mode(&made.join("f"))), (0o700, 0o600));
        assert_eq!((mode(&there), mode(&there.join("f"))), (0o755, 0o600));
    }

    #[cfg(windows)]
    #[test]
    fn recordings_are_their_owners_alone() {
        let place = tempfile::tempdir().unwrap();
        let made = place.path().join("above/made");
        record(&made);
        let listed = super::tool().unwrap().arg(made.join("f")).output().unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout);
        // Rights are in brackets; Wine's icacls does and says nothing.
        let entries = listed.matches(":(").count();
        assert!(listed.trim().is_empty() || entries == 1 && listed.contains(":(I)(F)"), "{listed}");
    }
}
