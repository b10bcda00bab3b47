//! The functions of `windlass.h`.

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use windlass_adapter::Peer;
use windlass_controllers::{Algorithm, Time};

use crate::definition::{Definition, NewPath};
use crate::guard::{Failure, GuardedFlow};
use windlass_abi as abi;
use windlass_adapter::stack_path::{Invalid, StackPath};

const OK: c_int = 0;
const INVALID: c_int = -1;
const PANICKED: c_int = -2;

fn code(result: Result<(), Failure>) -> c_int {
    match result {
        Ok(()) => OK,
        Err(Failure::Invalid) => INVALID,
        Err(Failure::Panicked) => PANICKED,
    }
}

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

/// The text at `text`, `None` if it is null; an error that names `what` if it is no UTF-8.
///
/// # Safety
/// `text` is null, or ends with NUL and outlives the result.
unsafe fn str_at<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, and the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| format!("{what} is {text:?}; expected UTF-8 text"))
}

/// What `make` returns, which may panic, as a pointer; null after an error, whose text is written.
///
/// # Safety
/// As for [`write_error`].
unsafe fn pointer<T>(make: impl FnOnce() -> Result<*mut T, String>, error: *mut c_char, size: usize) -> *mut T {
    let made = catch_unwind(AssertUnwindSafe(make));
    match made.unwrap_or_else(|_| Err("the controller panicked".to_owned())) {
        Ok(made) => made,
        Err(text) => {
            // SAFETY: the caller promises it.
            unsafe { write_error(&text, error, size) };
            std::ptr::null_mut()
        }
    }
}

/// Returns the version of the interface.
// SAFETY: no other symbol of that name is linked into this library; the same holds for all below.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_abi() -> u32 {
    abi::ABI
}

/// Pointers to texts that live as long as the process, and null.
struct Names(Vec<*const c_char>);
// SAFETY: the texts are never written or freed.
unsafe impl Send for Names {}
// SAFETY: as above.
unsafe impl Sync for Names {}

/// Returns the names of all controllers, and null.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_names() -> *const *const c_char {
    static NAMES: OnceLock<Names> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let name = |entry: &windlass_controllers::Entry| {
            CString::new(entry.name).map_or(std::ptr::null(), |name| name.into_raw().cast_const())
        };
        Names(Algorithm::ALL.iter().map(name).chain([std::ptr::null()]).collect())
    });
    names.0.as_ptr()
}

/// A `windlass_flow`: calls of several threads wait for each other.
pub struct Handle(Mutex<GuardedFlow>);

impl Handle {
    fn with<R>(&self, call: impl FnOnce(&mut GuardedFlow) -> R) -> R {
        // No call unwinds, so that nothing is ever poisoned.
        call(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

type Define = fn(&str, Option<&str>, u32) -> Result<Definition, String>;

/// A definition of `text`, which is called `what` in errors.
///
/// # Safety
/// The pointers are null or valid as `windlass.h` says.
unsafe fn define(
    define: Define,
    (text, what): (*const c_char, &str),
    stack: *const abi::Stack,
    error: *mut c_char,
    size: usize,
) -> *mut Definition {
    let make = || {
        // SAFETY: the caller promises that the pointers are null or valid.
        let (text, stack) = unsafe { (str_at(text, what)?, stack.as_ref()) };
        let text = text.ok_or_else(|| format!("{what} is NULL; expected a text"))?;
        let stack = stack.ok_or("stack is NULL; expected a windlass_stack")?;
        // SAFETY: as above, for what the structure points to.
        let name = unsafe { str_at(stack.name, "stack.name")? };
        Ok(Arc::into_raw(Arc::new(define(text, name, stack.signals)?)).cast_mut())
    };
    // SAFETY: the caller promises it.
    unsafe { pointer(make, error, size) }
}

/// Returns the controller that a user types as `name`.
///
/// # Safety
/// `name` is null or a text; `stack` is null or valid; `error` is null or has `size` bytes.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_new(
    name: *const c_char,
    stack: *const abi::Stack,
    error: *mut c_char,
    size: usize,
) -> *mut Definition {
    // SAFETY: the caller promises it.
    unsafe { define(Definition::named, (name, "name"), stack, error, size) }
}

/// Returns what the configuration file at `path` says.
///
/// # Safety
/// As for [`windlass_new`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_read(
    path: *const c_char,
    stack: *const abi::Stack,
    error: *mut c_char,
    size: usize,
) -> *mut Definition {
    // SAFETY: the caller promises it.
    unsafe { define(Definition::read, (path, "path"), stack, error, size) }
}

/// Frees a controller, whose flows run on.
///
/// # Safety
/// `controller` is null, or came from [`windlass_new`] or [`windlass_read`] and is not used again.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_free(controller: *mut Definition) {
    if !controller.is_null() {
        // SAFETY: the pointer is that of an `Arc`, of which the caller gives up its share.
        let controller = unsafe { Arc::from_raw(controller.cast_const()) };
        let _ = catch_unwind(AssertUnwindSafe(move || drop(controller)));
    }
}

