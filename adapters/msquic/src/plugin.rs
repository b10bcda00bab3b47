//! The functions MsQuic calls.

use std::ffi::{CStr, c_char, c_void};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use windlass_adapter::config::Peer;
use windlass_msquic_abi as abi;

use crate::definition::{NewConnection, Start, find};
use crate::flow::{Guarded, say};
use crate::packets::{self, NewTrace, TRACING};
use crate::path::time;
use crate::settings;

static PLUGIN: abi::Plugin = abi::Plugin {
    abi: abi::ABI,
    size: size_of::<abi::Plugin>() as u32,
    name: c"windlass".as_ptr(),
    define,
    configure: Some(configure),
    start,
    stop,
    sent,
    acked,
    marked,
    lost,
    spurious,
    forgotten,
    refresh,
    traced: Some(traced),
    tracing: &raw const TRACING,
};

/// The catalogue and the definitions of this program, as `windlass_msquic.h` wants it.
#[must_use]
pub fn plugin() -> &'static abi::Plugin {
    packets::from_environment();
    &PLUGIN
}

/// A definition as it crosses the border.
type Handle = Arc<dyn Start>;

/// Writes `text` to the `size` bytes at `error`, as much as there is room for.
///
/// # Safety
/// `error` is null, or has room for `size` bytes.
unsafe fn tell_error(text: &str, error: *mut c_char, size: usize) {
    if error.is_null() || size == 0 {
        return;
    }
    let mut length = text.len().min(size - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: at most `size` bytes are written, and `text` cannot lie in the caller's buffer.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), error.cast(), length);
        *error.add(length) = 0;
    }
}

/// The text at `text`.
///
/// # Safety
/// `text` is null, or ends with NUL and outlives the result.
unsafe fn read<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is not null, and the caller promises the rest.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// What `make` returns, on the heap for the caller; null after an error or a panic.
///
/// # Safety
/// As of [`tell_error`].
unsafe fn hand_out<T>(make: impl FnOnce() -> Result<T, String>, error: *mut c_char, size: usize) -> *mut c_void {
    let made = catch_unwind(AssertUnwindSafe(make));
    match made.unwrap_or_else(|_| Err("the controller panicked at its start".to_owned())) {
        Ok(made) => Box::into_raw(Box::new(made)).cast(),
        Err(text) => {
            // SAFETY: the caller promises it.
            unsafe { tell_error(&text, error, size) };
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn define(controller: *const c_char, error: *mut c_char, size: usize) -> *mut c_void {
    // SAFETY: the interface gives a text, and room for `size` bytes of error.
    unsafe {
        let text = read(controller);
        hand_out::<Handle>(|| find(text.ok_or("the name is no UTF-8 text")?), error, size)
    }
}

unsafe extern "C" fn configure(path: *const c_char, error: *mut c_char, size: usize) -> *mut c_void {
    // SAFETY: as in `define`.
    unsafe {
        let path = read(path);
        hand_out::<Handle>(|| settings::read(path.ok_or("the file's name is no UTF-8 text")?), error, size)
    }
}

fn address(path: &abi::Path) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(path.peer_address)).to_canonical(), path.peer_port)
}

unsafe extern "C" fn start(
    definition: *mut c_void,
    path: *const abi::Path,
    control: *mut abi::Control,
    error: *mut c_char,
    size: usize,
) -> *mut c_void {
    // SAFETY: `definition` came from `define` or `configure` and is never freed; the others
    // are valid for this call.
    unsafe {
        let (definition, path, control) = (&*definition.cast::<Handle>(), &*path, &mut *control);
        let (app, name) = (read(path.app_name), read(path.server_name));
        let make = || {
            let new = NewConnection {
                now: time(path.now_us),
                peer: Peer { address: address(path), name },
                mtu: path.mtu,
                in_flight: path.in_flight,
                app,
                ecn: path.reports & abi::reports::ECN != 0,
                one_way_delay: path.reports & abi::reports::ONE_WAY != 0,
                packets: (path.reports & abi::reports::PACKETS != 0).then_some(path.connection),
                client: path.is_server == 0,
            };
            let mut flow = definition.start(&new)?;
            flow.tell(control, |_| {});
            Ok(flow)
        };
        hand_out::<Guarded>(make, error, size)
    }
}

