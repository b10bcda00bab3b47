//! What the tests of others expect of congestion controllers, as rows of facts, and whether the controllers of
//! `windlass-controllers` meet it.
//!
//! A file of `rows/` is a source: a repository at a commit. Its tests are scripts ([`script`] has the language): events go
//! in, a window, a threshold or a state variable is expected. Numbers carry over, code does not. An expectation that is
//! not met is a fault of ours, unless the text that decides against it stands behind it.

pub mod script;
mod sender;

use std::fmt;

use serde::Deserialize;
use windlass_controllers::Algorithm;

/// A repository whose tests judge.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Owner and name on GitHub.
    pub repository: String,
    /// The commit whose tests these are.
    pub commit: String,
    /// Of the tests, as SPDX has it.
    pub licence: String,
    /// What is judged.
    pub judges: String,
    /// Its tests.
    #[serde(rename = "test")]
    pub tests: Vec<Test>,
}

/// A test of theirs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Path in the repository.
    pub file: String,
    /// The name it has there; `{column}` stands for a value of `table`.
    pub name: String,
    /// The controller that is judged, as `-c` takes it.
    #[serde(default)]
    pub controller: String,
    /// Several of them, each a test.
    #[serde(default)]
    controllers: Vec<String>,
    /// A scenario file, of tests that need a network: what steps are is then the runner's.
    #[serde(default)]
    pub scenario: String,
    /// Datagram size, bytes.
    #[serde(default = "mtu")]
    pub mtu: u32,
    /// Several of them, each a test.
    #[serde(default)]
    mtus: Vec<u32>,
    /// What happens and what is expected.
    #[serde(default)]
    pub steps: Vec<String>,
    /// Names of the values in each row of `table`.
    #[serde(default)]
    columns: Vec<String>,
    /// A test a row; `{column}` in name, controller and steps stands for its value.
    #[serde(default)]
    table: Vec<Vec<f64>>,
    /// Windows at the start of each round trip after the steps, packets.
    #[serde(default)]
    pub rounds: Vec<f64>,
    /// Windows from which on a round trip loses a packet instead, bytes, each once.
    #[serde(default)]
    pub drops: Vec<u64>,
    /// Bytes a round trip sends at most.
    pub round_bytes: Option<u64>,
    /// What a window of `rounds` may be off by: the larger of packets and a share of it.
    #[serde(default)]
    pub within: f64,
    /// See `within`.
    #[serde(default)]
    pub share: f64,
    /// Rounds against which a text decides.
    #[serde(default)]
    pub decided: Vec<Decided>,
    /// Rows of `table` against which a text decides.
    unmet: Option<Unmet>,
    /// The commit, where the repository has the test only at another.
    pub commit: Option<String>,
}

/// Rows of a table against which a text decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unmet {
    /// The first values of the rows.
    values: Vec<f64>,
    /// The text: where it stands and what it says.
    by: String,
}

/// Rounds against which a text decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// The first round.
    pub from: usize,
    /// The last round.
    pub to: usize,
    /// The text: where it stands and what it says.
    pub by: String,
}

fn mtu() -> u32 {
    1200
}

/// Outcome of an expectation.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What is expected.
    pub expected: String,
    /// Our value.
    pub ours: f64,
    /// Whether it is as expected.
    pub met: bool,
    /// The text that decides against the expectation.
    pub decided: Option<String>,
}

impl Outcome {
    /// Whether the expectation is not met and no text decides against it.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        !self.met && self.decided.is_none()
    }
}

/// A source and the results of its tests.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The source.
    pub source: Source,
    /// Each test with its outcomes.
    pub tests: Vec<(Test, Vec<Outcome>)>,
}

impl Judgement {
    /// All outcomes, each with its test.
    pub fn outcomes(&self) -> impl Iterator<Item = (&Test, &Outcome)> {
        self.tests.iter().flat_map(|(test, outcomes)| outcomes.iter().map(move |outcome| (test, outcome)))
    }

    fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> usize {
        self.outcomes().filter(|(_, outcome)| wanted(outcome)).count()
    }

    /// Expectations that are met.
    #[must_use]
    pub fn met(&self) -> usize {
        self.count(|outcome| outcome.met)
    }

    /// Expectations that are not met and against which no text decides.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.count(Outcome::is_fault)
    }

    /// Expectations against which a text decides.
    #[must_use]
    pub fn decided(&self) -> usize {
        self.count(|outcome| !outcome.met && outcome.decided.is_some())
    }
}

impl fmt::Display for Judgement {
    /// A row of the table of suites.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Source { repository, commit, judges, .. } = &self.source;
        let (tests, rows) = (self.tests.len(), self.outcomes().count());
        let (met, decided, faults) = (self.met(), self.decided(), self.faults());
        write!(f, "| {repository} {} | {judges} | {tests} | {rows} | {met} | {decided} | {faults} |", &commit[..7])
    }
}

/// The sources, each as it stands in `rows/`.
pub const SOURCES: &[&str] = &[
    include_str!("../rows/s2n-quic.toml"),
    include_str!("../rows/google-quiche.toml"),
    include_str!("../rows/ns-3.toml"),
    include_str!("../rows/neqo.toml"),
    include_str!("../rows/msquic.toml"),
    include_str!("../rows/quic-go.toml"),
    include_str!("../rows/mvfst.toml"),
    include_str!("../rows/smoltcp.toml"),
    include_str!("../rows/packetdrill.toml"),
];

