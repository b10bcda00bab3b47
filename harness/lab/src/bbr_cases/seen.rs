//! What a run of BBR shows of itself: of ours every step with its state variables, of a stack's own the outcome.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use windlass_adapter::step::{Entry, Step, Steps};
use windlass_controllers::EventKind;

use crate::results::Run;

/// Size of the packets of all cases, bytes.
pub(super) const PACKET: f64 = 1200.0;

/// The states of the machine (`draft-ietf-ccwg-bbr §5.1.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// By the number that the state variable `state` has.
    fn numbered(number: f64) -> Option<State> {
        const ALL: [State; 7] =
            [State::Startup, State::Drain, State::Down, State::Cruise, State::Refill, State::Up, State::ProbeRtt];
        ALL.get(number as usize).copied()
    }

    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
}

/// What an event was, as far as a case asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Packets were acknowledged, of which so many at once.
    Acked(u32),
    Lost,
    Persistent,
    Spurious,
    IdleRestart,
    Other,
}

/// The flow after one event. Volumes are in packets, rates in Mbit/s; a bound that is not set is infinite.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// Time since the beginning of the run, s.
    pub at: f64,
    pub kind: Kind,
    pub state: State,
    pub round: f64,
    pub max_bw: f64,
    pub bw: f64,
    pub bw_shortterm: f64,
    /// The estimated bandwidth-delay product by `bw`.
    pub bdp: f64,
    pub inflight_longterm: f64,
    pub inflight_shortterm: f64,
    pub extra_acked: f64,
    pub full_bw_reached: bool,
    pub cwnd: f64,
    pub pacing_rate: f64,
    /// After the event, where it tells.
    pub in_flight: Option<f64>,
    /// Packets delivered since the flow began, where the event tells.
    pub delivered: Option<f64>,
    /// Whether the sample of an ACK is application-limited.
    pub app_limited: bool,
}

impl Moment {
    fn of(step: &Step, variables: &BTreeMap<String, f64>) -> Option<Moment> {
        let get = |name: &str| variables.get(name).copied();
        let bound = |name: &str| get(name).unwrap_or(f64::INFINITY);
        let (mut in_flight, mut delivered, mut app_limited) = (step.event.in_flight(), None, false);
        let kind = match &step.event.kind {
            EventKind::PacketsAcked(acked) => {
                delivered = Some(acked.delivered as f64 / PACKET);
                app_limited = acked.delivery.is_some_and(|delivery| delivery.app_limited);
                Kind::Acked(acked.packets)
            }
            EventKind::PacketsLost(lost) => {
                in_flight = Some(lost.in_flight);
                Kind::Lost
            }
            EventKind::PersistentCongestion(_) => Kind::Persistent,
            EventKind::SpuriousLoss(_) => Kind::Spurious,
            EventKind::IdleRestart(_) => Kind::IdleRestart,
            _ => Kind::Other,
        };
        Some(Moment {
            at: step.now().0 as f64 / 1e9,
            kind,
            state: State::numbered(get("state")?)?,
            round: get("round")?,
            max_bw: get("max_bw_mbps")?,
            bw: get("bw_mbps")?,
            bw_shortterm: bound("bw_shortterm_mbps"),
            bdp: get("bdp").unwrap_or(0.0),
            inflight_longterm: bound("inflight_longterm"),
            inflight_shortterm: bound("inflight_shortterm"),
            extra_acked: get("extra_acked").unwrap_or(0.0),
            full_bw_reached: get("full_bw_reached")? > 0.0,
            cwnd: step.decision.cwnd as f64 / PACKET,
            pacing_rate: step.decision.pacing_rate.unwrap_or(0) as f64 / 1e6,
            in_flight: in_flight.map(|bytes| bytes as f64 / PACKET),
            delivered,
            app_limited,
        })
    }

    /// `BBRInflight(1.0)` with the estimate of now: the product, not below what pacing in batches needs
    /// (`draft-ietf-ccwg-bbr §5.6.4.2`, `BBRQuantizationBudget`).
    pub(super) fn inflight(&self) -> f64 {
        let send_quantum = (self.pacing_rate * 1e6 / 8.0 * 1e-3).clamp(2.0 * PACKET, 65_536.0);
        self.bdp.max(3.0 * send_quantum / PACKET).max(4.0)
    }
}

/// A stay in one state: the moments `from..to`, which are not empty.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Stay {
    pub state: State,
    pub from: usize,
    /// The first moment that is no longer of it, or the number of moments.
    pub to: usize,
}

/// A run that is over.
#[derive(Debug)]
pub(super) struct Seen {
    /// Every step; empty where the controller is not ours.
    pub moments: Vec<Moment>,
    pub run: Run,
}

impl Seen {
    /// Reads the steps of the log at `path`.
    pub(super) fn read(run: Run, path: &Path) -> Result<Seen, String> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut moments = Vec::new();
        for entry in Steps::new(BufReader::new(file)) {
            if let Entry::Step(step, variables) = entry.map_err(|error| error.to_string())? {
                moments.extend(Moment::of(&step, &variables));
            }
        }
        Ok(Seen { moments, run })
    }

    /// All stays, in order.
    pub(super) fn stays(&self) -> Vec<Stay> {
        let mut stays: Vec<Stay> = Vec::new();
        for (index, moment) in self.moments.iter().enumerate() {
            match stays.last_mut() {
                Some(stay) if stay.state == moment.state => stay.to = index + 1,
                _ => stays.push(Stay { state: moment.state, from: index, to: index + 1 }),
            }
        }
        stays
    }

    /// The first stay in `state` that begins at `after` s or later, with the one that follows.
    pub(super) fn stay(&self, state: State, after: f64) -> Option<(Stay, Option<Stay>)> {
        let stays = self.stays();
        let at = stays.iter().position(|stay| stay.state == state && self.moments[stay.from].at >= after)?;
        Some((stays[at], stays.get(at + 1).copied()))
    }

    pub(super) fn of(&self, stay: Stay) -> &[Moment] {
        &self.moments[stay.from..stay.to]
    }

    /// When a stay began, s.
    pub(super) fn began(&self, stay: Stay) -> f64 {
        self.moments[stay.from].at
    }

    /// The last moment before `at` s.
    pub(super) fn before(&self, at: f64) -> Option<&Moment> {
        self.moments.iter().rev().find(|moment| moment.at < at)
    }

    /// The moments from `from` to `to` s.
    pub(super) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Moment> + Clone {
        self.moments.iter().filter(move |moment| moment.at >= from && moment.at < to)
    }

    /// Mean goodput from `from` to `to` s, Mbit/s.
    pub(super) fn goodput(&self, from: f64, to: f64) -> f64 {
        let Some(flow) = self.run.flows.first() else { return 0.0 };
        let points = flow.series.time_s.iter().zip(&flow.series.goodput_mbps);
        let rates: Vec<f64> = points.filter(|(at, _)| **at > from && **at <= to).map(|(_, rate)| *rate).collect();
        rates.iter().sum::<f64>() / rates.len().max(1) as f64
    }

    /// Parts of what was sent that were taken for lost.
    pub(super) fn loss(&self) -> f64 {
        self.run.flows.first().map_or(0.0, |flow| flow.packets_lost as f64 / flow.packets_sent.max(1) as f64)
    }
}
