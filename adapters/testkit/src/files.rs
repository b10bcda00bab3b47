//! What the file servers and clients of all adapters' examples share: which file a request
//! means, keys, a protocol of one line, and options.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The longest request, bytes.
pub const LONGEST: usize = 4096;
/// First byte of an answer: the file follows.
pub const FOUND: u8 = b'+';
/// First byte of an answer: the reason there is no file follows.
pub const REFUSED: u8 = b'-';
/// The name certificates are made for.
pub const NAME: &str = "localhost";

/// Ends a program: says what went wrong, if anything did.
pub fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    result.map_or_else(
        |error| {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Prints the number of groups whenever it changes.
pub fn report_groups(count: impl Fn() -> usize + Send + 'static) {
    std::thread::spawn(move || {
        let mut last = None;
        loop {
            let now = count();
            if last.replace(now) != Some(now) {
                println!("{now} groups");
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    });
}

/// Opens the file `request` names inside the directory `root`, and no other: nothing above
/// it, nothing a symlink inside leads out to, no directory.
///
/// # Errors
/// The reason, as a text for the client.
pub fn open(root: &Path, request: &[u8]) -> Result<File, String> {
    let request = std::str::from_utf8(request).map_err(|_| "the path is not UTF-8".to_owned())?;
    let path = Path::new(request);
    if request.is_empty()
        || request.contains('\0')
        || path.components().any(|part| !matches!(part, Component::Normal(_)))
    {
        return Err(format!("{request:?} is no path of names inside the directory"));
    }
    let missing = |_: io::Error| format!("there is no file {request:?}");
    let root = root.canonicalize().map_err(missing)?;
    let path = root.join(path).canonicalize().map_err(missing)?;
    if !path.starts_with(&root) {
        // As if it were not there: which files exist outside is not disclosed.
        return Err(format!("there is no file {request:?}"));
    }
    // Asked before it is opened: opening a pipe would wait for its writer.
    if !path.metadata().map_err(missing)?.is_file() {
        return Err(format!("{request:?} is not a file"));
    }
    File::open(path).map_err(|error| format!("{request:?} cannot be read: {}", error.kind()))
}

/// A certificate and its key, DER.
pub struct Identity {
    /// The certificate, signed by itself.
    pub certificate: Vec<u8>,
    /// Private key, PKCS #8 in DER.
    pub key: Vec<u8>,
}

/// The identity kept in `directory` as `certificate.der` and `key.der`, made there if there
/// is no key. Only the user can read the key.
///
/// # Errors
/// It can neither be read nor made, or others can read the key.
pub fn identity(directory: &Path) -> Result<Identity, Box<dyn Error>> {
    let [certificate, key] = ["certificate.der", "key.der"].map(|name| directory.join(name));
    let error_at = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if !key.try_exists().map_err(|error| error_at(&key, error))? {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        fs::create_dir_all(directory).map_err(|error| error_at(directory, error))?;
        fs::write(&certificate, made.cert.der()).map_err(|error| error_at(&certificate, error))?;
        private(&key)
            .and_then(|mut file| file.write_all(&made.signing_key.serialize_der()))
            .map_err(|error| error_at(&key, error))?;
    }
    is_private(&key)?;
    let read = |path: &PathBuf| fs::read(path).map_err(|error| error_at(path, error));
    Ok(Identity { certificate: read(&certificate)?, key: read(&key)? })
}

/// A new file, on Unix for its owner's eyes only.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn is_private(path: &Path) -> Result<(), Box<dyn Error>> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata()?.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("{} has mode {mode:o}; others can read it, expected 600", path.display()).into());
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// What was typed: options with a value each, and the rest.
pub struct Arguments {
    options: Vec<(String, String)>,
    /// Arguments without a flag, in order.
    pub rest: Vec<String>,
}

impl Arguments {
    /// Reads a command line of the options `known` and `rest` arguments. At `--help` it prints `usage` and ends the program.
    ///
    /// # Errors
    /// It is not of that form; the text is `usage`.
    pub fn read(known: &[&str], rest: usize, usage: &str) -> Result<Arguments, String> {
        let mut args = std::env::args().skip(1);
        let mut typed = Arguments { options: Vec::new(), rest: Vec::new() };
        while let Some(arg) = args.next() {
            match known.iter().find(|name| arg == **name) {
                Some(_) => typed.options.push((arg, args.next().ok_or_else(|| format!("usage: {usage}"))?)),
                None if arg == "--help" || arg == "-h" => {
                    println!("usage: {usage}");
                    std::process::exit(0);
                }
                None if arg.starts_with("--") => return Err(format!("no option {arg}; usage: {usage}")),
                None => typed.rest.push(arg),
            }
        }
        if typed.rest.len() == rest { Ok(typed) } else { Err(format!("usage: {usage}")) }
    }

    /// Whether `--report groups` was typed.
    ///
    /// # Errors
    /// Another report was.
    pub fn reports_groups(&self) -> Result<bool, String> {
        match self.option("--report", "") {
            "" => Ok(false),
            "groups" => Ok(true),
            other => Err(format!("--report {other:?}: expected groups")),
        }
    }

    /// The directory an option names, which is made if it is not there; `None` without the option.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn directory(&self, name: &str) -> Result<Option<PathBuf>, String> {
        let Some((_, directory)) = self.options.iter().rev().find(|(given, _)| given == name) else { return Ok(None) };
        fs::create_dir_all(directory).map_err(|error| format!("{name} {directory}: {error}"))?;
        Ok(Some(directory.into()))
    }

    /// The value of an option, or `default`.
    pub fn option<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.options.iter().rev().find(|(given, _)| given == name).map_or(default, |(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_directory_that_is_named_is_there_or_the_error_names_it() {
        let place = tempfile::tempdir().unwrap();
        let typed = |directory: &Path| {
            let options = vec![("--qlog".to_owned(), directory.display().to_string())];
            Arguments { options, rest: Vec::new() }.directory("--qlog")
        };
        let missing = place.path().join("logs/of/today");
        assert_eq!(typed(&missing), Ok(Some(missing.clone())));
        assert!(missing.is_dir());
        fs::write(missing.join("file"), "").unwrap();
        let error = typed(&missing.join("file")).unwrap_err();
        assert!(error.starts_with("--qlog /") && error.contains("logs/of/today/file: "), "{error}");
        assert_eq!(Arguments { options: Vec::new(), rest: Vec::new() }.directory("--qlog"), Ok(None));
    }

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
}
