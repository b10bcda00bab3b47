//! Servers and listeners, and ports that no other socket has.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_msquic_sys::msquic::{
    Addr, BufferRef, CertificateFile, Configuration, Credential, CredentialConfig, CredentialFlags, ListenerEvent,
    StatusCode,
};

use crate::{Connection, ConnectionEvent, Error, Library, Settings, ffi};

/// The configuration of a server: a certificate and settings.
#[derive(Clone)]
pub struct Server {
    configuration: Arc<Configuration>,
    alpn: String,
}

impl Library {
    /// A server's configuration with `settings` and the PEM files of a certificate and its key.
    ///
    /// # Errors
    /// MsQuic refuses the settings or the files.
    pub fn server(&self, alpn: &str, settings: &Settings, certificate: &Path, key: &Path) -> Result<Server, Error> {
        let configuration = self.configuration(alpn, settings)?;
        let text = |path: &Path| path.display().to_string();
        let file = Credential::CertificateFile(CertificateFile::new(text(key), text(certificate)));
        let credential = CredentialConfig::new()
            .set_credential_flags(CredentialFlags::NO_CERTIFICATE_VALIDATION)
            .set_credential(file);
        configuration
            .load_credential(&credential)
            .map_err(|status| Error { operation: "certificate", status: status.0 })?;
        Ok(Server { configuration: Arc::new(configuration), alpn: alpn.to_owned() })
    }
}

/// A new connection of a listener. It is refused unless it is accepted.
pub struct IncomingConnection<'a> {
    handle: ffi::HQUIC,
    accepted: &'a Cell<bool>,
}

impl IncomingConnection<'_> {
    /// Accepts the connection; its events go to `callback`.
    #[must_use]
    pub fn accept(self, callback: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static) -> Connection {
        self.accepted.set(true);
        // SAFETY: the flag makes the listener's callback accept the connection, which passes its
        // ownership to us; the connection has no events before that returns.
        unsafe { Connection::from_handle(self.handle, callback) }
    }
}

/// Accepts connections until it is dropped.
pub struct Listener {
    inner: windlass_msquic_sys::msquic::Listener,
}

impl Listener {
    /// Listens at `address`, at a port that no other socket has if that is 0, and passes each new connection to
    /// `on_connection`, which several threads may call at once.
    ///
    /// # Errors
    /// MsQuic cannot listen at the address.
    pub fn start(
        library: &Library,
        server: &Server,
        address: SocketAddr,
        on_connection: impl Fn(IncomingConnection<'_>) + Send + Sync + 'static,
    ) -> Result<Listener, Error> {
        let failed =
            |operation| move |status: windlass_msquic_sys::msquic::Status| Error { operation, status: status.0 };
        let serving = server.clone();
        let inner = windlass_msquic_sys::msquic::Listener::open(&library.registration, move |_, event| {
            let ListenerEvent::NewConnection { connection, .. } = event else { return Ok(()) };
            connection.set_configuration(&serving.configuration)?;
            let accepted = Cell::new(false);
            // SAFETY: the handle is only copied.
            let handle = unsafe { connection.as_raw() };
            on_connection(IncomingConnection { handle, accepted: &accepted });
            if accepted.get() { Ok(()) } else { Err(StatusCode::QUIC_STATUS_CONNECTION_REFUSED.into()) }
        })
        .map_err(failed("listener"))?;
        let address = if address.port() == 0 { own_port(address.ip())? } else { address };
        inner.start(&[BufferRef::from(server.alpn.as_str())], Some(&Addr::from(address))).map_err(failed("listen"))?;
        Ok(Listener { inner })
    }

    /// The address it listens at.
    ///
    /// # Errors
    /// MsQuic does not report it.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        let address = self.inner.get_local_addr().map_err(|status| Error { operation: "address", status: status.0 })?;
        let unknown = Error { operation: "address", status: StatusCode::QUIC_STATUS_INVALID_PARAMETER as u32 };
        address.as_socket().ok_or(unknown)
    }
}

/// `address` with a port that no other socket has.
fn own_port(address: IpAddr) -> Result<SocketAddr, Error> {
    reserve_port(address).and_then(|reserved| reserved.local_addr()).map_err(|error| Error {
        operation: "port",
        status: error.raw_os_error().map_or(StatusCode::QUIC_STATUS_INTERNAL_ERROR as u32, i32::unsigned_abs),
    })
}

/// Below the ports that systems choose from.
const PORTS: Range<u16> = 12_000..32_000;

/// Reserves a port for a socket that MsQuic is to bind; to be dropped just before.
///
/// MsQuic lets the processors of a server share its port (`SO_REUSEPORT`), and asked for port 0 such a socket may get the
/// port of another server's: Linux takes all of one user's that allow it for one group, over which it spreads the datagrams.
/// A client's address has to be known before MsQuic binds it.
///
/// # Errors
/// No port of 20 000 can be bound; the last error.
pub fn reserve_port(address: IpAddr) -> io::Result<UdpSocket> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // Processes that run at the same time begin at different ports.
    let begin = std::process::id() as usize * 997;
    let count = PORTS.len();
    let mut last = io::ErrorKind::AddrInUse.into();
    for _ in 0..count {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + ((begin + step) % count) as u16;
        match UdpSocket::bind((address, port)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}
