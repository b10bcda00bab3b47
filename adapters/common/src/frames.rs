//! Reading the frames of a packet (`RFC 9000 §19`), as far as a log has use for them.

use windlass_qlog::{Ack, EcnCounts, Frame};

/// What RFC 9000 §18.2 sets the ACK delay exponent to by default.
const ACK_DELAY_EXPONENT: u32 = 3;
/// The largest one it allows.
const MAX_ACK_DELAY_EXPONENT: u32 = 20;

/// The frames of one packet. Reused from packet to packet.
#[derive(Debug)]
pub struct Frames {
    exponent: u32,
    seen: Vec<Seen>,
    ranges: Vec<(u64, u64)>,
    /// Whether the packet asks for an ACK (`RFC 9002 §2`).
    pub ack_eliciting: bool,
    /// Whether it counts as in flight: it asks for an ACK or is padded.
    pub in_flight: bool,
    /// Where the furthest stream data of the packet ends, bytes into its stream.
    pub stream_end: Option<u64>,
    /// Whether the handshake is confirmed by it.
    pub handshake_done: bool,
}

#[derive(Clone, Copy, Debug)]
enum Seen {
    Frame(Frame<'static>),
    Ack { delay_ns: u64, ranges: (usize, usize), ecn: Option<EcnCounts> },
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            exponent: ACK_DELAY_EXPONENT,
            seen: Vec::new(),
            ranges: Vec::new(),
            ack_eliciting: false,
            in_flight: false,
            stream_end: None,
            handshake_done: false,
        }
    }
}

impl Frames {
    /// Takes ACK delays for so many powers of two of a microsecond, at most 20
    /// (`RFC 9000 §18.2`); 3 by default, as with quinn and noq.
    pub fn ack_delay_exponent(&mut self, exponent: u32) {
        self.exponent = exponent.min(MAX_ACK_DELAY_EXPONENT);
    }

    /// Forgets the frames of the packet read last.
    pub fn clear(&mut self) {
        self.read(&[]);
    }

    /// Reads the frames of `payload`. What does not parse ends the reading: the stack is
    /// the judge of packets, not this.
    pub fn read(&mut self, payload: &[u8]) {
        self.seen.clear();
        self.ranges.clear();
        (self.ack_eliciting, self.in_flight, self.stream_end, self.handshake_done) = (false, false, None, false);
        let mut input = Input(payload);
        while !input.0.is_empty() && self.frame(&mut input).is_some() {}
    }

    fn frame(&mut self, input: &mut Input<'_>) -> Option<()> {
        let kind = input.varint()?;
        self.in_flight |= !matches!(kind, 0x02 | 0x03 | 0x1c | 0x1d | 0x2f5);
        self.ack_eliciting |= !matches!(kind, 0x00 | 0x02 | 0x03 | 0x1c | 0x1d | 0x2f5);
        let frame = match kind {
            0x00 => {
                let more = input.0.iter().take_while(|byte| **byte == 0).count();
                input.skip(more as u64)?;
                Frame::Padding { length: more as u64 + 1 }
            }
            0x01 => Frame::Ping,
            0x02 | 0x03 => return self.ack(input, kind == 0x03),
            0x06 => {
                let (offset, length) = (input.varint()?, input.varint()?);
                input.skip(length)?;
                Frame::Crypto { offset, length }
            }
            0x08..=0x0f => {
                let id = input.varint()?;
                let offset = if kind & 0x04 != 0 { input.varint()? } else { 0 };
                let length = if kind & 0x02 != 0 { input.varint()? } else { input.0.len() as u64 };
                input.skip(length)?;
                self.stream_end = self.stream_end.max(Some(offset.saturating_add(length)));
                Frame::Stream { id, offset, length, fin: kind & 0x01 != 0 }
            }
            0x10 => Frame::MaxData { maximum: input.varint()? },
            0x11 => Frame::MaxStreamData { id: input.varint()?, maximum: input.varint()? },
            0x1e => {
                self.handshake_done = true;
                Frame::HandshakeDone
            }
            0x30 | 0x31 => {
                let length = if kind == 0x31 { input.varint()? } else { input.0.len() as u64 };
                input.skip(length)?;
                Frame::Datagram { length }
            }
            _ => return skip(kind, input),
        };
        self.seen.push(Seen::Frame(frame));
        Some(())
    }

    fn ack(&mut self, input: &mut Input<'_>, counts: bool) -> Option<()> {
        let start = self.ranges.len();
        let largest = input.varint()?;
        let delay_us = input.varint()?.saturating_mul(1 << self.exponent);
        let more = input.varint()?;
        let mut low = largest.checked_sub(input.varint()?)?;
        self.ranges.push((low, largest));
        for _ in 0..more {
            let high = low.checked_sub(input.varint()?.checked_add(2)?)?;
            low = high.checked_sub(input.varint()?)?;
            self.ranges.push((low, high));
        }
        let ecn = if counts {
            Some(EcnCounts { ect0: input.varint()?, ect1: input.varint()?, ce: input.varint()? })
        } else {
            None
        };
        let delay_ns = delay_us.saturating_mul(1000);
        self.seen.push(Seen::Ack { delay_ns, ranges: (start, self.ranges.len()), ecn });
        Some(())
    }

