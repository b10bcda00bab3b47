//! What the file servers and clients of all adapters' examples share: which file a request
//! means, keys, a protocol of one line, and options.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// The longest request, bytes.
pub const LONGEST: usize = 4096;
/// First byte of an answer: the file follows.
pub const FOUND: u8 = b'+';
/// First byte of an answer: the reason there is no file follows.
pub const REFUSED: u8 = b'-';
/// The name certificates are made for.
pub const NAME: &str = "localhost";

/// Ends a program: says what went wrong, if anything did.
pub fn tell(result: Result<(), Box<dyn Error>>) -> ExitCode {
    result.map_or_else(
        |error| {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Opens the file `request` names inside the directory `root`, and no other: nothing above
/// it, nothing a symlink inside leads out to, no directory.
///
/// # Errors
/// Why not, fit for the one who asked.
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
        // As if it were not there: what is outside is nobody's business.
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
    /// The key, PKCS #8.
    pub key: Vec<u8>,
}

/// The identity kept in `directory` as `certificate.der` and `key.der`, made there if there
/// is no key. Nobody but the user can read the key.
///
/// # Errors
/// It can neither be read nor made, or others can read the key.
pub fn identity(directory: &Path) -> Result<Identity, Box<dyn Error>> {
    let [certificate, key] = ["certificate.der", "key.der"].map(|name| directory.join(name));
    let told = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if !key.try_exists().map_err(|error| told(&key, error))? {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        fs::create_dir_all(directory).map_err(|error| told(directory, error))?;
        fs::write(&certificate, made.cert.der()).map_err(|error| told(&certificate, error))?;
        private(&key)
            .and_then(|mut file| file.write_all(&made.signing_key.serialize_der()))
            .map_err(|error| told(&key, error))?;
    }
    is_private(&key)?;
    let read = |path: &PathBuf| fs::read(path).map_err(|error| told(path, error));
    Ok(Identity { certificate: read(&certificate)?, key: read(&key)? })
}

/// A new file for its owner's eyes only.
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
    Ok(())
}

/// What was typed: options with a value each, and the rest.
pub struct Typed {
    options: Vec<(String, String)>,
    /// Everything else, in order.
    pub rest: Vec<String>,
}

impl Typed {
    /// Reads a command line of the options `known` and `rest` arguments.
    ///
    /// # Errors
    /// It is not of that form; the text is `usage`.
    pub fn read(known: &[&str], rest: usize, usage: &str) -> Result<Typed, String> {
        let mut args = std::env::args().skip(1);
        let mut typed = Typed { options: Vec::new(), rest: Vec::new() };
        while let Some(arg) = args.next() {
            match known.iter().find(|name| arg == **name) {
                Some(_) => typed.options.push((arg, args.next().ok_or_else(|| format!("usage: {usage}"))?)),
                None if arg.starts_with("--") => return Err(format!("no option {arg}; usage: {usage}")),
                None => typed.rest.push(arg),
            }
        }
        if typed.rest.len() == rest { Ok(typed) } else { Err(format!("usage: {usage}")) }
    }

    /// The value of an option, or `default`.
    pub fn option<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.options.iter().rev().find(|(given, _)| given == name).map_or(default, |(_, value)| value)
    }
}
