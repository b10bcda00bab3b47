//! The contract's plain data as a controller in Python has them: what it is told, and what it decides.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use windlass_controllers::event::{EcnCe, IdleRestart, LossTrigger, PacketsAcked, PacketsLost};
use windlass_controllers::{EventKind, Phase, Signals, Time};

use crate::UsageError;

/// The word of `words` that is written `text`; `what` names the argument.
fn word<T: Copy>(what: &str, text: &str, words: &[(&str, T)]) -> PyResult<T> {
    words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        UsageError::new_err(format!("{what} is {text:?}; expected {}", names.join(" or ")))
    })
}

/// The set of signals that `names` spells, each as `windlass list` does.
pub(crate) fn signals(names: &[String]) -> PyResult<Signals> {
    let mut all = Signals::NONE;
    for name in names {
        let known = || Signals::ALL.names().collect::<Vec<_>>().join(", ");
        let unknown = || UsageError::new_err(format!("needs has {name:?}; expected some of {}", known()));
        all = all | Signals::named(name).ok_or_else(unknown)?;
    }
    Ok(all)
}

/// What is known of a path when a flow starts on it.
#[pyclass(frozen, get_all, module = "windlass")]
pub(crate) struct Path {
    /// When the flow starts, ns.
    now_ns: u64,
    /// Maximum datagram size, bytes.
    mtu: u32,
    /// Seed for a controller that needs randomness.
    seed: u64,
}

impl From<&windlass_controllers::Path> for Path {
    fn from(path: &windlass_controllers::Path) -> Path {
        Path { now_ns: path.now.0, mtu: path.mtu, seed: path.seed }
    }
}

/// What a sender learned or did. An attribute is None where the event does not tell it.
#[pyclass(frozen, module = "windlass")]
pub(crate) struct Event(pub windlass_controllers::Event);

impl Event {
    fn acked(&self) -> Option<&PacketsAcked> {
        if let EventKind::PacketsAcked(acked) = &self.0.kind { Some(acked) } else { None }
    }

    fn lost(&self) -> Option<&PacketsLost> {
        match &self.0.kind {
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => Some(lost),
            _ => None,
        }
    }

    fn marked(&self) -> Option<&EcnCe> {
        if let EventKind::EcnCe(marked) = &self.0.kind { Some(marked) } else { None }
    }

    fn idle(&self) -> Option<&IdleRestart> {
        if let EventKind::IdleRestart(idle) = &self.0.kind { Some(idle) } else { None }
    }
}

#[pymethods]
impl Event {
    /// "packets_acked", "packets_lost", "persistent_congestion", "rtt_sampled", "ecn_ce", "spurious_loss", "mtu_updated",
    /// "idle_restart", "timer_expired", "packet_sent", "probe_received", "window_set", "joined" or "left".
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0.kind {
            EventKind::PacketSent(_) => intern!(py, "packet_sent"),
            EventKind::RttSampled(_) => intern!(py, "rtt_sampled"),
            EventKind::PacketsAcked(_) => intern!(py, "packets_acked"),
            EventKind::EcnCe(_) => intern!(py, "ecn_ce"),
            EventKind::PacketsLost(_) => intern!(py, "packets_lost"),
            EventKind::PersistentCongestion(_) => intern!(py, "persistent_congestion"),
            EventKind::SpuriousLoss(_) => intern!(py, "spurious_loss"),
            EventKind::MtuUpdated(_) => intern!(py, "mtu_updated"),
            EventKind::IdleRestart(_) => intern!(py, "idle_restart"),
            EventKind::TimerExpired => intern!(py, "timer_expired"),
            EventKind::ProbeReceived(_) => intern!(py, "probe_received"),
            EventKind::WindowSet(_) => intern!(py, "window_set"),
            EventKind::Joined => intern!(py, "joined"),
            EventKind::Left => intern!(py, "left"),
            _ => intern!(py, "other"),
        }
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.0
    }

    /// Bytes sent, acknowledged or lost.
    #[getter]
    fn bytes(&self) -> Option<u64> {
        let sent = || if let EventKind::PacketSent(sent) = &self.0.kind { Some(sent.bytes) } else { None };
        self.acked().map(|acked| acked.bytes).or(self.lost().map(|lost| lost.bytes)).or_else(sent)
    }

    /// Packets acknowledged, lost or marked.
    #[getter]
    fn packets(&self) -> Option<u32> {
        let acked = self.acked().map(|acked| acked.packets);
        acked.or(self.lost().map(|lost| lost.packets)).or(self.marked().map(|marked| marked.packets))
    }

    /// Of the bytes acknowledged, those sent after the start of the latest recovery period, as the latest decision gave it.
    #[getter]
    fn fresh_bytes(&self) -> Option<u64> {
        self.acked().map(|acked| acked.fresh_bytes)
    }

    /// When the newest of the packets that the event is about was sent, ns.
    #[getter]
    fn newest_sent_at_ns(&self) -> Option<u64> {
        let acked = self.acked().map(|acked| acked.newest_sent_at);
        let lost = self.lost().map(|lost| lost.newest_sent_at);
        let spurious = match &self.0.kind {
            EventKind::SpuriousLoss(spurious) => Some(spurious.newest_sent_at),
            _ => None,
        };
        acked.or(lost).or(self.marked().map(|marked| marked.newest_sent_at)).or(spurious).map(|at| at.0)
    }

    /// Bytes in flight after the event.
    #[getter]
    fn in_flight(&self) -> Option<u64> {
        self.0.in_flight()
    }

    /// Bytes in flight before the event, what it acknowledges or loses included.
    #[getter]
    fn in_flight_before(&self) -> Option<u64> {
        self.0.flight()
    }

    /// Bytes acknowledged on the path so far.
    #[getter]
    fn delivered(&self) -> Option<u64> {
        self.acked().map(|acked| acked.delivered)
    }

    /// Whether the sender did not use its window.
    #[getter]
    fn app_limited(&self) -> Option<bool> {
        match &self.0.kind {
            EventKind::PacketSent(sent) => Some(sent.app_limited),
            _ => self.acked().map(|acked| acked.app_limited),
        }
    }

    /// The RTT sample, ns.
    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.0.rtt().map(|rtt| rtt.latest.0)
    }

    /// The sender's smoothed RTT, this sample included, ns.
    #[getter]
    fn smoothed_rtt_ns(&self) -> Option<u64> {
        self.0.rtt().map(|rtt| rtt.smoothed.0)
    }

    /// The sender's smallest RTT, ns.
    #[getter]
    fn min_rtt_ns(&self) -> Option<u64> {
        self.0.rtt().map(|rtt| rtt.min.0)
    }

    /// How often the data of the newest packet lost was transmitted.
    #[getter]
    fn transmissions(&self) -> Option<u32> {
        self.lost().map(|lost| lost.transmissions)
    }

    /// "packet_threshold", "time_threshold" or "unknown": the rule that found the loss.
    #[getter]
    fn trigger(&self) -> Option<&'static str> {
        self.lost().map(|lost| match lost.trigger {
            LossTrigger::PacketThreshold => "packet_threshold",
            LossTrigger::TimeThreshold => "time_threshold",
            _ => "unknown",
        })
    }

    /// How long nothing was in flight, ns.
    #[getter]
    fn idle_ns(&self) -> Option<u64> {
        self.idle().map(|idle| idle.idle.0)
    }

    /// The sender's probe timeout after an idle time, ns.
    #[getter]
    fn pto_ns(&self) -> Option<u64> {
        self.idle().map(|idle| idle.pto.0)
    }

    /// The new maximum datagram size, bytes.
    #[getter]
    fn mtu(&self) -> Option<u32> {
        if let EventKind::MtuUpdated(mtu) = self.0.kind { Some(mtu) } else { None }
    }

    /// Everything that the event tells, in dicts named as in the steps of a qlog file; for what no attribute has, such as
    /// delivery-rate samples and one-way delays. Slow.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&self.0).map_err(|error| crate::Error::new_err(error.to_string()))?;
        crate::values(py, &text)
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Event: {:?} at {} ns>", self.0.kind, self.0.now.0)
    }
}

