//! Which congestion controller sent: by the trace's own events, and by the arrival of its packets.
//!
//! [`Observed`] follows a connection and keeps, in bounded memory, when which data packet arrived: from the packets of a
//! receiver's trace, or from the ACK frames of a sender's. [`features()`] makes some twenty numbers of them, free of the
//! path's scale, and a [`Model`] names the controller whose flows on other stacks had the most similar ones, or none.

mod features;
mod model;

pub use features::{FEATURES, Features, TooLittle, features};
pub use model::{LEAST_LOSS_RATE, Match, Model, ModelError, NEARER, Sample};

use crate::connections::Follower;
use crate::flight::{Flight, PacketStatus, Sent};
use crate::model::{Batch, Event, EventKind, Packet, PacketType};

/// Arrivals of a connection that are kept; later ones are left out.
const MAX_ARRIVALS: usize = 1 << 20;

/// The end of a transfer at which a trace was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Most bytes left.
    Sender,
    /// Most bytes came.
    Receiver,
}

impl End {
    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            End::Sender => "sender",
            End::Receiver => "receiver",
        }
    }
}

/// A data packet that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When it arrived, or when its acknowledgement did; ns of the trace's clock.
    pub time: i64,
    /// Its place among the packets sent: numbers that are missing were lost.
    pub number: u64,
    /// Size, bytes.
    pub bytes: u32,
}

/// What a connection's trace shows of its controller, without congestion windows.
#[derive(Clone, Debug)]
pub struct Observed {
    sent_bytes: u64,
    received_bytes: u64,
    /// 1-RTT packets that ask for an ACK, with their place among those sent.
    flight: Flight<u64>,
    sent: u64,
    acked: Vec<Arrival>,
    received: Vec<Arrival>,
    /// Arrivals that are kept at most.
    most: usize,
    /// ns.
    min_rtt: Option<i64>,
    /// When the first packet left, if nothing had come before it; until something comes.
    first_sent: Option<i64>,
    any: bool,
    named: Option<String>,
    state: Option<String>,
}

impl Default for Observed {
    fn default() -> Self {
        Observed {
            sent_bytes: 0,
            received_bytes: 0,
            flight: Flight::default(),
            sent: 0,
            acked: Vec::new(),
            received: Vec::new(),
            most: MAX_ARRIVALS,
            min_rtt: None,
            first_sent: None,
            any: false,
            named: None,
            state: None,
        }
    }
}

/// The controller by the trace's own events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// The controller, as the catalogue calls it where it has it.
    pub controller: String,
    /// The name or state as logged.
    pub text: String,
    /// Whether it is a congestion state that only this controller has, not a name.
    pub by_state: bool,
}

impl Observed {
    /// The end at which the trace was taken.
    #[must_use]
    pub fn end(&self) -> End {
        if self.received_bytes > self.sent_bytes { End::Receiver } else { End::Sender }
    }

    /// The data packets that arrived, in the order they did.
    #[must_use]
    pub fn arrivals(&self) -> &[Arrival] {
        match self.end() {
            End::Sender => &self.acked,
            End::Receiver => &self.received,
        }
    }

    /// The smallest RTT that the trace shows, ns.
    #[must_use]
    pub fn min_rtt(&self) -> Option<i64> {
        self.min_rtt
    }

    /// The controller by the trace's events: its name, or a state that only one has.
    #[must_use]
    pub fn declared(&self) -> Option<Declared> {
        let declared =
            |text: &String, controller: String, by_state| Declared { controller, text: text.clone(), by_state };
        let named = self.named.as_ref().map(|text| declared(text, catalogue_name(text), false));
        named.or_else(|| self.state.as_ref().map(|text| declared(text, "bbr".to_owned(), true)))
    }

