//! `windlass judged`: what the tests of other projects expect of congestion controllers, held against ours.

use windlass_controllers::Algorithm;
use windlass_judged::{Judgement, Outcome, SOURCES, Source, Test, judge, read, tables};

use super::CliError;
use super::error::print;
use super::text::{Align, aligned};

/// Hold controllers against the tests of other projects: their windows and thresholds, event by event.
///
/// An expectation that is not met has the sentence of the text that decides against it, or is a fault, which makes the
/// exit code 1.
#[derive(Debug, clap::Args)]
pub(super) struct Judged {
    /// Suites, by repository or a part of its name [default: all]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
    /// Run NAME:parameter=value,… in place of NAME; what the tests themselves set goes first
    #[arg(short, long = "controller", value_name = "NAME:…")]
    controllers: Vec<String>,
    /// Print every expectation that is not met with our value
    #[arg(long)]
    each: bool,
    /// Print the tables of docs/judged.md
    #[arg(long, conflicts_with = "each")]
    markdown: bool,
}

impl Judged {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let sources = self.sources()?;
        for text in &self.controllers {
            // Not by other names: tests name controllers of the catalogue.
            Algorithm::read(text).map_err(|error| CliError::Usage(error.to_string()))?;
        }
        let judged = sources.into_iter().map(|source| judge(source, |test| test.run(&self.controller(test))));
        let judgements = judged.collect::<Result<Vec<Judgement>, String>>().map_err(CliError::Usage)?;
        print(&if self.markdown { tables(&judgements) } else { self.text(&judgements) })?;
        match judgements.iter().map(Judgement::faults).sum() {
            0 => Ok(()),
            faults => {
                Err(CliError::Failed(format!("{faults} expectations are not met, and no text decides against them")))
            }
        }
    }

    /// The sources whose names are asked for.
    fn sources(&self) -> Result<Vec<Source>, CliError> {
        let all = SOURCES.iter().map(|text| read(text)).collect::<Result<Vec<_>, _>>().map_err(CliError::Failed)?;
        let named = |source: &Source, suite: &String| source.repository.contains(suite.as_str());
        if let Some(unknown) = self.suites.iter().find(|suite| !all.iter().any(|source| named(source, suite))) {
            let names: Vec<&str> = all.iter().map(|source| source.repository.as_str()).collect();
            return Err(CliError::Usage(format!("unknown suite {unknown:?}; expected a part of {}", names.join(", "))));
        }
        let wanted = |source: &Source| self.suites.is_empty() || self.suites.iter().any(|suite| named(source, suite));
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// The controller that `test` runs: its own, with the parameters given for it.
    fn controller(&self, test: &Test) -> String {
        let (name, set) = test.controller.split_once(':').unwrap_or((&test.controller, ""));
        let given = |text: &&String| text.split(':').next() == Some(name);
        let Some((_, parameters)) = self.controllers.iter().find(given).and_then(|text| text.split_once(':')) else {
            return test.controller.clone();
        };
        let key = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
        let changed: Vec<String> = parameters.split(',').map(key).collect();
        let kept = set.split(',').filter(|parameter| !parameter.is_empty() && !changed.contains(&key(parameter)));
        format!("{name}:{}", kept.chain([parameters]).collect::<Vec<_>>().join(","))
    }

    fn text(&self, judgements: &[Judgement]) -> String {
        use Align::{Left, Right};
        let heads = [
            ("suite", Left),
            ("tests", Right),
            ("expectations", Right),
            ("met", Right),
            ("decided against", Right),
            ("faults", Right),
            ("judges", Left),
        ];
        let row = |judgement: &Judgement| {
            let counts = [
                judgement.tests.len(),
                judgement.outcomes().count(),
                judgement.met(),
                judgement.decided(),
                judgement.faults(),
            ];
            let counts = counts.map(|count| count.to_string());
            let Source { repository, judges, .. } = &judgement.source;
            [repository.clone()].into_iter().chain(counts).chain([judges.clone()]).collect()
        };
        let rows: Vec<Vec<String>> = judgements.iter().map(row).collect();
        let mut text = aligned(&heads, &rows).join("\n");
        text.push('\n');
        for judgement in judgements {
            let shown = |outcome: &Outcome| outcome.is_fault() || (self.each && !outcome.met);
            for (test, outcome) in judgement.outcomes().filter(|(_, outcome)| shown(outcome)) {
                let Outcome { expected, ours, .. } = outcome;
                text.push_str(&format!("\n{} {}: expected {expected}, ours {ours}", test.file, test.name));
                text.push_str(&outcome.decided.as_ref().map_or(String::new(), |by| format!("; {by}")));
            }
        }
        if text.ends_with('\n') { text } else { text + "\n" }
    }
}
