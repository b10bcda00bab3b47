//! Whether a flow moves again once the faults of its scenario are over.
//!
//! Once a flow has started and once no fault is active any more, application bytes have to arrive within three probe
//! timeouts, unless another fault begins. After that the flow's pace is its controller's.
//!
//! * The probe timeout is that of RFC 9002 §6.2.1 with its backoff: a sender without an RTT sample for some time has doubled
//!   it to no more than that time and one probe timeout.
//! * An RTT sample begins the three timeouts anew: a probe may be a PING (§6.2.4), which brings no bytes but an ACK
//!   that finds what was lost, and what a reordering path had the sender take for lost is sent once more before
//!   anything new.
//! * Before the first byte the flow may depend on the receiver, whose probe timeout is that of the initial RTT or of the
//!   samples it took, and no ACK takes the sender's backoff back (§6.2.1): both may have doubled theirs since the start.
//! * While the receiver may send no whole datagram to an address of the sender that it has not validated
//!   (RFC 9000 §8.1), nothing has to move.

use std::time::Duration;

use windlass_adapter::rfc9002::{DEFAULT_MAX_ACK_DELAY, RttEstimator};
use windlass_controllers::{Decision, Span, Time};
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// Probe timeouts within which a flow has to move.
pub const PROBE_TIMEOUTS: u64 = 3;

/// Watches one flow. Times are the network's.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Times at which faults are active, ascending, without overlap.
    faults: Vec<(Time, Time)>,
    /// When the clocks of the sender and of the receiver jump, and how far.
    jumps: [Vec<(Time, Span)>; 2],
    max_ack_delay: Span,
    /// Probe timeouts within which the first byte has to arrive.
    handshake_timeouts: u64,
    rtt: RttEstimator,
    /// Time of the sender's latest RTT sample.
    sampled_at: Time,
    /// Application bytes that had arrived when it was looked at last.
    received: u64,
    started: Option<Time>,
    ended: bool,
    /// The latest end of a fault that it was looked at after.
    over: Time,
    /// Since when it has to move, and for how long the sender had no RTT sample then; `None` once it did.
    since: Option<(Time, Span)>,
}

/// What the watch has to know of a flow, beside the sender's RTT samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Application bytes that have arrived.
    pub received: u64,
    /// The time between two packets where the controller paces them.
    pub gap: Span,
    /// The receiver's probe timeout before backoff; `None` if its stack does not report it.
    pub receiver_timeout: Option<Span>,
    /// Whether the receiver may send no whole datagram to the sender's address.
    pub limited: bool,
}

impl Liveness {
    /// The watch of `spec`, a flow of `scenario`; `None` if the scenario has no faults.
    #[must_use]
    pub fn of(scenario: &Scenario, spec: &FlowSpec) -> Option<Liveness> {
        let faults = scenario.fault_periods(spec);
        (!faults.is_empty()).then(|| Liveness {
            faults,
            jumps: [false, true].map(|receiver| spec.jumps(receiver).collect()),
            max_ack_delay: spec.ack.max_delay.max(DEFAULT_MAX_ACK_DELAY),
            handshake_timeouts: PROBE_TIMEOUTS,
            rtt: RttEstimator::new(),
            sampled_at: Time::ZERO,
            received: 0,
            started: None,
            ended: false,
            over: Time::ZERO,
            since: None,
        })
    }

    /// Probe timeouts within which the first byte has to arrive, where a stack needs more than others.
    #[must_use]
    pub fn handshake_timeouts(mut self, timeouts: u64) -> Liveness {
        self.handshake_timeouts = timeouts;
        self
    }

    /// The flow starts.
    pub fn start(&mut self, now: Time) {
        self.sampled_at = now;
        self.started = Some(now);
        self.since = Some((now, Span::ZERO));
    }

    /// The sender took an RTT sample.
    pub fn on_rtt_sample(&mut self, now: Time, sample: Span) {
        self.sampled_at = now;
        self.rtt.sample(now, sample, Span::ZERO);
        if self.since.is_some_and(|(since, _)| now > since) {
            self.since = Some((now, self.silence(now)));
        }
    }

    fn probe_timeout(&self, receiver: Option<Span>) -> Span {
        let (current, initial) = (self.rtt.pto(self.max_ack_delay), RttEstimator::new().pto(self.max_ack_delay));
        if self.received == 0 { current.max(initial).max(receiver.unwrap_or(Span::ZERO)) } else { current }
    }

