//! Pacing: the earliest time of the next packet.

use windlass_adapter::{to_f64, to_u64, windows_per_rtt};
use windlass_controllers::{Decision, Span, Time};

/// Below this smoothed RTT a window goes out unpaced unless a rate was decided: waiting
/// for a timer would take longer than the path, as s2n-quic's own controllers have it.
const SHORT_RTT: Span = Span::from_millis(2);

/// What may be made up for of a decided rate when the stack comes late: its timers are late
/// by a millisecond or two, and the rate has to be kept all the same.
const LATENESS: Span = Span::from_millis(2);

/// Datagrams that may leave at once where no rate was decided, as with s2n-quic's own
/// controllers (`RFC 9002 §7.7`).
const BURST: u64 = 10;

/// The longest a packet is held, whatever the rate.
const LONGEST_DELAY: Span = Span::from_millis(1000);

/// Parts of a nanosecond, by which the price of a byte goes; a packet's is then right to a
/// hundredth of one.
const PARTS: f64 = (1 << PARTS_BITS) as f64;
const PARTS_BITS: u32 = 20;

/// A schedule on which each packet takes its size over the rate. s2n-quic sends what is
/// due within its timers' granularity of 1 ms, so it wakes for slices of at least that.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Pacer {
    /// What a byte takes, in [`PARTS`] of a nanosecond; zero: unpaced. A whole number: it is
    /// worked out once for a frame, and used for every packet.
    price: u64,
    /// Time that may be caught up after a pause.
    credit: Span,
    /// Time by which everything sent has left at the rate.
    due: Time,
}

impl Pacer {
    /// A new decision, on a path of datagrams of `mtu` bytes whose smoothed RTT is `smoothed`;
    /// zero if none was measured.
    #[inline]
    pub(crate) fn apply(&mut self, decision: &Decision, smoothed: Span, mtu: u32) {
        if let Some(rate) = decision.pacing_rate {
            self.price = to_u64(8e9 * PARTS / rate.max(1) as f64);
            self.credit = LATENESS;
            return;
        }
        self.price = if smoothed >= SHORT_RTT {
            // As s2n-quic's own controllers have it.
            to_u64(positive(smoothed.0) * PARTS / (windows_per_rtt(decision.phase) * positive(decision.cwnd)))
        } else {
            0
        };
        self.credit = self.takes(BURST * u64::from(mtu));
    }

    #[inline]
    pub(crate) fn sent(&mut self, now: Time, bytes: u64) {
        self.due = self.due.max(Time(now.0.saturating_sub(self.credit.0))) + self.takes(bytes);
    }

    #[inline]
    fn takes(&self, bytes: u64) -> Span {
        Span(bytes.saturating_mul(self.price) >> PARTS_BITS).min(LONGEST_DELAY)
    }

    /// When the next packet may leave, unless that time has come.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }
}

/// A count as a float, at least one. A branch that is always taken: the rest would wait for
/// two comparisons.
#[inline]
fn positive(bytes: u64) -> f64 {
    let count = bytes as i64;
    if count > 0 { count as f64 } else { extreme(bytes) }
}

/// As [`positive`], of nothing and of more than 2⁶³.
#[cold]
#[inline(never)]
fn extreme(bytes: u64) -> f64 {
    to_f64(bytes.max(1))
}

#[cfg(test)]
mod tests;
