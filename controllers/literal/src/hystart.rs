//! HyStart++: RFC 9406 §4.2, the first slow start.

use windlass_controllers::Time;

use crate::{Changes, Frame};

/// What an ACK in slow start does to the window.
pub(crate) enum Growth {
    /// By the bytes acknowledged.
    SlowStart,
    /// By a quarter of them.
    Css,
}

/// RTTs in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct HyStart {
    /// §4.2 windowEnd, as a packet number; `since` is when it was set.
    window_end: u64,
    since: Time,
    last_round_min_rtt: f64,
    current_round_min_rtt: f64,
    rtt_sample_count: u32,
    css_baseline_min_rtt: f64,
    /// Rounds of CSS that are complete; `None` in slow start.
    css_rounds: Option<u32>,
    /// A fraction of a microsecond decided a comparison: ours keeps whole ones.
    pub undecided: bool,
}

impl HyStart {
    pub fn new(now: Time) -> HyStart {
        HyStart {
            window_end: 0,
            since: now,
            last_round_min_rtt: f64::INFINITY,
            current_round_min_rtt: f64::INFINITY,
            rtt_sample_count: 0,
            css_baseline_min_rtt: f64::INFINITY,
            css_rounds: None,
            undecided: false,
        }
    }

    /// How the ACK's bytes count: as in the phase the ACK finds.
    pub fn growth(&self) -> Growth {
        if self.css_rounds.is_some() { Growth::Css } else { Growth::SlowStart }
    }

    /// An ACK in slow start. Whether it ends it.
    pub fn on_ack(&mut self, frame: &Frame<'_>, next_pn: u64, changes: &Changes) -> bool {
        let newest = frame.acked.iter().max_by_key(|packet| packet.pn).map(|packet| (packet.pn, packet.sent_at));
        let Some((pn, sent_at)) = newest else { return false };
        // §4.2 "When windowEnd is ACKed, the current round ends and windowEnd is set to SND.NXT."
        let ends = if changes.has("rounds by time") { sent_at >= self.since } else { pn >= self.window_end };
        if ends && self.end_round(frame.now, next_pn, changes) {
            return true;
        }
        // §4.2 "currentRoundMinRTT = min(currentRoundMinRTT, currRTT)", "rttSampleCount += 1", where "currRTT is the RTT
        // sampled from the incoming ACK".
        let Some(sample) = &frame.sample else { return false };
        self.current_round_min_rtt = self.current_round_min_rtt.min(sample.latest.0 as f64);
        self.rtt_sample_count += 1;
        // §4.2 "For rounds where at least N_RTT_SAMPLE RTT samples have been obtained": N_RTT_SAMPLE is 8 (§4.3).
        let enough = self.rtt_sample_count >= if changes.has("nine samples") { 9 } else { 8 };
        if self.css_rounds.is_none() {
            // §4.2 "and currentRoundMinRTT and lastRoundMinRTT are valid".
            if enough && self.current_round_min_rtt.is_finite() && self.last_round_min_rtt.is_finite() {
                // §4.2 "RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))"; §4.3
                // they are 4 ms, 8 and 16 ms.
                let divisor = if changes.has("a sixteenth") { 16.0 } else { 8.0 };
                let (least, most) = if changes.has("no bounds") { (0.0, f64::INFINITY) } else { (4e6, 16e6) };
                let rtt_thresh = (self.last_round_min_rtt / divisor).clamp(least, most);
                let short = self.last_round_min_rtt + rtt_thresh - self.current_round_min_rtt;
                self.undecided |= short > 0.0 && short < 1e3;
                // §4.2 "if (currentRoundMinRTT >= (lastRoundMinRTT + RttThresh)) cssBaselineMinRtt =
                // currentRoundMinRTT; exit slow start and enter CSS".
                if self.current_round_min_rtt >= self.last_round_min_rtt + rtt_thresh {
                    self.css_baseline_min_rtt = self.current_round_min_rtt;
                    if changes.has("baseline of before") {
                        self.css_baseline_min_rtt = self.last_round_min_rtt;
                    }
                    self.css_rounds = Some(0);
                    return changes.has("no CSS");
                }
            }
        } else if enough && self.current_round_min_rtt < self.css_baseline_min_rtt && !changes.has("no way back") {
            // §4.2 "if (currentRoundMinRTT < cssBaselineMinRtt) cssBaselineMinRtt = infinity; resume slow start
            // including HyStart++".
            self.css_baseline_min_rtt = f64::INFINITY;
            self.css_rounds = None;
        }
        false
    }

    /// Whether the round that ends is the last of CSS.
    fn end_round(&mut self, now: Time, next_pn: u64, changes: &Changes) -> bool {
        self.window_end = next_pn;
        self.since = now;
        // §4.2 "lastRoundMinRTT = currentRoundMinRTT; currentRoundMinRTT = infinity; rttSampleCount = 0".
        if !changes.has("filter a round too old") || self.last_round_min_rtt.is_infinite() {
            self.last_round_min_rtt = self.current_round_min_rtt;
        }
        self.current_round_min_rtt = f64::INFINITY;
        self.rtt_sample_count = 0;
        if let Some(rounds) = &mut self.css_rounds {
            // §4.2 "CSS lasts at most CSS_ROUNDS rounds. If the transition into CSS happens in the middle of a round,
            // that partial round counts towards the limit": 5 (§4.3).
            *rounds += 1;
            return *rounds >= if changes.has("six rounds") { 6 } else { 5 };
        }
        false
    }
}
