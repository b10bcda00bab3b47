#![doc = include_str!("rapid.md")]

use crate::event::{Place, ProbeReceived, WindowSet};
use crate::parts::backstop::{self, Backstop};
use crate::parts::chirp::path::{self, Finding, PathChirp};
use crate::parts::chirp::{self};
use crate::parts::recovery::RecoveryPeriod;
use crate::{
    Controller, Decision, Ecn, Event, EventKind, Info, Path, Signals, Span, Table, Time, TrainPlan, View, choice,
    parameters,
};

choice! {
    /// How the rate follows an estimate.
    pub enum Follow {
        /// The rate becomes the estimate.
        Estimate = "estimate",
        /// It rises by a share that grows with the train's length and falls by a fixed one.
        Filtered = "filtered",
    }
}

parameters! {
    /// Parameters of [`Rapid`]: `rapid:NAME=VALUE,…`.
    pub struct Params {
        @with chirp: path::Params, "How a train is read.";
        @with bound: backstop::Settings, "What losses bound rate and window to.";
        /// Packets of a full train.
        n: u32 = 30, in 4, 64, unit "packets", source "spec: arumaithurai §5.6, A25";
        /// Ratio of consecutive gaps' rates.
        gamma: f64 = 1.07, in 1.01, 2.0, source "spec: arumaithurai §5.6";
        /// Packets of the first trains, doubled per round trip.
        start_packets: u32 = 2, in 2, 64, unit "packets", source "spec: arumaithurai §5.6";
        /// Packets of the last trains of slow start.
        start_most: u32 = 16, in 2, 64, unit "packets", source "spec: arumaithurai §5.6";
        /// Ratio of consecutive gaps' rates in slow start.
        start_gamma: f64 = 2.0, in 1.01, 4.0, source "spec: arumaithurai §5.6";
        /// Rate at the start, while no RTT is known.
        start_rate: f64 = 1e8, paper 1e6, in 1e3, 1e12, unit "bit/s", source "choice: no more than ten packets are in flight meanwhile (RFC 9002 §7.2); spec: arumaithurai §5.6 rule 1";
        /// Whether the first RTT sample begins slow start at two packets per round trip, as a handshake's would.
        start_at_rtt: bool = true, paper false, source "spec: arumaithurai §5.6 rule 1";
        /// Largest rate, so that a path that shows no queue cannot drive it to infinity.
        rate_ceiling: f64 = 1e11, in 1e3, 1e12, unit "bit/s", source "choice";
        /// How the rate follows an estimate.
        follow: Follow = Follow::Estimate, source "spec: arumaithurai §5.6 rule 4";
        /// Time over which a rise is spread (follow=filtered).
        tau: f64 = 200.0, in 1.0, 10_000.0, unit "ms", source "spec: arumaithurai §5.6";
        /// Share of a fall that is taken at once (follow=filtered).
        eta: f64 = 0.333_333_333_333_333_3, in 0.01, 1.0, source "spec: arumaithurai §5.6";
        /// Smoothed RTTs' worth of data that may be in flight, besides a train.
        window: f64 = 2.0, in 1.0, 100.0, unit "RTTs", source "spec: arumaithurai §5.6";
        /// Largest congestion window.
        max_window: f64 = 1_048_576.0, in 64.0, 1_048_576.0, unit "packets", source "choice";
    }
}

/// Packets that may be in flight whatever is lost (`RFC 9002 §7.2`).
const LEAST: f64 = 2.0;

/// Share of a rate by which sums of gaps may fall short of it without showing anything; `profile=paper` compares
/// plainly.
const ROUNDING: f64 = 1e-9;

/// State of one flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    /// The mean rate of the next train, bit/s.
    pub rate: f64,
    /// The train to send next, or under way.
    pub plan: TrainPlan,
    /// Packets of slow start's next train; none once it is over.
    start: Option<u32>,
    /// When slow start's trains last grew.
    grown_at: Time,
    /// The train whose answers arrive; `None` before its first.
    reading: Option<Reading>,
    /// The latest response to a loss.
    recovery: RecoveryPeriod,
    /// Smoothed RTT; zero before the first sample.
    srtt: Span,
    /// The latest estimate, bit/s.
    available: f64,
    mtu: u32,
    backstop: Backstop,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Reading {
    train: u32,
    chirp: PathChirp,
    /// Whether the train's estimate is complete, so that later answers to it are ignored.
    over: bool,
}

impl State {
    fn packet_bits(&self) -> f64 {
        8.0 * f64::from(self.mtu)
    }

