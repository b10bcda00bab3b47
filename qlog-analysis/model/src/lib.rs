//! The qlog data model and its writer.
//!
//! A [`Trace`] writes one flow as a JSON text sequence, in the IETF form or in the
//! form qvis reads ([`Profile`]). Times and delays are whole nanoseconds here and
//! decimal milliseconds in the file, so that equal runs give equal bytes: there is no
//! wall clock in it. [`Records`] splits any such file into its records again.
//!
//! ```
//! use windlass_qlog::{Ack, Detail, Frame, Header, LossTrigger, Metrics, Packet, PacketType, Profile, Trace};
//!
//! let header = Header { title: "flow 1", ..Header::default() };
//! let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &header);
//! trace.packet_sent(0, &Packet::one_rtt(0, 1200), &[Frame::Stream { id: 0, offset: 0, length: 1160, fin: false }]);
//! trace.recovery_metrics(0, &Metrics { cwnd: Some(12_000), bytes_in_flight: Some(1200), ..Metrics::default() });
//! let ack = Ack { delay_ns: Some(25_000), ranges: &[(0, 0)], ecn: None };
//! trace.packet_received(40_000_000, &Packet::one_rtt(0, 40), &[Frame::Ack(ack)]);
//! trace.packet_lost(50_000_000, PacketType::OneRtt, 1, Some(LossTrigger::TimeThreshold));
//! trace.congestion_state(50_000_000, "recovery", None);
//! let file = trace.finish().unwrap();
//! assert!(file.starts_with(b"\x1e{\"file_schema\""));
//! ```

mod acked;
mod file_name;
mod json;
mod packet;
mod records;
mod recovery;
mod schema;
mod trace;

pub use acked::Acknowledged;
pub use file_name::file_name;
pub use json::MAX_SAFE_INTEGER;
pub use packet::{Ack, EcnCounts, Frame, LossTrigger, Packet, PacketType, SendTrigger};
pub use records::{Framing, Record, Records};
pub use recovery::{ConnectionId, Metrics, RecoveryParameters, Side, TransportParameters};
pub use schema::{
    EVENT_SCHEMA_PREFIX, FILE_SCHEMA_CONTAINED, FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL, Profile, QUIC_EVENTS,
    RECORD_SEPARATOR, SCHEMA_URI, WINDLASS, WINDLASS_EVENTS,
};
pub use trace::{Detail, End, Header, Trace, Vantage};
