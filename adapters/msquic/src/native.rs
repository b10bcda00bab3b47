//! Registering with the MsQuic of this program.

use std::ffi::{CStr, CString, c_int};
use std::fmt;
use std::path::Path as File;

use windlass_controllers::ConfiguredController;
use windlass_msquic_sys as sys;

use crate::{Definition, define_as, plugin};

/// Why MsQuic did not take something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Refused {}

fn text(text: &str) -> Result<CString, Refused> {
    CString::new(text).map_err(|_| Refused(format!("{text:?} has a NUL in it; expected a text without")))
}

/// The result of one of MsQuic's functions.
fn taken(result: c_int) -> Result<(), Refused> {
    if result == 0 {
        return Ok(());
    }
    // SAFETY: the text is this thread's, and stays until its next call.
    let error = unsafe { CStr::from_ptr(sys::windlass_msquic_error()) };
    Err(Refused(error.to_string_lossy().into_owned()))
}

/// Makes the catalogue known to the MsQuic of this program, so that the environment's names
/// need no shared library. Every function here that takes a name does it first.
///
/// # Errors
/// There are too many plugins.
pub fn plug() -> Result<(), Refused> {
    // SAFETY: the table lives for ever.
    taken(unsafe { sys::windlass_msquic_plug(plugin()) })
}

/// Makes a controller of the catalogue available, and returns its id for
/// `QUIC_SETTINGS.CongestionControlAlgorithm`, which depends on `controller` alone.
///
/// # Errors
/// The controller cannot be read, needs what MsQuic never reports, or has the id of another.
pub fn register(controller: &str) -> Result<u16, Refused> {
    plug()?;
    let (controller, mut id) = (text(controller)?, 0);
    // SAFETY: both outlive the call.
    taken(unsafe { sys::windlass_msquic_register(controller.as_ptr(), &raw mut id) })?;
    Ok(id)
}

/// Makes `definition` available as `name`, and returns its id. A name keeps its first
/// definition.
///
/// # Errors
/// The name has the id of another.
pub fn register_as<E: ConfiguredController>(name: &str, definition: Definition<E>) -> Result<u16, Refused> {
    define_as(name, definition);
    register(name)
}

/// Sets the controller of connections that ask for none; `None` leaves them to MsQuic.
///
/// # Errors
/// As of [`register`].
pub fn set_default(controller: Option<&str>) -> Result<(), Refused> {
    plug()?;
    let controller = controller.map(text).transpose()?;
    let pointer = controller.as_ref().map_or(std::ptr::null(), |controller| controller.as_ptr());
    // SAFETY: it is null, or a text that outlives the call.
    taken(unsafe { sys::windlass_msquic_set_default(pointer) })
}

/// Lets a settings file decide for connections that ask for no controller.
///
/// # Errors
/// The file cannot be read, or has a mistake.
pub fn configure(file: impl AsRef<File>) -> Result<(), Refused> {
    plug()?;
    let file = text(&file.as_ref().to_string_lossy())?;
    // SAFETY: it outlives the call.
    taken(unsafe { sys::windlass_msquic_configure(file.as_ptr()) })
}

/// Loads a plugin from a shared library; its names are known from then on.
///
/// # Errors
/// It cannot be loaded, or is made for another version of the interface.
pub fn load(library: impl AsRef<File>) -> Result<(), Refused> {
    let library = text(&library.as_ref().to_string_lossy())?;
    // SAFETY: it outlives the call.
    taken(unsafe { sys::windlass_msquic_load(library.as_ptr()) })
}
