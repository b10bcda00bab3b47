//! The number inside an instant.
//!
//! The standard library subtracts instants in functions that are never inlined; two of
//! them per ACK frame cost as much as the rest of an adapter. An instant also hashes the
//! seconds and nanoseconds it is made of, and that is inlined. How it does so is nowhere
//! promised, so it is tried before it is relied upon.

use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

/// Nanoseconds of `instant` from an unknown origin, modulo 2⁶⁴, where [`readable`] says so.
#[inline]
pub(super) fn read(instant: Instant) -> u64 {
    parts(instant).nanos()
}

/// Whether what [`read`] makes of instants near `origin` agrees with their differences.
pub(super) fn readable(origin: Instant) -> bool {
    let steps = [0, 1, 999_999_999, 1_000_000_000, 86_400_000_000_007, 1 << 62];
    steps.into_iter().all(|nanos| {
        let later = origin.checked_add(Duration::from_nanos(nanos));
        later.is_none_or(|later| {
            let (origin, later) = (parts(origin), parts(later));
            !later.other && later.nanos().wrapping_sub(origin.nanos()) == nanos
        })
    })
}

#[inline]
fn parts(instant: Instant) -> Parts {
    let mut parts = Parts::default();
    instant.hash(&mut parts);
    parts
}

/// What an instant hashes.
#[derive(Default)]
struct Parts {
    secs: u64,
    nanos: u32,
    /// Something that is neither.
    other: bool,
}

impl Parts {
    #[inline]
    fn nanos(&self) -> u64 {
        self.secs.wrapping_mul(1_000_000_000).wrapping_add(u64::from(self.nanos))
    }
}

impl Hasher for Parts {
    fn finish(&self) -> u64 {
        self.nanos()
    }

    fn write(&mut self, _: &[u8]) {
        self.other = true;
    }

    #[inline]
    fn write_i64(&mut self, secs: i64) {
        self.secs = secs.cast_unsigned();
    }

    #[inline]
    fn write_u64(&mut self, secs: u64) {
        self.secs = secs;
    }

    #[inline]
    fn write_u32(&mut self, nanos: u32) {
        self.nanos = nanos;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not promised by the standard library: if this fails, [`Clock`](super::super::Clock)
    /// is slower and still right.
    #[test]
    fn instants_can_be_read_on_this_platform() {
        assert!(readable(Instant::now()));
    }

    #[test]
    fn anything_else_that_is_hashed_is_noticed() {
        let mut parts = Parts::default();
        7_u8.hash(&mut parts);
        assert!(parts.other);
    }
}
