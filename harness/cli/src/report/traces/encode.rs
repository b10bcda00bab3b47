//! Lines as bytes: differences as variable-length integers, seven bits a byte, the lowest
//! first. `js/decode.js` reads them.

use windlass_qlog_analysis::series::Point;

/// Adds the times of `points` less `start`, then their values, each as the difference to
/// the one before.
pub(super) fn encode(points: &[Point], start: i64, bytes: &mut Vec<u8>) {
    let mut before = start;
    for point in points {
        varint(zigzag(point.time.wrapping_sub(before)), bytes);
        before = point.time;
    }
    let mut before = 0;
    for point in points {
        varint(zigzag(point.value.wrapping_sub(before)), bytes);
        before = point.value;
    }
}

/// Small numbers for small differences of either sign.
fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_take_few_bytes() {
        let mut bytes = Vec::new();
        let points = [Point { time: 1000, value: 12_000 }, Point { time: 1001, value: 11_999 }];
        encode(&points, 1000, &mut bytes);
        // 0 and 1, zigzag: 0 and 2; 12000: 24000 = 0x5dc0; −1: 1.
        assert_eq!(bytes, [0, 2, 0xc0, 0xbb, 0x01, 1]);
    }
}
