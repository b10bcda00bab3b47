//! Packets and their frames.

use std::io::Write;

use super::Trace;
use crate::{Ack, Detail, Frame, Packet, PacketType, Profile};

impl<W: Write> Trace<W> {
    /// Whether packets are written: all of them, or one now and then.
    #[must_use]
    pub fn has_packets(&self) -> bool {
        self.detail == Detail::Packets || self.profile == Profile::Qvis
    }

    /// Writes `packet_sent`.
    pub fn packet_sent(&mut self, now_ns: u64, packet: &Packet, frames: &[Frame<'_>]) {
        if !self.wants_packet(now_ns, self.profile == Profile::Qvis) {
            return;
        }
        self.packet(now_ns, self.names.packet_sent, packet, frames, false);
    }

    /// A packet arrived. Its ACK frames acknowledge packets of this trace.
    ///
    /// In the qvis profile an ACK names only packets that no earlier one named, and the
    /// largest: qvis visits every number of every range, and would stand still for hours
    /// over a long flow's cumulative ranges.
    pub fn packet_received(&mut self, now_ns: u64, packet: &Packet, frames: &[Frame<'_>]) {
        if self.detail == Detail::Packets {
            self.packet(now_ns, self.names.packet_received, packet, frames, true);
        }
    }

    /// Whether a packet sent now is written.
    fn wants_packet(&mut self, now_ns: u64, thinned: bool) -> bool {
        match self.detail {
            Detail::Packets => true,
            Detail::Recovery { every_ns } => {
                let due = thinned && self.packet_at.is_none_or(|at| now_ns >= at.saturating_add(every_ns));
                if due {
                    self.packet_at = Some(now_ns);
                }
                due
            }
        }
    }

    fn packet(&mut self, now_ns: u64, name: &str, packet: &Packet, frames: &[Frame<'_>], received: bool) {
        self.begin(now_ns, name);
        self.packet_header(packet.kind, packet.number);
        self.json.field(",\"raw\":{\"length\":", packet.bytes);
        self.json.raw("}");
        if !frames.is_empty() {
            self.json.raw(",\"frames\":[");
            for frame in frames {
                self.frame(frame, packet.kind, received);
            }
            self.json.raw("]");
        }
        if let Some(trigger) = packet.trigger {
            self.json.word("trigger", trigger.name());
        }
        self.end();
    }

    pub(super) fn packet_header(&mut self, kind: PacketType, number: u64) {
        self.json.raw("\"header\":{\"packet_type\":\"");
        self.json.raw(kind.name());
        self.json.field("\",\"packet_number\":", number);
        self.json.raw("}");
    }

    fn frame(&mut self, frame: &Frame<'_>, kind: PacketType, received: bool) {
        let json = &mut self.json;
        json.open(b'{');
        match *frame {
            Frame::Padding { length } => {
                json.word("frame_type", "padding");
                match self.profile {
                    Profile::Ietf => {
                        json.raw(",\"raw\":{");
                        json.integer("payload_length", length);
                        json.raw("}");
                    }
                    Profile::Qvis => json.integer("length", length),
                }
            }
            Frame::Ping => json.word("frame_type", "ping"),
            Frame::Ack(ref ack) => self.ack(ack, kind, received),
            Frame::Crypto { offset, length } => {
                json.word("frame_type", "crypto");
                json.integer("offset", offset);
                self.frame_length(length);
            }
            Frame::Stream { id, offset, length, fin } => {
                json.field("\"frame_type\":\"stream\",\"stream_id\":", id);
                json.field(",\"offset\":", offset);
                if fin {
                    json.flag("fin", true);
                }
                self.frame_length(length);
            }
            Frame::MaxData { maximum } => {
                json.word("frame_type", "max_data");
                json.integer("maximum", maximum);
            }
            Frame::MaxStreamData { id, maximum } => {
                json.word("frame_type", "max_stream_data");
                json.integer("stream_id", id);
                json.integer("maximum", maximum);
            }
            Frame::Datagram { length } => {
                json.word("frame_type", "datagram");
                self.frame_length(length);
            }
            Frame::HandshakeDone => json.word("frame_type", "handshake_done"),
            Frame::ResetStream { id, error_code, final_size } => {
                json.word("frame_type", "reset_stream");
                json.integer("stream_id", id);
                self.error_code(error_code);
                self.json.integer("final_size", final_size);
            }
            Frame::StopSending { id, error_code } => {
                json.word("frame_type", "stop_sending");
                json.integer("stream_id", id);
                self.error_code(error_code);
            }
            Frame::MaxStreams { bidirectional, maximum } => {
                json.word("frame_type", "max_streams");
                json.word("stream_type", stream_type(bidirectional));
                json.integer("maximum", maximum);
            }
            Frame::DataBlocked { limit } => {
                json.word("frame_type", "data_blocked");
                json.integer("limit", limit);
            }
            Frame::StreamDataBlocked { id, limit } => {
                json.word("frame_type", "stream_data_blocked");
                json.integer("stream_id", id);
                json.integer("limit", limit);
            }
            Frame::StreamsBlocked { bidirectional, limit } => {
                json.word("frame_type", "streams_blocked");
                json.word("stream_type", stream_type(bidirectional));
                json.integer("limit", limit);
            }
            Frame::PathChallenge => json.word("frame_type", "path_challenge"),
            Frame::PathResponse => json.word("frame_type", "path_response"),
            Frame::ConnectionClose => json.word("frame_type", "connection_close"),
        }
        self.json.close(b'}');
    }

    /// An application's error code, which qlog of the IETF has a name and a number for.
    fn error_code(&mut self, code: u64) {
        match self.profile {
            Profile::Ietf => {
                self.json.word("error", "unknown");
                self.json.integer("error_code", code);
            }
            Profile::Qvis => self.json.integer("error_code", code),
        }
    }

    fn frame_length(&mut self, length: u64) {
        match self.profile {
            Profile::Ietf => {
                self.json.field(",\"raw\":{\"length\":", length);
                self.json.raw("}");
            }
            Profile::Qvis => self.json.integer("length", length),
        }
    }

    fn ack(&mut self, ack: &Ack<'_>, kind: PacketType, received: bool) {
        let json = &mut self.json;
        json.raw("\"frame_type\":\"ack\"");
        if let Some(delay) = ack.delay_ns {
            json.field_millis(",\"ack_delay\":", delay);
        }
        if let Some(largest) = ack.ranges.iter().map(|&(_, high)| high).max() {
            json.raw(",\"acked_ranges\":[");
            match self.profile {
                Profile::Ietf => {
                    for &(low, high) in ack.ranges {
                        json.open(b'[');
                        json.field("", low);
                        if low != high {
                            json.field(",", high);
                        }
                        json.close(b']');
                    }
                }
                Profile::Qvis => {
                    let space = match kind {
                        PacketType::Initial => 0,
                        PacketType::Handshake => 1,
                        PacketType::ZeroRtt | PacketType::OneRtt => 2,
                    };
                    let mut pair = |low, high| {
                        json.open(b'[');
                        json.element(low);
                        json.element(high);
                        json.close(b']');
                    };
                    let mut highest = None;
                    for &(low, high) in ack.ranges.iter().filter(|_| received) {
                        self.acknowledged[space].add(low, high, |low, high| {
                            highest = highest.max(Some(high));
                            pair(low, high);
                        });
                    }
                    if highest != Some(largest) {
                        pair(largest, largest);
                    }
                }
            }
            json.close(b']');
        }
        if let Some(ecn) = ack.ecn {
            json.integer("ect0", ecn.ect0);
            json.integer("ect1", ecn.ect1);
            json.integer("ce", ecn.ce);
        }
    }
}

const fn stream_type(bidirectional: bool) -> &'static str {
    if bidirectional { "bidirectional" } else { "unidirectional" }
}
