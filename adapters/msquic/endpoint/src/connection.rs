//! Connections.

use std::ffi::{CString, c_void};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use windlass_msquic_sys::msquic::{Addr, Api, Configuration, CredentialConfig, CredentialFlags, ffi};

use crate::stream::{Hears as StreamHears, Stream};
use crate::{Failed, Handle, Library, Settings, StreamEvent, api, check};

/// What MsQuic tells of a connection with an acknowledgement.
pub type Statistics = ffi::QUIC_CONNECTION_EVENT__bindgen_ty_1__bindgen_ty_19;

/// What happens on a connection.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// The handshake is done.
    Connected,
    /// The peer opened a stream.
    Opened(Opened),
    /// The sender's numbers.
    Statistics(&'a Statistics),
    /// MsQuic gave up the connection: a status and the peer's error.
    Lost(u32, u64),
    /// Nothing more will happen.
    Closed,
}

/// A stream a peer opened, to be taken in the closure that hears of it; otherwise it is
/// given up.
#[derive(Debug)]
pub struct Opened(ffi::HQUIC);

impl Opened {
    /// Takes the stream.
    #[must_use]
    pub fn take(self, hears: impl Fn(StreamEvent<'_>) + Send + Sync + 'static) -> Stream {
        let handle = self.0;
        std::mem::forget(self);
        // SAFETY: MsQuic handed the stream to this connection's closure, from which this is
        // called, and tells nothing of it until that returns.
        unsafe { Stream::take(handle, Box::new(hears)) }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: nobody took it.
        unsafe { api!(StreamClose)(self.0) };
    }
}

type Hears = Box<dyn Fn(ConnectionEvent<'_>) + Send + Sync>;

/// A connection. Its streams are to be dropped before it.
pub struct Connection {
    handle: Handle,
    hears: *mut Hears,
    /// Of a client, to be closed after it.
    _configuration: Option<Configuration>,
}

// SAFETY: the closure is Send and Sync, and the handle may be used from any thread.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Library {
    /// Connects from `local`, if given, to `peer`, whose certificate is not looked at.
    ///
    /// # Errors
    /// The settings are not allowed, or `local` is taken.
    pub fn connect(
        &self,
        alpn: &str,
        settings: &Settings,
        local: Option<SocketAddr>,
        peer: SocketAddr,
        hears: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static,
    ) -> Result<Connection, Failed> {
        let configuration = self.configuration(alpn, settings)?;
        let client = CredentialConfig::new_client().set_credential_flags(CredentialFlags::NO_CERTIFICATE_VALIDATION);
        configuration.load_credential(&client).map_err(|status| Failed { what: "credential", status: status.0 })?;
        let hears: *mut Hears = Box::into_raw(Box::new(Box::new(hears)));
        let raw_configuration = Handle(
            // SAFETY: it is closed after the connection only.
            unsafe { configuration.as_raw() },
        );
        let mut connection =
            Connection { handle: Handle(std::ptr::null_mut()), hears, _configuration: Some(configuration) };
        let name = CString::new(peer.ip().to_string()).expect("an address has no NUL");
        let family = if peer.is_ipv4() { ffi::QUIC_ADDRESS_FAMILY_INET } else { ffi::QUIC_ADDRESS_FAMILY_INET6 };
        // SAFETY: the closure lives until the handle is closed; everything else outlives its
        // call.
        unsafe {
            let registration = self.registration.as_raw();
            check("open", api!(ConnectionOpen)(registration, Some(hear), hears.cast(), &mut connection.handle.0))?;
            if let Some(local) = local {
                let local = Addr::from(local);
                let (size, local) = (size_of_val(&local) as u32, (&raw const local).cast());
                Api::set_param(connection.handle.0, ffi::QUIC_PARAM_CONN_LOCAL_ADDRESS, size, local)
                    .map_err(|status| Failed { what: "local address", status: status.0 })?;
            }
            let start = api!(ConnectionStart);
            let family = family as ffi::QUIC_ADDRESS_FAMILY;
            check("start", start(connection.handle.0, raw_configuration.0, family, name.as_ptr(), peer.port()))?;
        }
        Ok(connection)
    }
}

impl Connection {
    /// Takes over the connection a listener was offered.
    ///
    /// # Safety
    /// The handle is one, nobody else closes it, and nothing of it was told yet.
    pub(crate) unsafe fn take(
        handle: ffi::HQUIC,
        hears: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static,
    ) -> Connection {
        let hears: *mut Hears = Box::into_raw(Box::new(Box::new(hears)));
        // SAFETY: the closure lives until the handle is closed, and `hear` is what a
        // connection's events go to.
        unsafe { api!(SetCallbackHandler)(handle, hear as *mut c_void, hears.cast()) };
        Connection { handle: Handle(handle), hears, _configuration: None }
    }

