//! Captures of packets, pcap and pcapng, read with tshark.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use windlass_qlog_analysis::capture::{self, Capture, CaptureError, LAYERS};
use windlass_qlog_analysis::escape;

use crate::cli::CliError;
use crate::cli::error::unreadable;
use crate::cli::error::{shown, warn};

/// Bytes of what tshark says on standard error that are looked at.
const SAID: u64 = 1 << 16;

/// What `--keys` names.
static KEYS: OnceLock<PathBuf> = OnceLock::new();

/// Captures are decrypted with the keys in `path` from now on.
pub(super) fn set_keys(path: &Path) -> Result<(), CliError> {
    // tshark passes over a key log that it cannot read.
    File::open(path).map_err(|error| CliError::Usage(format!("cannot read --keys {}: {error}", shown(path))))?;
    KEYS.get_or_init(|| path.to_owned());
    Ok(())
}

/// Whether a file begins as a capture does.
pub(super) fn is_capture(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = path.is_file().then(|| File::open(path).and_then(|mut file| file.read_exact(&mut magic)));
    matches!(read, Some(Ok(()))) && capture::is_capture(&magic)
}

/// The capture `path` as qlog.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, CliError> {
    let mut spool = tempfile::tempfile().map_err(|error| unreadable(path, &error))?;
    let found = decode(path, &mut spool)?;
    if found.packets == 0 {
        let text = format!("no QUIC among its {} datagrams", found.other);
        return Err(unreadable(path, &text));
    }
    if found.encrypted > 0 {
        let keys = if KEYS.get().is_some() { "--keys has none for them" } else { "--keys FILE names a key log" };
        warn(&format!(
            "{}: {} of {} packets are not decrypted, so that their numbers and frames are not known; {keys}",
            shown(path),
            found.encrypted,
            found.packets
        ));
    }
    spool.rewind().map_err(|error| unreadable(path, &error))?;
    let title = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Box::new(found.qlog(&title, BufReader::new(spool))))
}

/// Has tshark decode `path`, and writes its packets to `spool`.
fn decode(path: &Path, spool: &mut File) -> Result<Capture, CliError> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "json", "-J", LAYERS]);
    if let Some(keys) = KEYS.get() {
        let mut option = std::ffi::OsString::from("tls.keylog_file:");
        option.push(keys);
        command.arg("-o").arg(option);
    }
    command.arg("-r").arg(path).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tshark = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => unreadable(
            path,
            &"it is a capture, which tshark decodes, and there is no tshark; install it (Debian: tshark)",
        ),
        _ => unreadable(path, &format!("tshark does not start: {error}")),
    })?;
    let (stdout, stderr) = (tshark.stdout.take(), tshark.stderr.take());
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.by_ref().take(SAID).read_to_end(&mut said);
            let _ = io::copy(&mut stderr, &mut io::sink());
        }
        said
    });
    let mut out = BufWriter::new(spool);
    let found = match stdout {
        Some(stdout) => capture::events(BufReader::with_capacity(1 << 16, stdout), &mut out),
        None => Err(CaptureError::Io(io::Error::other("tshark has no output"))),
    };
    if found.is_err() {
        // It may still have much to say.
        let _ = tshark.kill();
    }
    let status = tshark.wait().map_err(|error| unreadable(path, &error))?;
    let said = said.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = said.lines().find(|line| line.contains("tshark:")).unwrap_or_default();
    let found = found.map_err(|error| unreadable(path, &error))?;
    io::Write::flush(&mut out).map_err(|error| unreadable(path, &error))?;
    match (status.success(), found.packets) {
        (true, _) => {}
        (false, 0) => return Err(unreadable(path, &format!("{status}: {said}"))),
        // Cut while it was written, for example: what came before is there.
        (false, _) => warn(&format!("{}: {}", shown(path), escape::line(said))),
    }
    Ok(found)
}