/// Those that need a network, likewise. Who has a simulator runs them.
pub const NETWORKS: &[&str] =
    &[include_str!("../rows/google-quiche-networks.toml"), include_str!("../rows/picoquic.toml")];

/// What becomes of all tests of `sources`, texts such as [`SOURCES`]; `run` runs one.
///
/// # Errors
/// A source cannot be read, or one of its tests cannot be run.
pub fn judge_all(
    sources: &[&str],
    run: impl Fn(&Test) -> Result<Vec<Outcome>, String>,
) -> Result<Vec<Judgement>, String> {
    let judged = |text: &&str| {
        let source = read(text)?;
        let repository = source.repository.clone();
        judge(source, &run).map_err(|error| format!("{repository}: {error}"))
    };
    sources.iter().map(judged).collect()
}

/// The tables of docs/judged.md: the suites, what a text decides against, what is a fault.
#[must_use]
pub fn tables(judgements: &[Judgement]) -> String {
    let mut page = "| suite | judges | tests | expectations | met | a text decides against | faults |\n".to_owned();
    page.push_str("|---|---|---|---|---|---|---|\n");
    judgements.iter().for_each(|judgement| page.push_str(&format!("{judgement}\n")));
    let mut texts: Vec<(String, usize)> = Vec::new();
    let mut faults = String::new();
    for judgement in judgements {
        let owner = judgement.source.repository.split('/').next_back().unwrap_or_default();
        for (test, outcome) in judgement.outcomes().filter(|(_, outcome)| !outcome.met) {
            let Some(by) = &outcome.decided else {
                let ours = outcome.ours;
                faults.push_str(&format!("| {owner} | {} | {} | {ours} |\n", test.name, outcome.expected));
                continue;
            };
            let name = test.file.rsplit('/').next().unwrap_or_default();
            let row = format!("| {owner} `{name}` | {by} |");
            match texts.iter_mut().find(|(other, _)| *other == row) {
                Some((_, count)) => *count += 1,
                None => texts.push((row, 1)),
            }
        }
    }
    page.push_str(
        "\n### Texts that decide against an expectation\n\n| suite | the text | expectations |\n|---|---|---|\n",
    );
    texts.iter().for_each(|(row, count)| page.push_str(&format!("{row} {count} |\n")));
    if !faults.is_empty() {
        page.push_str("\n### Faults\n\n| suite | test | expected | ours |\n|---|---|---|---|\n");
        page.push_str(&faults);
    }
    page
}

/// Reads a source.
///
/// # Errors
/// It is not TOML with the keys of [`Source`].
pub fn read(text: &str) -> Result<Source, String> {
    let mut source: Source = toml::from_str(text).map_err(|error| error.to_string())?;
    source.tests = source.tests.into_iter().flat_map(Test::expand).collect();
    Ok(source)
}

impl Test {
    /// The tests it stands for: one for each row and datagram size.
    fn expand(self) -> Vec<Test> {
        let mtus = if self.mtus.is_empty() { vec![self.mtu] } else { self.mtus.clone() };
        let rows = if self.table.is_empty() { vec![Vec::new()] } else { self.table.clone() };
        if let [_, _, ..] = self.controllers[..] {
            let each = |controller: String| {
                let name = format!("{} of {controller}", self.name);
                Test { name, controller, controllers: Vec::new(), ..self.clone() }.expand()
            };
            return self.controllers.iter().cloned().flat_map(each).collect();
        }
        let mut tests = Vec::new();
        for mtu in mtus {
            for row in &rows {
                let filled = |text: &str| {
                    self.columns.iter().zip(row).fold(text.to_owned(), |text, (column, value)| {
                        text.replace(&format!("{{{column}}}"), &value.to_string())
                    })
                };
                let unmet = self.unmet.as_ref().filter(|unmet| row.first().is_some_and(|w| unmet.values.contains(w)));
                let mut steps: Vec<String> = self.steps.iter().map(|step| filled(step)).collect();
                if let (Some(unmet), Some(last)) = (unmet, steps.last_mut()) {
                    *last = format!("{last} | {}", unmet.by);
                }
                tests.push(Test {
                    name: filled(&self.name),
                    controller: filled(&self.controller),
                    steps,
                    unmet: None,
                    mtu,
                    mtus: Vec::new(),
                    columns: Vec::new(),
                    table: Vec::new(),
                    ..self.clone()
                });
            }
        }
        tests
    }

    /// What becomes of it, without a network; another controller than its own may take its place.
    ///
    /// # Errors
    /// There is no such controller, or a step is none.
    pub fn run(&self, controller: &str) -> Result<Vec<Outcome>, String> {
        let algorithm = Algorithm::read(controller).map_err(|error| format!("{}: {error}", self.name))?;
        script::run(self, algorithm)
    }
}

/// What becomes of all tests of `source`; `run` runs one.
///
/// # Errors
/// A test cannot be run.
pub fn judge(source: Source, run: impl Fn(&Test) -> Result<Vec<Outcome>, String>) -> Result<Judgement, String> {
    let judged = |test: &Test| run(test).map(|outcomes| (test.clone(), outcomes));
    let tests = source.tests.iter().map(judged).collect::<Result<_, _>>()?;
    Ok(Judgement { source, tests })
}
