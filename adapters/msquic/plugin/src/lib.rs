//! The whole catalogue of windlass as a plugin for MsQuic: `libwindlass_msquic.so`.

use windlass_msquic_abi::Plugin;

/// What MsQuic looks up in a plugin.
// SAFETY: no other symbol of the name is in this library.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_msquic_plugin_v1() -> *const Plugin {
    windlass_msquic::plugin()
}
