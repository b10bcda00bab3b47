//! Streams.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use windlass_msquic_sys::msquic::ffi;

use crate::{Failed, Handle, api, check};

/// What happens on a stream.
#[derive(Debug)]
pub enum StreamEvent<'a> {
    /// Data arrived, in order.
    Received {
        /// Where it lies in MsQuic's memory, until the closure returns.
        data: &'a [&'a [u8]],
        /// Nothing comes after it.
        fin: bool,
    },
    /// MsQuic needs the bytes of a [`Stream::send`] no more.
    Sent(usize),
    /// The peer will send no more.
    PeerFinished,
    /// The peer gave up sending or receiving.
    PeerAborted,
    /// All that was sent was acknowledged, or the stream was given up.
    Finished,
    /// Nothing more will happen.
    Closed,
}

pub(crate) type Hears = Box<dyn Fn(StreamEvent<'_>) + Send + Sync>;

/// A stream. Dropping it gives up what is not done yet.
pub struct Stream {
    handle: Handle,
    hears: *mut Hears,
}

// SAFETY: the closure is Send and Sync, and the handle may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// Bytes on their way, with the structure MsQuic reads them by.
struct Sending {
    buffer: ffi::QUIC_BUFFER,
    bytes: Box<dyn AsRef<[u8]> + Send>,
}

impl Stream {
    /// Opens one on `connection`; both sides send if `both`.
    pub(crate) fn open(connection: Handle, both: bool, hears: Hears) -> Result<Stream, Failed> {
        let hears = Box::into_raw(Box::new(hears));
        let mut stream = Stream { handle: Handle(std::ptr::null_mut()), hears };
        let flags = if both {
            ffi::QUIC_STREAM_OPEN_FLAGS_QUIC_STREAM_OPEN_FLAG_NONE
        } else {
            ffi::QUIC_STREAM_OPEN_FLAGS_QUIC_STREAM_OPEN_FLAG_UNIDIRECTIONAL
        };
        // SAFETY: the closure lives until the handle is closed; the handle is written before
        // the call returns.
        unsafe {
            check(
                "open a stream",
                api!(StreamOpen)(connection.0, flags, Some(hear), hears.cast(), &mut stream.handle.0),
            )?;
            let flags = ffi::QUIC_STREAM_START_FLAGS_QUIC_STREAM_START_FLAG_IMMEDIATE;
            check("start a stream", api!(StreamStart)(stream.handle.0, flags))?;
        }
        Ok(stream)
    }

    /// Takes over the stream a peer opened.
    ///
    /// # Safety
    /// The handle is one, nobody else closes it, and no event of it is being told.
    pub(crate) unsafe fn take(handle: ffi::HQUIC, hears: Hears) -> Stream {
        let hears = Box::into_raw(Box::new(hears));
        // SAFETY: the closure lives until the handle is closed, and `hear` is what a stream's
        // events go to.
        unsafe { api!(SetCallbackHandler)(handle, hear as *mut c_void, hears.cast()) };
        Stream { handle: Handle(handle), hears }
    }

    /// Hands over bytes, and says so if they are the last.
    ///
    /// # Errors
    /// The stream or its connection ended.
    pub fn send(&self, bytes: impl AsRef<[u8]> + Send + 'static, fin: bool) -> Result<(), Failed> {
        let mut sending = Box::new(Sending {
            buffer: ffi::QUIC_BUFFER { Length: 0, Buffer: std::ptr::null_mut() },
            bytes: Box::new(bytes),
        });
        let bytes = (*sending.bytes).as_ref();
        let (length, pointer) = (bytes.len() as u32, bytes.as_ptr().cast_mut());
        sending.buffer = ffi::QUIC_BUFFER { Length: length, Buffer: pointer };
        let fin = if fin { ffi::QUIC_SEND_FLAGS_QUIC_SEND_FLAG_FIN } else { ffi::QUIC_SEND_FLAGS_QUIC_SEND_FLAG_NONE };
        let sending = Box::into_raw(sending);
        // SAFETY: structure and bytes stay where they are until MsQuic tells that it needs
        // them no more; it only reads them.
        let sent = check("send", unsafe {
            api!(StreamSend)(self.handle.0, &raw const (*sending).buffer, 1, fin, sending.cast())
        });
        if sent.is_err() {
            // SAFETY: MsQuic did not take it.
            drop(unsafe { Box::from_raw(sending) });
        }
        sent
    }

    /// Gives up both directions.
    pub fn abort(&self) {
        let flags = ffi::QUIC_STREAM_SHUTDOWN_FLAGS_QUIC_STREAM_SHUTDOWN_FLAG_ABORT;
        // SAFETY: the handle is open.
        let _ = unsafe { api!(StreamShutdown)(self.handle.0, flags, 0) };
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle is open or was never opened; once it is closed, nothing is told to
        // the closure any more.
        unsafe {
            if !self.handle.0.is_null() {
                api!(StreamClose)(self.handle.0);
            }
            drop(Box::from_raw(self.hears));
        }
    }
}

unsafe extern "C" fn hear(_: ffi::HQUIC, context: *mut c_void, event: *mut ffi::QUIC_STREAM_EVENT) -> u32 {
    // SAFETY: the context is the closure, and the event is valid for this call, with that
    // member of the union which its type names.
    let _ = catch_unwind(AssertUnwindSafe(|| unsafe {
        let (hears, event) = (&*context.cast::<Hears>(), &*event);
        let data = &event.__bindgen_anon_1;
        match event.Type {
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_RECEIVE => {
                let data = &data.RECEIVE;
                let buffers = match data.BufferCount {
                    0 => &[][..],
                    count => std::slice::from_raw_parts(data.Buffers, count as usize),
                };
                let slice = |buffer: &ffi::QUIC_BUFFER| match buffer.Length {
                    0 => &[][..],
                    length => std::slice::from_raw_parts(buffer.Buffer, length as usize),
                };
                let fin = data.Flags & ffi::QUIC_RECEIVE_FLAGS_QUIC_RECEIVE_FLAG_FIN != 0;
                let slices: Vec<&[u8]> = buffers.iter().map(slice).collect();
                hears(StreamEvent::Received { data: &slices, fin });
            }
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_SEND_COMPLETE => {
                let sending = Box::from_raw(data.SEND_COMPLETE.ClientContext.cast::<Sending>());
                hears(StreamEvent::Sent(sending.buffer.Length as usize));
            }
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_PEER_SEND_SHUTDOWN => hears(StreamEvent::PeerFinished),
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_PEER_SEND_ABORTED
            | ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_PEER_RECEIVE_ABORTED => hears(StreamEvent::PeerAborted),
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_SEND_SHUTDOWN_COMPLETE => hears(StreamEvent::Finished),
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_SHUTDOWN_COMPLETE => hears(StreamEvent::Closed),
            _ => {}
        }
    }));
    0
}
