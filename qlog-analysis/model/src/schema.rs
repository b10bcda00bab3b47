//! Names and URIs of the two schema versions of qlog.

/// File schema of a sequential qlog file (`draft-ietf-quic-qlog-main-schema` §5).
pub const FILE_SCHEMA_SEQUENTIAL: &str = "urn:ietf:params:qlog:file:sequential";
/// File schema of a contained qlog file (`draft-ietf-quic-qlog-main-schema` §4).
pub const FILE_SCHEMA_CONTAINED: &str = "urn:ietf:params:qlog:file:contained";
/// Media type of qlog in JSON text sequences.
pub const MEDIA_TYPE_SEQUENTIAL: &str = "application/qlog+json-seq";
/// What every URN of a registered event schema begins with.
pub const EVENT_SCHEMA_PREFIX: &str = "urn:ietf:params:qlog:events:";
/// The event schema of QUIC as of `draft-ietf-quic-qlog-quic-events-13`.
pub const QUIC_EVENTS: &str = "urn:ietf:params:qlog:events:quic-13";
macro_rules! schema_uri {
    () => {
        "https://windlass.invalid/events/"
    };
}

/// Where URIs of event schemas begin that the project names itself; the first release puts an
/// address of the project's in its place.
pub const SCHEMA_URI: &str = schema_uri!();
/// Namespace of the project's own events.
pub const WINDLASS: &str = "windlass";
/// The event schema of our namespace; `docs/qlog.md` describes it.
pub const WINDLASS_EVENTS: &str = concat!(schema_uri!(), "windlass");
/// Record separator of JSON text sequences (`RFC 7464 §2.2`).
pub const RECORD_SEPARATOR: u8 = 0x1e;

/// Who reads the file: the two schema versions of qlog cannot share one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// The IETF form, our canonical one: sequential file schema, `quic:` names,
    /// `congestion_window` (`draft-ietf-quic-qlog-quic-events-13`).
    #[default]
    Ietf,
    /// What qvis can read: version 0.3, `transport:` and `recovery:` names, `cwnd`.
    Qvis,
}

/// The names of one profile.
#[derive(Debug)]
pub(crate) struct Names {
    pub connection_started: &'static str,
    pub parameters_set: &'static str,
    pub owner: &'static str,
    pub packet_sent: &'static str,
    pub packet_received: &'static str,
    pub mtu_updated: &'static str,
    pub packet_lost: &'static str,
    pub metrics_updated: &'static str,
    pub congestion_window: &'static str,
    pub congestion_state_updated: &'static str,
    pub recovery_parameters_set: &'static str,
}

impl Profile {
    pub(crate) const fn names(self) -> &'static Names {
        match self {
            Profile::Ietf => &Names {
                connection_started: "quic:connection_started",
                parameters_set: "quic:parameters_set",
                owner: "initiator",
                packet_sent: "quic:packet_sent",
                packet_received: "quic:packet_received",
                mtu_updated: "quic:mtu_updated",
                packet_lost: "quic:packet_lost",
                metrics_updated: "quic:recovery_metrics_updated",
                congestion_window: "congestion_window",
                congestion_state_updated: "quic:congestion_state_updated",
                recovery_parameters_set: "quic:recovery_parameters_set",
            },
            Profile::Qvis => &Names {
                connection_started: "connectivity:connection_started",
                parameters_set: "transport:parameters_set",
                owner: "owner",
                packet_sent: "transport:packet_sent",
                packet_received: "transport:packet_received",
                mtu_updated: "connectivity:mtu_updated",
                packet_lost: "recovery:packet_lost",
                metrics_updated: "recovery:metrics_updated",
                congestion_window: "cwnd",
                congestion_state_updated: "recovery:congestion_state_updated",
                recovery_parameters_set: "recovery:parameters_set",
            },
        }
    }
}
