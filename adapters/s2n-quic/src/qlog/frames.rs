//! s2n-quic's names for things as qlog's.

use s2n_quic::provider::event::events::{self, BbrState, PacketHeader, StreamType};
use windlass_qlog::{EcnCounts, Frame, PacketType};

/// A frame, without its acknowledged ranges, which are reported one by one.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    Ack(Option<EcnCounts>),
    Other(Frame<'static>),
}

/// Type and number of a packet; `None` for those without a number.
pub(super) fn packet(header: &PacketHeader) -> Option<(PacketType, u64)> {
    Some(match *header {
        PacketHeader::Initial { number, .. } => (PacketType::Initial, number),
        PacketHeader::Handshake { number, .. } => (PacketType::Handshake, number),
        PacketHeader::ZeroRtt { number, .. } => (PacketType::ZeroRtt, number),
        PacketHeader::OneRtt { number, .. } => (PacketType::OneRtt, number),
        _ => return None,
    })
}

/// A frame; `None` for those of which s2n-quic reports too little for qlog.
pub(super) fn seen(frame: &events::Frame) -> Option<Seen> {
    let bidirectional = |kind: &StreamType| matches!(kind, StreamType::Bidirectional { .. });
    Some(Seen::Other(match *frame {
        events::Frame::Ack { ref ecn_counts, .. } => {
            let counts = ecn_counts.as_ref();
            return Some(Seen::Ack(counts.map(|counts| EcnCounts {
                ect0: counts.ect_0_count,
                ect1: counts.ect_1_count,
                ce: counts.ce_count,
            })));
        }
        events::Frame::Padding { len, .. } => Frame::Padding { length: len.into() },
        events::Frame::Ping { .. } => Frame::Ping,
        events::Frame::Crypto { offset, len, .. } => Frame::Crypto { offset, length: len.into() },
        events::Frame::Stream { id, offset, len, is_fin, .. } => {
            Frame::Stream { id, offset, length: len.into(), fin: is_fin }
        }
        events::Frame::MaxData { value, .. } => Frame::MaxData { maximum: value },
        events::Frame::MaxStreamData { id, value, .. } => Frame::MaxStreamData { id, maximum: value },
        events::Frame::Datagram { len, .. } => Frame::Datagram { length: len.into() },
        events::Frame::HandshakeDone { .. } => Frame::HandshakeDone,
        events::Frame::ResetStream { id, error_code, final_size, .. } => {
            Frame::ResetStream { id, error_code, final_size }
        }
        events::Frame::StopSending { id, error_code, .. } => Frame::StopSending { id, error_code },
        events::Frame::MaxStreams { ref stream_type, value, .. } => {
            Frame::MaxStreams { bidirectional: bidirectional(stream_type), maximum: value }
        }
        events::Frame::DataBlocked { data_limit, .. } => Frame::DataBlocked { limit: data_limit },
        events::Frame::StreamDataBlocked { stream_id, stream_data_limit, .. } => {
            Frame::StreamDataBlocked { id: stream_id, limit: stream_data_limit }
        }
        events::Frame::StreamsBlocked { ref stream_type, stream_limit, .. } => {
            Frame::StreamsBlocked { bidirectional: bidirectional(stream_type), limit: stream_limit }
        }
        events::Frame::PathChallenge { .. } => Frame::PathChallenge,
        events::Frame::PathResponse { .. } => Frame::PathResponse,
        events::Frame::ConnectionClose { .. } => Frame::ConnectionClose,
        _ => return None,
    }))
}

/// States of s2n-quic's BBRv2.
pub(super) fn bbr_state(state: &BbrState) -> &'static str {
    match state {
        BbrState::Startup { .. } => "startup",
        BbrState::Drain { .. } => "drain",
        BbrState::ProbeBwDown { .. } => "probe_bw_down",
        BbrState::ProbeBwCruise { .. } => "probe_bw_cruise",
        BbrState::ProbeBwRefill { .. } => "probe_bw_refill",
        BbrState::ProbeBwUp { .. } => "probe_bw_up",
        BbrState::ProbeRtt { .. } => "probe_rtt",
        _ => "unknown",
    }
}
