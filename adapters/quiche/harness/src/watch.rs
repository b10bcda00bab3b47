//! What quiche tells of a controller, and what it leaves to whoever owns the socket.

use std::time::Duration;

use quiche::Connection;
use windlass_controllers::{Decision, Ecn, Time};

use crate::net::Codepoint;
use crate::stacks::driver::journal::Journal;

/// Who tells the journal of a flow what its controller does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// It does itself.
    Ours,
    /// The same, but others may change its window.
    Grouped,
    /// Nobody: it is quiche's own, and its window and smoothed RTT are looked at.
    Native,
}

impl Watch {
    /// What quiche leaves to whoever owns the socket: the codepoint a controller decides. Where
    /// ours decides none, whether there is one is for the scenario to say. quiche's own do not
    /// react to marks, and only who does may say that it can be marked (`RFC 9002 §7.1`).
    pub fn codepoint(self, decision: &Decision) -> Codepoint {
        match (self, decision.ecn) {
            (Watch::Native, _) | (_, Ecn::NotEct) => Codepoint::NotEct,
            (_, Ecn::Ect1) => Codepoint::Ect1,
            (_, Ecn::Ect0 | Ecn::Unspecified) => Codepoint::Ect0,
        }
    }
}

/// A controller that is watched.
#[derive(Debug)]
pub struct Watched {
    /// Who tells of it.
    pub watch: Watch,
    /// What it was seen with: its window, bytes, and RTT.
    seen: (u64, Duration),
}

impl Watched {
    /// A controller nothing is known of.
    pub fn new(watch: Watch) -> Watched {
        Watched { watch, seen: (0, Duration::ZERO) }
    }

    /// Looks at the controller of `connection`.
    ///
    /// # Errors
    /// quiche's window is another than our controller decided.
    pub fn look(&mut self, now: Time, connection: &Connection, journal: &mut Journal) -> Result<(), String> {
        let Some(path) = connection.path_stats().next() else { return Ok(()) };
        let window = path.cwnd as u64;
        match self.watch {
            Watch::Ours if window != journal.decision.cwnd => {
                let decided = journal.decision.cwnd;
                return Err(format!("quiche's window is {window} bytes, though its controller decided {decided}"));
            }
            Watch::Ours | Watch::Grouped => {}
            Watch::Native => {
                let (before, rtt) = std::mem::replace(&mut self.seen, (window, path.rtt));
                if !journal.over {
                    if path.min_rtt.is_some() && path.rtt != rtt {
                        journal.meter.rtt.add(u64::try_from(path.rtt.as_nanos()).unwrap_or(u64::MAX));
                    }
                    // No growth is so steep downwards.
                    journal.meter.congestion_events += u64::from(window < before - before / 20);
                    journal.meter.window(now.0, window);
                }
                journal.decision.cwnd = window;
            }
        }
        Ok(())
    }
}
