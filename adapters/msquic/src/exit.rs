//! What is done when the process ends.

use std::ffi::c_int;
use std::panic::catch_unwind;
use std::sync::OnceLock;

static LAST: OnceLock<fn()> = OnceLock::new();

// SAFETY: the function of the C library, with the type it has there.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// Has `last` called when the process ends. There is one such function, the first given.
pub(crate) fn call_at_exit(last: fn()) {
    extern "C" fn call() {
        // A panic has nobody left to hear of it, and must not reach C.
        let _ = catch_unwind(|| LAST.get().map(|last| last()));
    }
    if LAST.set(last).is_ok() {
        // SAFETY: the function lives as long as this library, which is never closed.
        unsafe { atexit(call) };
    }
}
