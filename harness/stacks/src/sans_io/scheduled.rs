//! A flow of a scenario at work: driven, watched and measured.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use windlass_adapter::SharedTrace;
use windlass_controllers::{Span, Time};

use super::{Connection, Parts};
use crate::RunError;
use crate::driver::datagrams::{Arrival, Datagram, DatagramNetwork, FlowDirection, Role, marking};
use crate::driver::liveness::{Liveness, Progress, pacing_gap};
use crate::driver::sender_log::{Output, SenderLog, lock};
use windlass_network::Class;
use windlass_simulator::measure::{Tally, tally};
use windlass_simulator::outcome::FlowOutcome;
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// An end that is driven so often at one instant and wants to be driven at that instant again is driven a nanosecond
/// later: the clock of a real program moves by itself. Below an RTT of 0.1 ms noq's pacer rounds its shortest waits to nothing.
const MAX_DRIVES_AT_ONCE: u32 = 16;
/// One that goes on so often without time passing otherwise will never stop.
const MAX_DRIVES: u32 = 1 << 16;
/// How long after its original a duplicate may arrive. It counts as received here, but restarts no idle timer of a
/// stack (RFC 9000 §10.1).
const DUPLICATE_DELAY: Span = Span::from_millis(100);

/// Of a path that is not validated an end may send at most this many times what it received (RFC 9000 §8.1).
const AMPLIFICATION: u64 = 3;
/// The least an end has to be able to send: a datagram that validates a path (RFC 9000 §8.2.1), bytes.
const WHOLE_DATAGRAM: u64 = 1200;

/// What the receiver exchanged with the sender's address that it last received from.
#[derive(Clone, Copy, Default)]
struct Exchange {
    address: u16,
    /// Bytes that came from there.
    received: u64,
    /// Bytes sent there.
    sent: u64,
}

impl Exchange {
    /// Whether the receiver may send no whole datagram there, for an address that came after the handshake.
    fn limited(&self) -> bool {
        self.address > 0 && AMPLIFICATION * self.received < self.sent + WHOLE_DATAGRAM
    }
}

/// A flow of a scenario.
pub struct ScheduledFlow<'a, C: Connection> {
    spec: &'a FlowSpec,
    connection: C,
    /// The connection's.
    sender_log: Arc<Mutex<SenderLog>>,
    /// Whether it has to move again after faults.
    is_watched: bool,
    config: Option<C::Config>,
    trace: Option<SharedTrace<Output>>,
    origin: Instant,
    /// Direction of the network that each end sends on.
    directions: [FlowDirection; 2],
    started: Option<Time>,
    /// Time of its end, and the receiver's bytes then.
    over: Option<(Time, u64)>,
    /// Packets the receiver saw with a CE mark.
    marked: u64,
    in_network: u64,
    /// Time at which each end last received a datagram.
    received_at: [Time; 2],
    exchange: Exchange,
    /// Data packets that left the sender.
    data_packets: u64,
    driven_at: Time,
    /// Number of times it was driven at `driven_at`.
    driven: u32,
    /// Number of times it was driven a nanosecond later without time passing otherwise.
    nudged: u32,
}

impl<'a, C: Connection> ScheduledFlow<'a, C> {
    /// Flow `number` of a run of `scenario`, made of `parts`.
    pub fn new(scenario: &Scenario, spec: &'a FlowSpec, number: u32, origin: Instant, parts: Parts<C>) -> Self {
        let liveness = Liveness::of(scenario, spec);
        let is_watched = liveness.is_some();
        let sender_log = Arc::clone(parts.connection.sender_log());
        lock(&sender_log).liveness = liveness.map(|liveness| liveness.handshake_timeouts(C::HANDSHAKE_TIMEOUTS));
        let direction = |to, route| FlowDirection {
            flow: number,
            route,
            to,
            overhead: spec.overhead_bytes,
            ecn: spec.ecn != Some(false),
            class: Class::Normal,
        };
        ScheduledFlow {
            spec,
            connection: parts.connection,
            sender_log,
            is_watched,
            config: Some(parts.config),
            trace: parts.trace,
            origin,
            directions: [direction(Role::Receiver, spec.forward), direction(Role::Sender, spec.backward)],
            started: None,
            over: None,
            marked: 0,
            in_network: 0,
            received_at: [Time::ZERO; 2],
            exchange: Exchange::default(),
            data_packets: 0,
            driven_at: Time::ZERO,
            driven: 0,
            nudged: 0,
        }
    }

    /// `at` by the clock of `role`.
    fn instant(&self, role: Role, at: Time) -> Instant {
        self.origin + Duration::from_nanos((at + self.ahead(role, at)).0)
    }

