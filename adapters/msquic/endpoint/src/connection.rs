//! Connections and their events.

use std::ffi::{CString, c_void};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use windlass_msquic_sys::msquic::{Addr, Api, Configuration, CredentialConfig, CredentialFlags, ffi};

use crate::stream::{Callback as StreamCallback, Stream};
use crate::{Error, Handle, Library, Settings, StreamEvent, api, check};

/// The network statistics MsQuic reports with acknowledgements.
pub type Statistics = ffi::QUIC_CONNECTION_EVENT__bindgen_ty_1__bindgen_ty_19;

/// What a connection reports to its handler, after MsQuic's `QUIC_CONNECTION_EVENT_TYPE`.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// The handshake is complete; streams may be opened.
    Connected,
    /// The peer opened a stream.
    StreamOpened(IncomingStream),
    /// Network statistics, with [`Settings::statistics`].
    Statistics(&'a Statistics),
    /// The server's ticket for [`Library::resume`].
    ResumptionTicket(&'a [u8]),
    /// The transport or the peer closed the connection.
    Failed {
        /// MsQuic's status; 0 if the peer closed it.
        status: u32,
        /// The QUIC error code; 0: none.
        error: u64,
    },
    /// `SHUTDOWN_COMPLETE`: no event follows.
    Closed,
}

/// A stream that the peer opened. Unless the callback accepts it, it is closed.
#[derive(Debug)]
pub struct IncomingStream(ffi::HQUIC);

impl IncomingStream {
    /// Accepts the stream; its events go to `callback`.
    #[must_use]
    pub fn accept(self, callback: impl Fn(StreamEvent<'_>) + Send + Sync + 'static) -> Stream {
        let handle = self.0;
        std::mem::forget(self);
        // SAFETY: this is called from the connection's callback, which MsQuic passed the stream to;
        // the stream has no events before that returns.
        unsafe { Stream::from_handle(handle, Box::new(callback)) }
    }
}

impl Drop for IncomingStream {
    fn drop(&mut self) {
        // SAFETY: it was not accepted, so this is its only owner.
        unsafe { api!(StreamClose)(self.0) };
    }
}

type Callback = Box<dyn Fn(ConnectionEvent<'_>) + Send + Sync>;

/// A connection. Drop its streams before it.
pub struct Connection {
    handle: Handle,
    callback: *mut Callback,
    /// The configuration of a client, which is closed after the connection.
    configuration: Option<Configuration>,
}

// SAFETY: the callback is Send and Sync, and the handle may be used from any thread.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Library {
    /// Connects to `peer`, from `local` if given. The peer's certificate is not validated.
    ///
    /// # Errors
    /// MsQuic refuses the settings, or `local` is in use.
    pub fn connect(
        &self,
        alpn: &str,
        settings: &Settings,
        local: Option<SocketAddr>,
        peer: SocketAddr,
        callback: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static,
    ) -> Result<Connection, Error> {
        let connection = self.client(alpn, settings, Box::new(callback))?;
        if let Some(local) = local {
            connection.set_local_address(local)?;
        }
        connection.start(peer)?;
        Ok(connection)
    }

    /// Connects to `peer` with the ticket of an earlier connection; `bytes` and the end of their stream may leave as
    /// 0-RTT data. The events of that stream go to `callback`.
    ///
    /// # Errors
    /// MsQuic refuses the settings or the ticket.
    pub fn resume(
        &self,
        alpn: &str,
        settings: &Settings,
        ticket: &[u8],
        peer: SocketAddr,
        bytes: impl AsRef<[u8]> + Send + 'static,
        callback: impl Fn(StreamEvent<'_>) + Send + Sync + 'static,
    ) -> Result<(Connection, Stream), Error> {
        let connection = self.client(alpn, settings, Box::new(|_| {}))?;
        connection.set_parameter(
            "resumption ticket",
            ffi::QUIC_PARAM_CONN_RESUMPTION_TICKET,
            ticket.as_ptr().cast(),
            ticket.len(),
        )?;
        connection.set_receive_windows(settings)?;
        let stream = connection.open(callback)?;
        stream.send_early(bytes)?;
        connection.start(peer)?;
        Ok((connection, stream))
    }

    /// A client's connection that has not started.
    fn client(&self, alpn: &str, settings: &Settings, callback: Callback) -> Result<Connection, Error> {
        let configuration = self.configuration(alpn, settings)?;
        let client = CredentialConfig::new_client().set_credential_flags(CredentialFlags::NO_CERTIFICATE_VALIDATION);
        configuration.load_credential(&client).map_err(|status| Error { operation: "credential", status: status.0 })?;
        let callback = Box::into_raw(Box::new(callback));
        let mut connection =
            Connection { handle: Handle(std::ptr::null_mut()), callback, configuration: Some(configuration) };
        // SAFETY: the callback lives until the handle is closed; the handle is written during the call.
        let status = unsafe {
            let registration = self.registration.as_raw();
            api!(ConnectionOpen)(registration, Some(on_event), callback.cast(), &mut connection.handle.0)
        };
        check("open", status)?;
        Ok(connection)
    }
}

impl Connection {
    /// Takes over a connection of a listener.
    ///
    /// # Safety
    /// The handle is a connection's, only the result closes it, and it had no event yet.
    pub(crate) unsafe fn from_handle(
        handle: ffi::HQUIC,
        callback: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static,
    ) -> Connection {
        let callback: *mut Callback = Box::into_raw(Box::new(Box::new(callback)));
        // SAFETY: the callback lives until the handle is closed, and `on_event` has the type of a
        // connection's callback.
        unsafe { api!(SetCallbackHandler)(handle, on_event as *mut c_void, callback.cast()) };
        Connection { handle: Handle(handle), callback, configuration: None }
    }

    /// Opens a bidirectional stream.
    ///
    /// # Errors
    /// The connection ended.
    pub fn open(&self, callback: impl Fn(StreamEvent<'_>) + Send + Sync + 'static) -> Result<Stream, Error> {
        let callback: StreamCallback = Box::new(callback);
        Stream::open(self.handle, true, callback)
    }

    /// Opens a unidirectional stream.
    ///
    /// # Errors
    /// The connection ended.
    pub fn open_unidirectional(
        &self,
        callback: impl Fn(StreamEvent<'_>) + Send + Sync + 'static,
    ) -> Result<Stream, Error> {
        let callback: StreamCallback = Box::new(callback);
        Stream::open(self.handle, false, callback)
    }

    /// Sets a client's address. A connection whose handshake is confirmed migrates there (`RFC 9000 §9`).
    ///
    /// A packet that waits in MsQuic's queue at that moment has the old address, which its client takes for a
    /// migration of the server's: it sends no more (`QuicConnGetPathForPacket` of MsQuic 2.5.1).
    ///
    /// # Errors
    /// The address is in use, or the handshake has begun and is not confirmed.
    pub fn set_local_address(&self, address: SocketAddr) -> Result<(), Error> {
        let address = Addr::from(address);
        let (size, address) = (size_of_val(&address), (&raw const address).cast());
        self.set_parameter("local address", ffi::QUIC_PARAM_CONN_LOCAL_ADDRESS, address, size)
    }

    /// Sends a client the ticket for [`Library::resume`], with [`Settings::resumption`].
    ///
    /// # Errors
    /// The handshake is not complete, or this is a client.
    pub fn send_resumption_ticket(&self) -> Result<(), Error> {
        let flags = ffi::QUIC_SEND_RESUMPTION_FLAGS_QUIC_SEND_RESUMPTION_FLAG_FINAL;
        // SAFETY: the handle is open, and there is no data for the ticket.
        let status = unsafe { api!(ConnectionSendResumptionTicket)(self.handle.0, flags, 0, std::ptr::null()) };
        check("resumption ticket", status)
    }

    /// The receive windows of streams that are opened before the connection starts. The configuration's come with the
    /// start: such a stream has MsQuic's default of 64 kB, its transport parameters offer the configuration's, and a peer
    /// that uses them ends the connection with `FLOW_CONTROL_ERROR` (`QuicStreamInitialize` of MsQuic 2.5.1).
    fn set_receive_windows(&self, settings: &Settings) -> Result<(), Error> {
        let windows = settings.receive_windows();
        self.set_parameter(
            "receive windows",
            ffi::QUIC_PARAM_CONN_SETTINGS,
            (&raw const windows).cast(),
            size_of_val(&windows),
        )
    }

    fn set_parameter(
        &self,
        operation: &'static str,
        name: u32,
        value: *const c_void,
        size: usize,
    ) -> Result<(), Error> {
        // SAFETY: the handle is open, and the value has that size until the call returns.
        unsafe { Api::set_param(self.handle.0, name, size as u32, value) }
            .map_err(|status| Error { operation, status: status.0 })
    }

    fn start(&self, peer: SocketAddr) -> Result<(), Error> {
        let name = CString::new(peer.ip().to_string()).expect("an address has no NUL");
        let family = if peer.is_ipv4() { ffi::QUIC_ADDRESS_FAMILY_INET } else { ffi::QUIC_ADDRESS_FAMILY_INET6 };
        let family = family as ffi::QUIC_ADDRESS_FAMILY;
        let configuration = self.configuration.as_ref().expect("a client has a configuration");
        // SAFETY: the connection keeps its configuration, and MsQuic copies the name.
        let status =
            unsafe { api!(ConnectionStart)(self.handle.0, configuration.as_raw(), family, name.as_ptr(), peer.port()) };
        check("start", status)
    }

    /// MsQuic's statistics.
    ///
    /// # Errors
    /// MsQuic has none of this connection.
    pub fn statistics(&self) -> Result<ffi::QUIC_STATISTICS_V2, Error> {
        // SAFETY: the parameter is a structure of that type, and the handle is open.
        unsafe { Api::get_param_auto(self.handle.0, ffi::QUIC_PARAM_CONN_STATISTICS_V2) }
            .map_err(|status| Error { operation: "statistics", status: status.0 })
    }

    /// Closes the connection; [`ConnectionEvent::Closed`] follows once the peer acknowledged it.
    pub fn shutdown(&self) {
        let flags = ffi::QUIC_CONNECTION_SHUTDOWN_FLAGS_QUIC_CONNECTION_SHUTDOWN_FLAG_NONE;
        // SAFETY: the handle is open.
        unsafe { api!(ConnectionShutdown)(self.handle.0, flags, 0) };
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the handle is open or was never opened; once it is closed, the callback is not
        // called any more.
        unsafe {
            if !self.handle.0.is_null() {
                api!(ConnectionClose)(self.handle.0);
            }
            drop(Box::from_raw(self.callback));
        }
    }
}

unsafe extern "C" fn on_event(_: ffi::HQUIC, context: *mut c_void, event: *mut ffi::QUIC_CONNECTION_EVENT) -> u32 {
    // SAFETY: the context is the callback, and the event is valid for this call, with the member of
    // the union that its type names.
    let _ = catch_unwind(AssertUnwindSafe(|| unsafe {
        let (callback, event) = (&*context.cast::<Callback>(), &*event);
        let data = &event.__bindgen_anon_1;
        match event.Type {
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_CONNECTED => callback(ConnectionEvent::Connected),
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_PEER_STREAM_STARTED => {
                callback(ConnectionEvent::StreamOpened(IncomingStream(data.PEER_STREAM_STARTED.Stream)));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_NETWORK_STATISTICS => {
                callback(ConnectionEvent::Statistics(&data.NETWORK_STATISTICS));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_RESUMPTION_TICKET_RECEIVED => {
                let ticket = &data.RESUMPTION_TICKET_RECEIVED;
                let length = ticket.ResumptionTicketLength as usize;
                let ticket = std::slice::from_raw_parts(ticket.ResumptionTicket, length);
                callback(ConnectionEvent::ResumptionTicket(ticket));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_SHUTDOWN_INITIATED_BY_TRANSPORT => {
                let shutdown = &data.SHUTDOWN_INITIATED_BY_TRANSPORT;
                callback(ConnectionEvent::Failed { status: shutdown.Status, error: shutdown.ErrorCode });
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_SHUTDOWN_INITIATED_BY_PEER => {
                callback(ConnectionEvent::Failed { status: 0, error: data.SHUTDOWN_INITIATED_BY_PEER.ErrorCode });
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_SHUTDOWN_COMPLETE => {
                callback(ConnectionEvent::Closed)
            }
            _ => {}
        }
    }));
    0
}
