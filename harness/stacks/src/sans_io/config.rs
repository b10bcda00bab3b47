//! The stack's configuration for a flow: nothing but the controller limits it, and nothing
//! depends on the day or the machine.

use std::sync::Arc;
use std::time::Duration;

use super::proto::congestion::{ControllerFactory, NewRenoConfig};
use super::proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, IdleTimeout,
    MtuDiscoveryConfig, ServerConfig, TransportConfig, VarInt, crypto,
};

use super::dialect;
use super::tls::Tls;
use windlass_simulator::scenario::{AckPolicy, FlowSpec};

/// The stack's own receiver: an ACK for every second packet, after 25 ms, at once after a gap.
const OWN_POLICY: AckPolicy = AckPolicy::DELAYED;

/// The transport configuration of both ends of a flow.
pub fn transport(flow: &FlowSpec, payload: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(payload)
        .min_mtu(payload)
        .mtu_discovery_config(discovery(flow))
        .max_idle_timeout(idle_timeout(flow))
        .receive_window(VarInt::MAX)
        .stream_receive_window(VarInt::MAX)
        .send_window(u64::MAX)
        .datagram_receive_buffer_size(None)
        .enable_segmentation_offload(false);
    if (flow.ack.every, flow.ack.max_delay) != (OWN_POLICY.every, OWN_POLICY.max_delay) {
        transport.ack_frequency_config(Some(ack_frequency(&flow.ack)));
    }
    transport
}

/// Path MTU discovery, where the scenario asks for it.
fn discovery(flow: &FlowSpec) -> Option<MtuDiscoveryConfig> {
    let mut config = MtuDiscoveryConfig::default();
    config.upper_bound(u16::try_from(flow.discover_packet_bytes?).unwrap_or(u16::MAX));
    Some(config)
}

/// Only a flow whose receiver falls silent is ever given up.
fn idle_timeout(flow: &FlowSpec) -> Option<IdleTimeout> {
    flow.vanishes?;
    Duration::from_nanos(flow.idle_timeout.0).try_into().ok()
}

/// The policy as the sender asks for it (`draft-ietf-quic-ack-frequency`).
fn ack_frequency(policy: &AckPolicy) -> AckFrequencyConfig {
    let mut config = AckFrequencyConfig::default();
    config
        .ack_eliciting_threshold(VarInt::from_u32(policy.every.saturating_sub(1)))
        // The stack refuses less than its timers' granularity.
        .max_ack_delay(Some(Duration::from_nanos(policy.max_delay.0).max(Duration::from_millis(1))))
        .reordering_threshold(VarInt::from_u32(1));
    config
}

/// The sending end's endpoint and configuration.
pub fn sender<C: crypto::ClientConfig + 'static>(
    seed: [u8; 32],
    crypto: Arc<C>,
    mut transport: TransportConfig,
    factory: Arc<dyn ControllerFactory + Send + Sync>,
    largest: u16,
) -> (Endpoint, ClientConfig) {
    transport.congestion_controller_factory(factory);
    let mut config = ClientConfig::new(crypto);
    config.transport_config(Arc::new(transport));
    config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[0xd5; 8])));
    (dialect::endpoint(endpoint(seed, largest), None), config)
}

/// The receiving end's endpoint.
pub fn receiver(seed: [u8; 32], tls: &Tls, transport: TransportConfig, payload: u16, largest: u16) -> Endpoint {
    dialect::endpoint(endpoint(seed, largest), Some(Arc::new(server(tls, transport, payload))))
}

/// The receiving end's configuration. Its own controller has nothing to do, but a server
/// whose window is smaller than two datagrams deadlocks in the handshake, and the stack's
/// default window does not grow with the datagram size.
pub fn server(tls: &Tls, mut transport: TransportConfig, payload: u16) -> ServerConfig {
    let mut controller = NewRenoConfig::default();
    controller.initial_window(10 * u64::from(payload));
    transport.congestion_controller_factory(Arc::new(controller));
    let mut config = ServerConfig::with_crypto(tls.server.clone());
    config.transport_config(Arc::new(transport));
    config
}

fn endpoint(seed: [u8; 32], largest: u16) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::default();
    config.rng_seed(Some(seed));
    dialect::connection_ids(&mut config, || Box::new(Counted(0)));
    // In its range: a payload is checked before a flow is made.
    let _ = config.max_udp_payload_size(largest.max(1472));
    Arc::new(config)
}

/// Connection IDs that are the same in every run.
struct Counted(u64);

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 += 1;
        ConnectionId::new(&self.0.to_be_bytes())
    }
    fn cid_len(&self) -> usize {
        8
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