    /// When the clock of `role` shows `at`, unless it jumps before.
    fn time(&self, role: Role, now: Time, at: Instant) -> Time {
        let since = at.saturating_duration_since(self.origin);
        Time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).saturating_sub(self.ahead(role, now).0))
    }

    /// Which of its addresses the sender has at `now`. Until data has arrived, the handshake is not over.
    fn address(&self, now: Time) -> u16 {
        if self.connection.received() > 0 { self.spec.address(now) } else { 0 }
    }

    /// Lead of the clock of `role` at `now`.
    fn ahead(&self, role: Role, now: Time) -> Span {
        self.spec.clock_ahead(role == Role::Receiver, now)
    }

    /// When something happens to the ends of the flow by itself, after `now`; `u64::MAX` if nothing does.
    pub fn next_fault(&self, now: Option<Time>) -> u64 {
        let times = self.spec.faults.iter().map(|fault| fault.at);
        times.filter(|at| now.is_none_or(|now| *at > now)).min().map_or(u64::MAX, |at| at.0)
    }

    /// Whether the end opposite `role` may be taken for gone: it vanished, or nothing came from it for as long as the
    /// idle timeout.
    fn may_time_out(&self, role: Role, now: Time) -> bool {
        let clock = |at: Time| at + self.ahead(role, at);
        let idle = clock(now).since(clock(self.received_at[role as usize])) + DUPLICATE_DELAY >= self.spec.idle_timeout;
        self.spec.has_vanished(now) || (self.spec.vanishes.is_some() && idle)
    }

    /// Checks that it moves again after faults ([`Liveness`]).
    ///
    /// # Errors
    /// It does not.
    pub fn check(&mut self, now: Time) -> Result<(), RunError> {
        if !self.is_watched {
            return Ok(());
        }
        let (received, receiver_timeout) = (self.connection.received(), self.connection.receiver_timeout());
        let timed_out = self.connection.timed_out();
        let mut sender_log = lock(&self.sender_log);
        let gap = pacing_gap(&sender_log.decision, self.spec.packet_bytes);
        let Some(liveness) = &mut sender_log.liveness else { return Ok(()) };
        if self.over.is_some() || self.spec.has_vanished(now) || timed_out {
            liveness.end();
            return Ok(());
        }
        let progress = Progress { received, gap, receiver_timeout, limited: self.exchange.limited() };
        let checked = liveness.check(now, &progress);
        drop(sender_log);
        checked.map_err(|reason| self.failed(now, reason))
    }

    fn failed(&self, now: Time, reason: String) -> RunError {
        RunError::Flow { flow: self.spec.name.clone(), at_s: now.0 as f64 / 1e9, reason }
    }

    /// Starts to connect, or ends the transfer. Returns when the latter is due.
    pub fn control(&mut self, now: Time) -> Result<Option<Time>, RunError> {
        let instant = self.instant(if self.is_started() { Role::Sender } else { self.client() }, now);
        self.set_clock(now);
        {
            let mut sender_log = lock(&self.sender_log);
            if self.started.is_none() {
                let cwnd = sender_log.decision.cwnd;
                sender_log.meter.start(now.0, cwnd);
                if let Some(liveness) = &mut sender_log.liveness {
                    liveness.start(now);
                }
            }
        }
        let Some(config) = self.config.take() else {
            self.connection.stop(instant);
            self.note_end(now);
            return Ok(None);
        };
        self.started = Some(now);
        self.connection.connect(instant, config).map_err(|reason| self.failed(now, reason))?;
        Ok(Some(self.spec.stop))
    }

    /// A datagram of this flow reached its end, or was lost on the way there.
    pub fn arrived(&mut self, now: Time, arrival: Arrival, datagrams: &mut DatagramNetwork) -> Result<(), RunError> {
        self.in_network -= u64::from(arrival.last);
        let Some(payload) = arrival.payload else { return Ok(()) };
        if arrival.role == Role::Receiver && self.spec.has_vanished(now) {
            return Ok(());
        }
        let current = self.address(now);
        if arrival.role == Role::Sender && arrival.address != current {
            // That address is not in use any more.
            return Ok(());
        }
        if !arrival.damaged {
            self.received_at[arrival.role as usize] = now;
        }
        if arrival.role == Role::Receiver && arrival.marked && self.over.is_none() {
            self.marked += 1;
        }
        self.set_clock(now);
        let role = arrival.role;
        if role == Role::Receiver && arrival.address >= self.exchange.address {
            if arrival.address > self.exchange.address {
                self.exchange = Exchange { address: arrival.address, ..Exchange::default() };
            }
            self.exchange.received += payload.len() as u64;
        }
        let (instant, direction) = (self.instant(role, now), self.directions[role as usize]);
        let (in_network, exchange) = (&mut self.in_network, &mut self.exchange);
        let mut send = |mut datagram: Datagram<'_>| {
            if role == Role::Sender {
                datagram.address = current;
            } else if datagram.address == exchange.address {
                exchange.sent += datagram.payload.len() as u64;
            }
            *in_network += 1;
            datagrams.send(now, &direction, &datagram);
        };
        let result = self.connection.receive(role, instant, arrival.ecn, arrival.address, payload, &mut send);
        result.map_err(|reason| self.failed(now, reason))
    }

    /// Runs an end and returns when it wants to be run next.
    pub fn drive(&mut self, role: Role, now: Time, datagrams: &mut DatagramNetwork) -> Result<Option<Time>, RunError> {
        self.watch(now)?;
        let instant = self.instant(role, now);
        self.set_clock(now);
        let (gone, current) = (self.may_time_out(role, now), self.address(now));
        let mut direction = self.directions[role as usize];
        let (in_network, data_packets, spec) = (&mut self.in_network, &mut self.data_packets, self.spec);
        let (exchange, sender_log) = (&mut self.exchange, &self.sender_log);
        let mut send = |mut datagram: Datagram<'_>| {
            if role == Role::Receiver && spec.has_vanished(now) {
                return;
            }
            if role == Role::Sender {
                datagram.address = current;
                let sender_log = lock(sender_log);
                (direction.ecn, direction.class) = marking(spec, &sender_log.decision);
                let number = std::mem::replace(data_packets, sender_log.data_packets);
                if sender_log.data_packets > number && spec.drop_packets.binary_search(&number).is_ok() {
                    return;
                }
            } else if datagram.address == exchange.address {
                exchange.sent += datagram.payload.len() as u64;
            }
            *in_network += 1;
            datagrams.send(now, &direction, &datagram);
        };
        self.connection.drive(role, instant, gone, &mut send).map_err(|reason| self.failed(now, reason))?;
        self.note_end(now);
        self.check(now)?;
        let next = self.connection.timeout(role);
        let rests = next.is_none() && self.connection.timeout(role.other()).is_none() && self.in_network == 0;
        if rests && self.over.is_none() {
            return Err(self.failed(now, "it stalled: nothing is under way and no timer runs".to_owned()));
        }
        Ok(next.map(|at| self.due(now, self.time(role, now, at))))
    }

    /// When an end that was driven at `now` and has a timer for `at` is driven next. A timer that is overdue is due now.
    fn due(&mut self, now: Time, at: Time) -> Time {
        if at > now {
            self.nudged = 0;
            at
        } else if self.driven > MAX_DRIVES_AT_ONCE {
            self.nudged += 1;
            now + Span(1)
        } else {
            now
        }
    }

    /// Has the sender log go by the sender's clock.
    fn set_clock(&self, now: Time) {
        let ahead = self.ahead(Role::Sender, now);
        let mut sender_log = lock(&self.sender_log);
        (sender_log.now, sender_log.ahead) = (now + ahead, ahead);
    }

    fn note_end(&mut self, now: Time) {
        if self.over.is_none() && self.connection.ended() {
            // The last stretch of the series belongs to the flow.
            self.sample(now);
            self.over = Some((now, self.connection.received()));
            lock(&self.sender_log).over = true;
        }
    }

    /// Notices an end that never comes to rest.
    fn watch(&mut self, now: Time) -> Result<(), RunError> {
        if self.driven_at != now {
            (self.driven_at, self.driven) = (now, 0);
        }
        self.driven += 1;
        if self.driven.max(self.nudged) > MAX_DRIVES {
            return Err(self.failed(now, "the stack's timers are due again and again without time passing".to_owned()));
        }
        Ok(())
    }

    /// The end that connects.
    pub fn client(&self) -> Role {
        self.connection.client()
    }

    /// Packets that are under way as far as its controller knows, and datagrams of both ends in the network.
    pub fn under_way(&self) -> u64 {
        let sender_log = lock(&self.sender_log);
        self.in_network.max(sender_log.under_way(self.spec.packet_bytes))
    }

    pub fn is_started(&self) -> bool {
        self.started.is_some()
    }

    pub fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// A point of the series.
    pub fn sample(&mut self, now: Time) {
        if self.started.is_none() || self.over.is_some() {
            return;
        }
        let received = self.connection.received();
        let cwnd = self.connection.window();
        let mut sender_log = lock(&self.sender_log);
        if let Some(cwnd) = cwnd {
            // A sibling may have changed it since the last event.
            sender_log.meter.window(now.0, cwnd);
        }
        sender_log.meter.sample(now.0, received);
    }

    /// The result, at the end of the run.
    pub fn outcome(mut self, end: Time) -> Result<FlowOutcome, RunError> {
        let start = self.started.unwrap_or(end);
        let (stop, received) = self.over.unwrap_or((end, self.connection.received()));
        let (sent, lost) = self.connection.packets().unwrap_or_default();
        let sender_log = self.sender_log;
        let failed = |reason| RunError::Flow { flow: self.spec.name.clone(), at_s: end.0 as f64 / 1e9, reason };
        // Drops the connection, so that its controller's recorder leaves the sender log.
        let hash = self.connection.check().map_err(failed)?;
        if let Some(trace) = &self.trace {
            trace.lock().flush().map_err(|error| RunError::Log { flow: self.spec.name.clone(), error })?;
        }
        let mut sender_log = lock(&sender_log);
        if sender_log.recorders > 0 {
            return Err(RunError::StateLeft(format!("flow {:?}", self.spec.name)));
        }
        match sender_log.unexplained() {
            0 => {}
            losses => return Err(failed(format!("its log does not name the packets of {losses} losses"))),
        }
        let numbers = Tally { start, stop, received, sent, lost, marked: self.marked, hash };
        Ok(tally(self.spec, &numbers, &mut sender_log.meter))
    }
}
