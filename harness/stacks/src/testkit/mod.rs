//! Tests shared by all stacks. Here: logs of the flows of a run, kept in memory; and two processes, each with its own
//! keys, addresses and hash seeds, that write the same.

pub mod careful_resume;
pub mod faults;
mod matrix;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::FlowLog;
use crate::stack::{self, LogDetail, LogSettings, Runner};

use windlass_adapter::qlog::Level;
use windlass_qlog::Profile;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{FlowSpec, Scenario};
use windlass_simulator::sim::QlogSettings;

pub use matrix::{fixed_windows, matrix};

/// Logs in memory, by name of the flow.
#[derive(Clone, Debug, Default)]
pub struct Logs(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct Page(Logs, String);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().entry(self.1.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Logs {
    /// Where the log of `flow` goes: every step of its controller.
    pub fn open(&self, flow: &FlowSpec) -> io::Result<Option<FlowLog>> {
        Ok(Some(self.open_as(flow, QlogSettings { level: Level::Steps, ..QlogSettings::default() })))
    }

    /// The same with settings of the caller's.
    pub fn open_as(&self, flow: &FlowSpec, settings: QlogSettings) -> FlowLog {
        FlowLog { output: Box::new(Page(self.clone(), flow.name.clone())), settings }
    }

    /// The logs of all flows.
    pub fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.lock().unwrap().clone()
    }

    /// The log of `flow`; `None` if there is none.
    pub fn of(&self, flow: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(flow).cloned()
    }
}

/// Names the directory a child writes to.
const CHILD: &str = "WINDLASS_TEST_TWICE";

/// Has two processes run the test called `test` (with its modules), which calls this, as far as `write`, each with a
/// directory of its own. Each of `files` is the same in both, and has more than so many bytes.
pub fn twice<'a>(test: &str, write: impl FnOnce(&Path), files: impl IntoIterator<Item = (&'a str, usize)>) {
    if let Ok(directory) = std::env::var(CHILD) {
        return write(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    let [first, second]: [PathBuf; 2] = ["first", "second"].map(|name| {
        let path = directory.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let status =
            Command::new(std::env::current_exe().unwrap()).args(["--exact", test]).env(CHILD, &path).status().unwrap();
        assert!(status.success());
        path
    });
    for (file, least) in files {
        let [one, other] = [&first, &second].map(|run| std::fs::read(run.join(file)).unwrap());
        assert!(one.len() > least, "{file}: {} bytes", one.len());
        assert!(one == other, "{file} differs");
    }
}

/// A scenario of `flows` (as TOML) on a link with random losses, marks and cross traffic: 10 Mbit/s, 40 ms, 5 s.
#[must_use]
pub fn busy_link(flows: &str) -> String {
    format!(
        "duration_s = 5
seed = 9
[dumbbell]
rate_mbps = 10
rtt_ms = 40
buffer_packets = 30
loss_percent = 0.5
queue = {{ kind = \"red\", min_th_packets = 5, max_th_packets = 15 }}
[[traffic]]
kind = \"pareto-on-off\"
rate_mbps = 5
mean_rate_mbps = 1
{flows}"
    )
}

/// Runs the scenario `text` on `stack` and records every step into `directory`, as `repeats/own@STACK/FLOW.sqlog`.
pub fn record_steps(stack: Runner, text: &str, directory: &Path) -> Outcome {
    let scenario = Scenario::read("repeats", text, None).unwrap();
    let settings = LogSettings { detail: LogDetail::Steps, profile: Profile::Ietf };
    let mut logs = stack::Logs::create(settings, directory, "repeats", "", stack.name()).unwrap();
    stack.run(&scenario, Some(&mut logs), &|_| false).unwrap()
}
