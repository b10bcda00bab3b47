//! quiche's configuration for a flow: nothing but the controller limits it, and nothing
//! depends on the day or the machine.

use boring::ssl::SslContextBuilder;
use quiche::Config;

use crate::scenario::FlowSpec;

/// The protocol's name in TLS.
const PROTOCOL: &[u8] = b"windlass";
/// More than any transfer has, bytes.
const ENDLESS: u64 = 1 << 40;

/// A configuration of either end, for datagrams of `largest` bytes at most.
///
/// # Errors
/// quiche's.
pub fn config(spec: &FlowSpec, context: SslContextBuilder, largest: usize) -> Result<Config, quiche::Error> {
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, context)?;
    config.set_application_protos(&[PROTOCOL])?;
    config.set_max_recv_udp_payload_size(largest);
    config.set_max_send_udp_payload_size(largest);
    config.discover_pmtu(spec.discover_packet_bytes.is_some());
    config.set_initial_max_data(ENDLESS);
    config.set_initial_max_stream_data_uni(ENDLESS);
    config.set_initial_max_streams_uni(1);
    config.set_max_connection_window(ENDLESS);
    config.set_max_stream_window(ENDLESS);
    config.set_max_ack_delay(spec.ack.max_delay.0 / 1_000_000);
    config.set_disable_active_migration(true);
    config.grease(false);
    // Only a flow whose receiver falls silent is ever given up.
    config.set_max_idle_timeout(if spec.vanishes.is_some() { spec.idle_timeout.0 / 1_000_000 } else { 0 });
    Ok(config)
}
