//! Servers.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use windlass_msquic_sys::msquic::{
    Addr, BufferRef, CertificateFile, Configuration, Credential, CredentialConfig, CredentialFlags, ListenerEvent,
    StatusCode,
};

use crate::{Connection, ConnectionEvent, Failed, Library, Settings, ffi};

/// What connections are served with: a certificate and settings.
#[derive(Clone)]
pub struct Server {
    configuration: Arc<Configuration>,
    alpn: String,
}

impl Library {
    /// Connections with `settings`, a certificate and its key, files in PEM.
    ///
    /// # Errors
    /// The settings are not allowed, or the files cannot be used.
    pub fn server(&self, alpn: &str, settings: &Settings, certificate: &Path, key: &Path) -> Result<Server, Failed> {
        let configuration = self.configuration(alpn, settings)?;
        let text = |path: &Path| path.display().to_string();
        let file = Credential::CertificateFile(CertificateFile::new(text(key), text(certificate)));
        let credential = CredentialConfig::new()
            .set_credential_flags(CredentialFlags::NO_CERTIFICATE_VALIDATION)
            .set_credential(file);
        configuration
            .load_credential(&credential)
            .map_err(|status| Failed { what: "certificate", status: status.0 })?;
        Ok(Server { configuration: Arc::new(configuration), alpn: alpn.to_owned() })
    }
}

/// A connection offered to a listener; it is refused unless it is taken.
pub struct Incoming<'a> {
    handle: ffi::HQUIC,
    taken: &'a Cell<bool>,
}

impl Incoming<'_> {
    /// Accepts it. It ends when what this returns is dropped.
    #[must_use]
    pub fn take(self, hears: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static) -> Connection {
        self.taken.set(true);
        // SAFETY: MsQuic gives the connection to whoever accepts it, which the flag makes the
        // listener's closure say, and tells nothing of it before that returns.
        unsafe { Connection::take(self.handle, hears) }
    }
}

/// Accepts connections until it is dropped.
pub struct Listener {
    inner: windlass_msquic_sys::msquic::Listener,
}

impl Listener {
    /// Listens at `address` and offers each connection to `meet`, from several threads at once.
    ///
    /// # Errors
    /// The address cannot be had.
    pub fn start(
        library: &Library,
        server: &Server,
        address: SocketAddr,
        meet: impl Fn(Incoming<'_>) + Send + Sync + 'static,
    ) -> Result<Listener, Failed> {
        let failed = |what| move |status: windlass_msquic_sys::msquic::Status| Failed { what, status: status.0 };
        let serving = server.clone();
        let inner = windlass_msquic_sys::msquic::Listener::open(&library.registration, move |_, event| {
            let ListenerEvent::NewConnection { connection, .. } = event else { return Ok(()) };
            connection.set_configuration(&serving.configuration)?;
            let taken = Cell::new(false);
            // SAFETY: the handle is only read.
            let handle = unsafe { connection.as_raw() };
            meet(Incoming { handle, taken: &taken });
            if taken.get() { Ok(()) } else { Err(StatusCode::QUIC_STATUS_CONNECTION_REFUSED.into()) }
        })
        .map_err(failed("listener"))?;
        inner.start(&[BufferRef::from(server.alpn.as_str())], Some(&Addr::from(address))).map_err(failed("listen"))?;
        Ok(Listener { inner })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// MsQuic does not tell.
    pub fn address(&self) -> Result<SocketAddr, Failed> {
        let address = self.inner.get_local_addr().map_err(|status| Failed { what: "address", status: status.0 })?;
        let unknown = Failed { what: "address", status: StatusCode::QUIC_STATUS_INVALID_PARAMETER as u32 };
        address.as_socket().ok_or(unknown)
    }
}