    /// Packet numbers the packet acknowledges: lowest and highest of each range.
    pub fn acknowledged(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Whether the packet probes for a larger datagram size: nothing but a ping and padding.
    pub fn probes_mtu(&self) -> bool {
        let mut padded = false;
        let mut all = self.seen.iter();
        let nothing_else = all.all(|seen| {
            padded |= matches!(seen, Seen::Frame(Frame::Padding { .. }));
            matches!(seen, Seen::Frame(Frame::Ping | Frame::Padding { .. }))
        });
        nothing_else && padded && self.ack_eliciting
    }

    /// The frames as a log has them.
    pub fn logged(&self) -> impl Iterator<Item = Frame<'_>> {
        self.seen.iter().map(|seen| match *seen {
            Seen::Frame(frame) => frame,
            Seen::Ack { delay_ns, ranges: (from, to), ecn } => {
                Frame::Ack(Ack { delay_ns: Some(delay_ns), ranges: &self.ranges[from..to], ecn })
            }
        })
    }
}

/// Passes over a frame a log has no use for; `None` if its kind is unknown.
fn skip(kind: u64, input: &mut Input<'_>) -> Option<()> {
    let varints = match kind {
        0x04 => 3,
        0x05 | 0x15 => 2,
        // 0x21 is RESET_STREAM_AT, 0x2f5 a time stamp of one-way delays.
        0x12..=0x14 | 0x16 | 0x17 | 0x19 | 0x2f5 => 1,
        0x21 | 0xaf => 4,
        _ => 0,
    };
    for _ in 0..varints {
        input.varint()?;
    }
    match kind {
        0x04 | 0x05 | 0x12..=0x17 | 0x19 | 0x1f | 0x21 | 0xaf | 0x2f5 => Some(()),
        0x07 => {
            let length = input.varint()?;
            input.skip(length)
        }
        0x18 => {
            input.varint()?;
            input.varint()?;
            let length = input.byte()?;
            input.skip(u64::from(length) + 16)
        }
        0x1a | 0x1b => input.skip(8),
        0x1c | 0x1d => {
            input.varint()?;
            if kind == 0x1c {
                input.varint()?;
            }
            let length = input.varint()?;
            input.skip(length)
        }
        _ => None,
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x3f);
        for _ in 0..(1 << (first >> 6)) - 1 {
            value = value << 8 | u64::from(self.byte()?);
        }
        Some(value)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &[u8]) -> Frames {
        let mut frames = Frames::default();
        frames.read(payload);
        frames
    }

    #[test]
    fn an_ack_with_ranges_and_counts() {
        // Largest 10, delay 2·8 µs, first range 10..=9, gap 1, range 6..=4; counts 7, 0, 2.
        let frames = read(&[0x03, 10, 2, 1, 1, 1, 2, 7, 0, 2]);
        assert_eq!(frames.acknowledged(), [(9, 10), (4, 6)]);
        assert!(!frames.ack_eliciting && !frames.in_flight);
        let ecn = Some(EcnCounts { ect0: 7, ect1: 0, ce: 2 });
        let expected = Frame::Ack(Ack { delay_ns: Some(16_000), ranges: &[(9, 10), (4, 6)], ecn });
        assert_eq!(frames.logged().collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn a_peer_may_count_delays_more_coarsely() {
        let mut frames = Frames::default();
        frames.ack_delay_exponent(8);
        // A time stamp of 5 in front, which is passed over.
        frames.read(&[0x42, 0xf5, 5, 0x02, 10, 2, 0, 1]);
        let expected = Frame::Ack(Ack { delay_ns: Some(512_000), ranges: &[(9, 10)], ecn: None });
        assert_eq!(frames.logged().collect::<Vec<_>>(), [expected]);
        frames.clear();
        assert_eq!(frames.logged().count(), 0);
    }

    #[test]
    fn stream_data_to_the_end_of_the_packet() {
        let mut packet = vec![0x0c, 2, 0x40, 0x64]; // stream 2 from offset 100
        packet.extend([9; 50]);
        let frames = read(&packet);
        assert_eq!(frames.stream_end, Some(150));
        assert!(frames.ack_eliciting && frames.in_flight);
        let expected = Frame::Stream { id: 2, offset: 100, length: 50, fin: false };
        assert_eq!(frames.logged().collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn padding_alone_is_in_flight_but_asks_for_nothing() {
        let frames = read(&[0, 0, 0]);
        assert!(frames.in_flight && !frames.ack_eliciting);
        assert_eq!(frames.logged().collect::<Vec<_>>(), [Frame::Padding { length: 3 }]);
    }

    #[test]
    fn frames_without_use_are_passed_over() {
        let mut packet = vec![0x12, 5, 0x40, 0xaf, 1, 1, 1, 1, 0x18, 1, 0, 8];
        packet.extend([0; 24]);
        packet.extend([0x1e, 0x01]);
        let frames = read(&packet);
        assert!(frames.handshake_done);
        assert_eq!(frames.logged().collect::<Vec<_>>(), [Frame::HandshakeDone, Frame::Ping]);
    }

    #[test]
    fn nonsense_ends_the_reading() {
        for packet in [&[0x02u8, 1][..], &[0x02, 1, 0, 0, 9], &[0x06, 0, 0x7f, 0xff], &[0xc0], &[0x3f, 1]] {
            assert_eq!(read(packet).logged().count(), 0);
        }
    }

    #[test]
    fn a_ping_and_padding_probe_for_the_datagram_size() {
        assert!(read(&[0x01, 0, 0, 0]).probes_mtu());
        assert!(read(&[0x01, 0x1f, 0, 0]).probes_mtu(), "asking for an ACK at once");
        for packet in [&[0x01][..], &[0, 0], &[0x01, 0x06, 0, 1, 9, 0, 0]] {
            assert!(!read(packet).probes_mtu(), "{packet:?}");
        }
    }
}
