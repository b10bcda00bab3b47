//! Numbers that JSON does not keep, for the `serde` feature.
//!
//! JSON readers keep integers exactly below 2^53 only, and JSON has no infinities. So an
//! integer beyond is written as a decimal string, and a float that is not finite as its bits
//! in a string; both forms are read, in every format that describes itself.

use core::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest integer that every JSON reader keeps: 2^53 − 1 (`RFC 8259 §6`).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// `Option` of a number: absent, or as the number's own module writes it.
macro_rules! optional {
    ($name:ident, $type:ty, $with:literal) => {
        pub mod $name {
            use super::*;

            #[derive(Serialize, Deserialize)]
            struct Exact(#[serde(with = $with)] $type);

            pub fn serialize<S: Serializer>(value: &Option<$type>, serializer: S) -> Result<S::Ok, S::Error> {
                value.map(Exact).serialize(serializer)
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$type>, D::Error> {
                Ok(Option::deserialize(deserializer)?.map(|Exact(value)| value))
            }
        }
    };
}

optional!(optional_unsigned, u64, "super::unsigned");
optional!(optional_signed, i64, "super::signed");

/// `u64`: a number up to 2^53 − 1, a decimal string beyond.
pub mod unsigned {
    use super::*;

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        if *value <= MAX_SAFE_INTEGER { serializer.serialize_u64(*value) } else { serializer.collect_str(value) }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = u64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer from 0 to 2^64 - 1, as a number or a string")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
                Ok(value)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
                text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// `i64`: a number up to 2^53 − 1 in magnitude, a decimal string beyond.
pub mod signed {
    use super::*;

    pub fn serialize<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.unsigned_abs() <= MAX_SAFE_INTEGER {
            serializer.serialize_i64(*value)
        } else {
            serializer.collect_str(value)
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = i64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer from -2^63 to 2^63 - 1, as a number or a string")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
                Ok(value)
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
                i64::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<i64, E> {
                text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// `f64`: the shortest number that reads back the same; if it is not finite, its bits
/// as `"0x"` and sixteen hexadecimal digits.
pub mod float {
    use super::*;

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.collect_str(&format_args!("{:#018x}", value.to_bits()))
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = f64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or the bits of one as \"0x\" and 16 hexadecimal digits")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
                Ok(value)
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
                Ok(value as f64)
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
                Ok(value as f64)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
                text.strip_prefix("0x")
                    .filter(|digits| digits.len() == 16)
                    .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                    .map(f64::from_bits)
                    .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Read)
    }
}
