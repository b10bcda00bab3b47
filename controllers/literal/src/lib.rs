//! A second reading of every rule that has a document: plain programs, packet by packet, each with the
//! sentence it carries out above it, written from the documents alone and compared with `windlass-controllers`
//! over random histories ([docs/literal.md](../../../docs/literal.md)).
//!
//! A [`Scheme`] names what is compared. Its [`Reading`]s are the differences there are, each with the sentence
//! it departs from; a reference takes them in as changes of its rules, so that with all of them it equals ours and
//! without any one of them it does not. Its mutants are changes of the same kind that nobody wants.

mod bbr;
mod cubic;
mod dctcp;
mod delivery_rate;
mod history;
mod hystart;
mod ledbat;
mod ledbat_plus_plus;
mod past;
mod prague;
mod recovery;
mod reno;
mod sender;

use windlass_controllers::{Path, Phase, Span, Time};

pub use history::{Action, History, Round, histories, poisons};
pub use past::{Past, live};
pub use sender::{CLOCK_OFFSET, Difference, compare};

/// Everything that is compared, in the order of docs/literal.md.
pub const SCHEMES: &[Scheme] = &[
    reno::SCHEME,
    cubic::SCHEME,
    dctcp::SCHEME,
    prague::SCHEME,
    ledbat::SCHEME,
    ledbat_plus_plus::SCHEME,
    bbr::SCHEME,
    bbr::BY_THE_LETTER,
    delivery_rate::SCHEME,
];

/// A controller and its documents.
#[derive(Debug)]
pub struct Scheme {
    /// What it is called.
    pub name: &'static str,
    /// Of the controller, with the parameters that are compared.
    pub text: &'static str,
    /// The document and its sections.
    pub document: &'static str,
    /// The reference's own source.
    pub source: &'static str,
    /// Differences there are, those of several schemes in lists of their own.
    pub readings: &'static [&'static [Reading]],
    /// Wrong rules that the histories have to find: a change and what it does.
    pub mutants: &'static [(&'static str, &'static str)],
    /// Differences that were found and are gone: section and what it was.
    pub mended: &'static [(&'static str, &'static str)],
    /// Which actions are compared; the others are left out of its histories.
    pub scope: fn(&Action) -> bool,
    /// The reference at the start of a path.
    pub start: fn(Changes, &Path) -> Box<dyn Reference>,
}

impl Scheme {
    /// How many sentences stand in the reference, each in a comment that begins with its section.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.source.lines().filter(|line| line.trim_start().starts_with("// §")).count()
    }

    /// All differences there are.
    pub fn readings(&self) -> impl Iterator<Item = &'static Reading> {
        self.readings.iter().copied().flatten()
    }

    /// The changes that make the reference what ours is.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes(self.readings().map(|reading| reading.change).collect())
    }
}

/// A difference between ours and a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The name of the change of the reference that makes it do the same.
    pub change: &'static str,
    /// The section of the document.
    pub section: &'static str,
    /// What the document says, in short.
    pub says: &'static str,
    /// What ours does.
    pub ours: &'static str,
    /// Why it is so.
    pub status: Status,
}

/// What is to be done about a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Ours is wrong and is to change.
    Fault,
    /// Ours is meant, and the controller's page or docs/readings.md says so.
    Documented,
}

/// The rules of a reference that are not as its document has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes(pub Vec<&'static str>);

impl Changes {
    /// Whether `change` is among them.
    #[must_use]
    pub fn has(&self, change: &str) -> bool {
        self.0.contains(&change)
    }

    /// These and `change`.
    #[must_use]
    pub fn with(mut self, change: &'static str) -> Changes {
        self.0.push(change);
        self
    }

    /// These but `change`.
    #[must_use]
    pub fn without(mut self, change: &str) -> Changes {
        self.0.retain(|other| *other != change);
        self
    }
}

/// A packet that left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Its number.
    pub pn: u64,
    /// Its size.
    pub bytes: u64,
    /// When it left.
    pub sent_at: Time,
}

/// What the newest packet of a frame measures (`RFC 9002 §5.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The round-trip time.
    pub latest: Span,
    /// How long the receiver held the ACK, as it says.
    pub ack_delay: Span,
    /// The one-way delay of the packet, by clocks that differ; nanoseconds.
    pub forward: i64,
}

/// What a sender learns from one ACK frame, or a timer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When it came.
    pub now: Time,
    /// Packets in flight that it acknowledges, by number.
    pub acked: &'a [Packet],
    /// Packets declared lost before that it acknowledges.
    pub late: &'a [Packet],
    /// Of its newest packet, if that is the newest acknowledged at all.
    pub sample: Option<Sample>,
    /// Packets newly reported as marked.
    pub ce: u32,
    /// Packets it lets loss detection declare lost, by number.
    pub lost: &'a [Packet],
    /// Bytes in flight before it came.
    pub in_flight_before: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The application had nothing to send though the window had room.
    pub app_limited: bool,
}

/// A sender by the letter of its document.
pub trait Reference {
    /// A packet left; `in_flight` counts it, and the application had nothing more to send if `app_limited`.
    fn on_packet_sent(&mut self, packet: &Packet, in_flight: u64, app_limited: bool) {
        let _ = (packet, in_flight, app_limited);
    }

    /// The application is about to write, after it had nothing to send though the window had room.
    fn on_write(&mut self) {}

    /// A packet is about to leave after `idle` with nothing in flight and nothing to send, longer than the probe timeout.
    fn on_idle(&mut self, now: Time, idle: Span) {
        let _ = (now, idle);
    }

    /// A frame came, or the timer of loss detection fired.
    fn on_frame(&mut self, frame: &Frame<'_>);

    /// All packets of the latest loss episode arrived after all; the newest was sent then.
    fn on_spurious_loss(&mut self, now: Time, newest_sent_at: Time) {
        let _ = (now, newest_sent_at);
    }

    /// The maximum datagram size changed.
    fn on_mtu(&mut self, now: Time, bytes: u64);

    /// What the sender may do.
    fn expected(&self, now: Time) -> Expected;

    /// State variables of ours, by name, where the document says "random".
    fn follow_random_choices(&mut self, ours: &dyn Fn(&str) -> Option<f64>) {
        let _ = ours;
    }
}

/// Whether two counts of bytes may differ by rounding alone.
pub(crate) fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.abs().max(1.0)
}

/// Whether rounding alone decides which of two times comes first: ours keeps the smoothed RTT in whole nanoseconds.
pub(crate) fn at_once(one: Time, other: Time) -> bool {
    one != other && one.0.abs_diff(other.0) <= 20
}

/// What a document lets a sender do.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expected {
    /// The congestion window, bytes; NaN where only variables are compared.
    pub cwnd: f64,
    /// The threshold, bytes; `None` while it is infinite, NaN where the document has none.
    pub ssthresh: Option<f64>,
    /// The pacing rate, bit/s, where the document has one.
    pub pacing: Option<f64>,
    /// The state, where the document has these three.
    pub phase: Option<Phase>,
    /// How far ours may be off, as a part of the value, where it counts in whole units.
    pub rounding: f64,
    /// A comparison of the document's is between values that may differ by rounding alone: the history ends here.
    pub undecided: bool,
    /// State variables, as ours names them.
    pub variables: Vec<(&'static str, f64)>,
}
