//! Streams and their events.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use windlass_msquic_sys::msquic::ffi;

use crate::{Error, Handle, api, check};

/// What a stream reports to its handler, after MsQuic's `QUIC_STREAM_EVENT_TYPE`.
#[derive(Debug)]
pub enum StreamEvent<'a> {
    /// Bytes that arrived, in stream order.
    Received {
        /// The data in MsQuic's buffers, valid until the callback returns.
        data: &'a [&'a [u8]],
        /// Whether this is the end of the stream.
        fin: bool,
        /// Whether some of it came as 0-RTT data.
        early: bool,
    },
    /// MsQuic no longer needs the buffer of a [`Stream::send`], of that many bytes.
    Sent(usize),
    /// The peer sent its FIN.
    PeerFinished,
    /// The peer aborted sending or receiving.
    PeerAborted,
    /// All data sent was acknowledged, or the stream was aborted.
    Finished,
    /// `SHUTDOWN_COMPLETE`: no event follows.
    Closed,
}

pub(crate) type Callback = Box<dyn Fn(StreamEvent<'_>) + Send + Sync>;

/// A stream. Dropping it aborts what is not complete.
pub struct Stream {
    handle: Handle,
    callback: *mut Callback,
}

// SAFETY: the callback is Send and Sync, and the handle may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// Bytes being sent, with MsQuic's structure that points to them.
struct SendBuffer {
    buffer: ffi::QUIC_BUFFER,
    bytes: Box<dyn AsRef<[u8]> + Send>,
}

impl Stream {
    /// Opens a stream on `connection`.
    pub(crate) fn open(connection: Handle, bidirectional: bool, callback: Callback) -> Result<Stream, Error> {
        let callback = Box::into_raw(Box::new(callback));
        let mut stream = Stream { handle: Handle(std::ptr::null_mut()), callback };
        let flags = if bidirectional {
            ffi::QUIC_STREAM_OPEN_FLAGS_QUIC_STREAM_OPEN_FLAG_NONE
        } else {
            ffi::QUIC_STREAM_OPEN_FLAGS_QUIC_STREAM_OPEN_FLAG_UNIDIRECTIONAL
        };
        // SAFETY: the callback lives until the handle is closed; the handle is written before the
        // call returns.
        unsafe {
            check(
                "open a stream",
                api!(StreamOpen)(connection.0, flags, Some(on_event), callback.cast(), &mut stream.handle.0),
            )?;
            let flags = ffi::QUIC_STREAM_START_FLAGS_QUIC_STREAM_START_FLAG_IMMEDIATE;
            check("start a stream", api!(StreamStart)(stream.handle.0, flags))?;
        }
        Ok(stream)
    }

    /// Takes over a stream that the peer opened.
    ///
    /// # Safety
    /// The handle is a stream's, only the result closes it, and no event of it is being handled.
    pub(crate) unsafe fn from_handle(handle: ffi::HQUIC, callback: Callback) -> Stream {
        let callback = Box::into_raw(Box::new(callback));
        // SAFETY: the callback lives until the handle is closed, and `on_event` has the type of a
        // stream's callback.
        unsafe { api!(SetCallbackHandler)(handle, on_event as *mut c_void, callback.cast()) };
        Stream { handle: Handle(handle), callback }
    }

    /// Sends bytes; `fin` if they are the last.
    ///
    /// # Errors
    /// The stream or its connection has ended.
    pub fn send(&self, bytes: impl AsRef<[u8]> + Send + 'static, fin: bool) -> Result<(), Error> {
        self.send_with(
            bytes,
            if fin { ffi::QUIC_SEND_FLAGS_QUIC_SEND_FLAG_FIN } else { ffi::QUIC_SEND_FLAGS_QUIC_SEND_FLAG_NONE },
        )
    }

    /// Sends bytes and the stream's end, as 0-RTT data if MsQuic can.
    pub(crate) fn send_early(&self, bytes: impl AsRef<[u8]> + Send + 'static) -> Result<(), Error> {
        let fin = ffi::QUIC_SEND_FLAGS_QUIC_SEND_FLAG_FIN;
        self.send_with(bytes, fin | ffi::QUIC_SEND_FLAGS_QUIC_SEND_FLAG_ALLOW_0_RTT)
    }

    fn send_with(&self, bytes: impl AsRef<[u8]> + Send + 'static, flags: ffi::QUIC_SEND_FLAGS) -> Result<(), Error> {
        let mut sending = Box::new(SendBuffer {
            buffer: ffi::QUIC_BUFFER { Length: 0, Buffer: std::ptr::null_mut() },
            bytes: Box::new(bytes),
        });
        let bytes = (*sending.bytes).as_ref();
        let (length, pointer) = (bytes.len() as u32, bytes.as_ptr().cast_mut());
        sending.buffer = ffi::QUIC_BUFFER { Length: length, Buffer: pointer };
        let sending = Box::into_raw(sending);
        // SAFETY: structure and bytes stay in place until MsQuic reports that it no longer needs
        // them; it only reads them.
        let sent = check("send", unsafe {
            api!(StreamSend)(self.handle.0, &raw const (*sending).buffer, 1, flags, sending.cast())
        });
        if sent.is_err() {
            // SAFETY: MsQuic did not take the buffer.
            drop(unsafe { Box::from_raw(sending) });
        }
        sent
    }

    /// Resets the sending side and asks the peer to stop sending, with error code 0.
    pub fn abort(&self) {
        let flags = ffi::QUIC_STREAM_SHUTDOWN_FLAGS_QUIC_STREAM_SHUTDOWN_FLAG_ABORT;
        // SAFETY: the handle is open.
        let _ = unsafe { api!(StreamShutdown)(self.handle.0, flags, 0) };
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle is open or was never opened; once it is closed, the callback is not
        // called any more.
        unsafe {
            if !self.handle.0.is_null() {
                api!(StreamClose)(self.handle.0);
            }
            drop(Box::from_raw(self.callback));
        }
    }
}

unsafe extern "C" fn on_event(_: ffi::HQUIC, context: *mut c_void, event: *mut ffi::QUIC_STREAM_EVENT) -> u32 {
    // SAFETY: the context is the callback, and the event is valid for this call, with the member of
    // the union that its type names.
    let _ = catch_unwind(AssertUnwindSafe(|| unsafe {
        let (callback, event) = (&*context.cast::<Callback>(), &*event);
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
                let early = data.Flags & ffi::QUIC_RECEIVE_FLAGS_QUIC_RECEIVE_FLAG_0_RTT != 0;
                callback(StreamEvent::Received { data: &slices, fin, early });
            }
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_SEND_COMPLETE => {
                let sending = Box::from_raw(data.SEND_COMPLETE.ClientContext.cast::<SendBuffer>());
                callback(StreamEvent::Sent(sending.buffer.Length as usize));
            }
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_PEER_SEND_SHUTDOWN => callback(StreamEvent::PeerFinished),
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_PEER_SEND_ABORTED
            | ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_PEER_RECEIVE_ABORTED => callback(StreamEvent::PeerAborted),
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_SEND_SHUTDOWN_COMPLETE => callback(StreamEvent::Finished),
            ffi::QUIC_STREAM_EVENT_TYPE_QUIC_STREAM_EVENT_SHUTDOWN_COMPLETE => callback(StreamEvent::Closed),
            _ => {}
        }
    }));
    0
}