    /// Two packets per round trip, where one is known (`spec: arumaithurai §5.6 rule 1`).
    fn restart(&mut self, params: &Params, now: Time) {
        let known = self.srtt > Span::ZERO;
        self.rate = if known { 2.0 * self.packet_bits() / self.srtt.secs() } else { params.start_rate };
        self.start = Some(params.start_packets.min(params.start_most));
        self.grown_at = now;
        self.reading = None;
        self.available = 0.0;
        self.recovery.begin(now);
        self.recovery.close();
        self.next_train(params, now);
    }

    /// Packets of a train, and the ratio of consecutive gaps' rates.
    fn train(&self, params: &Params) -> (u32, f64) {
        self.start.map_or((params.n, params.gamma), |packets| (packets, params.start_gamma))
    }

    /// Goes on at the rate of which the window of `to` is made (`RFC 9959`), in slow start with its last trains. One that
    /// takes longer gives way.
    #[cold]
    fn resume_at(&mut self, params: &Params, now: Time, to: &WindowSet) {
        if self.srtt == Span::ZERO {
            return;
        }
        self.start = self.start.map(|_| params.start_most);
        let (packets, _) = self.train(params);
        let in_flight = (8.0 * to.cwnd as f64 - self.train_bits(packets)).max(0.0);
        let rate = self.bound(params, in_flight / (params.window * self.srtt.secs()));
        let before = core::mem::replace(&mut self.rate, rate);
        if rate > before || packets != self.plan.packets {
            self.next_train(params, now);
        }
    }

    /// `spec: arumaithurai §5.6 rules 2, 5`.
    fn next_train(&mut self, params: &Params, now: Time) {
        let round_over = self.srtt > Span::ZERO && now.since(self.grown_at) >= self.srtt;
        if let (true, Some(packets)) = (round_over, &mut self.start) {
            *packets = (2 * *packets).min(params.start_most);
            self.grown_at = now;
        }
        let (packets, spread) = self.train(params);
        self.plan = TrainPlan {
            id: self.plan.id.wrapping_add(1),
            packets,
            bytes: self.mtu,
            min_rate: chirp::k(packets, spread) * self.rate,
            spread,
            dscp: 0,
            carries_data: true,
        };
    }

    /// The least rate, a packet per round trip, and the largest, which losses bound.
    fn bound(&self, params: &Params, rate: f64) -> f64 {
        let least = if self.srtt > Span::ZERO { self.packet_bits() / self.srtt.secs() } else { 1.0 };
        rate.min(least * self.backstop.bound()).max(least).min(params.rate_ceiling)
    }

    /// One packet of a train has arrived. The first that is out of sequence ends what can
    /// be read of it (`spec: arumaithurai §5.6 rules 3, 6`).
    fn probed(&mut self, params: &Params, probed: &ProbeReceived) {
        if self.reading.is_some_and(|reading| reading.train != probed.train) {
            self.conclude(params);
            self.reading = None;
        }
        match &mut self.reading {
            None => {
                let over = probed.index != 0 || probed.one_way.is_none();
                let chirp = PathChirp::begin(probed.sent_at, probed.one_way.unwrap_or(0));
                self.reading = Some(Reading { train: probed.train, chirp, over });
            }
            Some(reading) if !reading.over => match probed.one_way {
                Some(delay) if probed.index == reading.chirp.packets() => {
                    reading.chirp.packet(&params.chirp, probed.sent_at, delay);
                    if reading.chirp.packets() >= self.plan.packets {
                        self.conclude(params);
                    }
                }
                _ => self.conclude(params),
            },
            Some(_) => {}
        }
    }

    /// What the train being read shows counts, unless it began before the latest response
    /// to a loss or the sender had too little to send (`spec: arumaithurai §5.6 rule 7`).
    fn conclude(&mut self, params: &Params) {
        let Some(reading) = self.reading.as_mut().filter(|reading| !reading.over) else { return };
        reading.over = true;
        let Some(finding) = reading.chirp.finding(f64::from(self.mtu)) else { return };
        if self.recovery.accepts(finding.began) && !reading.chirp.paused() {
            self.follow(params, &finding);
        }
    }

    /// `spec: arumaithurai §5.6 rules 4, 5`.
    fn follow(&mut self, params: &Params, finding: &Finding) {
        self.available = finding.available;
        let change = finding.available - self.rate;
        let share = match params.follow {
            Follow::Estimate => 1.0,
            Follow::Filtered if change >= 0.0 => (1e3 * finding.lasted.secs() / params.tau).min(1.0),
            Follow::Filtered => params.eta,
        };
        self.rate = if share >= 1.0 { finding.available } else { self.rate + share * change };
        self.rate = self.bound(params, self.rate);
        // Two packets have one rate, which is neither above nor below the path's.
        let rounding = if params.start_at_rtt { ROUNDING } else { 0.0 };
        let below = finding.packets > 2 && finding.available < (1.0 - rounding) * finding.rates.1;
        if below || finding.packets >= params.start_most {
            self.start = None;
        }
    }

