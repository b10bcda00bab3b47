//! When the next packet may leave.

use windlass_adapter::windows_per_rtt;
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
const PATIENCE: Span = Span::from_millis(1000);

/// A schedule on which each packet takes its size over the rate. s2n-quic sends what is
/// due within its timers' granularity of 1 ms, so it wakes for slices of at least that.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Pacer {
    /// Zero: unpaced.
    nanos_per_byte: f64,
    /// Whether the controller decided that.
    decided: bool,
    /// When everything sent has left at the rate.
    due: Time,
}

impl Pacer {
    /// A new decision, on a path whose smoothed RTT is `smoothed`, if one was measured.
    #[inline]
    pub(crate) fn heed(&mut self, decision: &Decision, smoothed: Option<Span>) {
        self.decided = decision.pacing_rate.is_some();
        self.nanos_per_byte = match (decision.pacing_rate, smoothed) {
            (Some(rate), _) => 8e9 / rate.max(1) as f64,
            (None, Some(smoothed)) if smoothed >= SHORT_RTT => {
                // As s2n-quic's own controllers have it.
                smoothed.0 as f64 / (windows_per_rtt(decision.phase) * decision.cwnd.max(1) as f64)
            }
            _ => 0.0,
        };
    }

    /// `bytes` leave at `now` on a path of datagrams of `mtu` bytes.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, bytes: u64, mtu: u32) {
        let credit = if self.decided { LATENESS } else { self.takes(BURST * u64::from(mtu)) };
        self.due = self.due.max(Time(now.0.saturating_sub(credit.0))) + self.takes(bytes);
    }

    #[inline]
    fn takes(&self, bytes: u64) -> Span {
        Span((bytes as f64 * self.nanos_per_byte) as u64).min(PATIENCE)
    }

    /// When the next packet may leave, if not `now`.
    #[inline]
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        (self.due > now).then_some(self.due)
    }
}

#[cfg(test)]
mod tests;
