//! What has to hold of every event a flow gets and of every decision it makes.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event, EventKind, Path, Time};

use super::Order;

/// The largest window any controller decides, bytes: 1 048 576 datagrams (`max_window`) of the
/// largest size.
pub(super) const LARGEST_WINDOW: u64 = 1_048_576 * LARGEST_DATAGRAM;
const LARGEST_DATAGRAM: u64 = 65_527;

/// A datagram of `mtu` bytes as controllers count it, bytes.
#[must_use]
pub fn datagram(mtu: u64) -> u64 {
    mtu.clamp(1, LARGEST_DATAGRAM)
}

/// The recorders of the flows of one sequence, and what they saw.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug)]
struct Seen {
    /// Since they were taken last, in their order.
    kinds: Vec<EventKind>,
    /// The first thing that was wrong.
    wrong: Option<String>,
    /// Datagrams a window has at least.
    least: u64,
    /// Whether the stack says nothing that cannot be.
    sound: bool,
    /// Of all that passed between a stack and its controllers, where that is wanted.
    digest: Option<u64>,
}

impl Seen {
    fn digest(&mut self, what: impl Debug) {
        if let Some(digest) = &mut self.digest {
            // FNV-1a.
            let add = |digest: u64, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            *digest = format!("{what:?}").into_bytes().into_iter().fold(*digest, add);
        }
    }
}

impl Watch {
    /// Of controllers whose windows have `least` datagrams at least, on a stack that says nothing
    /// that cannot be if it is `sound`.
    pub(super) fn new(least: u64, sound: bool, digest: Option<u64>) -> Watch {
        Watch(Arc::new(Mutex::new(Seen { kinds: Vec::new(), wrong: None, least, sound, digest })))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recorder of a flow that starts on `path`.
    #[must_use]
    pub fn recorder(&self, path: &Path) -> Box<dyn Recorder> {
        Box::new(Watching {
            watch: self.clone(),
            mtu: u64::from(path.mtu),
            now: path.now,
            delivered: 0,
            events: 0,
            left: false,
        })
    }

    /// Adds a path's answers to the digest.
    pub(super) fn answered<T: Debug>(&self, answers: impl FnOnce() -> T) {
        let mut seen = self.seen();
        if seen.digest.is_some() {
            seen.digest(answers());
        }
    }

    /// The digest of all events and answers, from the one it was made with.
    pub(super) fn digest(&self) -> Option<u64> {
        self.seen().digest
    }

    /// The events since they were taken last, or what was wrong with one of them.
    pub(super) fn take(&self) -> Result<Vec<EventKind>, String> {
        let mut seen = self.seen();
        let kinds = std::mem::take(&mut seen.kinds);
        seen.wrong.take().map_or(Ok(kinds), Err)
    }
}

/// Where an event of an ACK frame stands in the contract's order, or for a stack with another `order` of samples;
/// `None` if it belongs to none.
fn rank(kind: &EventKind, order: Order) -> Option<u8> {
    match kind {
        EventKind::RttSampled(_) if order == Order::SampleLast => Some(3),
        EventKind::RttSampled(_) => Some(0),
        EventKind::EcnCe(_) => Some(1),
        EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_) => Some(2),
        EventKind::PacketsAcked(_) => Some(3),
        _ => None,
    }
}

/// Checks that events of one frame are in the contract's order, each kind once, and the sample only once.
pub(super) fn check_frame<'a>(kinds: impl IntoIterator<Item = &'a EventKind>, order: Order) -> Result<(), String> {
    let (mut before, mut sampled) = (None, false);
    for kind in kinds {
        let rank = rank(kind, order);
        if rank.is_some() && rank <= before {
            return Err(format!("{kind:?} comes too late in its frame"));
        }
        before = rank.or(before);
        sampled |= matches!(kind, EventKind::RttSampled(_));
        if sampled && matches!(kind, EventKind::PacketsAcked(acked) if acked.rtt.is_some()) {
            return Err("a frame has two RTT samples".to_owned());
        }
    }
    Ok(())
}

/// One flow's recorder.
struct Watching {
    watch: Watch,
    mtu: u64,
    now: Time,
    delivered: u64,
    events: u64,
    left: bool,
}

impl Recorder for Watching {
    fn record(&mut self, event: &Event, decision: &Decision, variables: &StateVariables<'_>) {
        let watch = self.watch.clone();
        let mut seen = watch.seen();
        let checked = self.check_event(event, seen.sound).and_then(|()| self.check_decision(decision, seen.least));
        let checked = checked.and_then(|()| check_variables(variables));
        if let Err(wrong) = checked {
            seen.wrong.get_or_insert(format!("{wrong}, after {event:?}"));
        }
        seen.kinds.push(event.kind);
        seen.digest(event);
        self.events += 1;
        self.now = event.now;
    }
}

impl Watching {
    fn check_event(&mut self, event: &Event, sound: bool) -> Result<(), String> {
        if event.now < self.now {
            return Err(format!("time goes back from {:?}", self.now));
        }
        if self.left {
            return Err("a flow that left goes on".to_owned());
        }
        match event.kind {
            EventKind::Joined if self.events > 0 => return Err("a flow joins late".to_owned()),
            EventKind::Left => self.left = true,
            EventKind::MtuUpdated(mtu) => self.mtu = mtu.into(),
            EventKind::PacketsAcked(acked) => {
                let counted = acked.packets > 0 || !sound;
                let fits = acked.fresh_bytes <= acked.bytes && acked.in_flight <= acked.in_flight_before;
                if !(counted && fits && acked.delivered >= self.delivered) {
                    return Err(format!("an acknowledgement that cannot be, {} were delivered", self.delivered));
                }
                self.delivered = acked.delivered;
            }
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost)
                if lost.in_flight > lost.in_flight_before || (lost.packets == 0 && sound) =>
            {
                return Err("a loss that cannot be".to_owned());
            }
            EventKind::EcnCe(marks) if marks.packets == 0 => return Err("no mark is reported".to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn check_decision(&self, decision: &Decision, least: u64) -> Result<(), String> {
        let bounds = least * datagram(self.mtu)..=LARGEST_WINDOW;
        if !bounds.contains(&decision.cwnd) {
            return Err(format!("a window of {} is not within {bounds:?}", decision.cwnd));
        }
        let train = decision.train.is_none_or(|train| train.min_rate.is_finite() && train.min_rate > 0.0);
        if !train || decision.dscp >= 64 {
            return Err(format!("{decision:?} cannot be carried out"));
        }
        Ok(())
    }
}

fn check_variables(variables: &StateVariables<'_>) -> Result<(), String> {
    let mut nan = None;
    variables(&mut |name, value| nan = nan.or(value.is_nan().then_some(name)));
    nan.map_or(Ok(()), |name| Err(format!("{name} is no number")))
}