    /// `spec: arumaithurai §5.6 rule 6`.
    fn lost(&mut self, params: &Params, now: Time, sent_at: Time) {
        if self.recovery.accepts(sent_at) {
            self.recovery.begin(now);
            self.rate = self.bound(params, 0.5 * self.rate);
            self.start = None;
        }
    }

    /// Losses bound what is in flight, and the rate by as much a round trip (`RFC 2914 §5`; `RFC 8085 §3.1`).
    #[inline]
    fn heed_losses(&mut self, params: &Params, event: &Event) {
        if self.backstop.judge(&params.bound, LEAST, f64::from(self.mtu), event) {
            self.rate = self.bound(params, self.rate);
            self.start = None;
        }
    }

    /// A train, and what the rate amounts to in some round trips.
    fn window(&self, params: &Params) -> u64 {
        let in_flight = params.window * self.rate * self.srtt.secs() / 8.0;
        let packet = self.largest_packet();
        let train = self.train_bits(self.plan.packets) / 8.0;
        (in_flight + train).min(params.max_window.min(self.backstop.bound().max(LEAST)) * packet) as u64
    }

    fn largest_packet(&self) -> f64 {
        f64::from(self.mtu.max(self.plan.bytes))
    }

    /// What is in flight of a train of `packets`, or of the initial window.
    fn train_bits(&self, packets: u32) -> f64 {
        8.0 * f64::from(packets.max(10)) * self.largest_packet()
    }
}

/// RAPID (`spec: arumaithurai §5.6`).
#[derive(Debug)]
pub struct Rapid;

impl Controller for Rapid {
    const INFO: Info = Info {
        name: "rapid",
        summary: "sends all data in trains, each of which measures the rate of the next",
        source: "spec: arumaithurai §5.6",
        fallback: None,
    };
    const WANTS_PACKET_SENT: bool = true;
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(_: &Params) -> Signals {
        Signals::ACKS | Signals::LOSS | Signals::RTT | Signals::DATA_TRAINS | Signals::ONE_WAY_DELAY
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> State {
        let plan = TrainPlan {
            id: 0,
            packets: 2,
            bytes: path.mtu.clamp(1, 65_527),
            min_rate: params.start_rate,
            spread: params.start_gamma,
            dscp: 0,
            carries_data: true,
        };
        let mut state = State {
            rate: params.start_rate,
            plan,
            start: None,
            grown_at: path.now,
            reading: None,
            recovery: RecoveryPeriod::default(),
            srtt: Span::ZERO,
            available: 0.0,
            mtu: plan.bytes,
            backstop: Backstop::default(),
        };
        state.restart(params, path.now);
        state.recovery.reset();
        state
    }

    #[inline]
    fn step(params: &Params, state: &mut State, _: Table<'_, ()>, event: &Event) {
        if let Some(rtt) = event.rtt() {
            let is_first = state.srtt == Span::ZERO;
            state.srtt = rtt.smoothed;
            if is_first && params.start_at_rtt {
                state.restart(params, event.now);
            }
        }
        state.heed_losses(params, event);
        match &event.kind {
            EventKind::PacketSent(sent) => {
                let last = Place { train: state.plan.id, index: state.plan.packets - 1 };
                if sent.place == Some(last) {
                    state.next_train(params, event.now);
                }
            }
            EventKind::ProbeReceived(probed) => state.probed(params, probed),
            EventKind::PacketsAcked(acked) => {
                state.recovery.acked(acked.newest_sent_at);
            }
            EventKind::PacketsLost(lost) => state.lost(params, event.now, lost.newest_sent_at),
            EventKind::PersistentCongestion(_) => state.restart(params, event.now),
            EventKind::IdleRestart(idle) if idle.is_long() => state.restart(params, event.now),
            EventKind::MtuUpdated(mtu) => state.mtu = (*mtu).clamp(1, 65_527),
            EventKind::WindowSet(to) => state.resume_at(params, event.now, to),
            _ => {}
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let phase = state.recovery.phase(state.start.is_some());
        Decision {
            pacing_rate: Some(state.rate as u64),
            ecn: Ecn::NotEct,
            train: Some(state.plan),
            phase,
            recovery_start: state.recovery.start(),
            ..Decision::new(state.window(params))
        }
    }

    fn inspect(_: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rate_mbps", state.rate / 1e6);
        visit("available_mbps", state.available / 1e6);
        visit("train", f64::from(state.plan.id));
        visit("train_packets", f64::from(state.plan.packets));
        visit("min_rate_mbps", state.plan.min_rate / 1e6);
    }
}

#[cfg(test)]
mod tests;
