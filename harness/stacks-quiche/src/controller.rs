//! The controller of a connection: ours or one of quiche's own, and what can be observed of it.

use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quiche::{Config, Connection, ConnectionId};
use windlass_controllers::{Decision, Ecn, Time};
use windlass_network::Codepoint;
use windlass_quiche::Definition;
use windlass_stacks::driver::sender_log::{Output, SenderLog, lock};

/// Names of quiche's own controllers, which follow `native:`.
pub const NATIVES: &[&str] = &["reno", "cubic", "bbr2"];

/// The name in quiche of the controller of the next connection.
const NAME: &str = "windlass harness";

/// A controller of a connection.
pub enum Choice {
    /// A controller of the catalogue, with the adapter, and the log quiche writes, if any.
    Ours(Box<Definition>, Option<OwnLog>),
    /// One of [`NATIVES`], and the log quiche writes, if any.
    Native(&'static str, Option<OwnLog>),
}

/// The log that quiche itself writes of a connection.
pub struct OwnLog {
    /// Writer of the log.
    pub output: Output,
    /// Title of the qlog trace.
    pub title: String,
    /// Its description: scenario, stack, seed and controller.
    pub description: String,
}

/// An output that is `Sync`, as quiche demands, and takes what quiche writes byte by byte in larger pieces.
struct SyncOutput(Mutex<BufWriter<Output>>);

impl SyncOutput {
    fn new(output: Output) -> SyncOutput {
        SyncOutput(Mutex::new(BufWriter::new(output)))
    }
}

impl Write for SyncOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(&self.0).flush()
    }
}

impl Choice {
    /// quiche's own controller called `name`.
    pub fn native(name: &str) -> Option<Choice> {
        NATIVES.iter().find(|native| **native == name).map(|native| Choice::Native(native, None))
    }

    /// With `log` for quiche to write.
    pub fn logged(self, log: Option<OwnLog>) -> Choice {
        match self {
            Choice::Native(name, _) => Choice::Native(name, log),
            Choice::Ours(definition, _) => Choice::Ours(definition, log),
        }
    }

    /// Makes a connection between `[here, there]` with this controller, for the server `name`.
    ///
    /// # Errors
    /// quiche refuses the controller or the connection.
    pub fn connect(
        self,
        config: &mut Config,
        name: &str,
        id: &ConnectionId<'_>,
        [here, there]: [SocketAddr; 2],
    ) -> Result<Connection, String> {
        // There is room for few names, so all connections use one; a path starts the algorithm that
        // has the name at that moment.
        static NAME_IN_USE: Mutex<()> = Mutex::new(());
        let _name_in_use = NAME_IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let (algorithm, log) = match self {
            Choice::Ours(definition, log) => {
                windlass_quiche::register_as(NAME, *definition).map_err(|error| error.to_string())?;
                (NAME, log)
            }
            Choice::Native(name, log) => (name, log),
        };
        config.set_cc_algorithm_name(algorithm).map_err(|error| error.to_string())?;
        let mut connection = quiche::connect(Some(name), id, here, there, config).map_err(|error| error.to_string())?;
        if let Some(OwnLog { output, title, description }) = log {
            connection.set_qlog(Box::new(SyncOutput::new(output)), title, description);
        }
        Ok(connection)
    }
}

/// Observation of a flow's controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One of ours records its decisions.
    Ours,
    /// One of ours, whose window other flows of its group may change.
    Grouped,
    /// One of quiche's own: its window and smoothed RTT are read from the connection.
    Native,
}

impl Kind {
    /// The ECN codepoint to set on the sender's datagrams, which quiche leaves to the program:
    /// the decided one, or ECT(0) where a controller of ours decides none and the scenario does.
    /// quiche's own do not react to marks and so must not set one (`RFC 9000 §13.4`).
    pub fn codepoint(self, decision: &Decision) -> Codepoint {
        match (self, decision.ecn) {
            (Kind::Native, _) | (_, Ecn::NotEct) => Codepoint::NotEct,
            (_, Ecn::Ect1) => Codepoint::Ect1,
            (_, Ecn::Ect0 | Ecn::Unspecified) => Codepoint::Ect0,
        }
    }
}

/// The observed controller of a connection.
#[derive(Debug)]
pub struct Observed {
    /// The controller's kind.
    pub kind: Kind,
    /// The window, bytes, and the smoothed RTT seen last.
    last: (u64, Duration),
}

impl Observed {
    /// A controller nothing was seen of yet.
    pub fn new(kind: Kind) -> Observed {
        Observed { kind, last: (0, Duration::ZERO) }
    }

    /// Reads the statistics of `connection`.
    ///
    /// # Errors
    /// quiche's window differs from the one our controller decided.
    pub fn observe(&mut self, now: Time, connection: &Connection, sender_log: &mut SenderLog) -> Result<(), String> {
        let Some(path) = connection.path_stats().next() else { return Ok(()) };
        let window = path.cwnd as u64;
        match self.kind {
            Kind::Ours if window != sender_log.decision.cwnd => {
                let decided = sender_log.decision.cwnd;
                return Err(format!("quiche's window is {window} bytes, though its controller decided {decided}"));
            }
            Kind::Ours | Kind::Grouped => {}
            Kind::Native => {
                let (before, rtt) = std::mem::replace(&mut self.last, (window, path.rtt));
                if !sender_log.over {
                    if path.min_rtt.is_some() && path.rtt != rtt {
                        sender_log.meter.rtt.add(u64::try_from(path.rtt.as_nanos()).unwrap_or(u64::MAX));
                    }
                    // quiche's own shrink that much only at a congestion event.
                    sender_log.meter.congestion_events += u64::from(window < before - before / 20);
                    sender_log.meter.window(now.0, window);
                }
                sender_log.decision.cwnd = window;
            }
        }
        Ok(())
    }
}

/// A configuration, and the controller of the connection that is made with it.
pub struct ClientConfig {
    /// quiche's configuration, without a controller yet.
    pub config: Config,
    /// The flow's controller.
    pub choice: Choice,
}
