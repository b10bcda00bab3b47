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
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_moment_starts_a_connection_by_its_application() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cc.toml");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("controller = \"reno:iw=7\"\n[app.demo]\ncontroller = \"reno:iw=9\"\n");
        let settings = read(path.to_str().unwrap()).ok().unwrap();
        let window = |app| {
            let mut decision = windlass_abi::Decision::default();
            settings.start(&connection(app)).ok().unwrap().update(&mut decision, |_| {});
            decision.cwnd
        };
        assert_eq!((window(None), window(Some("demo"))), (7 * 1400, 9 * 1400));
        write("controller = \"reno:iw=12\"\n");
        assert_eq!((window(None), window(Some("demo"))), (12 * 1400, 12 * 1400));
    }

    #[test]
    fn a_file_for_one_application_leaves_the_others_to_msquic() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cc.toml");
        std::fs::write(&path, "[app.demo]\ncontroller = \"reno\"\n").unwrap();
        let settings = read(path.to_str().unwrap()).ok().unwrap();
        assert!(settings.start(&connection(Some("demo"))).is_ok());
        assert_eq!(settings.start(&connection(Some("other"))).err().as_deref(), Some(""), "no reason, no warning");
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_the_recordings_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cc.toml");
        for folder in ["/proc/self", "/proc/self/no/such"] {
            std::fs::write(&path, format!("controller = \"reno:iw=7\"\n[recording]\ndirectory = \"{folder}\"\n"))
                .unwrap();
            let settings = read(path.to_str().unwrap()).ok().unwrap();
            assert!(settings.start(&connection(None)).is_ok(), "{folder}");
        }
    }

    fn connection(app: Option<&str>) -> NewConnection<'_> {
        NewConnection {
            now: windlass_controllers::Time::ZERO,
            peer: windlass_adapter::config::Peer { address: ([192, 0, 2, 1], 443).into(), name: None },
            mtu: 1400,
            in_flight: 0,
            app,
            ecn: false,
            one_way_delay: false,
            packets: None,
            client: true,
        }
    }
}
