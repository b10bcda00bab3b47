//! Connections and streams of MsQuic whose events go to closures, for what measures it.
//!
//! The crate `msquic` has such things too, but its connections end the process at an event it
//! does not know, and statistics and negotiated one-way delays are such events. Whoever holds
//! a [`Connection`] or a [`Stream`] closes it by dropping it, which waits for its closure to
//! return: never drop one in a closure of its own.

mod connection;
mod server;
mod settings;
mod stream;

use std::ffi::c_void;
use std::fmt;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

use windlass_msquic_sys::msquic::{Api, BufferRef, Configuration, Registration, RegistrationConfig, ffi};

pub use connection::{Connection, ConnectionEvent, Opened, Statistics};
pub use server::{Incoming, Listener, Server};
pub use settings::Settings;
pub use stream::{Stream, StreamEvent};
pub use windlass_msquic_sys::msquic::ffi::QUIC_STATISTICS_V2;

/// What MsQuic did not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    what: &'static str,
    status: u32,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MsQuic: {}: status {:#x}", self.what, self.status)
    }
}

impl std::error::Error for Failed {}

/// A status as a result; pending is none to fail of.
fn check(what: &'static str, status: u32) -> Result<(), Failed> {
    if status as i32 > 0 { Err(Failed { what, status }) } else { Ok(()) }
}

/// A handle of MsQuic's, whose functions may be called from any thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Handle(ffi::HQUIC);

// SAFETY: MsQuic's functions take a handle from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// One function of MsQuic's table, which has all of them.
macro_rules! api {
    ($name:ident) => {
        windlass_msquic_sys::msquic::Api::get_ffi().$name.expect(concat!("MsQuic has ", stringify!($name)))
    };
}
use api;

/// MsQuic for one application: its connections share threads.
pub struct Library {
    registration: Registration,
}

/// Has servers accept connections however late their threads are: MsQuic refuses them when what
/// it has to do waits for a quarter of a second, as it does on a busy machine.
fn patient() -> Result<(), Failed> {
    // SAFETY: the structure is one of numbers, of which zeros say that nothing is set.
    let mut settings: ffi::QUIC_SETTINGS = unsafe { std::mem::zeroed() };
    settings.MaxWorkerQueueDelayUs = 60_000_000;
    // SAFETY: the union's other member is the same bits as one number; the parameter takes
    // such a structure of that size, and no handle.
    unsafe {
        settings.__bindgen_anon_1.IsSet.set_MaxWorkerQueueDelayUs(1);
        let size = size_of_val(&settings) as u32;
        let settings = (&raw const settings).cast();
        // Before it, the library has to be open.
        Api::get_ffi();
        Api::set_param(std::ptr::null_mut(), ffi::QUIC_PARAM_GLOBAL_SETTINGS, size, settings)
    }
    .map_err(|status| Failed { what: "global settings", status: status.0 })
}

impl Library {
    /// Opens it as the application `name`, with threads made for few connections that are to
    /// be answered at once.
    ///
    /// # Errors
    /// MsQuic cannot start.
    pub fn open(name: &str) -> Result<Library, Failed> {
        static ONCE_MORE: Once = Once::new();
        /// Where leak checkers find what is never closed.
        #[used]
        static TABLE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        ONCE_MORE.call_once(|| {
            let mut table = std::ptr::null();
            // Never closed: connections may last as long as the process.
            // SAFETY: the pointer is written during the call.
            let _ = unsafe { windlass_msquic_sys::MsQuicOpenVersion(2, &raw mut table) };
            TABLE.store(table.cast_mut(), Ordering::Relaxed);
        });
        patient()?;
        let config = RegistrationConfig::new().set_app_name(name.to_owned());
        let registration = Registration::new(&config).map_err(|status| Failed { what: "open", status: status.0 })?;
        Ok(Library { registration })
    }

    fn configuration(&self, alpn: &str, settings: &Settings) -> Result<Configuration, Failed> {
        let failed = |what| move |status: windlass_msquic_sys::msquic::Status| Failed { what, status: status.0 };
        let configuration =
            Configuration::open(&self.registration, &[BufferRef::from(alpn)], None).map_err(failed("configuration"))?;
        let settings = settings.raw();
        // SAFETY: the parameter takes such a structure of that size.
        unsafe {
            let size = size_of_val(&settings) as u32;
            let settings = (&raw const settings).cast();
            Api::set_param(configuration.as_raw(), ffi::QUIC_PARAM_CONFIGURATION_SETTINGS, size, settings)
        }
        .map_err(failed("settings"))?;
        Ok(configuration)
    }
}
