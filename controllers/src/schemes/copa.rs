#![doc = include_str!("copa.md")]

use crate::event::{PacketsAcked, RttSample};
use crate::parts::backstop::{self, Backstop};
use crate::parts::limits::Limits;
use crate::parts::window::Window;
use crate::parts::windowed::{WindowedMax, WindowedMin};
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Span, Table, Time, View, parameters};

/// Rounds of one direction before the velocity doubles (Copa §2.2).
const STEADY_ROUNDS: u32 = 3;
/// The velocity doubles at most so often: one ACK never doubles the window anyway.
const MOST_VELOCITY: f64 = 65_536.0;
/// Share of the RTT's range below which the queue counts as nearly empty (Copa §2.2).
const NEARLY_EMPTY: f64 = 0.1;
/// Pacing gain at most while losses bound the window: bursts at twice the rate meet no queue there (RFC 9002 §7.7).
const BOUNDED_GAIN: f64 = 1.25;
/// A smallest RTT so many times below the one before is another path's.
const SHORTER: i64 = 2;
/// A window that moves by this is enough to tell whether the rate follows.
const WINDOWS_MOVED: f64 = 1.5;
/// A rate that moves by no more stays.
const RATES_STAYED: f64 = 1.1;
/// RTTs the largest RTT is kept for (Copa §2.2).
const LARGEST_RTTS: u64 = 4;

parameters! {
    /// Parameters of [`Copa`]: `copa:NAME=VALUE,…`.
    pub struct Params {
        @with bound: backstop::Settings, "What losses bound the window to.";
        /// Initial window; of each datagram 1472 bytes count, of the first two all.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Largest congestion window.
        max_window: f64 = 1_048_576.0, in 2.0, 1_048_576.0, unit "packets", source "choice";
        /// Weight of delay against rate; the flow keeps 1/δ packets queued.
        delta: f64 = 0.5, in 0.01, 10.0, unit "1/packets", source "Copa (NSDI 2018) §2.1";
        /// Whether δ falls while other flows keep the queue from draining.
        competitive: bool = true, source "Copa (NSDI 2018) §2.2";
        /// Round trips without a nearly empty queue that show such flows.
        competitive_rtts: f64 = 5.0, in 1.0, 1000.0, unit "smoothed RTTs", source "Copa (NSDI 2018) §2.2";
        /// Whether a flow whose rate stays while its window moves is taken to be alone, and does not compete.
        alone: bool = true, paper false, source "choice; Copa (NSDI 2018) §2.2 presumes that a flow alone drains the queue";
        /// Whether the rate stays, instead of the window, when the path becomes less than half as long.
        keep_rate: bool = true, paper false, source "choice";
        /// Share of the window that a velocity above one moves it by in a round trip at most.
        most_step: f64 = 0.25, paper 1.0, in 0.01, 1.0, source "choice";
        /// How long the smallest RTT is believed.
        min_rtt_window: f64 = 10.0, in 0.1, 10_000.0, unit "s", source "Copa (NSDI 2018) §2";
        /// Pacing rate, as a multiple of the window per standing RTT.
        pacing_gain: f64 = 2.0, in 1.0, 10.0, source "Copa (NSDI 2018) §2";
    }
}

/// Which way the window moved during a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up,
    Down,
}

/// The delays of the path, nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Delays {
    /// `RTTmin` (Copa §2), ns.
    min: WindowedMin<10>,
    /// `RTTstanding` (Copa §2), ns.
    standing: WindowedMin<4>,
    /// The largest of the last four RTTs' time.
    max: WindowedMax<4>,
}

impl Delays {
    /// `RTTstanding`, s; `None` before the first sample.
    #[inline]
    fn standing(&self) -> Option<f64> {
        self.standing.get().map(|ns| 1e-9 * ns as f64).filter(|standing| *standing > 0.0)
    }

    /// `dq`, the queueing delay (Copa §2), s; 0 before the first sample.
    #[inline]
    fn queueing(&self) -> f64 {
        let (Some(standing), Some(min)) = (self.standing.get(), self.min.get()) else { return 0.0 };
        1e-9 * standing.saturating_sub(min).max(0) as f64
    }
}

