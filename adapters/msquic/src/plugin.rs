//! The plugin: the functions MsQuic calls.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use windlass_abi::msquic::{Path, Plugin, Trace, reports, trace as kind};
use windlass_abi::{self as abi, Decision};
use windlass_adapter::config::Peer;
use windlass_controllers::Time;

use crate::definition::{NewConnection, StartFlow, find};
use crate::flow::{GuardedPath, warn};
use crate::packets::{self, ConnectionInfo, TRACING};
#[cfg(unix)]
use crate::settings::read as read_settings;

static PLUGIN: Plugin = Plugin {
    abi: abi::msquic::ABI,
    size: size_of::<Plugin>() as u32,
    name: c"windlass".as_ptr(),
    define,
    configure: Some(configure),
    start,
    stop,
    on_sent,
    on_rtt,
    on_acked,
    on_ecn_ce,
    on_lost,
    on_spurious_loss,
    on_discarded,
    on_mtu,
    refresh,
    trace: Some(trace),
    tracing: &raw const TRACING,
};

/// The table of functions of `windlass_msquic.h` for the catalogue and the definitions of this
/// program. It is valid until the process ends.
#[must_use]
pub fn plugin() -> &'static Plugin {
    packets::read_environment();
    &PLUGIN
}

/// A definition on the heap, to which MsQuic keeps a pointer.
type DefinitionHandle = Arc<dyn StartFlow>;

/// Writes `text` and NUL to the `size` bytes at `error`, cut off between characters if it is longer.
///
/// # Safety
/// `error` is null or points to `size` writable bytes.
unsafe fn write_error(text: &str, error: *mut c_char, size: usize) {
    if error.is_null() || size == 0 {
        return;
    }
    let mut length = text.len().min(size - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: at most `size` bytes are written, and `text` does not overlap the caller's buffer.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), error.cast(), length);
        *error.add(length) = 0;
    }
}

