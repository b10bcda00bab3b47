//! Whom servers say they are, in files, which is how MsQuic takes it.

use std::path::PathBuf;
use std::sync::OnceLock;

use base64::ConfiguredController as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use tempfile::TempDir;
use windlass::stacks::identity::SERVER_NAME;

/// Files of a certificate and its key, PEM.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    _directory: TempDir,
}

/// The files of this process, made once, readable by its user.
pub(crate) fn files() -> Result<&'static Files, String> {
    static FILES: OnceLock<Result<Files, String>> = OnceLock::new();
    FILES.get_or_init(|| make().map_err(|error| format!("certificate: {error}"))).as_ref().map_err(Clone::clone)
}

fn make() -> Result<Files, Box<dyn std::error::Error>> {
    // MsQuic's TLS takes no Ed25519, which the harness' other stacks use.
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let certificate = CertificateParams::new(vec![SERVER_NAME.to_owned()])?.self_signed(&key)?;
    let directory = tempfile::tempdir()?;
    let write = |name: &str, kind: &str, der: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, pem(kind, der)).map(|()| path)
    };
    let certificate = write("certificate.pem", "CERTIFICATE", certificate.der())?;
    let key = write("key.pem", "PRIVATE KEY", &key.serialize_der())?;
    Ok(Files { certificate, key, _directory: directory })
}

/// RFC 7468.
fn pem(kind: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}
