//! One file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::staging::Staging;
use super::{StoreError, followed, refuse_inputs, unwritable};

/// A file being written. Dropped before [`OutputFile::finish`], what was there before is there still.
///
/// What is no regular file (a device, a FIFO) is written into as it is.
pub struct OutputFile {
    /// Path as the user gave it, for messages.
    path: PathBuf,
    target: PathBuf,
    /// `None` where it is written into directly.
    staging: Option<Staging>,
    file: File,
}

impl OutputFile {
    /// Opens `path` for writing, and so checks that it can be written. A FIFO waits for its reader.
    ///
    /// # Errors
    /// It cannot be written, is a directory, or is one of `inputs`, which the command reads.
    pub fn open<P: AsRef<Path>>(path: &Path, inputs: &[P]) -> Result<OutputFile, StoreError> {
        refuse_inputs(path, inputs)?;
        let kept = path.to_owned();
        let target = followed(path)?;
        let mut permissions = None;
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => {
                return Err(StoreError::Kind { path: kept, found: "a directory", expected: "a file" });
            }
            Ok(data) if !data.is_file() || is_descriptor(path) => {
                let file = OpenOptions::new().append(true).open(path).map_err(unwritable(path))?;
                return Ok(OutputFile { path: kept, target, staging: None, file });
            }
            // What is protected against writing is not replaced either.
            Ok(data) => {
                drop(OpenOptions::new().write(true).open(path).map_err(unwritable(path))?);
                permissions = Some(data.permissions());
            }
            Err(_) => {}
        }
        let (staging, file) = Staging::file(&target).map_err(unwritable(path))?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions).map_err(unwritable(path))?;
        }
        Ok(OutputFile { path: kept, target, staging: Some(staging), file })
    }

    /// Puts the file into its place.
    ///
    /// # Errors
    /// It cannot be moved there.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.file.flush().map_err(unwritable(&self.path))?;
        let Some(mut staging) = self.staging.take() else { return Ok(()) };
        staging.rename(&self.target).map_err(unwritable(&self.path))
    }

    /// Writes `text`, all there is, and puts the file into its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish_with(mut self, text: impl AsRef<[u8]>) -> Result<(), StoreError> {
        self.file.write_all(text.as_ref()).map_err(unwritable(&self.path))?;
        self.finish()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether a path is another name of what a process has open, such as `/dev/stdout`: then it has a reader already, and is
/// not to be replaced by another file.
fn is_descriptor(path: &Path) -> bool {
    let mut at = path.to_owned();
    loop {
        if ["/dev/fd", "/proc"].iter().any(|place| at.starts_with(place)) {
            return true;
        }
        match fs::read_link(&at) {
            Ok(to) if to != at => at = super::parent(&at).join(to),
            _ => return false,
        }
    }
}

/// Writes one file, which is whole or as it was.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, text: impl AsRef<[u8]>) -> Result<(), StoreError> {
    OutputFile::open::<&Path>(path, &[])?.finish_with(text)
}
