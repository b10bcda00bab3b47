//! TLS of both ends: configurations whose messages have the same size every time, and a tap that sees packets in the
//! clear.
//!
//! The stack's cryptography is a trait. A tap stands between a connection and its TLS session and hands every packet,
//! with its number, its space and its frames, to the [`SenderLog`] just before it is sealed and just after it is
//! opened. Packets, sizes and timing are those of the session inside.

use std::error::Error;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use windlass_qlog::PacketType;

use crate::driver::sender_log::{PacketObserver, SenderLog, lock};
use crate::identity::{Identity, identity};

/// TLS configurations of both ends.
pub struct TlsConfigs {
    /// For the end that connects.
    pub client: rustls::ClientConfig,
    /// For the end that accepts.
    pub server: rustls::ServerConfig,
}

/// TLS for the runs of a process. Signatures, keys and hashes are of fixed length, serial number and validity are
/// fixed, and nothing is resumed, so random keys do not change the size of any message.
///
/// # Errors
/// Errors of rcgen and rustls.
pub fn tls_configs() -> Result<TlsConfigs, Box<dyn Error>> {
    let Identity { certificate, key } = identity()?;
    let (certificate, key) = (CertificateDer::from(certificate.clone()), PrivatePkcs8KeyDer::from(key.clone()));

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone())?;
    let mut client = rustls::ClientConfig::builder_with_details(Arc::clone(&provider), Arc::new(Always))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.resumption = Resumption::disabled();
    let mut server = rustls::ServerConfig::builder_with_details(provider, Arc::new(Always))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())?;
    server.send_tls13_tickets = 0;
    Ok(TlsConfigs { client, server })
}

/// A date inside the certificate's validity, whatever the day.
#[derive(Debug)]
struct Always;

impl TimeProvider for Always {
    fn current_time(&self) -> Option<UnixTime> {
        // 2020-09-13.
        Some(UnixTime::since_unix_epoch(Duration::from_secs(1_600_000_000)))
    }
}

/// Hands on what one key encrypts and decrypts.
pub struct KeyObserver {
    log: Arc<Mutex<SenderLog>>,
    kind: PacketType,
}

impl KeyObserver {
    /// For a key of packets of `kind`.
    pub fn new(log: &Arc<Mutex<SenderLog>>, kind: PacketType) -> KeyObserver {
        KeyObserver { log: Arc::clone(log), kind }
    }

    /// Packet `number` in `buf`, with `tag_len` bytes left for its tag, is about to be encrypted.
    pub fn sealing(&self, number: u64, buf: &[u8], header_len: usize, tag_len: usize) {
        let end = buf.len().saturating_sub(tag_len);
        let payload = buf.get(header_len..end).unwrap_or_default();
        lock(&self.log).sent(self.kind, number, buf.len(), payload);
    }

    /// Packet `number` of `bytes` was decrypted to `payload`.
    pub fn opened(&self, number: u64, bytes: usize, payload: &[u8]) {
        lock(&self.log).received(self.kind, number, bytes, payload);
    }
}
