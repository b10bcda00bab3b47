//! BBR: the pseudocode of draft-ietf-ccwg-bbr §5, function by function, under its names; bytes and seconds.

mod control;
mod model;
mod readings;
mod state_machine;

use windlass_controllers::{Path, Span, Time};

use crate::delivery_rate::{DeliveryRate, P};
use crate::recovery::{Period, initial_window};
use crate::{Changes, Expected, Frame, Packet, Reference};

pub(crate) use readings::{BY_THE_LETTER, SCHEME};

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

/// §2.14 BBR.ack_phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// §2.5 to §2.16, under the draft's names.
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
    /// Discontiguous ranges lost in the round trip under way, and in the one that the ACK at hand ended.
    loss_ranges: [u32; 2],
    last_lost: Option<u64>,
    /// C.delivered when the recovery period began.
    recovery_delivered: f64,
    /// For the reading "judged by the next ACK".
    is_loss_unhandled: bool,
    /// For the reading "marks".
    is_undo_final: bool,
    /// When the recovery period before the latest began, for the reading "the latest episode".
    earlier: Option<Time>,
    /// Bytes in flight before the ACK at hand without what it lets be lost, and whether it found nothing to send.
    before: f64,
    app_limited: bool,
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
    /// What ours chose at random does not show.
    undecided: bool,
}

