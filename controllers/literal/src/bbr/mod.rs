//! BBR: the pseudocode of draft-ietf-ccwg-bbr §5, function by function, under its names; bytes and seconds.

mod control;
mod model;
mod state_machine;

use windlass_controllers::{Path, Span, Time};

use crate::delivery_rate::{BY_INSTANT, DeliveryRate, P, WRITES_UNSEEN};
use crate::recovery::{Period, initial_window};
use crate::{Action, Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status};

pub(crate) const SCHEME: Scheme = Scheme {
    name: "bbr",
    text: "bbr",
    document: "draft-ietf-ccwg-bbr §5, without losses, marks, idle restarts and new datagram sizes",
    source: concat!(
        include_str!("mod.rs"),
        include_str!("control.rs"),
        include_str!("model.rs"),
        include_str!("state_machine.rs")
    ),
    readings: &[
        BY_INSTANT,
        WRITES_UNSEEN,
        Reading {
            change: "emptied in Startup",
            section: "draft-ietf-ccwg-bbr §5.5.9",
            says: "the window of extra_acked becomes ten rounds once the pipe is full",
            ours: "of which those of Startup are forgotten",
            status: Status::Told,
        },
        Reading {
            change: "reported pauses",
            section: "draft-ietf-ccwg-bbr §5.4.1",
            says: "a packet that leaves with nothing in flight after there was nothing to send restarts from idle",
            ours: "after more than a probe timeout, which is when adapters report a pause",
            status: Status::Told,
        },
        Reading {
            change: "pairs of rounds",
            section: "draft-ietf-ccwg-bbr §5.5.9",
            says: "extra_acked is the most of the latest ten rounds",
            ours: "of the latest five pairs of rounds, the one under way among them",
            status: Status::Told,
        },
        Reading {
            change: "a packet a second",
            section: "draft-ietf-ccwg-bbr §5.6.2",
            says: "the pacing rate is the gain times the bandwidth",
            ours: "a packet a second at least",
            status: Status::Told,
        },
        Reading {
            change: "at entry",
            section: "draft-ietf-ccwg-bbr §5.6.4.5",
            says: "ProbeRTT's window is half of what bandwidth and minimum RTT are then",
            ours: "of what they were when it began, by the latest round's bandwidth (docs/bbr-draft.md)",
            status: Status::Told,
        },
    ],
    mutants: &[
        ("four rounds", "a plateau is four rounds"),
        ("no margin", "it paces at the bandwidth, not below it"),
        ("no aggregation", "extra_acked does not count"),
        ("limited samples count", "application-limited samples count as others"),
        ("ACK rate alone", "the interval of a sample is that of the ACKs"),
        ("flight not begun", "the first packet of a flight keeps the times of the one before"),
        ("never limited", "no sample is application-limited"),
        ("delivered when it left", "P.delivered counts the packet"),
        ("one packet an ACK", "C.delivered grows by a packet an ACK"),
        ("limited for ever", "the bubble never passes"),
    ],
    mended: &[],
    scope: |action| match action {
        Action::Round(round) => round.lost.1 == 0 && round.marked == 0 && !round.swapped,
        Action::Send { .. } | Action::Wait { .. } => true,
        Action::Ack { skip, ce, .. } => *skip == 0 && *ce == 0,
        _ => false,
    },
    start: |changes, path| Box::new(Bbr::new(changes, path)),
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

/// §2.11 BBR.ack_phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// §2.5 to §2.14, under the draft's names.
struct Bbr {
    changes: Changes,
    c: DeliveryRate,
    smss: f64,
    initial_cwnd: f64,
    cwnd: f64,
    pacing_rate: f64,
    cwnd_limited: [bool; 2],
    period: Period,
    now: Time,
    state: State,
    ack_phase: AckPhase,
    round_count: u64,
    round_start: bool,
    next_round_delivered: f64,
    idle_restart: bool,
    drain_start_round: u64,
    max_bw: f64,
    max_bw_filter: Vec<(u64, f64)>,
    cycle_count: u64,
    bw: f64,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    bw_latest: f64,
    inflight_latest: f64,
    min_rtt: f64,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: f64,
    /// Unset by OnInit(): `None` before the first sample.
    probe_rtt_min_stamp: Option<Time>,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    /// For the reading "at entry".
    probe_rtt_bdp: f64,
    extra_acked: f64,
    extra_acked_filter: Vec<(u64, f64)>,
    /// The round of the oldest in it, for the reading "pairs of rounds".
    extra_acked_since: u64,
    extra_acked_interval_start: Time,
    extra_acked_delivered: f64,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    is_loss_in_round: bool,
    loss_round_delivered: f64,
    loss_round_start: bool,
    loss_ranges: u32,
    last_lost: Option<u64>,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    is_bw_probe_sample: bool,
    rounds_since_probe_up: u64,
    cycle_stamp: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    prior_cwnd: f64,
    undo_state: Option<State>,
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
    /// Ours' state after the event at hand, for what is random.
    theirs: Option<f64>,
    /// Ours counts bandwidths in whole bytes a second, and a comparison is closer; or: a loss while probing is judged per packet in the draft, which ours is not told.
    undecided: bool,
}

const INFINITY: f64 = f64::INFINITY;
/// §2.7 BBR.LossThresh, BBR.Beta and BBR.Headroom.
const LOSS_THRESH: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;

impl Bbr {
    /// §5.2.1 OnInit().
    fn new(changes: Changes, path: &Path) -> Bbr {
        let smss = f64::from(path.mtu);
        let initial_cwnd = initial_window(smss, &changes);
        let mut bbr = Bbr {
            c: DeliveryRate::new(changes.clone()),
            changes,
            smss,
            initial_cwnd,
            // §5.6.4.1 "at initialization, BBR uses the transport sender implementation's initial congestion window".
            cwnd: initial_cwnd,
            pacing_rate: 0.0,
            cwnd_limited: [false; 2],
            period: Period::default(),
            now: path.now,
            state: State::Startup,
            ack_phase: AckPhase::Init,
            // §5.5.1 InitRoundCounting().
            round_count: 0,
            round_start: false,
            next_round_delivered: 0.0,
            idle_restart: false,
            drain_start_round: 0,
            max_bw: 0.0,
            max_bw_filter: Vec::new(),
            cycle_count: 0,
            bw: 0.0,
            bw_shortterm: INFINITY,
            inflight_shortterm: INFINITY,
            inflight_longterm: INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            min_rtt: INFINITY,
            min_rtt_stamp: path.now,
            probe_rtt_min_delay: INFINITY,
            probe_rtt_min_stamp: None,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            probe_rtt_bdp: 0.0,
            extra_acked: 0.0,
            extra_acked_filter: Vec::new(),
            extra_acked_since: 0,
            extra_acked_interval_start: path.now,
            extra_acked_delivered: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            is_loss_in_round: false,
            loss_round_delivered: 0.0,
            loss_round_start: false,
            loss_ranges: 0,
            last_lost: None,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: INFINITY,
            bw_probe_up_rounds: 0,
            is_bw_probe_sample: false,
            rounds_since_probe_up: 0,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            prior_cwnd: 0.0,
            undo_state: None,
            undo_bw_shortterm: 0.0,
            undo_inflight_shortterm: 0.0,
            undo_inflight_longterm: 0.0,
            theirs: None,
            undecided: false,
        };
        bbr.init_pacing_rate(0.001);
        bbr
    }

    /// §2.1 C.is_cwnd_limited: "True if the connection has fully utilized C.cwnd at any point in the last packet-timed
    /// round trip."
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    /// §2.7 BBR.MinPipeCwnd: "4 * C.SMSS".
    fn min_pipe_cwnd(&self) -> f64 {
        4.0 * self.smss
    }

    /// A comparison that rounding decides ends the history.
    fn near(&mut self, one: f64, other: f64) {
        // Ours counts bandwidths in whole bytes a second.
        let rounding = 2e-4 + 2.0 / self.bw.max(1.0);
        self.undecided |= one > 0.0 && (one - other).abs() <= rounding * one.abs().min(other.abs());
    }

    fn is_in_a_probe_bw_state(&self) -> bool {
        use State::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(self.state, ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp)
    }

    /// §5.2.3 UpdateModelAndState().
    fn update_model_and_state(&mut self) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt();
        self.check_probe_rtt();
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
    }

    /// §5.5.10.2 HandleLostPacket(Packet P).
    fn handle_lost_packet(&mut self, p: &P) {
        self.note_loss();
        // §5.5.10.2 "if (!BBR.is_bw_probe_sample) return /* not a packet sent while probing bandwidth */".
        if !self.is_bw_probe_sample {
            return;
        }
        self.undecided = true;
        // §5.5.10.2 "RS.tx_in_flight = P.tx_in_flight; RS.lost = C.lost - P.lost; RS.is_app_limited = P.is_app_limited".
        self.c.rs.tx_in_flight = p.tx_in_flight;
        self.c.rs.lost = self.c.lost - p.lost;
        self.c.rs.is_app_limited = p.is_app_limited;
        if self.is_inflight_too_high() {
            self.c.rs.tx_in_flight = self.inflight_at_loss(p);
            self.handle_inflight_too_high();
        }
    }
}

