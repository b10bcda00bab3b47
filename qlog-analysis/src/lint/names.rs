//! The names the schemas have.

/// Events of the quic namespace (`draft-ietf-quic-qlog-quic-events-13`, and
/// `frames_processed` of the drafts before).
const QUIC: &[&str] = &[
    "server_listening",
    "connection_started",
    "connection_closed",
    "connection_id_updated",
    "spin_bit_updated",
    "connection_state_updated",
    "tuple_assigned",
    "mtu_updated",
    "version_information",
    "alpn_information",
    "parameters_set",
    "parameters_restored",
    "packet_sent",
    "packet_received",
    "packet_dropped",
    "packet_buffered",
    "packets_acked",
    "udp_datagrams_sent",
    "udp_datagrams_received",
    "udp_datagram_dropped",
    "stream_state_updated",
    "frames_processed",
    "frames_created",
    "frames_parsed",
    "stream_data_moved",
    "datagram_data_moved",
    "connection_data_blocked_updated",
    "stream_data_blocked_updated",
    "datagram_data_blocked_updated",
    "migration_state_updated",
    "timer_updated",
    "key_updated",
    "key_discarded",
    "recovery_parameters_set",
    "recovery_metrics_updated",
    "congestion_state_updated",
    "packet_lost",
    "marked_for_retransmit",
    "ecn_state_updated",
];

/// Events of the http3 namespace (`draft-ietf-quic-qlog-h3-events`).
const HTTP3: &[&str] = &[
    "parameters_set",
    "parameters_restored",
    "stream_type_set",
    "priority_updated",
    "frame_created",
    "frame_parsed",
    "datagram_created",
    "datagram_parsed",
    "push_resolved",
];

/// Events of the loglevel namespace (`draft-ietf-quic-qlog-main-schema`).
const LOGLEVEL: &[&str] = &["error", "warning", "info", "debug", "verbose"];

/// Events of the simulation namespace (`draft-ietf-quic-qlog-main-schema`).
const SIMULATION: &[&str] = &["scenario", "marker"];

/// The events of a standard namespace.
pub(crate) fn standard(namespace: &str) -> Option<&'static [&'static str]> {
    match namespace {
        "quic" => Some(QUIC),
        "http3" => Some(HTTP3),
        "loglevel" => Some(LOGLEVEL),
        "simulation" => Some(SIMULATION),
        _ => None,
    }
}

/// Whether a namespace is a category of the drafts before the IETF form.
pub(crate) fn is_pre_ietf(namespace: &str) -> bool {
    matches!(namespace, "transport" | "recovery" | "connectivity" | "security" | "http" | "h3" | "generic" | "qpack")
}

/// What an event of the old drafts is called in the IETF form, where it still exists.
pub(crate) fn ietf_name(namespace: &str, kind: &str) -> Option<String> {
    let kind = match (namespace, kind) {
        ("recovery", "metrics_updated" | "metric_update") => "recovery_metrics_updated",
        ("recovery", "parameters_set") => "recovery_parameters_set",
        ("security", "key_retired") => "key_discarded",
        ("transport", "datagrams_sent" | "datagram_sent") => "udp_datagrams_sent",
        ("transport", "datagrams_received" | "datagram_received") => "udp_datagrams_received",
        ("transport", "data_moved") => "stream_data_moved",
        _ => kind,
    };
    let namespace = match namespace {
        // quiche's name for it is h3.
        "http" | "h3" => "http3",
        "generic" => "loglevel",
        _ => "quic",
    };
    standard(namespace).filter(|kinds| kinds.contains(&kind)).map(|_| format!("{namespace}:{kind}"))
}

/// What an event of the IETF form is called in version 0.3, where it existed.
pub(crate) fn v03_name(namespace: &str, kind: &str) -> Option<String> {
    let (category, kind) = match (namespace, kind) {
        ("quic", "recovery_metrics_updated") => ("recovery", "metrics_updated"),
        ("quic", "recovery_parameters_set") => ("recovery", "parameters_set"),
        ("quic", "packet_lost" | "congestion_state_updated" | "marked_for_retransmit") => ("recovery", kind),
        ("quic", "key_updated" | "key_discarded") => ("security", kind),
        (
            "quic",
            "server_listening"
            | "connection_started"
            | "connection_closed"
            | "connection_id_updated"
            | "spin_bit_updated"
            | "connection_state_updated"
            | "mtu_updated",
        ) => ("connectivity", kind),
        ("quic", "udp_datagrams_sent") => ("transport", "datagrams_sent"),
        ("quic", "udp_datagrams_received") => ("transport", "datagrams_received"),
        ("quic", "stream_data_moved") => ("transport", "data_moved"),
        (
            "quic",
            "version_information"
            | "alpn_information"
            | "parameters_set"
            | "parameters_restored"
            | "packet_sent"
            | "packet_received"
            | "packet_dropped"
            | "packet_buffered"
            | "packets_acked"
            | "stream_state_updated"
            | "frames_processed",
        ) => ("transport", kind),
        ("http3" | "h3", _) => ("http", kind),
        _ => return None,
    };
    Some(format!("{category}:{kind}"))
}

/// Packet types of both schema versions.
pub(crate) const PACKET_TYPES: &[&str] =
    &["initial", "handshake", "0RTT", "1RTT", "retry", "version_negotiation", "stateless_reset", "unknown"];

/// Triggers of sending a packet.
pub(crate) const SEND_TRIGGERS: &[&str] =
    &["retransmit_reordered", "retransmit_timeout", "pto_probe", "retransmit_crypto", "cc_bandwidth_probe"];

/// Values of `trigger` of a lost packet.
pub(crate) const LOSS_TRIGGERS: &[&str] = &["reordering_threshold", "time_threshold", "pto_expired"];