const INFINITY: f64 = f64::INFINITY;
/// §2.8 BBR.LossThresh, BBR.Beta and BBR.Headroom.
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
            loss_ranges: [0; 2],
            last_lost: None,
            recovery_delivered: 0.0,
            is_loss_unhandled: false,
            is_undo_final: false,
            earlier: None,
            before: 0.0,
            app_limited: false,
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

    /// §2.2 C.is_cwnd_limited: "True if the connection has fully utilized C.cwnd at any point in the last packet-timed
    /// round trip."
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    /// §2.8 BBR.MinPipeCwnd: "4 * C.SMSS".
    fn min_pipe_cwnd(&self) -> f64 {
        4.0 * self.smss
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
        if !self.is_bw_probe_sample || self.is_loss_unhandled {
            return;
        }
        // §5.5.10.2 "RS.tx_in_flight = P.tx_in_flight /* C.inflight at transmit */", "RS.lost = C.lost - P.lost",
        // "RS.is_app_limited = P.is_app_limited".
        self.c.rs.tx_in_flight = p.tx_in_flight;
        self.c.rs.lost = self.c.lost - p.lost;
        self.c.rs.is_app_limited = p.is_app_limited;
        if self.is_inflight_too_high() {
            // §5.5.10.2 "RS.tx_in_flight = InflightAtLoss(P); HandleInflightTooHigh()".
            self.c.rs.tx_in_flight = self.inflight_at_loss(p);
            self.handle_inflight_too_high();
        }
    }

    /// Packets are lost, or marked: §5.6.4.4 OnEnterFastRecovery(): "SaveCwnd(); SaveStateUponLoss()", unless recovery is
    /// under way.
    fn on_congestion(&mut self, sent_at: Time) {
        if self.period.contains(sent_at) {
            return;
        }
        self.save_state_upon_loss();
        self.earlier = self.period.start;
        self.recovery_delivered = self.c.delivered;
        self.period.enter(self.now);
    }

    fn on_marks(&mut self, frame: &Frame<'_>) {
        // §3.7 "the congestion controller response MUST treat any CE marks as congestion."
        let Some(newest) = frame.acked.last().filter(|_| frame.ce > 0 && self.changes.has("marks")) else { return };
        self.on_congestion(newest.sent_at);
        self.note_loss();
        self.is_undo_final = true;
    }

    fn on_losses(&mut self, frame: &Frame<'_>) {
        if let Some(last) = frame.lost.last() {
            self.on_congestion(last.sent_at);
            self.is_loss_unhandled = self.changes.has("judged by the next ACK");
            self.loss_ranges[0] += u32::from(self.changes.has("reports are ranges"));
        }
        let lost: Vec<P> = frame.lost.iter().filter_map(|packet| self.c.on_lost(packet)).collect();
        for p in lost {
            let adjoins = self.last_lost.is_some_and(|last| last + 1 == p.packet_id);
            self.loss_ranges[0] += u32::from(!adjoins && !self.changes.has("reports are ranges"));
            self.last_lost = Some(p.packet_id);
            self.handle_lost_packet(&p);
        }
        if self.period.establishes(frame, &self.changes) {
            self.on_enter_rto();
        }
    }

    /// §5.6.4.4 OnEnterRTO(): "SaveCwnd(); SaveStateUponLoss(); C.cwnd = C.inflight + 1", which "will allow 1 C.SMSS to be
    /// transmitted".
    fn on_enter_rto(&mut self) {
        if self.period.start != Some(self.now) {
            self.earlier = self.period.start;
        }
        self.save_state_upon_loss();
        self.recovery_delivered = self.c.delivered;
        self.period.enter(self.now);
        self.is_loss_unhandled &= !self.changes.has("no loss after a timeout");
        let window = self.c.inflight + self.smss;
        self.cwnd = if self.changes.has("four after a timeout") {
            window.min(self.cwnd).max(self.min_pipe_cwnd())
        } else {
            window
        };
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
        let by_acks = self.changes.has("looked at by ACKs");
        self.cwnd_limited[0] |= !by_acks && in_flight as f64 + self.smss > self.cwnd;
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.now;
        self.c.before_ack(frame);
        if let Some(sample) = &frame.sample {
            let first = self.period.rtt.first_sample.is_none();
            self.period.rtt.on_sample(frame.now, sample);
            self.c.min_rtt = Some(self.period.rtt.min.secs());
            if first {
                // §5.6.2 "it sets an initial pacing rate based on the transport sender implementation's initial congestion
                // window [...] the initial C.srtt after the first non-zero RTT sample, and the initial pacing_gain".
                self.init_pacing_rate(self.period.rtt.smoothed);
            }
        }
        self.on_marks(frame);
        self.on_losses(frame);
        if self.c.newly_acked(frame).is_empty() {
            return;
        }
        // §5.2.3 UpdateOnACK(): "GenerateRateSample(); UpdateModelAndState(); UpdateControlParameters()".
        self.before = self.c.inflight;
        self.app_limited = frame.app_limited;
        self.c.on_ack(frame);
        if self.changes.has("RTT of the newest") {
            self.c.rs.rtt = frame.sample.map(|sample| sample.latest.secs());
        }
        if self.changes.has("samples of calm frames") && (frame.ce > 0 || !frame.lost.is_empty()) {
            self.c.rs.rtt = None;
        }
        let recovering = self.period.ongoing;
        self.period.end_with(frame);
        if recovering && !self.period.ongoing && !self.changes.has("recovery keeps the window") {
            // §5.6.4.4 "Upon exiting loss recovery [...] BBR restores the best-known cwnd value we had upon entering loss
            // recovery: RestoreCwnd()".
            self.restore_cwnd();
        }
        let judges = self.c.rs.has_data || self.changes.has("judged without a sample");
        if self.is_loss_unhandled && judges {
            self.is_loss_unhandled = false;
            if self.is_bw_probe_sample && self.is_inflight_too_high() {
                self.handle_inflight_too_high();
            }
        }
        self.update_model_and_state();
        self.update_control_parameters();
    }

    fn on_spurious_loss(&mut self, now: Time, newest_sent_at: Time) {
        self.now = now;
        let is_older =
            self.earlier.is_some_and(|start| newest_sent_at <= start) && self.changes.has("the latest episode");
        if !self.is_undo_final && !is_older {
            self.handle_spurious_loss_detection();
        }
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
        let starts = self.c.delivered == 0.0 && self.cwnd == self.initial_cwnd;
        // §2.2 C.InitialCwnd: "The initial congestion window set by the transport protocol implementation"; RFC 9002 §7.2 "If
        // the maximum datagram size changes during the connection, the initial congestion window SHOULD be recalculated".
        self.initial_cwnd = initial_window(self.smss, &self.changes);
        if starts {
            self.cwnd = self.initial_cwnd;
            if self.period.rtt.first_sample.is_none() {
                self.init_pacing_rate(0.001);
            }
        }
    }

    fn follow_random_choices(&mut self, ours: &dyn Fn(&str) -> Option<f64>) {
        self.theirs = ours("state");
    }

    fn expected(&self, _now: Time) -> Expected {
        let mbps = |rate: f64| rate * 8e-6;
        let floor = self.c.delivered > 0.0 && self.changes.has("floor of the new size");
        Expected {
            cwnd: if floor { self.cwnd.max(self.min_pipe_cwnd()) } else { self.cwnd },
            ssthresh: None,
            pacing: Some(self.pacing_rate * 8.0),
            undecided: self.undecided,
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
