//! What carries a case out, and what it finds.

use std::cell::RefCell;
use std::path::Path;

use windlass_qlog::Profile;
use windlass_stacks::stack::{LogDetail, LogSettings, Runner};

use super::seen::Seen;
use crate::evaluation::{Job, Source, execute};
use crate::results::{Run, Status};

/// Outcome of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assessment {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// Nothing the run shows tells.
    NotVisible,
}

/// A demand of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// What is demanded.
    pub what: String,
    /// Its outcome.
    pub assessment: Assessment,
    /// What was found, or why nothing was.
    pub found: String,
}

/// The checks of a case.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Findings(pub Vec<Check>);

impl Findings {
    /// Failed if a check failed, else passed if one passed.
    #[must_use]
    pub fn assessment(&self) -> Assessment {
        let has = |assessment| self.0.iter().any(|check| check.assessment == assessment);
        match (has(Assessment::Failed), has(Assessment::Passed)) {
            (true, _) => Assessment::Failed,
            (false, true) => Assessment::Passed,
            (false, false) => Assessment::NotVisible,
        }
    }

    /// How many checks are passed, of all.
    #[must_use]
    pub fn passed(&self) -> (usize, usize) {
        (self.0.iter().filter(|check| check.assessment == Assessment::Passed).count(), self.0.len())
    }

    pub(super) fn check(&mut self, what: &str, holds: bool, found: impl Into<String>) {
        let assessment = if holds { Assessment::Passed } else { Assessment::Failed };
        self.0.push(Check { what: what.to_owned(), assessment, found: found.into() });
    }

    pub(super) fn unseen(&mut self, what: &str, why: impl Into<String>) {
        self.0.push(Check { what: what.to_owned(), assessment: Assessment::NotVisible, found: why.into() });
    }
}

/// Why a case ended before all its checks.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ended {
    /// It cannot be run there, or the run does not show what it asks for.
    NotVisible(String),
    /// The flow never came to the state it is about.
    NotReached(String),
}

impl Ended {
    pub(super) fn not_visible(why: &str) -> Ended {
        Ended::NotVisible(why.to_owned())
    }

    pub(super) fn not_reached(why: &str) -> Ended {
        Ended::NotReached(why.to_owned())
    }
}

/// What is said of checks on states of a controller that is not ours.
pub(super) const NO_STATES: &str = "the controller shows neither states nor variables";

/// A controller on a stack, on which cases run.
#[derive(Debug)]
pub struct Bench<'a> {
    controller: &'a str,
    stack: Runner,
    scenarios: RefCell<Vec<String>>,
}

impl<'a> Bench<'a> {
    /// A bench for `controller`, as one types it, on `stack`.
    #[must_use]
    pub fn new(controller: &'a str, stack: Runner) -> Bench<'a> {
        Bench { controller, stack, scenarios: RefCell::default() }
    }

    /// The scenarios that were run, in order; the last one is that which was judged.
    #[must_use]
    pub fn scenarios(&self) -> Vec<String> {
        self.scenarios.borrow().clone()
    }

    /// Whether the controller shows its steps.
    pub(super) fn shows_steps(&self) -> bool {
        !self.controller.starts_with("native:")
    }

    /// Ends a case that is about states where the controller shows none.
    pub(super) fn needs_steps(&self) -> Result<(), Ended> {
        if self.shows_steps() { Ok(()) } else { Err(Ended::not_visible(NO_STATES)) }
    }

    /// Runs `scenario`, of one flow.
    pub(super) fn run(&self, scenario: &Scenario) -> Result<Seen, Ended> {
        let text = scenario.text();
        self.scenarios.borrow_mut().push(text.clone());
        self.logged(&text, LogDetail::Recovery, Seen::read).map_err(Ended::NotVisible)
    }

    /// The trace of a scenario that was run.
    ///
    /// # Errors
    /// The stack cannot run it, or the file system fails.
    pub fn trace(&self, scenario: &str) -> Result<Vec<u8>, String> {
        let read = |_, path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        self.logged(scenario, LogDetail::Packets, read)
    }

    /// Runs the scenario `text` and reads its log, of every step where the controller shows them, else of `detail`.
    fn logged<T>(
        &self,
        text: &str,
        detail: LogDetail,
        read: impl FnOnce(Run, &Path) -> Result<T, String>,
    ) -> Result<T, String> {
        let place = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
        let source = Source { name: "case".to_owned(), file: "case.toml".to_owned(), text: text.to_owned() };
        let job = Job { source: &source, controller: Some(self.controller), stack: self.stack, seed: None, threads: 1 };
        let detail = if self.shows_steps() { LogDetail::Steps } else { detail };
        let settings = LogSettings { detail, profile: Profile::Ietf };
        let run = execute(&job, Some((settings, place.path())), &|_| false).map_err(|_| "stopped".to_owned())?;
        if run.status != Status::Done {
            return Err(run.reason.unwrap_or_default());
        }
        let log = run.qlogs.first().and_then(|file| Path::new(file).strip_prefix("qlog").ok());
        let log = log.map(|file| place.path().join(file)).ok_or("the run left no log")?;
        read(run, &log)
    }
}

/// A path and a flow.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    /// Mbit/s.
    pub rate: f64,
    /// ms.
    pub rtt: f64,
    /// Packets.
    pub buffer: u32,
    /// Queue of the bottleneck, as TOML.
    pub queue: Option<String>,
    /// s.
    pub duration: f64,
    /// Lines of `[[dumbbell.change]]` and `[[dumbbell.fault]]`.
    pub path: String,
    /// Lines of `[[flow]]`.
    pub flow: String,
}

