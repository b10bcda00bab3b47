//! The process that MsQuic runs in: its environment, its user and its end.

#[cfg(unix)]
use std::ffi::c_char;
use std::ffi::{CStr, OsString, c_int};
use std::panic::catch_unwind;
use std::sync::OnceLock;

static EXIT_HANDLER: OnceLock<fn()> = OnceLock::new();

// SAFETY: functions of the C library, with the types they have there.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
    #[cfg(unix)]
    fn secure_getenv(name: *const c_char) -> *const c_char;
    #[cfg(unix)]
    safe fn geteuid() -> u32;
}

/// The variable of the environment; `None` in a program that has rights its user lacks, of which MsQuic's
/// side warns.
#[cfg(unix)]
pub(crate) fn environment(name: &CStr) -> Option<OsString> {
    // SAFETY: the name ends with NUL.
    let value = unsafe { secure_getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the C library returns a text that ends with NUL, and that stays until the environment is changed.
    Some(std::os::unix::ffi::OsStringExt::from_vec(unsafe { CStr::from_ptr(value) }.to_bytes().to_vec()))
}

/// The variable of the environment. No program has rights that its user lacks.
#[cfg(not(unix))]
pub(crate) fn environment(name: &CStr) -> Option<OsString> {
    std::env::var_os(name.to_str().ok()?)
}

/// The effective user of the process.
#[cfg(unix)]
pub(crate) fn effective_user() -> u32 {
    geteuid()
}

/// Calls `handler` when the process ends. Only the first handler given is called.
pub(crate) fn call_at_exit(handler: fn()) {
    extern "C" fn call() {
        // A panic must not unwind into C, and there is nowhere left to report it.
        let _ = catch_unwind(|| EXIT_HANDLER.get().map(|handler| handler()));
    }
    if EXIT_HANDLER.set(handler).is_ok() {
        // SAFETY: the function is valid as long as this library, which is never unloaded.
        unsafe { atexit(call) };
    }
}
