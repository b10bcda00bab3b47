//! Registers controllers with the MsQuic of this program.

use std::ffi::{CStr, CString, c_int};
use std::fmt;
use std::io;
use std::path::{self, PathBuf};

use windlass_adapter::LogWriter;
use windlass_controllers::ConfiguredController;
use windlass_msquic_sys as sys;

use crate::packets::{self, ConnectionInfo, Destination};
use crate::{Definition, define_as, plugin};

/// An error of MsQuic's registration functions, as `windlass_msquic_error` describes it.
#[derive(Clone, PartialEq, Eq)]
pub struct RegisterError(String);

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for RegisterError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RegisterError {}

fn text(text: &str) -> Result<CString, RegisterError> {
    CString::new(text).map_err(|_| RegisterError(format!("{text:?} contains NUL; expected a text without")))
}

/// The result of one of MsQuic's registration functions.
fn check(result: c_int) -> Result<(), RegisterError> {
    if result == 0 {
        return Ok(());
    }
    // SAFETY: the text is this thread's, and stays until its next call.
    let error = unsafe { CStr::from_ptr(sys::windlass_msquic_error()) };
    Err(RegisterError(error.to_string_lossy().into_owned()))
}

/// Adds the catalogue as a plugin to the MsQuic of this program, so that controllers named in the
/// environment need no shared library. Functions that take a name call it first.
///
/// # Errors
/// There are too many plugins.
pub fn add_catalogue() -> Result<(), RegisterError> {
    // SAFETY: the table is static.
    check(unsafe { sys::windlass_msquic_add_plugin(plugin()) })
}

/// Registers a controller of the catalogue and returns its id for
/// `QUIC_SETTINGS.CongestionControlAlgorithm`. The id depends on `controller` alone.
///
/// # Errors
/// The text is no controller of the catalogue, the controller needs a signal MsQuic never reports,
/// or another text has the same id.
pub fn register(controller: &str) -> Result<u16, RegisterError> {
    add_catalogue()?;
    let (controller, mut id) = (text(controller)?, 0);
    // SAFETY: both outlive the call.
    check(unsafe { sys::windlass_msquic_register(controller.as_ptr(), &raw mut id) })?;
    Ok(id)
}

/// Registers `definition` as `name` and returns its id. A name keeps its first definition.
///
/// # Errors
/// Another name has the same id.
pub fn register_as<E: ConfiguredController>(name: &str, definition: Definition<E>) -> Result<u16, RegisterError> {
    define_as(name, definition);
    register(name)
}

/// Sets the controller of connections that select none; `None` restores MsQuic's own default.
///
/// # Errors
/// Those of [`register`].
pub fn set_default(controller: Option<&str>) -> Result<(), RegisterError> {
    add_catalogue()?;
    let controller = controller.map(text).transpose()?;
    let pointer = controller.as_ref().map_or(std::ptr::null(), |controller| controller.as_ptr());
    // SAFETY: it is null, or a text that outlives the call.
    check(unsafe { sys::windlass_msquic_set_default(pointer) })
}

/// Has a settings file select the controller of connections that select none.
///
/// # Errors
/// The file cannot be read or has a mistake.
pub fn configure(file: impl AsRef<path::Path>) -> Result<(), RegisterError> {
    add_catalogue()?;
    let file = text(&file.as_ref().to_string_lossy())?;
    // SAFETY: it outlives the call.
    check(unsafe { sys::windlass_msquic_configure(file.as_ptr()) })
}

/// Loads a plugin from a shared library. Its controllers can be registered afterwards.
///
/// # Errors
/// The library cannot be loaded, or is made for another version of the interface.
pub fn load(library: impl AsRef<path::Path>) -> Result<(), RegisterError> {
    let library = text(&library.as_ref().to_string_lossy())?;
    // SAFETY: it outlives the call.
    check(unsafe { sys::windlass_msquic_load(library.as_ptr()) })
}

/// Logs the packets of every new connection to the destination that `source` returns for it,
/// unless an earlier source has one. MsQuic's own threads write to it, so that it should not block;
/// [`log_to_directory`] is for files.
///
/// # Errors
/// There are too many plugins.
pub fn log_with(
    source: impl Fn(&ConnectionInfo<'_>) -> Option<Destination> + Send + Sync + 'static,
) -> Result<(), RegisterError> {
    packets::add_source(source);
    add_catalogue()
}

/// Logs every new connection to a file of its own in `directory`, which is created if it does not
/// exist. A thread writes the files. Records that the disk is too slow for are dropped and counted,
/// in the file and by [`LogWriter::report`].
///
/// # Errors
/// The directory or the thread cannot be created, or there are too many plugins.
pub fn log_to_directory(directory: impl Into<PathBuf>) -> io::Result<LogWriter> {
    let writer = packets::open_directory(directory.into())?;
    add_catalogue().map_err(io::Error::other)?;
    Ok(writer)
}