impl Scenario {
    /// A flow that always has something to send.
    pub(super) fn bulk(rate: f64, rtt: f64, buffer: u32, duration: f64) -> Scenario {
        Scenario { rate, rtt, buffer, queue: None, duration, path: String::new(), flow: String::new() }
    }

    /// The same with a change of the bottleneck at `at` s.
    pub(super) fn changes(mut self, at: f64, what: &str) -> Scenario {
        self.path.push_str(&format!("[[dumbbell.change]]\nat_s = {at:.6}\n{what}\n"));
        self
    }

    /// The same with `percent` of random loss from `from` to `to` s.
    pub(super) fn loses(self, percent: f64, from: f64, to: f64) -> Scenario {
        self.changes(from, &format!("loss_percent = {percent}")).changes(to, "loss_percent = 0")
    }

    /// The same with a fault from `at` s on.
    pub(super) fn faults(mut self, at: f64, for_ms: f64, what: &str) -> Scenario {
        self.path.push_str(&format!("[[dumbbell.fault]]\nat_s = {at:.6}\nfor_ms = {for_ms}\n{what}\n"));
        self
    }

    /// The same behind a policer of `rate` Mbit/s with a bucket of `burst` bytes.
    pub(super) fn policed(mut self, rate: f64, burst: u32) -> Scenario {
        self.queue = Some(format!("{{ kind = \"policer\", rate_mbps = {rate}, burst_bytes = {burst} }}"));
        self
    }

    /// The same with lines of the flow.
    pub(super) fn flow(mut self, lines: &str) -> Scenario {
        self.flow.push_str(lines);
        self.flow.push('\n');
        self
    }

    /// What the bottleneck carries of QUIC packets, Mbit/s.
    pub(super) fn capacity(&self) -> f64 {
        self.rate * 1200.0 / 1228.0
    }

    /// What fits into the path, packets.
    pub(super) fn bdp(&self) -> f64 {
        self.rate * 1e6 * self.rtt / 1e3 / 8.0 / 1228.0
    }

    fn text(&self) -> String {
        let Scenario { rate, rtt, buffer, queue, duration, path, flow } = self;
        let queue = queue.as_ref().map_or(format!("buffer_packets = {buffer}"), |queue| format!("queue = {queue}"));
        format!(
            "duration_s = {duration}\nsample_ms = 20\nheader_bytes = 33\n\n[dumbbell]\nrate_mbps = {rate}\nrtt_ms = {rtt}\n\
             {queue}\n{path}\n[[flow]]\ncontroller = \"under-test\"\n{flow}"
        )
    }
}
