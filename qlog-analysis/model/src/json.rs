//! JSON into a reusable buffer, nothing allocated per record.

use serde::Serialize;

/// A growing JSON text. A comma is put before a key or element wherever one is due.
#[derive(Debug, Default)]
pub(crate) struct Json {
    pub bytes: Vec<u8>,
}

impl Json {
    #[inline]
    pub fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn comma(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':' | b',')) {
            self.bytes.push(b',');
        }
    }

    /// `name` must need no escaping.
    #[inline]
    pub fn key(&mut self, name: &str) {
        self.comma();
        self.bytes.push(b'"');
        self.raw(name);
        self.raw("\":");
    }

    #[inline]
    pub fn open(&mut self, bracket: u8) {
        self.comma();
        self.bytes.push(bracket);
    }

    #[inline]
    pub fn close(&mut self, bracket: u8) {
        self.bytes.push(bracket);
    }

    /// An integer; as a string where a JSON parser might round it.
    #[inline]
    pub fn integer(&mut self, name: &str, value: u64) {
        self.key(name);
        self.element(value);
    }

    /// Like [`Json::integer`], in an array or after a key.
    #[inline]
    pub fn element(&mut self, value: u64) {
        self.comma();
        self.field("", value);
    }

    /// `text`, which ends with a key and its colon, and an integer as [`Json::integer`] writes it. What many
    /// records have in common is so one text, and no comma is looked for.
    #[inline]
    pub fn field(&mut self, text: &str, value: u64) {
        self.raw(text);
        if value > MAX_SAFE_INTEGER {
            self.bytes.push(b'"');
            push_u64(&mut self.bytes, value);
            self.bytes.push(b'"');
        } else {
            push_u64(&mut self.bytes, value);
        }
    }

    /// The same with `ns` nanoseconds as milliseconds.
    #[inline]
    pub fn field_millis(&mut self, text: &str, ns: u64) {
        self.raw(text);
        push_millis(&mut self.bytes, ns);
    }

    /// Writes `ns` nanoseconds as milliseconds.
    #[inline]
    pub fn millis(&mut self, name: &str, ns: u64) {
        self.key(name);
        push_millis(&mut self.bytes, ns);
    }

    /// A finite number; anything else becomes `null`.
    pub fn float(&mut self, name: &str, value: f64) {
        self.value(name, &value);
    }

    /// Text that may need escaping.
    pub fn text(&mut self, name: &str, value: &str) {
        self.value(name, value);
    }

    /// Text that needs no escaping.
    #[inline]
    pub fn word(&mut self, name: &str, value: &str) {
        self.key(name);
        self.bytes.push(b'"');
        self.raw(value);
        self.bytes.push(b'"');
    }

    #[inline]
    pub fn flag(&mut self, name: &str, value: bool) {
        self.key(name);
        self.raw(if value { "true" } else { "false" });
    }

    /// Anything serde can write; `null` if it cannot be.
    pub fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.key(name);
        let start = self.bytes.len();
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            self.bytes.truncate(start);
            self.raw("null");
        }
    }
}

/// Largest integer every JSON parser keeps exact, 2^53 − 1
/// (`draft-ietf-quic-qlog-main-schema`, "JSON Interoperability").
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// One more than the largest number of eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;
/// `0` in each byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The decimal digits of `value`, below 10⁸, a byte each, the first in the lowest: all eight at once, halved thrice, by products that divide
/// each part by 100 and 10.
#[inline(always)]
fn digits(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((pairs - 10 * tens) << 8)
}

#[inline]
pub(crate) fn push_u64(out: &mut Vec<u8>, value: u64) {
    if value >= EIGHT_DIGITS {
        push_u64(out, value / EIGHT_DIGITS);
        out.extend_from_slice(&(digits(value % EIGHT_DIGITS) | ZEROS).to_le_bytes());
        return;
    }
    let digits = digits(value);
    // The last digit stays, whatever it is.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    // All bytes are taken, which is one move, and those too many are cut off.
    out.extend_from_slice(&((digits | ZEROS) >> (8 * zeros)).to_le_bytes());
    out.truncate(out.len() - zeros as usize);
}

/// Appends `ns` nanoseconds as milliseconds: a decimal number with as many of six
/// fractional digits as it needs.
#[inline]
pub(crate) fn push_millis(out: &mut Vec<u8>, ns: u64) {
    push_u64(out, ns / 1_000_000);
    let fraction = digits(ns % 1_000_000 * 100);
    if fraction == 0 {
        return;
    }
    out.push(b'.');
    out.extend_from_slice(&(fraction | ZEROS).to_le_bytes());
    out.truncate(out.len() - fraction.leading_zeros() as usize / 8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(value: u64) -> String {
        let mut out = Vec::new();
        push_u64(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    fn millis(ns: u64) -> String {
        let mut out = Vec::new();
        push_millis(&mut out, ns);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_are_written_as_std_writes_them() {
        let mut value = 1u64;
        for shift in 0..64 {
            for near in [value - 1, value, value + 1] {
                assert_eq!(integer(near), near.to_string(), "2^{shift}");
            }
            value = value.wrapping_shl(1).max(1);
        }
        for power in 0..20 {
            let ten = 10u64.pow(power);
            for near in [ten - 1, ten, ten + 1] {
                assert_eq!(integer(near), near.to_string());
            }
        }
        assert_eq!(integer(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn milliseconds_keep_every_nanosecond_and_no_trailing_zero() {
        for (ns, text) in [
            (0, "0"),
            (1, "0.000001"),
            (10, "0.00001"),
            (999_999, "0.999999"),
            (1_000_000, "1"),
            (1_500_000, "1.5"),
            (12_345_678, "12.345678"),
            (100_020_000, "100.02"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            assert_eq!(millis(ns), text);
        }
    }

    #[test]
    fn milliseconds_read_back_as_the_nearest_float() {
        for ns in (0..20_000_000).step_by(997) {
            let read: f64 = millis(ns).parse().unwrap();
            assert_eq!((read * 1e6).round() as u64, ns);
        }
    }
}