    /// Opens a stream that both sides send on.
    ///
    /// # Errors
    /// The connection ended.
    pub fn open(&self, hears: impl Fn(StreamEvent<'_>) + Send + Sync + 'static) -> Result<Stream, Failed> {
        let hears: StreamHears = Box::new(hears);
        Stream::open(self.handle, true, hears)
    }

    /// Opens a stream that only this side sends on.
    ///
    /// # Errors
    /// The connection ended.
    pub fn open_one_way(&self, hears: impl Fn(StreamEvent<'_>) + Send + Sync + 'static) -> Result<Stream, Failed> {
        let hears: StreamHears = Box::new(hears);
        Stream::open(self.handle, false, hears)
    }

    /// MsQuic's numbers.
    ///
    /// # Errors
    /// MsQuic has none.
    pub fn statistics(&self) -> Result<ffi::QUIC_STATISTICS_V2, Failed> {
        // SAFETY: the parameter is such a structure, and the handle is open.
        unsafe { Api::get_param_auto(self.handle.0, ffi::QUIC_PARAM_CONN_STATISTICS_V2) }
            .map_err(|status| Failed { what: "statistics", status: status.0 })
    }

    /// Says good-bye; [`ConnectionEvent::Closed`] comes when the peer knows.
    pub fn shut_down(&self) {
        let flags = ffi::QUIC_CONNECTION_SHUTDOWN_FLAGS_QUIC_CONNECTION_SHUTDOWN_FLAG_NONE;
        // SAFETY: the handle is open.
        unsafe { api!(ConnectionShutdown)(self.handle.0, flags, 0) };
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the handle is open or was never opened; once it is closed, nothing is told to
        // the closure any more.
        unsafe {
            if !self.handle.0.is_null() {
                api!(ConnectionClose)(self.handle.0);
            }
            drop(Box::from_raw(self.hears));
        }
    }
}

unsafe extern "C" fn hear(_: ffi::HQUIC, context: *mut c_void, event: *mut ffi::QUIC_CONNECTION_EVENT) -> u32 {
    // SAFETY: the context is the closure, and the event is valid for this call, with that
    // member of the union which its type names.
    let _ = catch_unwind(AssertUnwindSafe(|| unsafe {
        let (hears, event) = (&*context.cast::<Hears>(), &*event);
        let data = &event.__bindgen_anon_1;
        match event.Type {
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_CONNECTED => hears(ConnectionEvent::Connected),
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_PEER_STREAM_STARTED => {
                hears(ConnectionEvent::Opened(Opened(data.PEER_STREAM_STARTED.Stream)));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_NETWORK_STATISTICS => {
                hears(ConnectionEvent::Statistics(&data.NETWORK_STATISTICS));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_SHUTDOWN_INITIATED_BY_TRANSPORT => {
                let lost = &data.SHUTDOWN_INITIATED_BY_TRANSPORT;
                hears(ConnectionEvent::Lost(lost.Status, lost.ErrorCode));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_SHUTDOWN_INITIATED_BY_PEER => {
                hears(ConnectionEvent::Lost(0, data.SHUTDOWN_INITIATED_BY_PEER.ErrorCode));
            }
            ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_SHUTDOWN_COMPLETE => hears(ConnectionEvent::Closed),
            _ => {}
        }
    }));
    0
}