unsafe extern "C" fn stop(flow: *mut c_void) {
    // SAFETY: `flow` came from `start`, and nobody uses it after this.
    drop(unsafe { Box::from_raw(flow.cast::<Guarded>()) });
}

/// The flow and its control, for one call.
///
/// # Safety
/// `flow` came from [`start`] and was not stopped, `control` is valid, and nobody else uses
/// either during the call: the interface promises it.
unsafe fn both<'a>(flow: *mut c_void, control: *mut abi::Control) -> (&'a mut Guarded, &'a mut abi::Control) {
    // SAFETY: the caller promises it.
    unsafe { (&mut *flow.cast(), &mut *control) }
}

/// `count` packets.
///
/// # Safety
/// There are as many at `packets`, and they outlive the result.
unsafe fn list<'a>(packets: *const abi::Packet, count: u32) -> &'a [abi::Packet] {
    if count == 0 || packets.is_null() {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { std::slice::from_raw_parts(packets, count as usize) }
}

unsafe extern "C" fn sent(flow: *mut c_void, sent: *const abi::Sent, control: *mut abi::Control) {
    // SAFETY: all are valid for this call (see `both`).
    let ((flow, control), sent) = unsafe { (both(flow, control), &*sent) };
    flow.sent(control, sent);
}

unsafe extern "C" fn acked(flow: *mut c_void, acked: *const abi::Acked, control: *mut abi::Control) {
    // SAFETY: all are valid for this call, and so is the list the structure points to.
    let (both, acked) = unsafe { (both(flow, control), &*acked) };
    // SAFETY: as above.
    let packets = unsafe { list(acked.packets, acked.packet_count) };
    both.0.tell(both.1, |path| path.acked(acked, packets));
}

unsafe extern "C" fn marked(flow: *mut c_void, marked: *const abi::Marked, control: *mut abi::Control) {
    // SAFETY: all are valid for this call (see `both`).
    let ((flow, control), marked) = unsafe { (both(flow, control), &*marked) };
    flow.tell(control, |path| path.marked(marked));
}

unsafe extern "C" fn lost(flow: *mut c_void, lost: *const abi::Lost, control: *mut abi::Control) {
    // SAFETY: all are valid for this call, and so is the list the structure points to.
    let (both, lost) = unsafe { (both(flow, control), &*lost) };
    // SAFETY: as above.
    let packets = unsafe { list(lost.packets, lost.packet_count) };
    both.0.tell(both.1, |path| path.lost(lost, packets));
}

unsafe extern "C" fn spurious(flow: *mut c_void, spurious: *const abi::Spurious, control: *mut abi::Control) {
    // SAFETY: all are valid for this call (see `both`).
    let ((flow, control), spurious) = unsafe { (both(flow, control), &*spurious) };
    flow.tell(control, |path| path.spurious(spurious));
}

unsafe extern "C" fn forgotten(flow: *mut c_void, now_us: u64, in_flight: u32, control: *mut abi::Control) {
    // SAFETY: both are valid for this call (see `both`).
    let (flow, control) = unsafe { both(flow, control) };
    flow.tell(control, |path| path.forgotten(now_us, in_flight));
}

unsafe extern "C" fn refresh(flow: *mut c_void, control: *mut abi::Control) {
    // SAFETY: both are valid for this call (see `both`).
    let (flow, control) = unsafe { both(flow, control) };
    flow.tell(control, |_| {});
}

unsafe extern "C" fn traced(traced: *const abi::Traced) {
    // SAFETY: it is valid for this call, and so is what it points to.
    let told = catch_unwind(AssertUnwindSafe(|| unsafe {
        let traced = &*traced;
        let frames = match traced.what {
            abi::traced::FRAMES if !traced.frames.is_null() => {
                std::slice::from_raw_parts(traced.frames, traced.bytes as usize)
            }
            _ => &[],
        };
        let new = traced.path.as_ref().map(|path| NewTrace {
            connection: traced.connection,
            peer: Peer { address: address(path), name: read(path.server_name) },
            client: path.is_server == 0,
            app: read(path.app_name),
            now: time(traced.now_us),
            mtu: path.mtu,
        });
        packets::tell(traced, new.as_ref(), frames, read(traced.controller));
    }));
    if told.is_err() {
        say("logging packets panicked");
    }
}

#[cfg(test)]
mod tests;
