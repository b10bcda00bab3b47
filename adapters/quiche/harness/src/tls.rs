//! TLS whose messages have the same size in every run.

use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod, SslOptions, SslSignatureAlgorithm, SslVerifyMode};
use boring::x509::X509;

use crate::stacks::identity::{Identity, identity};

/// Keys and certificates.
pub type Tls = Identity;

/// Those of all servers of this process.
///
/// # Errors
/// They cannot be made.
pub fn tls() -> Result<&'static Tls, String> {
    identity()
}

/// The context of a server. It gives no tickets: nobody comes back.
///
/// # Errors
/// BoringSSL's.
pub fn server(tls: &Tls) -> Result<SslContextBuilder, boring::error::ErrorStack> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_certificate(X509::from_der(&tls.certificate)?.as_ref())?;
    context.set_private_key(PKey::private_key_from_der(&plain(&tls.key))?.as_ref())?;
    context.set_options(SslOptions::NO_TICKET);
    Ok(context)
}

/// An Ed25519 key without its public half, which BoringSSL does not read (`RFC 8410 §7`: version
/// 1, not 2).
fn plain(key: &[u8]) -> Vec<u8> {
    const BEFORE: [u8; 16] =
        [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    // The first bytes differ in length and version.
    let secret = key.get(BEFORE.len()..BEFORE.len() + 32).filter(|_| key[5..16] == BEFORE[5..]);
    secret.map_or_else(|| key.to_vec(), |secret| [&BEFORE, secret].concat())
}

/// The context of a client. Signatures of Ed25519 are of one length.
///
/// # Errors
/// BoringSSL's.
pub fn client() -> Result<SslContextBuilder, boring::error::ErrorStack> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_verify(SslVerifyMode::NONE);
    context.set_verify_algorithm_prefs(&[SslSignatureAlgorithm::ED25519])?;
    Ok(context)
}
