//! The settings file in MsQuic: its configurations start the flows of connections, by their applications. The
//! section `[msquic]` is read by `sys/c/storage.c`, the line `plugin = "…"` by `sys/c/host.c`.

use std::sync::Arc;

use windlass_adapter::config::{Config, ConfigError, SettingsFile};

use crate::Definition;
use crate::definition::{NewConnection, StartFlow};
use crate::flow::{GuardedPath, warn};
use crate::packets;
use crate::process::{effective_user, environment};

impl StartFlow for SettingsFile<Definition> {
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String> {
        let settings = self.settings();
        // An empty reason prints no warning: the file is for other applications.
        let flow = settings.of_app(new.app).ok_or("")?.start(new)?;
        if environment(c"WINDLASS_LOG").is_some_and(|value| value == "1") {
            warn(&format!("MsQuic, to {}: {}, by the settings file", new.peer.address, flow.controller()));
        }
        Ok(flow)
    }
}

/// What `config` defines. Recordings that cannot be written are no reason to leave its connections without their controller: a
/// line says so.
fn recorded_or_not(config: &Config) -> Result<Definition, ConfigError> {
    match Definition::from_config(config) {
        Err(error @ ConfigError::Recording { .. }) => {
            warn(&format!("{error}; its connections have their controllers, and no recordings"));
            Definition::unrecorded(config)
        }
        other => other,
    }
}

/// Reads the file at `path`, and again for new connections.
pub(crate) fn read(path: &str) -> Result<Arc<dyn StartFlow>, String> {
    let file = SettingsFile::read(path, effective_user(), recorded_or_not, warn);
    let file = Arc::new(file.map_err(|error| error.to_string())?);
    packets::flush_at_exit();
    // The packets of every connection are logged where flows are recorded.
    let source = Arc::clone(&file);
    packets::add_source(move |new| Some(packets::new_file(&source.settings().of_app(new.app)?.log_writer()?, new)));
    Ok(file)
}

#[cfg(test)]
mod tests;