/// The path at `path`.
///
/// # Safety
/// `path` is null or valid, and so is what it points to.
unsafe fn new_path<'a>(path: *const abi::Path) -> Result<NewPath<'a>, String> {
    // SAFETY: the caller promises it.
    let path = unsafe { path.as_ref() }.ok_or("path is NULL; expected a windlass_path")?;
    if path.mtu == 0 {
        return Err("path.mtu is 0; expected at least 1".to_owned());
    }
    // SAFETY: the caller promises it.
    let name = unsafe { str_at(path.server_name, "path.server_name")? };
    let group = match path.group_size {
        _ if path.group.is_null() => None,
        0 => Some(&[][..]),
        // SAFETY: the caller promises as many bytes.
        size => Some(unsafe { std::slice::from_raw_parts(path.group.cast::<u8>(), size) }),
    };
    let peer = Peer { address: path.peer(), name };
    Ok(NewPath { now: Time(path.now_ns), peer, mtu: path.mtu, group, seed: path.seed })
}

/// Starts a flow on a path.
///
/// # Safety
/// `controller` is null or came from [`windlass_new`] or [`windlass_read`] and was not freed; `path`
/// is null or valid; `error` is null or has `size` bytes.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_start(
    controller: *mut Definition,
    path: *const abi::Path,
    error: *mut c_char,
    size: usize,
) -> *mut Handle {
    let make = || {
        if controller.is_null() {
            return Err("controller is NULL; expected one of windlass_new or windlass_read".to_owned());
        }
        // SAFETY: the caller promises that it is valid.
        let path = unsafe { new_path(path)? };
        let controller = controller.cast_const();
        // SAFETY: the pointer is that of an `Arc`, of which the caller keeps its share.
        let definition = unsafe {
            Arc::increment_strong_count(controller);
            Arc::from_raw(controller)
        };
        Ok(Box::into_raw(Box::new(Handle(Mutex::new(GuardedFlow::start(definition, &path))))))
    };
    // SAFETY: the caller promises it.
    unsafe { pointer(make, error, size) }
}

/// Ends a flow.
///
/// # Safety
/// `flow` is null, or came from [`windlass_start`] and is not used again.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_stop(flow: *mut Handle) {
    if !flow.is_null() {
        // SAFETY: the caller promises that it came from `windlass_start`; its drop catches panics.
        drop(unsafe { Box::from_raw(flow) });
    }
}

/// Returns the flow's controller as a user types it.
///
/// # Safety
/// `flow` is null, or came from [`windlass_start`] and was not stopped.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_name(flow: *const Handle) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { flow.as_ref() }.map_or(std::ptr::null(), |flow| flow.with(|flow| flow.name().as_ptr()))
}

/// Writes what the flow may do.
///
/// # Safety
/// `flow` is null, or came from [`windlass_start`] and was not stopped; `decision` is null or
/// writable.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_decide(flow: *const Handle, decision: *mut abi::Decision) -> c_int {
    // SAFETY: the caller promises it.
    let (Some(flow), false) = (unsafe { flow.as_ref() }, decision.is_null()) else { return INVALID };
    let decided = flow.with(GuardedFlow::decision);
    // SAFETY: it is not null, and the caller promises that it is writable.
    unsafe { decision.write(decided) };
    if decided.flags & abi::decision::ENDED == 0 { OK } else { PANICKED }
}

/// Writes the rate at which the flow's next data leave and arrive.
///
/// # Safety
/// `flow` is null, or came from [`windlass_start`] and was not stopped; `rate` is null or
/// writable.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_send_rate(flow: *const Handle, rate: *mut abi::SendRate) -> c_int {
    // SAFETY: the caller promises it.
    let (Some(flow), false) = (unsafe { flow.as_ref() }, rate.is_null()) else { return INVALID };
    let estimate = flow.with(|flow| flow.send_rate());
    // SAFETY: it is not null, and the caller promises that it is writable.
    unsafe { rate.write(estimate) };
    OK
}