/// The velocity at which the window moves, and the round it is judged by.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Velocity {
    value: f64,
    direction: Direction,
    /// Rounds the direction has held.
    rounds: u32,
    /// When the round began; `None` before the first ACK.
    since: Option<Time>,
    /// The window at the start of the round, packets.
    cwnd: f64,
    /// The smallest RTT at the start of the round, ns; 0 before the first sample.
    least: i64,
}

impl Velocity {
    /// Packets per round trip the window moves by (Copa §2.1 step 3): what the queue says of a step is
    /// known a round trip later, so a fast one must not be most of the window.
    #[inline]
    fn speed(&self, params: &Params, inverse_delta: f64, cwnd: f64) -> f64 {
        (self.value * inverse_delta).min((params.most_step * cwnd).max(inverse_delta))
    }
}

/// Whether a flow is alone on its path: where no other flow sends, a queue that never empties gives out a
/// flow's packets at the link's rate, however many wait; where others do, the rate follows the window.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Company {
    /// Bytes acknowledged since the round began.
    bytes: u64,
    /// Least and largest rate of a round, bytes/s, in the stretch under way.
    rates: (f64, f64),
    /// Least and largest window in it, packets.
    windows: (f64, f64),
    /// When the stretch began; `None` before the first round.
    since: Option<Time>,
    /// What the latest stretch in which the window moved showed.
    alone: bool,
}

const NO_RANGE: (f64, f64) = (f64::INFINITY, 0.0);

impl Default for Company {
    fn default() -> Self {
        Company { bytes: 0, rates: NO_RANGE, windows: NO_RANGE, since: None, alone: false }
    }
}

impl Company {
    /// A round of `length` with a window of `cwnd` packets is over.
    fn end_round(&mut self, now: Time, length: Span, cwnd: f64) {
        let rate = core::mem::take(&mut self.bytes) as f64 / length.secs();
        self.since.get_or_insert(now);
        if rate > 0.0 && rate < f64::INFINITY {
            self.rates = (self.rates.0.min(rate), self.rates.1.max(rate));
            self.windows = (self.windows.0.min(cwnd), self.windows.1.max(cwnd));
        }
    }

    /// A stretch without an empty queue is over.
    fn end_stretch(&mut self, now: Time) {
        if self.windows.1 >= WINDOWS_MOVED * self.windows.0 {
            self.alone = self.rates.1 <= RATES_STAYED * self.rates.0;
        }
        *self = Company { bytes: self.bytes, since: Some(now), alone: self.alone, ..Company::default() };
    }
}

/// State of one flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    window: Window,
    backstop: Backstop,
    delays: Delays,
    velocity: Velocity,
    /// 1/δ in force, packets: what the flow keeps queued (Copa §2.1).
    inverse_delta: f64,
    /// When the queue was last nearly empty; `None` before the first sample.
    drained_at: Option<Time>,
    competing: bool,
    company: Company,
    slow_start: bool,
    /// Where slow start ends as careful resume knows of the path (`RFC 9959`), packets; infinite where it does not.
    resumed: f64,
}

/// Copa (Arun and Balakrishnan, NSDI 2018).
#[derive(Debug)]
pub struct Copa;

impl Params {
    fn limits(&self) -> Limits {
        Limits { iw: self.iw, max_window: self.max_window, ..Limits::default() }
    }
}

