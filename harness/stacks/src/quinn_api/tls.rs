//! TLS for a run: a certificate made on the spot, and configurations whose messages have
//! the same size every time.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;

use crate::identity::{Identity, identity};

/// Both ends' TLS.
pub struct TlsConfigs {
    /// The connecting end's.
    pub client: rustls::ClientConfig,
    /// The accepting end's.
    pub server: rustls::ServerConfig,
}

/// TLS for the runs of a process. Signatures, keys and hashes are of fixed length, serial number and validity are
/// fixed, and nothing is resumed, so random keys do not change the size of any message.
///
/// # Errors
/// What rcgen or rustls reports.
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