/// Passes an event to a flow.
///
/// # Safety
/// `flow` is null, or came from [`windlass_start`] and was not stopped.
unsafe fn on_event(flow: *const Handle, event: impl FnOnce(&mut StackPath) -> Result<(), Invalid>) -> c_int {
    // SAFETY: the caller promises it.
    let Some(flow) = (unsafe { flow.as_ref() }) else { return INVALID };
    code(flow.with(|flow| flow.on_event(event)))
}

/// The `count` packets at `packets`; an error if there should be some and it is null.
///
/// # Safety
/// `packets` is null or there are as many, and they outlive the result.
unsafe fn packets_at<'a>(packets: *const abi::Packet, count: u32) -> Result<&'a [abi::Packet], Invalid> {
    match (packets.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Invalid),
        // SAFETY: the caller promises it.
        (false, count) => Ok(unsafe { std::slice::from_raw_parts(packets, count as usize) }),
    }
}

/// A packet was sent.
///
/// # Safety
/// As for [`windlass_decide`]; `sent` is null or valid.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_sent(flow: *const Handle, sent: *const abi::Sent) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, |path| path.on_sent(sent.as_ref().ok_or(Invalid)?).map(drop)) }
}

/// A frame brings an RTT sample.
///
/// # Safety
/// As for [`windlass_decide`]; `rtt` is null or valid.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_rtt(flow: *const Handle, now_ns: u64, rtt: *const abi::Rtt) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, |path| path.on_rtt(now_ns, rtt.as_ref().ok_or(Invalid)?)) }
}

/// A frame brings CE marks.
///
/// # Safety
/// As for [`windlass_decide`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_ecn_ce(
    flow: *const Handle,
    now_ns: u64,
    packets: u32,
    newest_sent_ns: u64,
    newest_number: u64,
    in_flight: u64,
) -> c_int {
    let newest = (newest_sent_ns, newest_number);
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, |path| path.on_ecn_ce(now_ns, packets, newest, in_flight)) }
}

/// Packets were declared lost.
///
/// # Safety
/// As for [`windlass_decide`]; `lost` is null or valid, and so is the list it points to.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_lost(flow: *const Handle, lost: *const abi::Lost) -> c_int {
    let event = |path: &mut StackPath| {
        // SAFETY: the caller promises it.
        let lost = unsafe { lost.as_ref() }.ok_or(Invalid)?;
        // SAFETY: as above.
        path.on_lost(lost, unsafe { packets_at(lost.packets, lost.packet_count)? })
    };
    // SAFETY: as above.
    unsafe { on_event(flow, event) }
}

/// Packets were acknowledged.
///
/// # Safety
/// As for [`windlass_on_lost`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_acked(flow: *const Handle, acked: *const abi::Acked) -> c_int {
    let event = |path: &mut StackPath| {
        // SAFETY: the caller promises it.
        let acked = unsafe { acked.as_ref() }.ok_or(Invalid)?;
        // SAFETY: as above.
        path.on_acked(acked, unsafe { packets_at(acked.packets, acked.packet_count)? })
    };
    // SAFETY: as above.
    unsafe { on_event(flow, event) }
}

/// The last losses were spurious.
///
/// # Safety
/// As for [`windlass_decide`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_spurious_loss(flow: *const Handle, now_ns: u64, newest_sent_ns: u64) -> c_int {
    let event = |path: &mut StackPath| {
        path.on_spurious_loss(now_ns, newest_sent_ns);
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, event) }
}

/// Packets were discarded.
///
/// # Safety
/// As for [`windlass_decide`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_discarded(flow: *const Handle, now_ns: u64, in_flight: u64) -> c_int {
    let event = |path: &mut StackPath| {
        path.on_discarded(now_ns, in_flight);
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, event) }
}

/// The size of datagrams changed.
///
/// # Safety
/// As for [`windlass_decide`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_mtu(flow: *const Handle, now_ns: u64, mtu: u32) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, |path| path.on_mtu(now_ns, mtu)) }
}

/// The time the controller asked for has come.
///
/// # Safety
/// As for [`windlass_decide`].
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_timer(flow: *const Handle, now_ns: u64) -> c_int {
    let event = |path: &mut StackPath| {
        path.on_timer(now_ns);
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { on_event(flow, event) }
}

/// The connection moved to another path: the flow starts anew.
///
/// # Safety
/// As for [`windlass_decide`]; `path` is null or valid, and so is what it points to.
// SAFETY: as for `windlass_abi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_path_change(flow: *const Handle, path: *const abi::Path) -> c_int {
    // SAFETY: the caller promises it.
    let (Some(flow), Ok(path)) = (unsafe { (flow.as_ref(), new_path(path)) }) else { return INVALID };
    code(flow.with(|flow| flow.restart(&path)))
}
