//! The settings file in MsQuic: its configurations start the flows of connections, by their applications. The
//! section `[msquic]` is read by `sys/c/storage.c`, the line `plugin = "…"` by `sys/c/host.c`.

use std::sync::Arc;

use windlass_adapter::config::SettingsFile;

use crate::Definition;
use crate::definition::{NewConnection, StartFlow};
use crate::flow::{GuardedPath, warn};
use crate::packets;
use crate::plugin::{effective_user, environment};

impl StartFlow for SettingsFile<Definition> {
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String> {
        let flow = self.settings().of_app(new.app).start(new)?;
        if environment(c"WINDLASS_LOG").is_some_and(|value| value == "1") {
            warn(&format!("MsQuic, to {}: {}, by the settings file", new.peer.address, flow.controller()));
        }
        Ok(flow)
    }
}

/// Reads the file at `path`, and again for new connections.
pub(crate) fn read(path: &str) -> Result<Arc<dyn StartFlow>, String> {
    let file = SettingsFile::read(path, effective_user(), Definition::from_config, warn);
    let file = Arc::new(file.map_err(|error| error.to_string())?);
    packets::flush_at_exit();
    // The packets of every connection are logged where flows are recorded.
    let source = Arc::clone(&file);
    packets::add_source(move |new| Some(packets::new_file(&source.settings().of_app(new.app).log_writer()?, new)));
    Ok(file)
}

#[cfg(test)]
mod tests;
