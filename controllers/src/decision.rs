//! What to do: the one decision type all adapters carry out.

use crate::event::with;
use crate::parts::chirp::Chirp;
use crate::{Span, Time};

/// What the sender may do from now on, until the next decision.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Decision {
    /// Congestion window, bytes; never below two datagrams (`RFC 9002 §7.2`) unless
    /// the scheme's own profile goes to one after a timeout.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub cwnd: u64,
    /// Slow start threshold, bytes; `None` while it is infinite.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub ssthresh: Option<u64>,
    /// Pacing rate, bit/s; `None` leaves pacing to the stack.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub pacing_rate: Option<u64>,
    /// Rate that a media controller has its application encode at, bit/s; `None` from all others, and before there is one.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub target_rate: Option<u64>,
    /// Call back with [`EventKind::TimerExpired`](crate::EventKind::TimerExpired) at this time.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub wake_at: Option<Time>,
    /// ECN codepoint for data packets.
    pub ecn: Ecn,
    /// Differentiated services codepoint for data packets (6 bits).
    pub dscp: u8,
    /// Probe train to send. A train is sent once: when its id is one the adapter
    /// has not seen on this flow.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub train: Option<TrainPlan>,
    /// What the controller is doing, for logs.
    pub phase: Phase,
    /// Start of the latest recovery period; see
    /// [`PacketsAcked::fresh_bytes`](crate::event::PacketsAcked::fresh_bytes).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub recovery_start: Option<Time>,
}

impl Decision {
    /// A window of `cwnd` bytes in slow start, and nothing else: no threshold, pacing, timer,
    /// codepoint or train.
    #[must_use]
    #[inline]
    pub const fn new(cwnd: u64) -> Decision {
        Decision {
            cwnd,
            ssthresh: None,
            pacing_rate: None,
            target_rate: None,
            wake_at: None,
            ecn: Ecn::Unspecified,
            dscp: 0,
            train: None,
            phase: Phase::SlowStart,
            recovery_start: None,
        }
    }

    with! {
        /// With a slow start threshold, bytes.
        with_ssthresh(ssthresh: Option<u64>);
        /// With a pacing rate, bit/s.
        with_pacing_rate(pacing_rate: Option<u64>);
        /// With a rate for the application to encode at, bit/s.
        with_target_rate(target_rate: Option<u64>);
        /// With the time of the next [`EventKind::TimerExpired`](crate::EventKind::TimerExpired).
        with_wake_at(wake_at: Option<Time>);
        /// The same decision with this ECN codepoint for data packets.
        with_ecn(ecn: Ecn);
        /// With a differentiated services codepoint (6 bits).
        with_dscp(dscp: u8);
        /// The same decision with this probe train; `None` sends none.
        with_train(train: Option<TrainPlan>);
        /// The same decision in `phase`.
        with_phase(phase: Phase);
        /// With the start of the latest recovery period.
        with_recovery_start(recovery_start: Option<Time>);
    }
}

/// ECN codepoint to set on outgoing packets (`RFC 3168 §5`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Ecn {
    /// Whatever the stack does by itself.
    #[default]
    Unspecified,
    /// Not-ECT, `0b00` (`RFC 3168 §5`).
    NotEct,
    /// ECT(0), `0b10` (`RFC 3168 §5`).
    Ect0,
    /// ECT(1), the L4S identifier (`RFC 9331 §4.1`).
    Ect1,
}

/// States of congestion control as qlog names them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Phase {
    /// Slow start (`RFC 9002 §7.3.1`) or the scheme's own start-up.
    #[default]
    SlowStart,
    /// Any phase that is neither start-up nor recovery.
    CongestionAvoidance,
    /// From a congestion response to the first ACK of a packet sent after it.
    Recovery,
}

impl Phase {
    /// The name in qlog's `congestion_state_updated`.
    #[must_use]
    pub const fn qlog_name(self) -> &'static str {
        match self {
            Phase::SlowStart => "slow_start",
            Phase::CongestionAvoidance => "congestion_avoidance",
            Phase::Recovery => "recovery",
        }
    }
}

/// A train of probe packets whose spacing shrinks geometrically
/// (`spec: arumaithurai §3.6`).
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TrainPlan {
    /// Distinguishes trains of one flow.
    pub id: u32,
    /// Packets in the train.
    pub packets: u32,
    /// Size of each packet on the wire, bytes.
    pub bytes: u32,
    /// Rate over the first gap, bit/s.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::float"))]
    pub min_rate: f64,
    /// Ratio of consecutive gaps' rates.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::float"))]
    pub spread: f64,
    /// Differentiated services codepoint of the probes.
    pub dscp: u8,
    /// Its packets are the flow's next data packets instead of probes. Such a train
    /// begins with the next packet that may leave, or one gap after the latest packet of
    /// the one it replaces; the last packet is followed by a gap as long as the one
    /// before it. While one is under way, its gaps take the place of pacing; the window
    /// holds, and a packet that has to wait for it or for data leaves the rest of the
    /// train later. Needs [`DATA_TRAINS`](crate::Signals::DATA_TRAINS).
    pub carries_data: bool,
}

impl TrainPlan {
    /// A train of `packets` probes of `bytes` bytes, from `min_rate` bit/s over the first gap,
    /// each gap's rate `spread` times the one before; for best-effort delivery.
    #[must_use]
    #[inline]
    pub const fn new(id: u32, packets: u32, bytes: u32, min_rate: f64, spread: f64) -> TrainPlan {
        TrainPlan { id, packets, bytes, min_rate, spread, dscp: 0, carries_data: false }
    }

    with! {
        /// With a differentiated services codepoint (6 bits).
        with_dscp(dscp: u8);
        /// With data packets instead of probes: [`carries_data`](Self::carries_data).
        with_carries_data(carries_data: bool);
    }

    /// The spacing of the train.
    #[must_use]
    pub const fn chirp(&self) -> Chirp {
        Chirp { packets: self.packets, bytes: self.bytes, min_rate: self.min_rate, spread: self.spread }
    }

    /// How long after packet `index` (from 0) the next one leaves; after the last, as long
    /// as after the one before it.
    #[must_use]
    pub fn gap(&self, index: u32) -> Span {
        let rate = self.chirp().rate((index.saturating_add(1)).min(self.chirp().gaps()));
        Span::from_secs_f64(8.0 * f64::from(self.bytes) / rate)
    }

    /// When packet `index` (from 0) leaves, after the first
    /// (`spec: arumaithurai §3.6`: `o_{i+1} = o_i + 8·size/(MinRate·SF^{i−1})`).
    #[must_use]
    pub fn offset(&self, index: u32) -> Span {
        Span::from_secs_f64(self.chirp().offset(index))
    }
}
