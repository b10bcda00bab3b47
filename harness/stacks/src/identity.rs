//! Certificate and key of all servers.

use std::sync::OnceLock;

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};

/// The name the certificate is for.
pub const SERVER_NAME: &str = "windlass.invalid";

/// A certificate and its key, DER.
#[derive(Debug)]
pub struct Identity {
    /// The certificate, signed by itself.
    pub certificate: Vec<u8>,
    /// Private key, PKCS #8 in DER.
    pub key: Vec<u8>,
}

/// The identity of all servers of this process, made once. Keys are random, but signatures,
/// keys and hashes are of fixed length, and serial number and validity are fixed, so no
/// message changes its size from process to process.
///
/// # Errors
/// Errors of rcgen.
pub fn identity() -> Result<&'static Identity, String> {
    static IDENTITY: OnceLock<Result<Identity, String>> = OnceLock::new();
    IDENTITY.get_or_init(|| make().map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
}

fn make() -> Result<Identity, rcgen::Error> {
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
    params.serial_number = Some(SerialNumber::from(vec![1; 8]));
    params.not_before = rcgen::date_time_ymd(2000, 1, 1);
    params.not_after = rcgen::date_time_ymd(2100, 1, 1);
    let certificate = params.self_signed(&key)?.der().to_vec();
    Ok(Identity { certificate, key: key.serialize_der() })
}