impl Reference for Bbr {
    fn on_write(&mut self) {
        self.c.on_write();
    }

    fn on_packet_sent(&mut self, packet: &Packet, in_flight: u64, _app_limited: bool) {
        self.now = packet.sent_at;
        // §5.2.2 OnTransmit(): HandleRestartFromIdle(), "before sending a packet" (§5.4.1).
        if !self.changes.has("reported pauses") {
            self.handle_restart_from_idle();
        }
        self.c.on_packet_sent(packet, in_flight);
        self.cwnd_limited[0] |= in_flight as f64 + self.smss > self.cwnd;
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.now;
        self.c.before_ack(frame);
        let first = self.period.rtt.first_sample.is_none();
        if let Some(sample) = &frame.sample {
            self.period.rtt.on_sample(frame.now, sample);
            self.c.min_rtt = Some(self.period.rtt.min);
        }
        if let Some(last) = frame.lost.last().filter(|last| !self.period.contains(last.sent_at)) {
            // §5.6.4.4 OnEnterFastRecovery(): SaveCwnd(), SaveStateUponLoss(); "when a loss recovery episode starts, BBR
            // saves information about its current state" (§5.5.11).
            self.save_state_upon_loss();
            self.period.enter(frame.now);
            let _ = last;
        }
        for packet in frame.lost {
            if self.last_lost.map(|last| last + 1) != Some(packet.pn) {
                self.loss_ranges += 1;
            }
            self.last_lost = Some(packet.pn);
            if let Some(p) = self.c.on_lost(packet) {
                self.handle_lost_packet(&p);
            }
        }
        let timeout = self.period.establishes(frame, &self.changes);
        if timeout {
            // §5.6.4.4 OnEnterRTO(): SaveCwnd(), SaveStateUponLoss(), "C.cwnd = C.inflight + 1", which "will allow 1
            // C.SMSS to be transmitted".
            self.save_state_upon_loss();
            self.cwnd = self.c.inflight + self.smss;
        }
        if frame.acked.is_empty() {
            return;
        }
        // §5.2.3 UpdateOnACK(): GenerateRateSample(), UpdateModelAndState(), UpdateControlParameters().
        self.c.on_ack(frame);
        if self.changes.has("RTT of the newest alone") {
            self.c.rs.rtt = frame.sample.map(|sample| sample.latest.secs());
        }
        if first && self.period.rtt.first_sample.is_some() {
            // §5.6.2 "it sets an initial pacing rate based on the transport sender implementation's initial congestion
            // window, the initial C.srtt after the first non-zero RTT sample, and the initial pacing_gain".
            self.init_pacing_rate(self.period.rtt.smoothed);
        }
        let recovering = self.period.ongoing;
        self.period.end_with(frame);
        if recovering && !self.period.ongoing {
            // §5.6.4.4 "Upon exiting loss recovery ... BBR restores the best-known cwnd value": RestoreCwnd().
            self.restore_cwnd();
        }
        self.update_model_and_state();
        self.update_control_parameters();
    }

