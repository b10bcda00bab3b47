//! The whole catalogue of windlass as a plugin for MsQuic: `libwindlass_msquic.so`.

use windlass_abi::msquic::Plugin;

/// The export that MsQuic looks up in a plugin.
// SAFETY: this library has no other symbol of that name.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_msquic_plugin_v1() -> *const Plugin {
    windlass_msquic::plugin()
}
