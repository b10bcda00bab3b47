//! Instants and durations as plain integers.

use core::ops::{Add, AddAssign, Sub};

/// An instant, in nanoseconds since an origin the caller chose once and keeps.
///
/// Controllers never read a clock: every `Time` they see arrived in an
/// [`Event`](crate::Event). Only differences carry meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Time(#[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))] pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span(#[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))] pub u64);

impl Time {
    /// The origin of the caller's clock, 0 ns.
    pub const ZERO: Time = Time(0);

    /// An instant `us` microseconds after the origin.
    #[must_use]
    pub const fn from_micros(us: u64) -> Time {
        Time(us.saturating_mul(1_000))
    }

    /// Time passed since `earlier`; zero if `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// 0 ns.
    pub const ZERO: Span = Span(0);

    /// A duration of `us` microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Span {
        Span(us.saturating_mul(1_000))
    }

    /// A duration of `ms` milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000_000))
    }

    /// A duration of `s` seconds, rounded down to the nanosecond; negative and
    /// NaN give zero, too large a value saturates.
    #[must_use]
    #[inline]
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * 1e9) as u64)
    }

    /// As a float, through `i64`: one instruction instead of six. Beyond 2⁶³, which is 292
    /// years, it saturates.
    #[inline]
    pub(crate) fn nanos(self) -> f64 {
        self.0.min(i64::MAX as u64) as i64 as f64
    }

    /// The span in seconds.
    #[must_use]
    #[inline]
    pub fn secs(self) -> f64 {
        self.nanos() / 1e9
    }

    /// The span in milliseconds.
    #[must_use]
    #[inline]
    pub fn millis(self) -> f64 {
        self.nanos() / 1e6
    }

    /// The span in microseconds.
    #[must_use]
    #[inline]
    pub fn micros(self) -> f64 {
        self.nanos() / 1e3
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}
