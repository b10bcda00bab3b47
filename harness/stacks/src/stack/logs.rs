//! The qlog files of runs: what is in them and what they are called.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use windlass_adapter::qlog::Level;
use windlass_qlog::{Detail, Profile};
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

/// What is logged, for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Which events are logged.
    pub detail: LogDetail,
    /// The schema version they are logged in.
    pub profile: Profile,
}

impl LogSettings {
    /// How much of packets and metrics.
    #[must_use]
    pub fn detail(self) -> Detail {
        match self.detail {
            LogDetail::Recovery => Detail::Recovery { every_ns: 100_000_000 },
            LogDetail::Packets | LogDetail::Steps => Detail::Packets,
        }
    }

    /// How much of the controller.
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
        Ok(Logs { settings, dir, shown, names: BTreeSet::new() })
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
        while self.names.contains(&name) {
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

/// Most bytes of a name that was made of a text.
const LONGEST: usize = 120;

/// `text` as a file name every system takes, another one for every text: where more than the colon of a controller's
/// parameters gives way, a hash (FNV-1a) follows.
fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@=,+".contains(c) { c } else { '_' };
    let mut name: String = text.chars().map(plain).collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if !name.is_empty() && name.len() <= LONGEST && name == text.replace(':', "_") {
        return name;
    }
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let whole = (0..=LONGEST.min(name.len())).rev().find(|&at| name.is_char_boundary(at));
    name.truncate(whole.unwrap_or(0));
    format!("{name}-{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_never_collide() {
        let dir = tempfile::tempdir().unwrap();
        let settings = LogSettings { detail: LogDetail::Recovery, profile: Profile::Ietf };
        let mut logs = Logs::create(settings, dir.path(), "../etc", "tcp-k:k=4", "sim").unwrap();
        for flow in ["a/b", "a b", "a_b", ".."] {
            logs.open(flow).unwrap();
        }
        assert_eq!(
            logs.paths(),
            ["_.-a3d4a70d.sqlog", "a_b-10a3f9f2.sqlog", "a_b-3a8e75c1.sqlog", "a_b.sqlog"]
                .map(|name| format!("qlog/_._etc-be7a585c/tcp-k_k=4@sim/{name}"))
        );
        assert!(dir.path().join("_._etc-be7a585c/tcp-k_k=4@sim/a_b.sqlog").exists());
    }

    #[test]
    fn no_two_texts_have_one_file_name() {
        for (one, other) in [("ä", "ö"), ("a/b", "a_b"), ("a/b", "a b"), ("a:b", "a/b"), (".a", "_a"), ("", "_")] {
            assert_ne!(file_name(one), file_name(other), "{one:?} {other:?}");
        }
        let long = ["ä".repeat(500) + "1", "ä".repeat(500) + "2"].map(|text| file_name(&text));
        assert!(long[0] != long[1] && long.iter().all(|name| name.len() < 200));
        assert_eq!(file_name("tcp-k:k=4@sim"), "tcp-k_k=4@sim");
    }
}