    fn on_rtt(&mut self, rtt: i64) {
        if rtt > 0 {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn on_sent(&mut self, time: i64, packet: &Packet) {
        let bytes = packet.bytes.unwrap_or(0);
        self.sent_bytes = self.sent_bytes.saturating_add(u64::from(bytes));
        if !self.any {
            self.first_sent = Some(time);
        }
        self.any = true;
        let (Some(number), false) = (packet.number, packet.ack_eliciting == Some(false)) else { return };
        if packet.kind.space() == PacketType::OneRtt {
            let sent = Sent { time, bytes, status: PacketStatus::InFlight, extra: self.sent };
            self.flight.sent(number, sent);
            self.sent += 1;
        }
    }

    fn on_received(&mut self, time: i64, batch: &Batch, packet: &Packet) {
        let bytes = packet.bytes.unwrap_or(0);
        self.received_bytes = self.received_bytes.saturating_add(u64::from(bytes));
        self.any = true;
        if let Some(first) = self.first_sent.take() {
            self.on_rtt(time.saturating_sub(first));
        }
        if packet.kind.space() != PacketType::OneRtt {
            return;
        }
        if let Some(number) = packet.number
            && self.received.len() < self.most
        {
            self.received.push(Arrival { time, number, bytes });
        }
        let from = self.acked.len();
        let mut newest = None;
        for &range in batch.ranges_of(packet) {
            let (acked, most) = (&mut self.acked, self.most);
            self.flight.range(range, |_, sent| {
                if sent.status != PacketStatus::Acked {
                    sent.status = PacketStatus::Acked;
                    newest = newest.max(Some(sent.time));
                    if acked.len() < most {
                        acked.push(Arrival { time, number: sent.extra, bytes: sent.bytes });
                    }
                }
                true
            });
        }
        self.acked[from..].sort_unstable_by_key(|arrival| arrival.number);
        if let Some(sent_at) = newest {
            self.on_rtt(time.saturating_sub(sent_at));
        }
    }
}

impl Follower for Observed {
    fn event(&mut self, batch: &Batch, event: &Event) {
        match event.kind {
            EventKind::PacketSent(index) => self.on_sent(event.time, &batch.packets[index as usize]),
            EventKind::PacketReceived(index) => self.on_received(event.time, batch, &batch.packets[index as usize]),
            EventKind::Controller(name) => self.named = Some(batch.name(name).to_owned()),
            EventKind::CongestionState(index) if self.state.is_none() => {
                let state = batch.name(batch.states[index as usize].new);
                self.state = is_of_bbr(state).then(|| state.to_owned());
            }
            _ => {}
        }
    }

    fn share_memory(&mut self, followers: usize) {
        self.most = MAX_ARRIVALS / followers.max(1);
        self.flight.limit(self.most);
        for arrivals in [&mut self.acked, &mut self.received] {
            arrivals.truncate(self.most);
            arrivals.shrink_to(self.most);
        }
    }
}

/// Whether a congestion state is one of BBR's (`draft-ietf-ccwg-bbr §3.4`), whatever the stack puts before it.
fn is_of_bbr(state: &str) -> bool {
    let state = state.to_ascii_lowercase();
    let state = state.strip_prefix("bbr").map_or(state.as_str(), |rest| rest.trim_start_matches(['2', '3', '_']));
    ["startup", "drain", "probe_bw", "probebw", "probe_rtt", "probertt"].iter().any(|name| state.starts_with(name))
}

/// The catalogue's name of a controller that a stack calls `text`.
fn catalogue_name(text: &str) -> String {
    let name = text.trim().to_ascii_lowercase();
    let name = name.strip_prefix("native:").or_else(|| name.strip_prefix("windlass/")).unwrap_or(&name);
    let name = name.split(':').next().unwrap_or(name);
    let name = name.strip_suffix("_bytes").unwrap_or(name).replace('_', "-");
    match name.as_str() {
        "newreno" | "new-reno" => "reno".to_owned(),
        bbr if bbr.starts_with("bbr") => "bbr".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests;
