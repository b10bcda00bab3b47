//! What controls a connection.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use quiche::{Config, Connection, ConnectionId};
use windlass_quiche::Definition;

use crate::stacks::driver::journal::{Output, lock};

/// quiche's own controllers: what a user types after `native:`.
pub const NATIVES: &[&str] = &["reno", "cubic", "bbr2"];

/// The name in quiche that a connection of ours takes its controller by.
const NAME: &str = "windlass harness";

/// What controls a connection.
pub enum Choice {
    /// A controller of ours.
    Ours(Box<Definition>),
    /// One of [`NATIVES`], and where quiche's own log goes, if anywhere.
    Native(&'static str, Option<OwnLog>),
}

/// The log that quiche itself writes of a connection.
pub struct OwnLog {
    /// Where it goes.
    pub output: Output,
    /// What it is called.
    pub title: String,
    /// What it says it is of.
    pub description: String,
}

/// quiche asks for more than one thread ever needs.
struct Shared(Mutex<Output>);

impl Write for Shared {
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

    /// The same; if it is quiche's own, quiche writes `log`.
    pub fn logged(self, log: Option<OwnLog>) -> Choice {
        match self {
            Choice::Native(name, _) => Choice::Native(name, log),
            ours @ Choice::Ours(_) => ours,
        }
    }

    /// Makes a connection to `there` that it controls.
    ///
    /// # Errors
    /// Why there is none.
    pub fn connect(
        self,
        config: &mut Config,
        name: &str,
        id: &ConnectionId<'_>,
        [here, there]: [SocketAddr; 2],
    ) -> Result<Connection, String> {
        // quiche knows algorithms by names of which there are few; its path takes the one that
        // has the name now.
        static NAMED: Mutex<()> = Mutex::new(());
        let _named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let (algorithm, log) = match self {
            Choice::Ours(definition) => {
                windlass_quiche::register_as(NAME, *definition).map_err(|error| error.to_string())?;
                (NAME, None)
            }
            Choice::Native(name, log) => (name, log),
        };
        config.set_cc_algorithm_name(algorithm).map_err(|error| error.to_string())?;
        let mut connection = quiche::connect(Some(name), id, here, there, config).map_err(|error| error.to_string())?;
        if let Some(OwnLog { output, title, description }) = log {
            connection.set_qlog(Box::new(Shared(Mutex::new(output))), title, description);
        }
        Ok(connection)
    }
}
