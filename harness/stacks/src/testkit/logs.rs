//! Logs of the flows of a run, kept in memory.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crate::FlowLog;
use windlass_adapter::qlog::Level;
use windlass_simulator::scenario::FlowSpec;
use windlass_simulator::sim::QlogSettings;

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
        let settings = QlogSettings { level: Level::Steps, ..QlogSettings::default() };
        Ok(Some(FlowLog { output: Box::new(Page(self.clone(), flow.name.clone())), settings }))
    }

    /// The log of `flow`; `None` if there is none.
    pub fn of(&self, flow: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(flow).cloned()
    }
}
