//! Differences of noq's interface from quinn's.

use std::any::Any;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::congestion::{self, Controller, ControllerFactory};
use noq_proto::crypto::{CryptoError, PacketKey};
use noq_proto::{
    Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple,
    PathId, RttEstimator, SendStream, ServerConfig, Transmit,
};
use windlass_adapter::std_time::{Loss, Packet};

use super::Noq;
use super::api::VirtualKey;
use crate::driver::native::NativeDecision;
use crate::quinn_api::{Observed, checksum, implement_packet_key};

pub use windlass_noq::{Factory, PROVIDES, STACK};

/// Type of a connection ID in calls of the cryptography.
pub type ConnectionIdArg<'a> = ConnectionId;

/// Type of a configuration in the call that starts a session.
pub type Starter<'a, T> = &'a T;

/// `config` as it is called to start a session.
pub fn starter<T>(config: &Arc<T>) -> &T {
    config
}

/// Its name in results of runs over UDP sockets.
pub const LIVE_NAME: &str = "noq-wire";

/// Names after `native:`.
pub const NATIVES: &[&str] = &["newreno", "cubic", "bbr3"];

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
        "bbr3" => {
            let mut config = congestion::Bbr3Config::default();
            config.initial_window(window);
            Arc::new(config)
        }
        _ => return None,
    })
}

pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true)
}

/// Gives an endpoint's connections the IDs of `make`.
pub fn connection_ids(config: &mut EndpointConfig, make: fn() -> Box<dyn ConnectionIdGenerator>) {
    config.cid_generator(Arc::new(make));
}

/// Writes what a stream takes of `chunk`, which keeps the rest. Returns whether it took any.
pub fn write(mut stream: SendStream<'_>, chunk: &mut Bytes) -> bool {
    stream.write_chunks(&mut std::slice::from_mut(chunk)).is_ok()
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
    endpoint.handle(now, FourTuple::new(peer, None), ecn, datagram, buffer)
}

/// The next datagram a connection sends.
pub fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
}

pub fn window(connection: &Connection) -> u64 {
    connection.congestion_state(PathId::ZERO).map_or(0, |controller| controller.metrics().congestion_window)
}

pub fn rtt(connection: &Connection) -> Duration {
    connection.rtt(PathId::ZERO).unwrap_or_default()
}

/// Packets sent and packets lost.
pub fn packets(connection: &mut Connection) -> (u64, u64) {
    let stats = connection.path_stats(PathId::ZERO).unwrap_or_default();
    (stats.sent_packets, stats.lost_packets)
}

/// The same of a connection on real sockets.
pub fn live_packets(connection: &noq::Connection) -> (u64, u64) {
    let stats = connection.path_stats(PathId::ZERO).unwrap_or_default();
    (stats.sent_packets, stats.lost_packets)
}

/// The next bytes of a stream on real sockets; `None` at its end.
///
/// # Errors
/// The stream was reset, or the connection lost.
pub async fn read(stream: &mut noq::RecvStream) -> Result<Option<Bytes>, noq::ReadError> {
    stream.read_chunk(usize::MAX).await
}

/// Stores what a native controller decided.
pub fn note(decision: &NativeDecision, native: &dyn Controller) {
    let metrics = native.metrics();
    // Its trait has bytes/s.
    decision.note(
        native.window(),
        metrics.ssthresh.filter(|bytes| *bytes < u64::MAX),
        metrics.pacing_rate.map(|rate| rate.saturating_mul(8)),
    );
}

impl Controller for Observed<Noq> {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.native.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.native.on_packet_sent(now, bytes, pn);
        self.look();
        self.path.on_packet_sent(now, u64::from(bytes), pn, false);
    }

    fn on_cwnd_limited(&mut self) {
        self.native.on_cwnd_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, app_limited: bool, rtt: &RttEstimator) {
        self.native.on_ack(now, sent, bytes, pn, app_limited, rtt);
        self.path.on_packet_acked(Packet { sent, bytes, pn: Some(pn) }, app_limited, || (rtt.get(), rtt.min()));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.native.on_end_acks(now, in_flight, app_limited, largest);
        self.look();
        self.path.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.native.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        self.native.on_congestion_event(now, sent, persistent, is_ecn, lost_bytes, largest_lost_pn);
        self.look();
        if is_ecn {
            self.path.on_ecn_ce(now, sent, Some(largest_lost_pn));
        } else {
            let newest_pn = Some(largest_lost_pn);
            self.path.on_packets_lost(now, sent, Loss { bytes: lost_bytes, packets: None, newest_pn, persistent });
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.native.on_spurious_congestion_event();
        self.look();
        self.path.on_spurious_loss();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, requested_max_ack_delay: Duration) {
        self.native.on_ack_frequency_update(threshold, requested_max_ack_delay);
        self.path.set_max_ack_delay(requested_max_ack_delay);
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

implement_packet_key!(path: PathId);
