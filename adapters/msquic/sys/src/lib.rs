//! MsQuic 2.5.1, built from its released source with a congestion control in its core that calls
//! plugins, and the functions it exports for them. No file of MsQuic is changed.
//!
//! `windlass_msquic.h` of `windlass-abi` is the interface. MsQuic itself is used through the
//! crate [`msquic`], which links the library built here.
//!
//! The functions return 0, or −1 after an error, whose text is [`windlass_msquic_error`].

use std::ffi::{c_char, c_int, c_void};

pub use msquic;
use windlass_abi::msquic::Plugin;

// SAFETY: these are the functions `windlass_msquic.h` and `msquic.h` declare, with the types they give them.
unsafe extern "C" {
    /// Adds a plugin. Its table has to be valid until the process ends.
    pub fn windlass_msquic_add_plugin(plugin: *const Plugin) -> c_int;
    /// Loads a plugin from the shared library at `path`.
    pub fn windlass_msquic_load(path: *const c_char) -> c_int;
    /// Registers a controller and writes its id for `QUIC_SETTINGS.CongestionControlAlgorithm` to `id`.
    pub fn windlass_msquic_register(controller: *const c_char, id: *mut u16) -> c_int;
    /// Sets the controller of connections that select none; null: MsQuic's own default.
    pub fn windlass_msquic_set_default(controller: *const c_char) -> c_int;
    /// Has the settings file at `path` select the controller of connections that select none.
    pub fn windlass_msquic_configure(path: *const c_char) -> c_int;
    /// Opens MsQuic once more; it ends after as many calls of `MsQuicClose`. The crate `msquic`
    /// closes its own reference when the process ends, and aborts if a handle is still open.
    pub fn MsQuicOpenVersion(version: u32, api: *mut *const c_void) -> u32;
    /// The error of this thread's last failed call.
    pub fn windlass_msquic_error() -> *const c_char;
}