impl Controller for Copa {
    const INFO: Info = Info {
        name: "copa",
        summary: "steers its rate to 1/(δ·queueing delay), keeps about 1/δ packets queued",
        source: "Arun and Balakrishnan, Copa: practical delay-based congestion control, NSDI 2018",
        fallback: None,
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(_: &Params) -> Signals {
        Signals::ACKS | Signals::LOSS | Signals::RTT
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> State {
        let window = Window::start(&params.limits(), path);
        State {
            window,
            backstop: Backstop::default(),
            delays: Delays {
                min: WindowedMin::default(),
                standing: WindowedMin::default(),
                max: WindowedMax::default(),
            },
            velocity: Velocity {
                value: 1.0,
                direction: Direction::Up,
                rounds: 0,
                since: None,
                cwnd: window.cwnd,
                least: 0,
            },
            inverse_delta: 1.0 / params.delta,
            drained_at: None,
            competing: false,
            company: Company::default(),
            slow_start: true,
            resumed: f64::INFINITY,
        }
    }

    #[inline]
    fn step(params: &Params, state: &mut State, _: Table<'_, ()>, event: &Event) {
        if state.backstop.on_event(&params.bound, &params.limits(), &mut state.window, event) {
            state.bounded();
        }
        if let Some(rtt) = event.rtt() {
            state.sampled(params, event.now, &rtt);
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.acknowledged(params, event.now, acked),
            EventKind::PacketsLost(lost) => state.lost(params, event.now, lost.newest_sent_at),
            EventKind::EcnCe(marked) => {
                state.lost(params, event.now, marked.newest_sent_at);
                state.window.discard_undo();
            }
            EventKind::PersistentCongestion(_) => state.timeout(params),
            EventKind::MtuUpdated(mtu) => state.window.resize(&params.limits(), *mtu),
            EventKind::SpuriousLoss(spurious) => {
                state.window.on_spurious_loss(spurious);
            }
            EventKind::WindowSet(to) => {
                state.window.set(&params.limits(), to);
                state.resumed = to.ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64 / state.window.mtu);
            }
            _ => {}
        }
        state.backstop.hold(&params.limits(), &mut state.window);
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let standing = state.delays.standing();
        let gain = if state.backstop.is_bounding() { params.pacing_gain.min(BOUNDED_GAIN) } else { params.pacing_gain };
        let pacing = standing.map(|standing| gain * state.window.cwnd * state.window.mtu * 8.0 / standing);
        Decision {
            pacing_rate: pacing.map(|rate| (rate as u64).max(1)),
            phase: state.window.recovery.phase(state.slow_start),
            ..state.window.decision()
        }
    }

    fn inspect(_: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.window.cwnd);
        state.backstop.inspect(visit);
        visit("delta", 1.0 / state.inverse_delta);
        visit("velocity", state.velocity.value);
        visit("competitive", f64::from(u8::from(state.competing)));
        visit("queueing_ms", 1e3 * state.delays.queueing());
        if let Some(standing) = state.delays.standing() {
            visit("standing_rtt_ms", 1e3 * standing);
        }
        if let Some(min) = state.delays.min.get() {
            visit("min_rtt_ms", 1e-6 * min as f64);
        }
    }
}

impl State {
    /// Copa §2: smallest and standing RTT; §2.2: whether the queue is nearly empty.
    #[inline]
    fn sampled(&mut self, params: &Params, now: Time, rtt: &RttSample) {
        let sample = rtt.adjusted();
        let ns = i64::try_from(sample.0).unwrap_or(i64::MAX);
        if ns == 0 {
            return;
        }
        let srtt = rtt.smoothed.0;
        let delays = &mut self.delays;
        let least = delays.min.update(now, Some(Span::from_secs_f64(params.min_rtt_window)), ns);
        let standing = delays.standing.update(now, Some(Span(srtt / 2)), ns);
        let largest = delays.max.update(now.0, srtt.saturating_mul(LARGEST_RTTS), ns);
        let queue = standing.saturating_sub(least) as f64;
        let range = largest.saturating_sub(least) as f64;
        if params.keep_rate && least < self.velocity.least / SHORTER {
            self.shortened(params, least);
        }
        let drained_at = *self.drained_at.get_or_insert(now);
        if queue <= NEARLY_EMPTY * range {
            self.drained_at = Some(now);
        }
        let competitive_after = (params.competitive_rtts * srtt as f64) as u64;
        if self.company.since.is_some_and(|since| now.since(since).0 > competitive_after) {
            self.company.end_stretch(now);
        }
        let alone = params.alone && self.company.alone;
        let competing = params.competitive
            && !alone
            && !self.slow_start
            && now.since(drained_at).0 > competitive_after
            && queue > 0.0;
        if !competing {
            self.inverse_delta = 1.0 / params.delta;
        }
        self.competing = competing;
    }