/// The text at `text`; `None` if it is null or no UTF-8.
///
/// # Safety
/// `text` is null, or ends with NUL and outlives the result.
unsafe fn str_at<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is not null, and the caller promises the rest.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Moves the result of `make` to the heap and returns its address; null after an error or a panic.
///
/// # Safety
/// As for [`write_error`].
unsafe fn into_raw<T>(make: impl FnOnce() -> Result<T, String>, error: *mut c_char, size: usize) -> *mut c_void {
    let made = catch_unwind(AssertUnwindSafe(make));
    match made.unwrap_or_else(|_| Err("the controller panicked at its start".to_owned())) {
        Ok(made) => Box::into_raw(Box::new(made)).cast(),
        Err(text) => {
            // SAFETY: the caller promises it.
            unsafe { write_error(&text, error, size) };
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn define(controller: *const c_char, error: *mut c_char, size: usize) -> *mut c_void {
    // SAFETY: the interface passes a text, and `size` writable bytes for the error.
    unsafe {
        let text = str_at(controller);
        into_raw::<DefinitionHandle>(|| find(text.ok_or("the name is no UTF-8 text")?), error, size)
    }
}

unsafe extern "C" fn configure(path: *const c_char, error: *mut c_char, size: usize) -> *mut c_void {
    // SAFETY: as in `define`.
    unsafe {
        let path = str_at(path);
        into_raw::<DefinitionHandle>(|| read_settings(path.ok_or("the file's name is no UTF-8 text")?), error, size)
    }
}

unsafe extern "C" fn start(
    definition: *mut c_void,
    path: *const Path,
    decision: *mut Decision,
    error: *mut c_char,
    size: usize,
) -> *mut c_void {
    // SAFETY: `definition` came from `define` or `configure` and is never freed; the others
    // are valid for this call.
    unsafe {
        let (definition, path, decision) = (&*definition.cast::<DefinitionHandle>(), &*path, &mut *decision);
        let (app, name) = (str_at(path.app_name), str_at(path.path.server_name));
        let make = || {
            let new = NewConnection {
                now: Time(path.path.now_ns),
                peer: Peer { address: path.path.peer(), name },
                mtu: path.path.mtu,
                in_flight: path.in_flight,
                app,
                ecn: path.reports & reports::ECN != 0,
                one_way_delay: path.reports & reports::ONE_WAY != 0,
                packets: (path.reports & reports::PACKETS != 0).then_some(path.connection),
                client: path.is_server == 0,
            };
            let mut flow = definition.start(&new)?;
            flow.update(decision, |_| {});
            Ok(flow)
        };
        into_raw::<GuardedPath>(make, error, size)
    }
}

unsafe extern "C" fn stop(flow: *mut c_void) {
    // SAFETY: `flow` came from `start`, and is not used after this.
    drop(unsafe { Box::from_raw(flow.cast::<GuardedPath>()) });
}

/// The flow and its decision during one call.
///
/// # Safety
/// `flow` came from [`start`] and was not stopped, `decision` is valid, and calls for one flow never
/// overlap: the interface guarantees it.
unsafe fn flow_and_decision<'a>(flow: *mut c_void, decision: *mut Decision) -> (&'a mut GuardedPath, &'a mut Decision) {
    // SAFETY: the caller promises it.
    unsafe { (&mut *flow.cast(), &mut *decision) }
}

/// The `count` packets at `packets`.
///
/// # Safety
/// There are as many, and they outlive the result.
unsafe fn packet_slice<'a>(packets: *const abi::Packet, count: u32) -> &'a [abi::Packet] {
    if count == 0 || packets.is_null() {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { std::slice::from_raw_parts(packets, count as usize) }
}

unsafe extern "C" fn on_sent(flow: *mut c_void, sent: *const abi::Sent, decision: *mut Decision) {
    // SAFETY: all are valid for this call (see `flow_and_decision`).
    let ((flow, decision), sent) = unsafe { (flow_and_decision(flow, decision), &*sent) };
    flow.on_sent(decision, sent);
}

unsafe extern "C" fn on_rtt(flow: *mut c_void, now_ns: u64, rtt: *const abi::Rtt) {
    // SAFETY: both are valid for this call (see `flow_and_decision`).
    let (flow, rtt) = unsafe { (&mut *flow.cast::<GuardedPath>(), &*rtt) };
    flow.on_rtt(now_ns, rtt);
}

unsafe extern "C" fn on_acked(flow: *mut c_void, acked: *const abi::Acked, decision: *mut Decision) {
    // SAFETY: all are valid for this call, and so is the list the structure points to.
    let ((flow, decision), acked) = unsafe { (flow_and_decision(flow, decision), &*acked) };
    // SAFETY: as above.
    let packets = unsafe { packet_slice(acked.packets, acked.packet_count) };
    flow.update(decision, |path| path.on_acked(acked, packets));
}

unsafe extern "C" fn on_ecn_ce(
    flow: *mut c_void,
    now_ns: u64,
    packets: u32,
    newest_sent_ns: u64,
    newest_number: u64,
    in_flight: u64,
    decision: *mut Decision,
) {
    // SAFETY: both are valid for this call (see `flow_and_decision`).
    let (flow, decision) = unsafe { flow_and_decision(flow, decision) };
    flow.update(decision, |path| path.on_ecn_ce(now_ns, packets, (newest_sent_ns, newest_number), in_flight));
}

unsafe extern "C" fn on_lost(flow: *mut c_void, lost: *const abi::Lost, decision: *mut Decision) {
    // SAFETY: all are valid for this call, and so is the list the structure points to.
    let ((flow, decision), lost) = unsafe { (flow_and_decision(flow, decision), &*lost) };
    // SAFETY: as above.
    let packets = unsafe { packet_slice(lost.packets, lost.packet_count) };
    flow.update(decision, |path| path.on_lost(lost, packets));
}

unsafe extern "C" fn on_spurious_loss(flow: *mut c_void, now_ns: u64, newest_sent_ns: u64, decision: *mut Decision) {
    // SAFETY: both are valid for this call (see `flow_and_decision`).
    let (flow, decision) = unsafe { flow_and_decision(flow, decision) };
    flow.update(decision, |path| path.on_spurious_loss(now_ns, newest_sent_ns));
}

unsafe extern "C" fn on_discarded(flow: *mut c_void, now_ns: u64, in_flight: u64, decision: *mut Decision) {
    // SAFETY: both are valid for this call (see `flow_and_decision`).
    let (flow, decision) = unsafe { flow_and_decision(flow, decision) };
    flow.update(decision, |path| path.on_discarded(now_ns, in_flight));
}

unsafe extern "C" fn on_mtu(flow: *mut c_void, now_ns: u64, mtu: u32, decision: *mut Decision) {
    // SAFETY: both are valid for this call (see `flow_and_decision`).
    let (flow, decision) = unsafe { flow_and_decision(flow, decision) };
    flow.update(decision, |path| path.on_mtu(now_ns, mtu));
}

unsafe extern "C" fn refresh(flow: *mut c_void, decision: *mut Decision) {
    // SAFETY: both are valid for this call (see `flow_and_decision`).
    let (flow, decision) = unsafe { flow_and_decision(flow, decision) };
    flow.update(decision, |_| {});
}

unsafe extern "C" fn trace(event: *const Trace) {
    // SAFETY: the event and everything it points to are valid for this call.
    let logged = catch_unwind(AssertUnwindSafe(|| unsafe {
        let event = &*event;
        let frames = match event.kind {
            kind::FRAMES if !event.frames.is_null() => std::slice::from_raw_parts(event.frames, event.bytes as usize),
            _ => &[],
        };
        let new = event.path.as_ref().map(|path| ConnectionInfo {
            connection: event.connection,
            peer: Peer { address: path.path.peer(), name: str_at(path.path.server_name) },
            client: path.is_server == 0,
            app: str_at(path.app_name),
            now: Time(event.now_ns),
            mtu: path.path.mtu,
        });
        packets::record(event, new.as_ref(), frames, str_at(event.controller));
    }));
    if logged.is_err() {
        warn("logging packets panicked");
    }
}

/// A settings file is trusted only if no other user can change it, which only Unix shows.
#[cfg(not(unix))]
fn read_settings(path: &str) -> Result<DefinitionHandle, String> {
    Err(format!("{path}: settings files need Unix, which shows who can change them; name the controller in MSQUIC_CC"))
}

#[cfg(test)]
mod tests;
