//! The checksum that stands for the tag of 1-RTT packets in virtual time.
//!
//! Both ends of a run are in one process, so that nothing has to be kept secret. Encryption takes a tenth of the time of a run, and neither a
//! size nor an instant depends on it: only whether a packet is the one that was sent, which a checksum of the same length shows. Handshakes
//! are encrypted, and so is everything over sockets.

/// Bytes of a checksum: those of the tags of QUIC's AEADs (RFC 9001 §5.3).
pub const LENGTH: usize = 16;
/// Bytes of a lane.
const WORD: usize = 8;
const LANES: usize = 4;
/// Where each lane begins, and the odd number it is multiplied by: digits of the fractions of the square roots of 2, 3, 5 and 7
/// (FIPS 180-4 §5.3.5).
const DIGITS: [u64; LANES] =
    [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1];

/// Puts the checksum of packet `number` into its last bytes, which are left for it.
pub fn seal(number: u64, packet: &mut [u8], header_len: usize) {
    if let Some((text, tag)) = packet.split_last_chunk_mut::<LENGTH>() {
        let (header, payload) = text.split_at(header_len.min(text.len()));
        *tag = of(number, header, payload);
    }
}

/// The length of what packet `number` holds, if `payload` ends with its checksum.
pub fn open(number: u64, header: &[u8], payload: &[u8]) -> Option<usize> {
    let (text, tag) = payload.split_last_chunk::<LENGTH>()?;
    (of(number, header, text) == *tag).then_some(text.len())
}

fn of(number: u64, header: &[u8], payload: &[u8]) -> [u8; LENGTH] {
    let mut lanes = DIGITS;
    lanes[0] ^= number;
    for bytes in [header, payload] {
        let (blocks, rest) = bytes.as_chunks::<{ WORD * LANES }>();
        blocks.iter().for_each(|block| add(&mut lanes, block));
        let mut last = [0; WORD * LANES];
        last[..rest.len()].copy_from_slice(rest);
        add(&mut lanes, &last);
        lanes[0] ^= bytes.len() as u64;
    }
    let [a, b, c, d] = lanes;
    let mut sum = [0; LENGTH];
    sum[..WORD].copy_from_slice(&mixed(a, b).to_le_bytes());
    sum[WORD..].copy_from_slice(&mixed(c, d).to_le_bytes());
    sum
}

/// Adds a block, each word to its lane. It can be undone, so that no other word of one lane comes to the same.
#[inline(always)]
fn add(lanes: &mut [u64; LANES], block: &[u8; WORD * LANES]) {
    let (words, _) = block.as_chunks::<WORD>();
    for ((lane, word), digits) in lanes.iter_mut().zip(words).zip(DIGITS) {
        *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(digits).rotate_left(29);
    }
}

/// Two lanes in one word, each bit of which depends on both.
fn mixed(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ DIGITS[0]) * u128::from(b ^ DIGITS[1]);
    (product as u64) ^ ((product >> 64) as u64) ^ a.rotate_left(17) ^ b
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: usize = 11;

    fn packet(bytes: usize) -> Vec<u8> {
        let mut packet: Vec<u8> = (0..bytes).map(|i| (i * 7 % 251) as u8).collect();
        seal(42, &mut packet, HEADER);
        packet
    }

    fn opened(number: u64, packet: &[u8]) -> Option<usize> {
        open(number, &packet[..HEADER], &packet[HEADER..])
    }

    #[test]
    fn sealed_packets_open() {
        for bytes in HEADER + LENGTH..200 {
            assert_eq!(opened(42, &packet(bytes)), Some(bytes - HEADER - LENGTH));
        }
    }

    #[test]
    fn changed_packets_do_not() {
        let packet = packet(97);
        for bit in 0..8 * packet.len() {
            let mut changed = packet.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(opened(42, &changed), None, "bit {bit}");
        }
        for length in HEADER..packet.len() {
            assert_eq!(opened(42, &packet[..length]), None, "{length} bytes");
        }
        assert_eq!(opened(41, &packet), None);
        // A byte further on one side of the border between both parts.
        assert_eq!(open(42, &packet[..HEADER + 1], &packet[HEADER + 1..]), None);
    }

    #[test]
    fn a_packet_without_room_is_left_alone() {
        let mut short = [7; LENGTH - 1];
        seal(1, &mut short, 1);
        assert_eq!(short, [7; LENGTH - 1]);
        assert_eq!(open(1, &[], &short), None);
    }
}