    fn on_spurious_loss(&mut self, now: Time, _newest_sent_at: Time) {
        self.now = now;
        self.handle_spurious_loss_detection();
    }

    fn on_idle(&mut self, now: Time, _idle: Span) {
        self.now = now;
        if self.changes.has("reported pauses") {
            self.handle_restart_from_idle();
        }
    }

    fn on_mtu(&mut self, now: Time, bytes: u64) {
        self.now = now;
        self.smss = bytes as f64;
    }

    fn take_chances(&mut self, ours: &dyn Fn(&str) -> Option<f64>) {
        self.theirs = ours("state");
    }

    fn expected(&self, _now: Time) -> Expected {
        let mbps = |rate: f64| rate * 8e-6;
        Expected {
            cwnd: self.cwnd,
            ssthresh: None,
            pacing: Some(self.pacing_rate * 8.0),
            undecided: self.undecided,
            // Ours counts bandwidths in whole bytes a second.
            rounding: 2e-4 + 2.0 / self.bw.max(1.0),
            variables: vec![
                ("state", f64::from(self.state as u8)),
                ("round", self.round_count as f64),
                ("max_bw_mbps", mbps(self.max_bw)),
                ("bw_mbps", mbps(self.bw)),
                ("bw_shortterm_mbps", mbps(self.bw_shortterm)),
                ("inflight_longterm", self.inflight_longterm / self.smss),
                ("inflight_shortterm", self.inflight_shortterm / self.smss),
                ("extra_acked", self.extra_acked / self.smss),
                ("full_bw_reached", f64::from(u8::from(self.full_bw_reached))),
                ("prev_probe_too_high", f64::from(u8::from(self.prev_probe_too_high))),
            ],
            ..Expected::default()
        }
    }
}
