//! The qlog files of runs: what is in them and what they are called.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use windlass_adapter::qlog::Level;
use windlass_qlog::{Detail, Profile, file_name};
use windlass_simulator::scenario::FlowSpec;
use windlass_simulator::sim::QlogSettings;

use crate::driver::log::FlowLog;

/// Where qlog files go, inside the directory of a result.
pub const QLOG_DIR: &str = "qlog";

/// Which events qlog files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogDetail {
    /// Metrics, congestion states and losses: metrics at most every 100 ms.
    Recovery,
    /// Every packet and every change of a metric.
    Packets,
    /// The same, and every event and decision of the controller: enough to replay it.
    Steps,
}

/// Settings of qlog files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Which events are logged.
    pub detail: LogDetail,
    /// The schema version they are logged in.
    pub profile: Profile,
}

impl LogSettings {
    /// Detail of packets and metrics.
    #[must_use]
    pub fn detail(self) -> Detail {
        match self.detail {
            LogDetail::Recovery => Detail::Recovery { every_ns: 100_000_000 },
            LogDetail::Packets | LogDetail::Steps => Detail::Packets,
        }
    }

    /// Detail of the controller's events and decisions.
    #[must_use]
    pub fn level(self) -> Level {
        match self.detail {
            LogDetail::Recovery | LogDetail::Packets => Level::Recovery,
            LogDetail::Steps => Level::Steps,
        }
    }
}

/// The log files of one run.
#[derive(Debug)]
pub struct Logs {
    settings: LogSettings,
    dir: PathBuf,
    /// `dir` as results call it; relative to the place it was made in.
    shown: String,
    names: BTreeSet<String>,
    /// The same in lower case: Windows and macOS take names for one that differ in case alone.
    taken: BTreeSet<String>,
}

impl Logs {
    /// Log files in `qlogs`, the qlog directory of a result, under a directory for the
    /// scenario and one for the controller and stack.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn create(
        settings: LogSettings,
        qlogs: &Path,
        scenario: &str,
        controller: &str,
        stack: &str,
    ) -> io::Result<Logs> {
        let scenario = file_name(scenario);
        let mut logs = Logs::in_scenario(settings, &qlogs.join(&scenario), controller, stack)?;
        logs.shown = format!("{QLOG_DIR}/{scenario}/{}", logs.shown);
        Ok(logs)
    }

    /// Log files in `place`, the directory of a scenario, under a directory for the controller and stack.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn in_scenario(settings: LogSettings, place: &Path, controller: &str, stack: &str) -> io::Result<Logs> {
        let controller = if controller.is_empty() { "own" } else { controller };
        let shown = file_name(&format!("{controller}@{stack}"));
        let dir = place.join(&shown);
        std::fs::create_dir_all(&dir)?;
        Ok(Logs { settings, dir, shown, names: BTreeSet::new(), taken: BTreeSet::new() })
    }

    /// Detail and schema version.
    #[must_use]
    pub fn settings(&self) -> LogSettings {
        self.settings
    }

    /// The log of `flow`, in a new file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn log(&mut self, flow: &FlowSpec) -> io::Result<FlowLog> {
        let LogSettings { profile, .. } = self.settings;
        let settings = QlogSettings { profile, detail: self.settings.detail(), level: self.settings.level() };
        Ok(FlowLog { output: Box::new(self.open(&flow.name)?), settings })
    }

    /// A new file for the flow called `flow`. Traces write it in large pieces, so it is
    /// not buffered.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(&mut self, flow: &str) -> io::Result<File> {
        let stem = file_name(flow);
        let mut name = format!("{stem}.sqlog");
        let mut number = 2;
        while !self.taken.insert(name.to_lowercase()) {
            name = format!("{stem}-{number}.sqlog");
            number += 1;
        }
        let file = File::create_new(self.dir.join(&name))?;
        self.names.insert(name);
        Ok(file)
    }

    /// The files, relative to the result's directory, sorted.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.names.iter().map(|name| format!("{}/{name}", self.shown)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_never_collide() {
        let dir = tempfile::tempdir().unwrap();
        let settings = LogSettings { detail: LogDetail::Recovery, profile: Profile::Ietf };
        let mut logs = Logs::create(settings, dir.path(), "../etc", "tcp-k:k=4", "sim").unwrap();
        for flow in ["a/b", "a b", "a_b", "A_b", "..", "con"] {
            logs.open(flow).unwrap();
        }
        assert_eq!(
            logs.paths(),
            [
                "A_b-2.sqlog",
                "__-a3d4a70d.sqlog",
                "_con-f08dd14b.sqlog",
                "a_b-10a3f9f2.sqlog",
                "a_b-3a8e75c1.sqlog",
                "a_b.sqlog"
            ]
            .map(|name| format!("qlog/_._etc-be7a585c/tcp-k_k=4@sim/{name}"))
        );
        assert!(dir.path().join("_._etc-be7a585c/tcp-k_k=4@sim/a_b.sqlog").exists());
    }
}
