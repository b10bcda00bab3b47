//! What controls a connection.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use quiche::{Config, Connection, ConnectionId};
use windlass_quiche::Definition;

/// quiche's own controllers: what a user types after `native:`.
pub const NATIVES: &[&str] = &["reno", "cubic", "bbr2"];

/// The name in quiche that a connection of ours takes its controller by.
const NAME: &str = "windlass harness";

/// What controls a connection.
pub enum Choice {
    /// A controller of ours.
    Ours(Box<Definition>),
    /// One of [`NATIVES`].
    Native(&'static str),
}

impl Choice {
    /// quiche's own controller called `name`.
    pub fn native(name: &str) -> Option<Choice> {
        NATIVES.iter().find(|native| **native == name).map(|native| Choice::Native(native))
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
        let algorithm = match self {
            Choice::Ours(definition) => {
                windlass_quiche::register_as(NAME, *definition).map_err(|error| error.to_string())?;
                NAME
            }
            Choice::Native(name) => name,
        };
        config.set_cc_algorithm_name(algorithm).map_err(|error| error.to_string())?;
        quiche::connect(Some(name), id, here, there, config).map_err(|error| error.to_string())
    }
}