    /// For how long probe timeouts may have been doubled at `at`, by the clocks of those who do.
    fn silence(&self, at: Time) -> Span {
        let whole = |from: Time, jumps: &[(Time, Span)]| {
            let jumps = jumps.iter().filter(|(jump, _)| *jump >= from && *jump <= at);
            jumps.fold(at.since(from), |sum, (_, by)| sum + *by)
        };
        let [sender, receiver] = &self.jumps;
        match self.started.filter(|_| self.received == 0) {
            Some(start) => whole(start, sender).max(whole(start, receiver)),
            None => whole(self.sampled_at, sender),
        }
    }

    /// The flow is at `now`, and this far.
    ///
    /// # Errors
    /// It should have moved.
    pub fn check(&mut self, now: Time, progress: &Progress) -> Result<(), String> {
        if self.ended {
            return Ok(());
        }
        let &Progress { received, gap, receiver_timeout, limited } = progress;
        let active = self.faults.iter().any(|(from, until)| *from <= now && now < *until);
        let over = self.faults.iter().map(|(_, until)| *until).take_while(|until| *until <= now).last();
        if active {
            self.received = received;
            return Ok(());
        }
        if let Some(until) = over.filter(|until| *until > self.over && self.started.is_some_and(|start| *until > start))
        {
            self.over = until;
            self.since = Some((until.max(self.sampled_at), self.silence(until.max(self.sampled_at))));
        }
        if limited && self.since.is_some() {
            self.since = Some((now, self.silence(now)));
        }
        let Some((since, silence)) = self.since else {
            self.received = received;
            return Ok(());
        };
        let timeouts = if self.received == 0 { self.handshake_timeouts } else { PROBE_TIMEOUTS };
        let limit = Span((self.probe_timeout(receiver_timeout) + silence).0.saturating_mul(timeouts)) + gap + gap;
        let waited = now.since(since);
        if waited > limit {
            return Err(format!(
                "nothing arrived for {:.3} s after the fault that ended at {:.3} s and the last sign of life at {:.3} s, though {timeouts} probe timeouts are {:.3} s",
                waited.secs(),
                self.over.0 as f64 / 1e9,
                since.0 as f64 / 1e9,
                limit.secs()
            ));
        }
        if received > self.received {
            self.received = received;
            self.since = None;
        }
        Ok(())
    }

    /// The flow is over, and need not move any more.
    pub fn end(&mut self) {
        self.ended = true;
    }
}

/// The probe timeout before backoff by the estimates of an end's stack; without `variation`, half the smoothed RTT is
/// taken, as after the first sample.
#[must_use]
pub fn receiver_probe_timeout(smoothed: Duration, variation: Option<Duration>) -> Span {
    let span = |duration: Duration| Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    let variation = variation.unwrap_or(smoothed / 2);
    windlass_adapter::rfc9002::probe_timeout(span(smoothed), span(variation), DEFAULT_MAX_ACK_DELAY)
}

