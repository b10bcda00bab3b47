//! One path of a quinn connection as a windlass flow.

use std::any::Any;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};
use windlass_adapter::{AckBatch, Flow, InFlight};
use windlass_controllers::event::{Idle, LossTrigger, Lost, Marked, Sent};
use windlass_controllers::{Algorithm, Engine, Event, Span, Time, What};

use crate::rtt::Sampler;

/// A windlass controller in quinn's clothes; made by a [`Factory`](crate::Factory).
///
/// A running one is reached with `Connection::congestion_state().into_any()`, which hands
/// out a copy; see [`flow`](Controller::flow).
#[derive(Debug)]
pub struct Controller<E: Engine = Algorithm> {
    flow: Flow<E>,
    origin: Instant,
    now: Time,
    mtu: u32,
    batch: AckBatch,
    in_flight: InFlight,
    /// Bytes in flight before the latest frame's packets were taken out.
    before: u64,
    rtt: Sampler,
    largest: Option<u64>,
    heeds_sent: bool,
    initial_window: u64,
}

impl<E: Engine> Controller<E> {
    pub(crate) fn new(flow: Flow<E>, origin: Instant, now: Time, mtu: u16) -> Self {
        let mut controller = Controller {
            heeds_sent: flow.heeds_sent(),
            in_flight: InFlight::new(flow.engine()),
            flow,
            origin,
            now,
            mtu: u32::from(mtu),
            batch: AckBatch::default(),
            before: 0,
            rtt: Sampler::default(),
            largest: None,
            initial_window: 0,
        };
        controller.initial_window = controller.window_bytes();
        controller
    }

    /// The flow: its algorithm, state and decision in force.
    #[must_use]
    pub fn flow(&self) -> &Flow<E> {
        &self.flow
    }

    #[inline]
    fn time(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.origin);
        Time(since.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(since.subsec_nanos())))
    }

    /// `now` as a time that never goes back.
    #[inline]
    fn advance(&mut self, now: Instant) -> Time {
        self.now = self.now.max(self.time(now));
        self.now
    }

    /// quinn sends while bytes in flight and the next datagram together are *below* the
    /// window; a decision lets them reach it. A window of one datagram stops a quinn
    /// server for good: part of its first flight is never acknowledged, the rest of the
    /// window holds no datagram, and no timer runs. Two datagrams are the least
    /// `RFC 9002 §7.2` knows anyway.
    #[inline]
    fn window_bytes(&self) -> u64 {
        self.flow.decision().cwnd.max(2 * u64::from(self.mtu)).saturating_add(1)
    }

    #[inline]
    fn acked(&mut self, sent: Instant, bytes: u64, app_limited: bool, smoothed: Duration, min: Duration) {
        let sent_at = self.time(sent);
        self.batch.add(sent_at, bytes, self.flow.recovery_start());
        self.batch.app_limited(app_limited);
        self.rtt.note(span(smoothed), span(min));
    }

    fn lost(&mut self, now: Time, newest_sent_at: Time, bytes: u64, persistent: bool) {
        let before = self.in_flight.bytes();
        self.in_flight.lost(bytes);
        let lost = Lost {
            bytes,
            packets: u32::try_from(bytes.div_ceil(u64::from(self.mtu.max(1)))).unwrap_or(u32::MAX),
            newest_sent_at,
            newest_pn: None,
            in_flight_before: before,
            in_flight: self.in_flight.bytes(),
            trigger: LossTrigger::Unknown,
            transmissions: 1,
        };
        let what = if persistent { What::PersistentCongestion(lost) } else { What::Lost(lost) };
        self.flow.on(&Event { now, what });
    }
}

impl<E: Engine> congestion::Controller for Controller<E> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let now = self.advance(now);
        if let Some(idle) = self.in_flight.sent(now, bytes, self.mtu) {
            self.flow.on(&Event { now, what: What::Idle(Idle { idle, pto: self.rtt.pto() }) });
        }
        if self.heeds_sent {
            let in_flight = self.in_flight.bytes();
            let sent = Sent { bytes, pn: Some(last_packet_number), in_flight, app_limited: false };
            self.flow.on(&Event { now, what: What::Sent(sent) });
        }
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.acked(sent, bytes, app_limited, rtt.get(), rtt.min());
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest_packet_num_acked: Option<u64>) {
        let now = self.advance(now);
        self.in_flight.acknowledged(now, in_flight);
        self.before = in_flight;
        if self.batch.is_empty() {
            // Nothing that asked for an ACK, or a path that is not validated yet.
            return;
        }
        let newest = self.batch.newest_sent_at();
        let rtt = self.rtt.sample(now, newest, largest_packet_num_acked);
        let pn = if rtt.is_some() { largest_packet_num_acked } else { None };
        self.largest = pn.or(self.largest);
        self.batch.newest(pn, None);
        if let Some(departure) = self.in_flight.departure(now, newest, self.batch.bytes(), app_limited) {
            self.batch.departed(departure);
        }
        let acked = self.batch.finish(in_flight, rtt);
        self.before = acked.in_flight_before;
        self.flow.on(&Event { now, what: What::Acked(acked) });
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let (now, newest_sent_at) = (self.advance(now), self.time(sent));
        if lost_bytes == 0 {
            // quinn's way to tell of CE marks; the largest packet of their frame is the
            // largest acknowledged yet.
            let marked = Marked { packets: 1, newest_sent_at, newest_pn: self.largest, in_flight: self.before };
            self.flow.on(&Event { now, what: What::Marked(marked) });
        } else {
            self.lost(now, newest_sent_at, lost_bytes, is_persistent_congestion);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u32::from(new_mtu);
        self.flow.on(&Event { now: self.now, what: What::Mtu(self.mtu) });
    }

    /// The decided window, of two datagrams at least, and one byte: quinn keeps bytes in
    /// flight *below* what this returns.
    #[inline]
    fn window(&self) -> u64 {
        self.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let decision = self.flow.decision();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = decision.cwnd;
        metrics.ssthresh = decision.ssthresh;
        metrics.pacing_rate = decision.pacing_rate;
        metrics
    }

    /// A copy for a path that moved: the same state, the same seat in its group, no
    /// recorder.
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Controller { flow: self.flow.clone(), in_flight: self.in_flight.clone(), ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn span(duration: Duration) -> Span {
    Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
