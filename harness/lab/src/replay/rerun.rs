//! A controller that runs on the events of a trace.

use windlass_adapter::{Flow, NamedController};
use windlass_controllers::event::RttSample;
use windlass_controllers::{Decision, Event, EventKind, Path, Span, Time};

use super::event::{Frame, TraceEvent};

/// Wake-up calls that are saved up for a long silence at most; a controller that asks for
/// more is not called again before the next event of the trace.
const WAKE_UPS: u32 = 10_000;

/// Wake-up calls an event of the trace adds to those, so that work is bounded by the trace's length.
const WAKE_UPS_EACH: u32 = 100;

/// A controller that runs on the events of a trace.
#[derive(Clone, Debug)]
pub struct Rerun {
    flow: Flow,
    wants_packet_sent: bool,
    /// The wake-up it got last; it is not called twice for one.
    woken_for: Option<Time>,
    wake_ups: u32,
    last: Time,
    /// Since when more is in flight than its window allows.
    over_since: Option<Time>,
    smoothed_rtt: Span,
    mtu: u32,
}

/// A sender reduces its flight to a smaller window within a round trip. After this many round
/// trips with more in flight than the window allows, the excess is left out of account.
const REDUCES_WITHIN: u64 = 2;

impl Rerun {
    /// A flow of `algorithm` that starts on `path`.
    #[must_use]
    pub fn new(algorithm: NamedController, path: &Path) -> Rerun {
        let flow = Flow::ungrouped(algorithm, path);
        Rerun {
            wants_packet_sent: flow.wants_packet_sent(),
            flow,
            woken_for: None,
            wake_ups: WAKE_UPS,
            last: path.now,
            over_since: None,
            smoothed_rtt: Span::ZERO,
            mtu: path.mtu,
        }
    }

    /// The decision after the latest event.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.flow.decision()
    }

    /// The window in force, bytes.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        self.flow.cwnd()
    }

    /// Feeds the next event of the trace to the controller.
    pub fn on_trace_event(&mut self, event: &TraceEvent<'_>) {
        self.wake(event.now());
        match event {
            TraceEvent::PacketSent(now, sent, silence) => {
                let restart = silence
                    .and_then(|(silence, pto)| silence.end_of(&self.flow, *now, self.smoothed_rtt, self.mtu, pto));
                if let Some(restart) = restart {
                    self.emit(*now, EventKind::IdleRestart(restart));
                }
                if self.wants_packet_sent {
                    self.emit(*now, EventKind::PacketSent(*sent));
                }
            }
            TraceEvent::Frame(frame) => self.frame(frame),
            TraceEvent::Mtu(now, mtu) => {
                self.mtu = *mtu;
                self.emit(*now, EventKind::MtuUpdated(*mtu));
            }
            TraceEvent::Metrics(..) => {}
        }
    }

    pub(super) fn emit(&mut self, now: Time, kind: EventKind) {
        let now = now.max(self.last);
        self.last = now;
        self.flow.on_event(&Event::new(now, kind));
    }

    /// Gives the controller the timer events it has asked for, up to `now`.
    fn wake(&mut self, now: Time) {
        self.wake_ups = self.wake_ups.saturating_add(WAKE_UPS_EACH).min(WAKE_UPS);
        while self.wake_ups > 0 {
            let Some(at) = self.flow.with_decision(|decision| decision.wake_at) else { return };
            if at > now || Some(at) == self.woken_for {
                return;
            }
            self.wake_ups -= 1;
            self.woken_for = Some(at);
            self.emit(at.max(self.last + Span(1)).min(now), EventKind::TimerExpired);
        }
    }

    /// The order inside a frame is that of [`windlass_controllers::event`].
    fn frame(&mut self, frame: &Frame) {
        match self.reduced_in_flight(frame) {
            Some(in_flight) => self.on_frame(&Frame { in_flight, ..frame.clone() }),
            None => self.on_frame(frame),
        }
    }

    /// Bytes that would be in flight had the sender followed the window, if the trace has had
    /// more for long; `None` otherwise. Controllers that wait for the flight to shrink to their
    /// window would wait for ever.
    fn reduced_in_flight(&mut self, frame: &Frame) -> Option<u64> {
        if let Some(rtt) = frame.rtt {
            self.smoothed_rtt = rtt.smoothed;
        }
        let window = self.flow.cwnd();
        if frame.in_flight <= window {
            self.over_since = None;
            return None;
        }
        let since = *self.over_since.get_or_insert(frame.now);
        let most = Span(self.smoothed_rtt.0.saturating_mul(REDUCES_WITHIN));
        (frame.now.since(since) > most).then_some(window)
    }

    fn on_frame(&mut self, frame: &Frame) {
        let mut rtt: Option<RttSample> = frame.rtt;
        let marked = frame.marked();
        if let Some(spurious) = frame.spurious {
            self.emit(frame.now, EventKind::SpuriousLoss(spurious));
        }
        if marked.is_some() || frame.lost.is_some() {
            if let Some(rtt) = rtt.take() {
                self.emit(frame.now, EventKind::RttSampled(rtt));
            }
            if let Some(marked) = marked {
                self.emit(frame.now, EventKind::EcnCe(marked));
            }
            if let Some(lost) = frame.lost {
                let kind =
                    if frame.persistent { EventKind::PersistentCongestion(lost) } else { EventKind::PacketsLost(lost) };
                self.emit(frame.now, kind);
            }
        }
        let recovery_start = self.flow.recovery_start();
        if let Some(acked) = frame.acknowledged(recovery_start, rtt) {
            self.emit(frame.now, EventKind::PacketsAcked(acked));
        }
    }
}