/// The time between two packets of `packet_bytes` where the controller decided a pacing rate; otherwise next to nothing.
#[must_use]
pub fn pacing_gap(decision: &Decision, packet_bytes: u32) -> Span {
    let rate = decision.pacing_rate.unwrap_or(u64::MAX).max(1);
    Span(u64::from(packet_bytes) * 8_000_000_000 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn at(ms: u64) -> Time {
        Time::from_micros(1000 * ms)
    }

    fn of(received: u64) -> Progress {
        Progress { received, ..Progress::default() }
    }

    /// A blackout from 1 to 2 s, samples of 40 ms up to `last_ms` ms.
    fn watch(last_ms: u64) -> Liveness {
        let text = "duration_s = 10\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 40\n\
                    [[dumbbell.fault]]\nkind = \"blackout\"\nat_s = 1\nfor_ms = 1000\n\
                    [[flow]]\ncontroller = \"reno\"";
        let scenario = Scenario::read("test", text, None).unwrap();
        let mut liveness = Liveness::of(&scenario, &scenario.flows[0]).unwrap();
        liveness.start(Time::ZERO);
        for ms in (50..=last_ms).step_by(50) {
            liveness.check(at(ms), &of(ms)).unwrap();
            liveness.on_rtt_sample(at(ms), MS(40));
        }
        liveness
    }

    #[test]
    fn a_flow_may_be_silent_during_a_fault_and_three_backed_off_timeouts_after_it() {
        // The variation has gone to nothing: 40 + 1 + 25 ms, and a second of silence.
        let timeouts = 3 * (66 + 1000);
        for (ms, holds) in [(1999, true), (2000, true), (2000 + timeouts - 3, true), (2000 + timeouts + 30, false)] {
            assert_eq!(watch(1000).check(at(ms), &of(1000)).is_ok(), holds, "{ms}");
        }
        let error = watch(1000).check(at(9_000), &of(1000)).unwrap_err();
        assert!(error.starts_with("nothing arrived for 7.000 s after the fault that ended at 2.000 s"), "{error}");
    }

    #[test]
    fn once_it_has_moved_its_pace_is_its_own() {
        let mut liveness = watch(1000);
        assert!(liveness.check(at(2_500), &of(1001)).is_ok());
        assert!(liveness.check(at(9_000), &of(1001)).is_ok());
        let mut paced = watch(1000);
        assert!(paced.clone().check(at(5_600), &of(1000)).is_err());
        let slow = Progress { gap: MS(2_000), ..of(1000) };
        assert!(paced.check(at(5_600), &slow).is_ok(), "its controller paces it so slowly");
        let mut ended = watch(1000);
        ended.end();
        assert!(ended.check(at(9_000), &of(1000)).is_ok());
    }

    #[test]
    fn an_rtt_sample_begins_the_timeouts_anew() {
        let mut liveness = watch(1000);
        assert!(liveness.check(at(4_000), &of(1000)).is_ok());
        liveness.on_rtt_sample(at(4_000), MS(40));
        // Nothing is backed off any more.
        let timeouts = 3 * 66;
        assert!(liveness.clone().check(at(4_000 + timeouts - 3), &of(1000)).is_ok());
        let error = liveness.clone().check(at(4_000 + timeouts + 30), &of(1000)).unwrap_err();
        assert!(error.contains("the last sign of life at 4.000 s"), "{error}");
        // One of the time before the fault's end begins nothing anew.
        let mut early = watch(1000);
        early.on_rtt_sample(at(1_500), MS(40));
        assert!(early.check(at(2_000 + 3 * (66 + 500) + 30), &of(1000)).is_err());
    }

    #[test]
    fn a_receiver_that_may_send_nothing_is_waited_for() {
        let mut liveness = watch(1000);
        let limited = Progress { limited: true, ..of(1000) };
        for ms in (2_000..9_000).step_by(100) {
            assert!(liveness.check(at(ms), &limited).is_ok(), "{ms}");
        }
        // The sender's backoff has gone on: three times 66 ms and almost eight seconds.
        assert!(liveness.clone().check(at(8_900 + 3 * 7_900), &of(1000)).is_ok());
        assert!(liveness.check(at(8_900 + 3 * (7_900 + 66) + 10), &of(1000)).is_err());
    }

    #[test]
    fn before_the_first_byte_the_receivers_timeout_counts_too_and_both_may_have_doubled_theirs_since_the_start() {
        let mut liveness = watch(0);
        assert!(liveness.check(at(999), &of(0)).is_ok());
        // 999 + 25 ms of the initial RTT, and two seconds of silence.
        assert!(liveness.clone().check(at(2_000 + 9_000), &of(0)).is_ok());
        assert!(liveness.clone().check(at(2_000 + 9_100), &of(0)).is_err());
        // An ACK takes nothing back of it.
        let mut sampled = liveness.clone();
        sampled.on_rtt_sample(at(3_000), MS(40));
        assert!(sampled.check(at(3_000 + 3 * (1_024 + 3_000) - 10), &of(0)).is_ok());
        assert!(sampled.check(at(3_000 + 3 * (1_024 + 3_000) + 10), &of(0)).is_err());
        let timeout = receiver_probe_timeout(Duration::from_secs(2), None);
        assert_eq!(timeout, MS(6_025));
        let receiver = Progress { receiver_timeout: Some(timeout), ..of(0) };
        assert!(liveness.clone().check(at(2_000 + 3 * 8_025 - 10), &receiver).is_ok());
        assert!(liveness.clone().check(at(2_000 + 3 * 8_025 + 10), &receiver).is_err());
        let mut patient = liveness.handshake_timeouts(7);
        assert!(patient.check(at(2_000 + 7 * 3_000), &of(0)).is_ok());
        assert!(patient.check(at(2_000 + 7 * 3_100), &of(0)).is_err());
    }
}
