//! quiche's configuration and TLS for a flow: nothing but the controller and the scenario's windows limits it, and messages
//! have the same sizes in every run.

use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod, SslOptions, SslSignatureAlgorithm, SslVerifyMode};
use boring::x509::X509;
use quiche::Config;
use windlass_simulator::scenario::FlowSpec;
use windlass_stacks::identity::{Identity, identity};

/// The protocol's name in TLS.
const PROTOCOL: &[u8] = b"windlass";
/// Flow control windows: more than any transfer has, bytes.
const UNLIMITED: u64 = 1 << 40;

/// A configuration of either end, for datagrams of `largest` bytes at most.
///
/// # Errors
/// quiche refuses a setting.
pub fn config(spec: &FlowSpec, context: SslContextBuilder, largest: usize) -> Result<Config, quiche::Error> {
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, context)?;
    config.set_application_protos(&[PROTOCOL])?;
    config.set_max_recv_udp_payload_size(largest);
    config.set_max_send_udp_payload_size(largest);
    config.discover_pmtu(spec.discover_packet_bytes.is_some());
    let window = spec.receive_window.unwrap_or(UNLIMITED);
    config.set_initial_max_data(window);
    config.set_initial_max_stream_data_uni(window);
    config.set_initial_max_streams_uni(1);
    // It would raise them by itself up to these.
    config.set_max_connection_window(window);
    config.set_max_stream_window(window);
    config.set_max_ack_delay(spec.ack.max_delay.0 / 1_000_000);
    config.set_disable_active_migration(true);
    config.grease(false);
    // Only a flow whose receiver vanishes ends by timeout.
    config.set_max_idle_timeout(if spec.vanishes.is_some() { spec.idle_timeout.0 / 1_000_000 } else { 0 });
    Ok(config)
}

/// The key and certificate of a server.
pub type Tls = Identity;

/// Those of all servers of this process.
///
/// # Errors
/// They cannot be made.
pub fn tls() -> Result<&'static Tls, String> {
    identity()
}

/// The TLS context of a server. It gives no tickets, since no client returns.
///
/// # Errors
/// BoringSSL refuses the key or the certificate.
pub fn server_context(tls: &Tls) -> Result<SslContextBuilder, boring::error::ErrorStack> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_certificate(X509::from_der(&tls.certificate)?.as_ref())?;
    context.set_private_key(PKey::private_key_from_der(&without_public_key(&tls.key))?.as_ref())?;
    context.set_options(SslOptions::NO_TICKET);
    Ok(context)
}

/// An Ed25519 key without its public half, which BoringSSL does not read (`RFC 8410 §7`: version
/// 1, not 2).
fn without_public_key(key: &[u8]) -> Vec<u8> {
    const BEFORE: [u8; 16] =
        [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    // The first five bytes differ in length and version.
    let secret = key.get(BEFORE.len()..BEFORE.len() + 32).filter(|_| key[5..16] == BEFORE[5..]);
    secret.map_or_else(|| key.to_vec(), |secret| [&BEFORE, secret].concat())
}

/// The TLS context of a client. Ed25519 signatures have one length.
///
/// # Errors
/// BoringSSL refuses a setting.
pub fn client_context() -> Result<SslContextBuilder, boring::error::ErrorStack> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_verify(SslVerifyMode::NONE);
    context.set_verify_algorithm_prefs(&[SslSignatureAlgorithm::ED25519])?;
    Ok(context)
}
