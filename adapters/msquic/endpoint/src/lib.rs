//! Connections and streams of MsQuic with callbacks, for tests and measurements.
//!
//! The crate `msquic` has them too, but its connections abort the process at events it does not know,
//! such as statistics and negotiated one-way delays. Dropping a [`Connection`] or a [`Stream`] closes
//! it and waits for its callback to return: never drop one in its own callback.

mod connection;
mod server;
mod settings;
mod stream;

use std::ffi::c_void;
use std::fmt;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use windlass_msquic_sys::msquic::{Api, BufferRef, Configuration, Registration, RegistrationConfig, ffi};

pub use connection::{Connection, ConnectionEvent, IncomingStream, Statistics};
pub use server::{IncomingConnection, Listener, Server, reserve_port};
pub use settings::Settings;
pub use stream::{Stream, StreamEvent};
pub use windlass_msquic_sys::msquic::ffi::QUIC_STATISTICS_V2;

/// A status with which a function of MsQuic failed.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    operation: &'static str,
    status: u32,
}

impl fmt::Debug for Error {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MsQuic: {}: status {:#x}", self.operation, self.status)
    }
}

impl std::error::Error for Error {}

/// A status as a result. Negative statuses, such as pending, are no errors.
fn check(operation: &'static str, status: u32) -> Result<(), Error> {
    if status as i32 > 0 { Err(Error { operation, status }) } else { Ok(()) }
}

/// `der` in PEM (`RFC 7468 §2`), of which MsQuic reads certificates and keys.
#[must_use]
pub fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A handle of MsQuic, usable from any thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Handle(ffi::HQUIC);

// SAFETY: MsQuic's functions take a handle from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// A function of MsQuic's table.
macro_rules! api {
    ($name:ident) => {
        windlass_msquic_sys::msquic::Api::get_ffi().$name.expect(concat!("MsQuic has ", stringify!($name)))
    };
}
use api;

/// MsQuic for one application, whose connections share threads.
pub struct Library {
    registration: Registration,
}

/// Raises the queue delay above which servers refuse connections from MsQuic's quarter of a second,
/// which a busy machine exceeds, to a minute.
fn raise_max_queue_delay() -> Result<(), Error> {
    // SAFETY: all fields are numbers; zeros mean that no setting is set.
    let mut settings: ffi::QUIC_SETTINGS = unsafe { std::mem::zeroed() };
    settings.MaxWorkerQueueDelayUs = 60_000_000;
    // SAFETY: the other member of the union is one number with the same bits; the parameter is a
    // structure of that type and size, and needs no handle.
    unsafe {
        settings.__bindgen_anon_1.IsSet.set_MaxWorkerQueueDelayUs(1);
        let size = size_of_val(&settings) as u32;
        let settings = (&raw const settings).cast();
        // Opens the library.
        Api::get_ffi();
        Api::set_param(std::ptr::null_mut(), ffi::QUIC_PARAM_GLOBAL_SETTINGS, size, settings)
    }
    .map_err(|status| Error { operation: "global settings", status: status.0 })
}

impl Library {
    /// Opens MsQuic as the application `name`, with the execution profile for low latency.
    ///
    /// # Errors
    /// MsQuic cannot start.
    pub fn open(name: &str) -> Result<Library, Error> {
        static ONCE_MORE: Once = Once::new();
        /// Keeps the open library reachable for leak checkers.
        #[used]
        static TABLE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        ONCE_MORE.call_once(|| {
            let mut table = std::ptr::null();
            // Never closed: connections may stay open until the process ends.
            // SAFETY: the pointer is written during the call.
            let _ = unsafe { windlass_msquic_sys::MsQuicOpenVersion(2, &raw mut table) };
            TABLE.store(table.cast_mut(), Ordering::Relaxed);
        });
        raise_max_queue_delay()?;
        let config = RegistrationConfig::new().set_app_name(name.to_owned());
        let registration =
            Registration::new(&config).map_err(|status| Error { operation: "open", status: status.0 })?;
        Ok(Library { registration })
    }

    fn configuration(&self, alpn: &str, settings: &Settings) -> Result<Configuration, Error> {
        let failed =
            |operation| move |status: windlass_msquic_sys::msquic::Status| Error { operation, status: status.0 };
        let configuration =
            Configuration::open(&self.registration, &[BufferRef::from(alpn)], None).map_err(failed("configuration"))?;
        let settings = settings.raw();
        // SAFETY: the parameter is a structure of that type and size.
        unsafe {
            let size = size_of_val(&settings) as u32;
            let settings = (&raw const settings).cast();
            Api::set_param(configuration.as_raw(), ffi::QUIC_PARAM_CONFIGURATION_SETTINGS, size, settings)
        }
        .map_err(failed("settings"))?;
        Ok(configuration)
    }
}
