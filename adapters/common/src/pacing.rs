//! The pacing rate where a controller decides a window alone: the one rule of all adapters, of
//! libwindlass and of the simulator.

use windlass_controllers::{Decision, Phase, Span};

/// How many windows leave in a smoothed RTT where no rate was decided: a little more than
/// one, so that the window and not the pacer limits; in slow start enough for it to double
/// (`RFC 9002 §7.7`).
#[must_use]
#[inline]
pub fn windows_per_rtt(phase: Phase) -> f64 {
    if phase == Phase::SlowStart { 2.0 } else { 1.25 }
}

/// The rate in bit/s, at most 2⁶³ − 1, for a decision without one, on a path with this smoothed RTT;
/// `None` for an RTT of nothing.
#[must_use]
#[inline]
pub fn default_pacing(decision: &Decision, smoothed: Span) -> Option<u64> {
    spread(decision.cwnd, windows_per_rtt(decision.phase), smoothed)
}

/// The rate in bit/s, at most 2⁶³ − 1, at which so many `windows` of `cwnd` bytes leave in a smoothed RTT;
/// `None` for an RTT of nothing.
#[must_use]
#[inline]
pub fn spread(cwnd: u64, windows: f64, smoothed: Span) -> Option<u64> {
    (smoothed > Span::ZERO).then(|| to_u64(windows * to_f64(cwnd) * 8e9 / to_f64(smoothed.0)))
}

/// The largest send quantum, bytes (`draft-ietf-ccwg-bbr §5.6.3`).
const MAX_SEND_QUANTUM: u64 = 64 << 10;

/// Bytes that may leave at once at `rate` bit/s, in datagrams of `mtu` bytes: those of a millisecond, but two
/// datagrams at least and 64 KiB at most (`draft-ietf-ccwg-bbr §5.6.3`).
#[must_use]
pub fn send_quantum(rate: u64, mtu: u32) -> u64 {
    to_u64(to_f64(rate) / 8000.0).min(MAX_SEND_QUANTUM).max(2 * u64::from(mtu))
}

/// Datagrams that a sender may let go at once without pacing (`RFC 9002 §7.7`, the initial window of §7.2).
const BURST: u64 = 10;

/// The longest a pacer may hold the next packet after one left, on a path of datagrams of `mtu` bytes with
/// this smoothed RTT: a bucket of a burst fills before it goes on. A pacer that does not ask the
/// controller goes by the window, so the slower of both counts.
#[must_use]
pub fn longest_pacing_delay(decision: &Decision, smoothed: Span, mtu: u32) -> Span {
    let spread = to_f64(decision.cwnd.max(1)) * windows_per_rtt(Phase::CongestionAvoidance) * 8e9;
    let spread = if smoothed > Span::ZERO { spread / to_f64(smoothed.0) } else { f64::INFINITY };
    let rate = decision.pacing_rate.map_or(spread, |rate| spread.min(to_f64(rate.max(1))));
    Span(to_u64(to_f64(BURST * u64::from(mtu)) * 8e9 / rate))
}

/// The whole part of what is not negative, through `i64`: fewer instructions. Beyond 2⁶³ it
/// saturates.
#[must_use]
#[inline]
pub fn to_u64(value: f64) -> u64 {
    value as i64 as u64
}

/// A count as a float, through `i64`: one instruction instead of five. Beyond 2⁶³ it
/// saturates.
#[must_use]
#[inline]
pub fn to_f64(count: u64) -> f64 {
    count.min(i64::MAX as u64) as i64 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_controllers::fixed_window::FixedWindow;
    use windlass_controllers::{ConfiguredController, Path, Time, View};

    #[test]
    fn a_window_leaves_a_little_faster_than_it_is_acknowledged() {
        let controller = FixedWindow::configured(10);
        let state = controller.start(&Path::new(Time::ZERO, 1000, 0));
        let mut decision = controller.decide(&state, View::solo(&()));
        decision.phase = Phase::CongestionAvoidance;
        assert_eq!(default_pacing(&decision, Span::from_millis(100)), Some(1_000_000));
        decision.phase = Phase::SlowStart;
        assert_eq!(default_pacing(&decision, Span::from_millis(100)), Some(1_600_000));
        assert_eq!(default_pacing(&decision, Span::ZERO), None);
        decision.cwnd = u64::MAX;
        assert_eq!(default_pacing(&decision, Span(1)), Some(i64::MAX.cast_unsigned()));
    }

    #[test]
    fn a_quantum_is_a_millisecond_within_limits() {
        assert_eq!(send_quantum(80_000_000, 1200), 10_000);
        assert_eq!(send_quantum(1_000, 1200), 2400);
        assert_eq!(send_quantum(u64::MAX, 1200), 64 << 10);
    }

    #[test]
    fn a_pacer_holds_a_packet_for_a_burst_at_the_slower_rate() {
        let controller = FixedWindow::configured(10);
        let state = controller.start(&Path::new(Time::ZERO, 1000, 0));
        let mut decision = controller.decide(&state, View::solo(&()));
        let delay = |decision: &Decision| longest_pacing_delay(decision, Span::from_millis(100), 1000);
        assert_eq!(delay(&decision), Span::from_millis(80));
        decision.pacing_rate = Some(80_000);
        assert_eq!(delay(&decision), Span::from_millis(1000));
        decision.pacing_rate = Some(80_000_000);
        assert_eq!(delay(&decision), Span::from_millis(80));
        assert_eq!(longest_pacing_delay(&decision, Span::ZERO, 1000), Span::from_millis(1));
        (decision.cwnd, decision.pacing_rate) = (0, None);
        assert_eq!(longest_pacing_delay(&decision, Span::ZERO, 1000), Span::ZERO);
        assert!(longest_pacing_delay(&decision, Span(u64::MAX), u32::MAX) > Span::from_millis(1 << 40));
    }
}
