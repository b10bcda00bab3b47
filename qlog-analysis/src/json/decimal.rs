//! Numbers as they are written: exact until they are asked for in a unit.

/// So many digits fit into 64 bits, whatever they are.
const MOST_PLAIN: usize = 19;

/// A decimal number as it is spelled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    /// The digits without the point, as many as fit.
    digits: u64,
    /// Power of ten to multiply them with.
    exponent: i32,
    text: &'a [u8],
}

impl<'a> Decimal<'a> {
    /// Reads `text`, all of it; `None` if it is no number.
    #[must_use]
    #[inline]
    pub fn read(text: &'a [u8]) -> Option<Self> {
        let (negative, mut rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        if !rest.first()?.is_ascii_digit() {
            return None;
        }
        let mut digits = 0_u64;
        let mut exponent = 0_i32;
        let mut past_point = false;
        while let [byte, tail @ ..] = rest {
            match byte {
                b'0'..=b'9' => {
                    let digit = u64::from(byte - b'0');
                    match digits.checked_mul(10).and_then(|digits| digits.checked_add(digit)) {
                        Some(more) => {
                            digits = more;
                            exponent -= i32::from(past_point);
                        }
                        // Digits beyond the nineteenth matter to nothing we measure.
                        None => exponent = exponent.saturating_add(i32::from(!past_point)),
                    }
                }
                b'.' if !past_point => past_point = true,
                b'e' | b'E' => {
                    let power = std::str::from_utf8(tail).ok()?.parse::<i32>().ok()?;
                    exponent = exponent.saturating_add(power);
                    rest = &[];
                    break;
                }
                _ => return None,
            }
            rest = tail;
        }
        rest.is_empty().then_some(Decimal { negative, digits, exponent, text })
    }

    /// Reads the number that `text` begins with, if it is as most are: not negative, without an exponent, and no longer than
    /// that all its digits fit. Returns how many bytes it has, too.
    #[inline]
    pub(super) fn plain(text: &'a [u8]) -> Option<(Self, usize)> {
        let mut digits = 0_u64;
        let mut length = 0;
        let mut point = None;
        for &byte in text.iter().take(MOST_PLAIN) {
            match byte {
                b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
                b'.' if point.is_none() && length > 0 => point = Some(length),
                _ => break,
            }
            length += 1;
        }
        if length == 0 || length == MOST_PLAIN {
            return None;
        }
        let exponent = point.map_or(0, |point| point as i32 + 1 - length as i32);
        Some((Decimal { negative: false, digits, exponent, text: &text[..length] }, length))
    }

    /// The number in units of 10^`-places`, rounded towards zero: with 6 places,
    /// milliseconds become whole nanoseconds. `None` where it does not fit.
    #[must_use]
    #[inline]
    pub fn scaled(&self, places: i32) -> Option<i64> {
        let power = self.exponent.saturating_add(places);
        let size = if self.digits == 0 {
            0
        } else if power >= 0 {
            self.digits.checked_mul(10_u64.checked_pow(power.unsigned_abs())?)?
        } else {
            10_u64.checked_pow(power.unsigned_abs()).map_or(0, |divisor| self.digits / divisor)
        };
        let size = i64::try_from(size).ok()?;
        Some(if self.negative { -size } else { size })
    }

    /// What stands before the point, what stands behind it as a whole number, and of how many digits that is; `None` for
    /// numbers with an exponent or more digits than fit.
    #[must_use]
    pub fn parts(&self) -> Option<(u64, u64, u32)> {
        let behind = self.text.iter().rev().position(|&byte| byte == b'.').unwrap_or(0) as u32;
        let unit = 10_u64.checked_pow(behind)?;
        (self.exponent == -(behind as i32)).then(|| (self.digits / unit, self.digits % unit, behind))
    }

    /// As [`Decimal::scaled`], where what stands behind the point counts thousandths: with 6 places, `1.9` is 1 ms and 9 µs.
    #[must_use]
    pub fn unpadded(&self, places: i32) -> Option<i64> {
        let (whole, thousandths, _) = self.parts()?;
        let unit = 10_u64.checked_pow(u32::try_from(places.checked_sub(3)?).ok()?)?;
        let size = whole.checked_mul(1000)?.checked_add(thousandths)?.checked_mul(unit)?;
        let size = i64::try_from(size).ok()?;
        Some(if self.negative { -size } else { size })
    }

    /// The number if it is whole and not negative.
    #[must_use]
    #[inline]
    pub fn whole(&self) -> Option<u64> {
        if self.exponent == 0 {
            return (!self.negative || self.digits == 0).then_some(self.digits);
        }
        // A size such as 1200.0.
        let size = self.to_f64();
        ((0.0..18_446_744_073_709_551_616.0).contains(&size) && size % 1.0 == 0.0).then_some(size as u64)
    }

    /// The `f64` nearest to the number.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        if self.exponent == 0 && self.digits < 1 << 53 {
            let size = self.digits as f64;
            return if self.negative { -size } else { size };
        }
        std::str::from_utf8(self.text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }
}
