//! quiche's C library with windlass' controllers in it.
//!
//! A program linked with `libquiche.so.0` that finds this one instead, by `LD_LIBRARY_PATH`
//! for example, can give `quiche_config_set_cc_algorithm_name` the name of any controller of
//! the catalogue. `QUICHE_CC` and `QUICHE_CONFIG` give one to programs that name none. Nothing else changes: all of
//! quiche's C functions are quiche's own.

mod selection;

// Its C functions are this library's.
use quiche as _;

/// Runs when the library is loaded, before any of its functions can be called.
extern "C" fn register() {
    // A panic here would end a program that may not even want our names.
    let registered = std::panic::catch_unwind(|| {
        windlass_quiche::register_all();
        selection::install();
    });
    if registered.is_err() {
        log::error!("windlass' congestion controllers could not be registered");
    }
}

// SAFETY: the section holds pointers to functions of this type that the loader calls once,
// when the library is mapped and its relocations are done. `register` takes no arguments, so
// whatever arguments the loader passes are not read; it needs neither a main thread nor
// anything that other constructors set up.
#[allow(unsafe_code, reason = "there is no other way to run at load")]
// By its name a program that is linked with the static library has the linker take it.
#[used]
#[unsafe(export_name = "windlass_quiche_register")]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static REGISTER: extern "C" fn() = register;
