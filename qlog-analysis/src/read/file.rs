//! Files: which of a directory are traces, and opening what a path names without waiting.

use std::collections::HashSet;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Input;

/// Files of traces, each once, in the order in which they were found.
///
/// A file or directory that several paths lead to (links, a loop of links) counts at the first.
#[derive(Default, Debug)]
pub struct Search {
    files: Vec<PathBuf>,
    skipped: Vec<(PathBuf, String)>,
    met: HashSet<Identity>,
}

impl Search {
    /// Adds a file, or the traces in a directory and those below it, but for hidden directories, in order of their
    /// names. Returns whether there is any, be it added before.
    ///
    /// # Errors
    /// If `path` is not there, cannot be read, or is neither file nor directory. What cannot be read
    /// below a directory is left out ([`Search::skipped`]).
    pub fn add(&mut self, path: &Path) -> io::Result<bool> {
        if is_stream(path) {
            self.files.push(path.to_owned());
            return Ok(true);
        }
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            let before = self.met.contains(&Identity::of(path, &metadata)?);
            return Ok(before || self.directory(path, &metadata)?);
        }
        regular(metadata.file_type())?;
        self.file(path, &metadata)?;
        Ok(true)
    }

    /// The traces, in the order in which they were found.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What has the name of a trace and was left out, and why.
    #[must_use]
    pub fn skipped(&self) -> &[(PathBuf, String)] {
        &self.skipped
    }

    fn file(&mut self, path: &Path, metadata: &Metadata) -> io::Result<()> {
        if self.met.insert(Identity::of(path, metadata)?) {
            self.files.push(path.to_owned());
        }
        Ok(())
    }

    /// Whether any trace is below, unless everything was met before.
    fn directory(&mut self, path: &Path, metadata: &Metadata) -> io::Result<bool> {
        if !self.met.insert(Identity::of(path, metadata)?) {
            return Ok(false);
        }
        let mut entries =
            fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        let mut any = false;
        for entry in entries {
            match self.entry(&entry) {
                Ok(trace) => any |= trace,
                Err(error) => self.skipped.push((entry, error.to_string())),
            }
        }
        Ok(any)
    }

    fn entry(&mut self, path: &Path) -> io::Result<bool> {
        let metadata = match fs::metadata(path) {
            Err(_) if !is_trace(path) => return Ok(false),
            metadata => metadata?,
        };
        if metadata.is_dir() {
            // What a hidden directory holds is not meant to be seen; a command may still be writing it.
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            return if hidden { Ok(false) } else { self.directory(path, &metadata) };
        }
        if !is_trace(path) {
            return Ok(false);
        }
        regular(metadata.file_type())?;
        self.file(path, &metadata)?;
        Ok(true)
    }
}

/// Equal for two paths to one file.
#[derive(PartialEq, Eq, Hash, Debug)]
enum Identity {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
}

impl Identity {
    #[cfg(unix)]
    #[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn of(_: &Path, metadata: &Metadata) -> io::Result<Identity> {
        use std::os::unix::fs::MetadataExt;
        Ok(Identity::Inode(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn of(path: &Path, _: &Metadata) -> io::Result<Identity> {
        path.canonicalize().map(Identity::Path)
    }
}

/// Whether a file found in a directory is a trace, by its name.
fn is_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    [".sqlog", ".qlog", ".qlog.js", ".netlog", ".netlog.json"].iter().any(|suffix| name.ends_with(suffix))
}

/// Whether `path` is a stream that this process was given open, which may be a pipe: the
/// standard input, or what a shell puts for `<(command)`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    let given = ["/dev/fd", "/proc/self/fd", "/dev/stdin"];
    path == Path::new("-") || given.iter().any(|given| path.starts_with(given))
}

