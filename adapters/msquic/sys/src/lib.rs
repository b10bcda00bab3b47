//! MsQuic 2.5.1, built from the released source with a congestion control that asks plugins
//! compiled into its core, and what it exports for that. No file of MsQuic is changed.
//!
//! The interface is `windlass_msquic.h` of `windlass-msquic-abi`. MsQuic itself is used
//! through the crate [`msquic`], which links the library built here.

use std::ffi::{c_char, c_int, c_void};

pub use msquic;
use windlass_msquic_abi::Plugin;

// SAFETY: these are the functions `windlass_msquic.h` and `msquic.h` declare, with the types it gives them.
unsafe extern "C" {
    /// Adds a plugin, whose table has to live for ever; 0 or −1.
    pub fn windlass_msquic_plug(plugin: *const Plugin) -> c_int;
    /// Loads a plugin from a shared library; 0 or −1.
    pub fn windlass_msquic_load(path: *const c_char) -> c_int;
    /// Makes a controller available as `*id`; 0 or −1.
    pub fn windlass_msquic_register(controller: *const c_char, id: *mut u16) -> c_int;
    /// The controller of connections that ask for none; null for MsQuic's own; 0 or −1.
    pub fn windlass_msquic_set_default(controller: *const c_char) -> c_int;
    /// The same with what a settings file says; 0 or −1.
    pub fn windlass_msquic_configure(path: *const c_char) -> c_int;
    /// Opens MsQuic once more: it ends when it is closed as often. The crate `msquic` closes
    /// its own when the process ends, and then aborts if anything is still open.
    pub fn MsQuicOpenVersion(version: u32, api: *mut *const c_void) -> u32;
    /// What was wrong with this thread's latest call.
    pub fn windlass_msquic_error() -> *const c_char;
}