/// What the sender may do from now on, until the next decision.
///
/// cwnd: congestion window, bytes.
/// ssthresh: slow start threshold, bytes; None while it is infinite.
/// pacing_rate: bit/s; None leaves pacing to the sender.
/// target_rate: bit/s that an encoder is to follow, the application's estimated send rate; None leaves that to what is measured.
/// wake_at_ns: call back with "timer_expired" then.
/// ecn: "ect0", "ect1" or "not-ect" for data packets; None leaves it to the sender.
/// dscp: differentiated services codepoint of data packets.
/// phase: "slow_start", "congestion_avoidance" or "recovery", for logs.
/// recovery_start_ns: start of the latest recovery period; what was sent before it is not among fresh_bytes.
#[pyclass(frozen, module = "windlass")]
pub(crate) struct Decision(pub windlass_controllers::Decision);

#[pymethods]
impl Decision {
    #[new]
    #[pyo3(signature = (cwnd, *, ssthresh=None, pacing_rate=None, target_rate=None, wake_at_ns=None, ecn=None, dscp=0, phase="slow_start", recovery_start_ns=None))]
    #[expect(clippy::too_many_arguments, reason = "the fields of a decision, by name")]
    fn new(
        cwnd: u64,
        ssthresh: Option<u64>,
        pacing_rate: Option<u64>,
        target_rate: Option<u64>,
        wake_at_ns: Option<u64>,
        ecn: Option<&str>,
        dscp: u8,
        phase: &str,
        recovery_start_ns: Option<u64>,
    ) -> PyResult<Decision> {
        use windlass_controllers::Ecn;
        let codepoints = [("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("not-ect", Ecn::NotEct)];
        let phases = [Phase::SlowStart, Phase::CongestionAvoidance, Phase::Recovery];
        let decision = windlass_controllers::Decision::new(cwnd)
            .with_ssthresh(ssthresh)
            .with_pacing_rate(pacing_rate)
            .with_target_rate(target_rate)
            .with_wake_at(wake_at_ns.map(Time))
            .with_ecn(ecn.map_or(Ok(Ecn::Unspecified), |text| word("ecn", text, &codepoints))?)
            .with_dscp(dscp)
            .with_phase(word("phase", phase, &phases.map(|phase| (phase.qlog_name(), phase)))?)
            .with_recovery_start(recovery_start_ns.map(Time));
        Ok(Decision(decision))
    }

    /// Congestion window, bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    fn __repr__(&self) -> String {
        format!("<windlass.{:?}>", self.0)
    }
}
