//! Logged state of loss detection and congestion control.

use std::fmt;

/// Recovery metrics. `None` is unknown, or not there, as an infinite slow start
/// threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Metrics {
    /// Congestion window, bytes.
    pub cwnd: Option<u64>,
    /// Bytes in flight.
    pub bytes_in_flight: Option<u64>,
    /// Packets in flight.
    pub packets_in_flight: Option<u64>,
    /// Slow start threshold, bytes; `u64::MAX` counts as none.
    pub ssthresh: Option<u64>,
    /// Latest RTT sample, ns.
    pub latest_rtt: Option<u64>,
    /// Smoothed RTT, ns.
    pub smoothed_rtt: Option<u64>,
    /// Minimum RTT, ns.
    pub min_rtt: Option<u64>,
    /// RTT variation, ns.
    pub rtt_variance: Option<u64>,
    /// Pacing rate, bit/s.
    pub pacing_rate: Option<u64>,
    /// Probe timeouts in a row.
    pub pto_count: Option<u64>,
    /// Whether the sender had too little to send to use its window, when the newest of the
    /// packets acknowledged last left.
    pub app_limited: Option<bool>,
}

impl Metrics {
    /// What `newer` says, and where it says nothing, what `self` said.
    #[must_use]
    pub fn updated_by(&self, newer: &Metrics) -> Metrics {
        Metrics {
            cwnd: newer.cwnd.or(self.cwnd),
            bytes_in_flight: newer.bytes_in_flight.or(self.bytes_in_flight),
            packets_in_flight: newer.packets_in_flight.or(self.packets_in_flight),
            ssthresh: newer.ssthresh.filter(|&bytes| bytes < u64::MAX).or(self.ssthresh),
            latest_rtt: newer.latest_rtt.or(self.latest_rtt),
            smoothed_rtt: newer.smoothed_rtt.or(self.smoothed_rtt),
            min_rtt: newer.min_rtt.or(self.min_rtt),
            rtt_variance: newer.rtt_variance.or(self.rtt_variance),
            pacing_rate: newer.pacing_rate.or(self.pacing_rate),
            pto_count: newer.pto_count.or(self.pto_count),
            app_limited: newer.app_limited.or(self.app_limited),
        }
    }
}

/// Constants of loss detection and congestion control, as logged once at the start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecoveryParameters<'a> {
    /// The congestion controller with its parameters, as a user types it.
    pub controller: &'a str,
    /// Maximum datagram size, bytes (`RFC 9002 §7.2`).
    pub max_datagram_size: u32,
    /// Initial congestion window, bytes; `None` if unknown.
    pub initial_congestion_window: Option<u64>,
    /// Minimum congestion window, bytes; `None` if unknown.
    pub minimum_congestion_window: Option<u64>,
    /// Packet threshold of loss detection, packets (`RFC 9002 §6.1.1`).
    pub reordering_threshold: Option<u16>,
    /// Time threshold of loss detection, RTTs (`RFC 9002 §6.1.2`).
    pub time_threshold: Option<f64>,
    /// Granularity of the loss timer, ms (`RFC 9002 §6.1.2`).
    pub timer_granularity_ms: u16,
    /// RTT before the first sample, ns.
    pub initial_rtt: Option<u64>,
    /// Probe timeouts that make losses persistent congestion (`RFC 9002 §7.6.1`).
    pub persistent_congestion_threshold: Option<u16>,
}

impl<'a> RecoveryParameters<'a> {
    /// The constants RFC 9002 recommends, for a controller with a maximum datagram
    /// size in bytes.
    #[must_use]
    pub const fn rfc9002(controller: &'a str, max_datagram_size: u32) -> Self {
        RecoveryParameters {
            controller,
            max_datagram_size,
            initial_congestion_window: None,
            minimum_congestion_window: None,
            reordering_threshold: Some(3),
            time_threshold: Some(1.125),
            timer_granularity_ms: 1,
            initial_rtt: Some(333_000_000),
            persistent_congestion_threshold: Some(3),
        }
    }
}

/// A connection ID (`RFC 9000 §17.2`), hexadecimal as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionId {
    bytes: [u8; 20],
    length: u8,
}

impl ConnectionId {
    /// `None` for more than 20 bytes, which no connection ID has.
    #[must_use]
    pub fn new(id: &[u8]) -> Option<ConnectionId> {
        let mut bytes = [0; 20];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(ConnectionId { bytes, length: id.len() as u8 })
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes[..usize::from(self.length)].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Transport parameters of one side (`RFC 9000 §18.2`), as far as they bear on
/// congestion, and which connection they are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransportParameters {
    /// The connection ID of the client's first packet, as the server tells it.
    pub original_destination_connection_id: Option<ConnectionId>,
    /// Bytes the other side may send on the connection.
    pub initial_max_data: Option<u64>,
    /// Bytes the other side may send on a bidirectional stream this side opened.
    pub initial_max_stream_data_bidi_local: Option<u64>,
    /// Bytes the other side may send on a bidirectional stream it opened.
    pub initial_max_stream_data_bidi_remote: Option<u64>,
    /// Bytes the other side may send on a unidirectional stream.
    pub initial_max_stream_data_uni: Option<u64>,
    /// `max_idle_timeout`, ms; `None` leaves it out.
    pub max_idle_timeout: Option<u64>,
    /// Longest time an ACK is held, ms.
    pub max_ack_delay: Option<u64>,
    /// Exponent of the ACK delay field.
    pub ack_delay_exponent: Option<u64>,
    /// Largest UDP payload accepted, bytes.
    pub max_udp_payload_size: Option<u64>,
}

/// The end whose transport parameters an event holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Of the endpoint that writes the trace.
    Local,
    /// The peer's, as received.
    Remote,
}