    /// The path's RTT is `least` now, less than half of what it was when the round began: the rate
    /// stays, which is what Copa steers, and of the window what carries it on the shorter path.
    #[cold]
    fn shortened(&mut self, params: &Params, least: i64) {
        let ratio = least as f64 / self.velocity.least as f64;
        self.window.lower(&params.limits(), ratio * self.window.cwnd);
        self.velocity.least = least;
        self.velocity.value = 1.0;
        self.velocity.rounds = 0;
    }

    #[inline]
    fn acknowledged(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        self.window.acked(acked.newest_sent_at);
        self.company.bytes = self.company.bytes.saturating_add(acked.bytes);
        let Some(standing) = self.delays.standing() else { return };
        // λ ≤ λt = 1/(δ·dq), without the division.
        let below = self.window.cwnd * self.delays.queueing() <= self.inverse_delta * standing;
        let packets = (acked.bytes as f64 / self.window.mtu).min(self.window.cwnd);
        if self.slow_start {
            self.slow_start = below && self.window.cwnd < self.resumed;
            if below && !acked.app_limited {
                self.grow(params, packets);
            }
        }
        if self.velocity.since.is_none_or(|since| acked.newest_sent_at >= since) {
            self.end_round(now);
        }
        if !self.slow_start {
            self.steer(params, packets, below, acked.app_limited);
        }
    }

    /// `v/(δ·cwnd)` per packet, towards the target rate (Copa §2.1 step 3).
    #[inline]
    fn steer(&mut self, params: &Params, packets: f64, below: bool, app_limited: bool) {
        let direction = if below { Direction::Up } else { Direction::Down };
        if direction != self.velocity.direction {
            // What was gathered the other way does not carry over.
            self.velocity.value = 1.0;
            self.velocity.rounds = 0;
            self.velocity.direction = direction;
        }
        let step =
            (self.velocity.speed(params, self.inverse_delta, self.window.cwnd) / self.window.cwnd).min(1.0) * packets;
        if !below {
            self.window.lower(&params.limits(), self.window.cwnd - step);
        } else if !app_limited {
            self.grow(params, step);
        }
    }

    fn grow(&mut self, params: &Params, packets: f64) {
        self.window.cwnd = (self.window.cwnd + packets).min(params.max_window);
    }

    /// Once per window: velocity (Copa §2.1 step 2), and δ while competing (§2.2).
    fn end_round(&mut self, now: Time) {
        let velocity = &mut self.velocity;
        let began = velocity.since.unwrap_or(now);
        self.company.end_round(now, now.since(began), velocity.cwnd);
        let direction = if self.window.cwnd > velocity.cwnd { Direction::Up } else { Direction::Down };
        if direction == velocity.direction {
            velocity.rounds = velocity.rounds.saturating_add(1);
            if velocity.rounds >= STEADY_ROUNDS && !self.slow_start {
                velocity.value = (2.0 * velocity.value).min(MOST_VELOCITY);
            }
        } else {
            velocity.value = 1.0;
            velocity.rounds = 0;
        }
        velocity.direction = direction;
        velocity.since = Some(now);
        velocity.cwnd = self.window.cwnd;
        velocity.least = self.delays.min.get().unwrap_or(0);
        if self.competing && !self.window.recovery.in_recovery() {
            self.inverse_delta += 1.0;
        }
    }

    /// Loss moves nothing but δ, and that only while competing (Copa §2.2): as Reno does
    /// its window, once per round trip.
    fn lost(&mut self, params: &Params, now: Time, newest_sent_at: Time) {
        if self.competing && self.window.recovery.accepts(newest_sent_at) {
            self.window.recovery.begin(now);
            self.inverse_delta = (0.5 * self.inverse_delta).max(1.0 / params.delta);
        }
    }

    /// Losses have bounded the window: what was gathered upwards is void.
    fn bounded(&mut self) {
        self.velocity.value = 1.0;
        self.velocity.rounds = 0;
        self.slow_start = false;
    }

    fn timeout(&mut self, params: &Params) {
        self.window.start_over(&params.limits(), self.window.ssthresh);
        self.inverse_delta = 1.0 / params.delta;
        self.velocity.value = 1.0;
        self.velocity.rounds = 0;
        self.slow_start = true;
    }
}

#[cfg(test)]
mod tests;
