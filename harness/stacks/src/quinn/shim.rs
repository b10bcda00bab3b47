//! Differences of quinn's interface from noq's.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{self, Controller, ControllerFactory};
use quinn_proto::crypto::{CryptoError, PacketKey};
use quinn_proto::{
    Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    RttEstimator, SendStream, ServerConfig, Transmit,
};
use windlass_adapter::std_time::{Loss, Packet};

use super::Quinn;
use super::api::VirtualKey;
use crate::driver::native::NativeDecision;
use crate::quinn_api::{Observed, checksum, implement_packet_key};

pub use windlass_quinn::{Factory, PROVIDES, STACK};

/// Type of a connection ID in calls of the cryptography.
pub type ConnectionIdArg<'a> = &'a ConnectionId;

/// Type of a configuration in the call that starts a session.
pub type Starter<'a, T> = Arc<T>;

/// `config` as it is called to start a session.
pub fn starter<T>(config: &Arc<T>) -> Arc<T> {
    Arc::clone(config)
}

/// Its name in results of runs over UDP sockets.
pub const LIVE_NAME: &str = "quinn-wire";

/// Names after `native:`.
pub const NATIVES: &[&str] = &["newreno", "cubic", "bbr"];

/// The factory of its own controller called `name`, with an initial window of ten
/// datagrams of `payload` bytes.
pub fn native(name: &str, payload: u16) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
    let window = 10 * u64::from(payload);
    Some(match name {
        "newreno" => {
            let mut config = congestion::NewRenoConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "cubic" => {
            let mut config = congestion::CubicConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "bbr" => {
            let mut config = congestion::BbrConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        _ => return None,
    })
}

pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true, None)
}

/// Gives an endpoint's connections the IDs of `make`.
pub fn connection_ids(config: &mut EndpointConfig, make: fn() -> Box<dyn ConnectionIdGenerator>) {
    config.cid_generator(make);
}

/// Writes what a stream takes of `chunk`, which keeps the rest. Returns whether it took any.
pub fn write(mut stream: SendStream<'_>, chunk: &mut Bytes) -> bool {
    stream.write_chunks(std::slice::from_mut(chunk)).is_ok()
}

/// A datagram arrives at an endpoint.
pub fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, peer, None, ecn, datagram, buffer)
}

/// The next datagram a connection sends.
pub fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

pub fn window(connection: &Connection) -> u64 {
    connection.congestion_state().metrics().congestion_window
}

pub fn rtt(connection: &Connection) -> Duration {
    connection.rtt()
}

/// Packets sent and packets lost.
pub fn packets(connection: &mut Connection) -> (u64, u64) {
    let stats = connection.stats().path;
    (stats.sent_packets, stats.lost_packets)
}

/// The same of a connection on real sockets.
pub fn live_packets(connection: &quinn::Connection) -> (u64, u64) {
    let stats = connection.stats().path;
    (stats.sent_packets, stats.lost_packets)
}

/// The next bytes of a stream on real sockets; `None` at its end.
///
/// # Errors
/// The stream was reset, or the connection lost.
pub async fn read(stream: &mut quinn::RecvStream) -> Result<Option<Bytes>, quinn::ReadError> {
    Ok(stream.read_chunk(usize::MAX, true).await?.map(|chunk| chunk.bytes))
}

/// Stores what a native controller decided.
pub fn note(decision: &NativeDecision, native: &dyn Controller) {
    let metrics = native.metrics();
    // Its trait has bit/s.
    decision.note(native.window(), metrics.ssthresh.filter(|bytes| *bytes < u64::MAX), metrics.pacing_rate);
}

impl Controller for Observed<Quinn> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.native.on_sent(now, bytes, last_packet_number);
        self.look();
        self.path.on_packet_sent(now, bytes, last_packet_number, true);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.native.on_ack(now, sent, bytes, app_limited, rtt);
        self.path.on_packet_acked(Packet { sent, bytes, pn: None }, app_limited, || (rtt.get(), rtt.min()));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.native.on_end_acks(now, in_flight, app_limited, largest);
        self.look();
        self.path.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.native.on_congestion_event(now, sent, persistent, lost_bytes);
        self.look();
        if lost_bytes == 0 {
            self.path.on_ecn_ce(now, sent, None);
        } else {
            self.path.on_packets_lost(now, sent, Loss { bytes: lost_bytes, persistent, ..Loss::default() });
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.native.on_mtu_update(new_mtu);
        self.look();
        self.path.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.native.window()
    }

    fn metrics(&self) -> congestion::ControllerMetrics {
        self.native.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.copy())
    }

    fn initial_window(&self) -> u64 {
        self.native.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

implement_packet_key!();
