//! Whether a flow moves again once the faults of its scenario are over.
//!
//! Once a flow has started and once no fault is active any more, application bytes have to arrive within three probe
//! timeouts, unless another fault begins. After that the flow's pace is its controller's. The probe timeout is that of RFC 9002 §6.2 with its backoff: a sender that heard nothing
//! for some time has doubled it to no more than that time and one probe timeout. Before the first byte it may depend
//! on the receiver, which has no RTT sample yet, and so is the one of the initial RTT at least.

use windlass_adapter::rfc9002::{DEFAULT_MAX_ACK_DELAY, RttEstimator};
use windlass_controllers::{Decision, Span, Time};
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// Probe timeouts within which a flow has to move.
const PATIENCE: u64 = 3;

/// Watches one flow. Times are the network's.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// When faults are active, ascending and apart.
    faults: Vec<(Time, Time)>,
    /// When the sender's clock jumps, and how far.
    jumps: Vec<(Time, Span)>,
    max_ack_delay: Span,
    rtt: RttEstimator,
    /// When the sender last heard of its peer.
    heard: Time,
    /// Application bytes that had arrived when it was looked at last.
    received: u64,
    started: Option<Time>,
    ended: bool,
    /// The latest end of a fault that it was looked at after.
    over: Time,
    /// Since when it has to move, and for how long the sender had heard nothing then; `None` once it did.
    since: Option<(Time, Span)>,
}

impl Liveness {
    /// The watch of `spec`, a flow of `scenario`; `None` if the scenario has no faults.
    #[must_use]
    pub fn of(scenario: &Scenario, spec: &FlowSpec) -> Option<Liveness> {
        let faults = scenario.fault_periods(spec);
        (!faults.is_empty()).then(|| Liveness {
            faults,
            jumps: spec.sender_jumps().collect(),
            max_ack_delay: spec.ack.max_delay.max(DEFAULT_MAX_ACK_DELAY),
            rtt: RttEstimator::new(),
            heard: Time::ZERO,
            received: 0,
            started: None,
            ended: false,
            over: Time::ZERO,
            since: None,
        })
    }

    /// The flow starts.
    pub fn start(&mut self, now: Time) {
        self.heard = now;
        self.started = Some(now);
        self.since = Some((now, Span::ZERO));
    }

    /// The sender took an RTT sample.
    pub fn on_rtt_sample(&mut self, now: Time, sample: Span) {
        self.heard = now;
        self.rtt.sample(now, sample, Span::ZERO);
    }

    fn probe_timeout(&self) -> Span {
        let (current, initial) = (self.rtt.pto(self.max_ack_delay), RttEstimator::new().pto(self.max_ack_delay));
        if self.received == 0 { current.max(initial) } else { current }
    }

    /// How long the sender had heard nothing at `at`, by its clock.
    fn silence(&self, at: Time) -> Span {
        let jumps = self.jumps.iter().filter(|(jump, _)| *jump >= self.heard && *jump <= at);
        jumps.fold(at.since(self.heard), |sum, (_, by)| sum + *by)
    }

    /// The flow is at `now` and `received` bytes have arrived. `gap` is the time between two of its packets where the
    /// controller paces them.
    ///
    /// # Errors
    /// It should have moved.
    pub fn check(&mut self, now: Time, received: u64, gap: Span) -> Result<(), String> {
        if self.ended {
            return Ok(());
        }
        let active = self.faults.iter().any(|(from, until)| *from <= now && now < *until);
        let over = self.faults.iter().map(|(_, until)| *until).take_while(|until| *until <= now).last();
        if active {
            self.received = received;
            return Ok(());
        }
        if let Some(until) = over.filter(|until| *until > self.over && self.started.is_some_and(|start| *until > start))
        {
            self.over = until;
            self.since = Some((until, self.silence(until)));
        }
        let Some((since, silence)) = self.since else {
            self.received = received;
            return Ok(());
        };
        let patience = Span((self.probe_timeout() + silence).0.saturating_mul(PATIENCE)) + gap + gap;
        let waited = now.since(since);
        if waited > patience {
            return Err(format!(
                "nothing arrived for {:.3} s after the fault that ended at {:.3} s, though {PATIENCE} probe timeouts are {:.3} s",
                waited.secs(),
                since.0 as f64 / 1e9,
                patience.secs()
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

    /// A blackout from 1 to 2 s, samples of 40 ms up to `heard` ms.
    fn watch(heard: u64) -> Liveness {
        let text = "duration_s = 10\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 40\n\
                    [[dumbbell.fault]]\nkind = \"blackout\"\nat_s = 1\nfor_ms = 1000\n\
                    [[flow]]\ncontroller = \"reno\"";
        let scenario = Scenario::read("test", text, None).unwrap();
        let mut liveness = Liveness::of(&scenario, &scenario.flows[0]).unwrap();
        liveness.start(Time::ZERO);
        for ms in (50..=heard).step_by(50) {
            liveness.check(at(ms), ms, Span::ZERO).unwrap();
            liveness.on_rtt_sample(at(ms), MS(40));
        }
        liveness
    }

    #[test]
    fn a_flow_may_be_silent_during_a_fault_and_three_backed_off_timeouts_after_it() {
        // The variation has gone to nothing: 40 + 1 + 25 ms, and a second of silence.
        let patience = 3 * (66 + 1000);
        let last = 1000;
        for (ms, holds) in [(1999, true), (2000, true), (2000 + patience - 3, true), (2000 + patience + 30, false)] {
            assert_eq!(watch(1000).check(at(ms), last, Span::ZERO).is_ok(), holds, "{ms}");
        }
        let error = watch(1000).check(at(9_000), last, Span::ZERO).unwrap_err();
        assert!(error.starts_with("nothing arrived for 7.000 s after the fault that ended at 2.000 s"), "{error}");
    }

    #[test]
    fn once_it_has_moved_its_pace_is_its_own() {
        let mut liveness = watch(1000);
        assert!(liveness.check(at(2_500), 1001, Span::ZERO).is_ok());
        assert!(liveness.check(at(9_000), 1001, Span::ZERO).is_ok());
        let mut paced = watch(1000);
        assert!(paced.clone().check(at(5_600), 1000, Span::ZERO).is_err());
        assert!(paced.check(at(5_600), 1000, MS(2_000)).is_ok(), "its controller paces it so slowly");
        let mut ended = watch(1000);
        ended.end();
        assert!(ended.check(at(9_000), 1000, Span::ZERO).is_ok());
    }

    #[test]
    fn before_the_first_sample_the_initial_timeout_counts() {
        let mut liveness = watch(0);
        assert!(liveness.check(at(999), 0, Span::ZERO).is_ok());
        // 999 + 25 ms, and two seconds of silence.
        assert!(liveness.clone().check(at(2_000 + 9_000), 0, Span::ZERO).is_ok());
        assert!(liveness.clone().check(at(2_000 + 9_100), 0, Span::ZERO).is_err());
    }
}
