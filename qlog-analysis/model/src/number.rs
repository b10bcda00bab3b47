//! Numbers as text: integers and nanoseconds, without detours through floats.

/// Largest integer every JSON parser keeps exact, 2^53 − 1
/// (`draft-ietf-quic-qlog-main-schema`, "JSON Interoperability").
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends `value` in decimal.
#[inline]
pub(crate) fn push_u64(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    while value >= 100 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if value >= 10 {
        let pair = value as usize * 2;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        digits[at] = b'0' + value as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends `ns` nanoseconds as milliseconds: a decimal number with as many of six
/// fractional digits as it needs.
#[inline]
pub(crate) fn push_millis(out: &mut Vec<u8>, ns: u64) {
    push_u64(out, ns / 1_000_000);
    let fraction = (ns % 1_000_000) as usize;
    if fraction == 0 {
        return;
    }
    let mut digits = *b".000000";
    for (i, pair) in [fraction / 10_000, fraction / 100 % 100, fraction % 100].into_iter().enumerate() {
        digits[1 + 2 * i..3 + 2 * i].copy_from_slice(&PAIRS[2 * pair..2 * pair + 2]);
    }
    let mut end = digits.len();
    while digits[end - 1] == b'0' {
        end -= 1;
    }
    out.extend_from_slice(&digits[..end]);
}

#[cfg(test)]
mod tests;