/// Refuses what is no regular file: reading it may never end.
fn regular(kind: FileType) -> io::Result<()> {
    #[cfg(unix)]
    let what = {
        use std::os::unix::fs::FileTypeExt;
        match kind {
            kind if kind.is_fifo() => "a FIFO",
            kind if kind.is_socket() => "a socket",
            kind if kind.is_block_device() || kind.is_char_device() => "a device",
            _ => "no regular file",
        }
    };
    #[cfg(not(unix))]
    let what = "no regular file";
    if kind.is_file() {
        return Ok(());
    }
    let message = format!("it is {what}, which may never end; to read it all the same, give it as standard input to -");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Opens a file as it is, or the standard input if it is called `-`. Never waits for somebody
/// to write to a FIFO.
///
/// # Errors
/// If it cannot be opened, or is neither regular file nor [stream](is_stream).
pub fn open_raw(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    if is_stream(path) {
        return Ok(Box::new(File::open(path)?));
    }
    regular(fs::metadata(path)?.file_type())?;
    let mut options = File::options();
    options.read(true);
    // Something else may have taken its place by now.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    {
        const O_NONBLOCK: i32 = 0o4000;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, O_NONBLOCK);
    }
    let file = options.open(path)?;
    regular(file.metadata()?.file_type())?;
    Ok(Box::new(file))
}

/// Opens a file, or the standard input if it is called `-`, decompressed within the default
/// [`Limits`](super::Limits).
///
/// # Errors
/// As [`open_raw`], and if it cannot be read.
pub fn open(path: &Path) -> io::Result<Input<Box<dyn Read + Send>>> {
    Input::new(open_raw(path)?)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    /// A directory that goes when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("windlass-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).unwrap();
            Folder(path)
        }

        fn file(&self, name: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, "{}").unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// What `work` gives; a failure where it waits for ever.
    fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(60)).expect("it hangs")
    }

    #[test]
    fn a_fifo_a_socket_and_a_device_are_skipped_and_refused_where_named() {
        let folder = Folder::new("special");
        let trace = folder.file("trace.sqlog");
        let fifo = folder.0.join("fifo.qlog");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let socket = folder.0.join("socket.qlog");
        let _listener = UnixListener::bind(&socket).unwrap();
        let device = folder.0.join("zero.qlog");
        symlink("/dev/zero", &device).unwrap();
        let broken = folder.0.join("broken.qlog");
        symlink("nowhere", &broken).unwrap();

        let root = folder.0.clone();
        let search = soon(move || {
            let mut search = Search::default();
            assert!(search.add(&root).unwrap());
            search
        });
        assert_eq!(search.files(), [trace]);
        let skipped: Vec<&PathBuf> = search.skipped().iter().map(|(path, _)| path).collect();
        assert_eq!(skipped, [&broken, &fifo, &socket, &device]);
        assert!(search.skipped()[1].1.starts_with("it is a FIFO"), "{:?}", search.skipped());

        for (path, what) in [(fifo, "a FIFO"), (socket, "a socket"), (device, "a device")] {
            let (searched, opened) =
                soon(move || (Search::default().add(&path).unwrap_err(), open_raw(&path).err().unwrap()));
            for error in [searched, opened] {
                assert!(error.to_string().contains(what), "{error}");
            }
        }
        assert!(Search::default().add(&broken).is_err());
    }

    #[test]
    fn a_file_that_many_paths_lead_to_counts_once() {
        let folder = Folder::new("loops");
        let trace = folder.file("a.sqlog");
        let inner = folder.0.join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("b.qlog"), "{}").unwrap();
        symlink("..", inner.join("loop")).unwrap();
        symlink(&inner, folder.0.join("other")).unwrap();
        symlink(&trace, folder.0.join("c.sqlog")).unwrap();
        fs::hard_link(&trace, inner.join("d.sqlog")).unwrap();
        symlink("e.sqlog", folder.0.join("e.sqlog")).unwrap();
        let mut search = Search::default();
        for path in [&folder.0, &trace, &folder.0] {
            assert!(search.add(path).unwrap());
        }
        assert_eq!(search.files(), [trace, inner.join("b.qlog")]);
        assert_eq!(search.skipped().len(), 1, "the link to itself: {:?}", search.skipped());
    }

    #[test]
    fn a_pipe_that_is_open_already_is_read() {
        assert!(is_stream(Path::new("-")) && is_stream(Path::new("/dev/fd/63")) && is_stream(Path::new("/dev/stdin")));
        assert!(!is_stream(Path::new("/dev/fdx/63")) && !is_stream(Path::new("a/dev/fd")));
    }
}
