//! What is run.

use std::fmt;

use crate::grid::Cell;

/// Controllers that are measured unless others are named.
pub const CONTROLLERS: [&str; 5] = ["reno", "cubic", "bbr", "copa", "prague"];
/// How far an estimate may be off, as a share of what is to be estimated.
pub const TOLERANCE: f64 = 0.1;

/// Rates of the link, Mbit/s, before and after it changes one way or the other.
const RATES_MBPS: (f64, f64) = (10.0, 20.0);
/// RTT of the empty path, ms.
const RTT_MS: f64 = 40.0;
/// Bytes of a packet, and on the wire.
const PACKET: (f64, f64) = (1200.0, 1228.0);
/// When the link changes, s: after the start-up, and not at a multiple of a controller's own period.
const AT: f64 = 12.3;
/// Time after it, s.
const AFTER: f64 = 2.7;

/// What becomes of the link's rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// From 10 to 20 Mbit/s.
    Doubles,
    /// From 20 to 10 Mbit/s.
    Halves,
}

/// What the application has to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// More than fits at any time.
    Bulk,
    /// A video of 4 Mbit/s, 30 frames a second.
    Video,
}

/// A change that a flow with such an application meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// What the link does.
    pub change: Change,
    /// What the flow has to send.
    pub source: Source,
}

impl Case {
    /// All of them.
    pub const ALL: [Case; 4] = [
        Case { change: Change::Doubles, source: Source::Bulk },
        Case { change: Change::Halves, source: Source::Bulk },
        Case { change: Change::Doubles, source: Source::Video },
        Case { change: Change::Halves, source: Source::Video },
    ];

    /// Rates of the link before and after, Mbit/s.
    fn rates(&self) -> (f64, f64) {
        let (low, high) = RATES_MBPS;
        if self.change == Change::Doubles { (low, high) } else { (high, low) }
    }

    /// What the flow alone can send after the change, Mbit/s of packets as a window counts them.
    #[must_use]
    pub fn share_mbps(&self) -> f64 {
        self.rates().1 * PACKET.0 / PACKET.1
    }

    /// When the link changes, s.
    #[must_use]
    pub fn at(&self) -> f64 {
        AT
    }

    /// RTT of the empty path, s.
    #[must_use]
    pub fn rtt(&self) -> f64 {
        RTT_MS / 1e3
    }

    /// Its run of `controller` on `stack`, as the grid names it: a buffer of two BDP of the greater rate; for a controller of L4S
    /// the coupled queues of RFC 9332.
    #[must_use]
    pub fn cell(&self, controller: &str, stack: &str) -> Cell {
        let (before, after) = self.rates();
        let packets = 2.0 * RATES_MBPS.1 * 1e6 * RTT_MS / 1e3 / 8.0 / PACKET.1;
        let queue = if controller.starts_with("prague") { "queue = \"dualpi2\"\n" } else { "" };
        let source = match self.source {
            Source::Bulk => "",
            Source::Video => "application_mbps = 4\nframes_per_s = 30\n",
        };
        let duration = AT + AFTER;
        Cell {
            name: format!("{controller} on {stack}, {self}"),
            file: String::new(),
            scenario: format!(
                "duration_s = {duration}\nsample_ms = 10\n[dumbbell]\nrate_mbps = {before}\nrtt_ms = {RTT_MS}\n\
                 buffer_packets = {packets:.0}\n{queue}[[dumbbell.change]]\nat_s = {AT}\nrate_mbps = {after}\n\
                 [[flow]]\nname = \"asked\"\ncontroller = \"under-test\"\n{source}"
            ),
            controller: controller.to_owned(),
            stack: stack.to_owned(),
            seed: 1,
            reads: "send-rate/1".to_owned(),
            work: 1,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.source == Source::Bulk { "bulk" } else { "video" };
        write!(f, "{source}, {}", if self.change == Change::Doubles { "doubles" } else { "halves" })
    }
}
