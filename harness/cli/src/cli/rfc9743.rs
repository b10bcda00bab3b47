//! `windlass rfc9743`: the criteria of RFC 9743 as experiments.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use super::batch::{carry_out_asked, total};
use super::error::print;
use super::text::{Align, aligned};
use super::{CliError, choice};
use crate::report::rfc9743;
use windlass_lab::grid::{Cell, Store};
use windlass_lab::output::replace;
use windlass_lab::rfc9743::{
    Answer, Assessment, CRITERIA, Criterion, Effort, Measured, NOT_APPLICABLE, PATHS, Path, Question, Read, Results,
    Row, measure, questions, table,
};
use windlass_stacks::stack::Runner;

/// Evaluate controllers by the criteria of RFC 9743, on every type of path it names
///
/// Each criterion is a number, its 95 % interval over seeds, and a limit with a source; most limits are what Reno and CUBIC do in the
/// same place, since the RFC gives no thresholds. Runs that are done are kept, so that an interrupted command goes on where it
/// stopped.
#[derive(Debug, clap::Args)]
#[command(name = "rfc9743")]
pub(super) struct Rfc9743 {
    /// Controllers, separated by commas; native:NAME is a stack's own
    #[arg(value_name = "NAME", required = true)]
    controllers: Vec<String>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',', default_value = "sim")]
    stack: Vec<String>,
    /// Three seeds, shorter runs, and of each type of path one or two
    #[arg(long)]
    quick: bool,
    /// Only these types of path
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    path: Vec<String>,
    /// Only these criteria
    #[arg(long, value_name = "CRITERION", value_delimiter = ',')]
    criterion: Vec<String>,
    /// Print the tables of docs/rfc9743.md
    #[arg(long)]
    markdown: bool,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Directory for the runs, rfc9743.csv and rfc9743.html
    #[arg(long, value_name = "DIR", default_value = "target/windlass/rfc9743")]
    out: PathBuf,
}

impl Rfc9743 {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let controllers = choice::controllers(&self.controllers)?;
        let stacks = choice::stacks(&self.stack)?;
        let effort = if self.quick { Effort::Quick } else { Effort::Full };
        let mut paths = choice::some_of("--path", &self.path, PATHS.each_ref(), |path| path.name.to_owned())?;
        paths.retain(|path| path.quick || !self.quick || !self.path.is_empty());
        let criteria = choice::some_of("--criterion", &self.criterion, CRITERIA.each_ref(), |criterion| {
            criterion.name.to_owned()
        })?;
        let results = self.carry_out(&controllers, &stacks, &questions(&paths, &criteria), effort)?;
        let csv = self.out.join("rfc9743.csv");
        replace(&csv, table(&results).csv()?)?;
        let html = self.out.join("rfc9743.html");
        replace(&html, rfc9743::page(&results, effort))?;
        if self.markdown {
            return print(&markdown(&results));
        }
        print(&tables(&results))?;
        print(&format!("report: {}; every number: {}\n", html.display(), csv.display()))
    }

    /// Runs what is missing and answers all of it.
    fn carry_out(
        &self,
        controllers: &[String],
        stacks: &[Runner],
        questions: &[Question],
        effort: Effort,
    ) -> Result<Results, CliError> {
        let store: Store<Measured> = Store::open(&self.out)?;
        let mut cells: Vec<Cell> = Vec::new();
        let mut paths: HashMap<String, &Path> = HashMap::new();
        let mut wanted = BTreeMap::new();
        for stack in stacks {
            for (question, controller) in
                questions.iter().flat_map(|one| controllers.iter().map(move |name| (one, name)))
            {
                for (key, cell) in question.cells(controller, stack.name(), effort) {
                    wanted.entry((stack.name(), key)).or_insert_with(|| {
                        paths.insert(cell.scenario.clone(), question.path);
                        cells.push(cell.clone());
                        cell.key()
                    });
                }
            }
        }
        let tally = carry_out_asked(&cells, &paths, &store, self.jobs, |cell, path, stop| {
            measure(cell, path.packet_time(), stop)
        })?;
        if !self.markdown {
            print(&total(&tally))?;
        }
        let row = |stack: &Runner, controller: &String| {
            let of_stack = wanted.iter().filter(|((name, _), _)| *name == stack.name());
            let read: Read =
                of_stack.filter_map(|((_, key), cell)| Some((key.clone(), store.get(cell)?.read))).collect();
            let answer = |question: &Question| (*question, question.answer(controller, &read, effort));
            let answers = questions.iter().map(answer).collect();
            Row { controller: controller.clone(), stack: stack.name().to_owned(), answers }
        };
        let rows = stacks.iter().flat_map(|stack| controllers.iter().map(move |controller| row(stack, controller)));
        Ok(Results { rows: rows.collect() })
    }
}

/// A table for each controller: by criterion how many paths have which word, and what is not met.
fn tables(results: &Results) -> String {
    use Align::{Left, Right};
    let mut text = String::new();
    for row in &results.rows {
        text.push_str(&format!("\n{} on {}\n", row.controller, row.stack));
        let words = Assessment::ALL.map(|one| (one.name(), Right));
        let heads: Vec<_> = [("§", Left), ("criterion", Left)].into_iter().chain(words).collect();
        let line = |answers: &[(Question, Answer)]| {
            let Criterion { section, name, .. } = answers[0].0.criterion;
            let count = |word| answers.iter().filter(|(_, answer)| answer.assessment == word).count();
            let shown = |count: usize| if count == 0 { "–".to_owned() } else { count.to_string() };
            let counts = Assessment::ALL.map(|word| shown(count(word)));
            [(*section).to_owned(), (*name).to_owned()].into_iter().chain(counts).collect()
        };
        let lines: Vec<Vec<String>> = by_criterion(row).map(line).collect();
        text.extend(aligned(&heads, &lines).iter().map(|line| format!("{line}\n")));
        for word in [Assessment::NotMet, Assessment::Undecided, Assessment::Shown] {
            for (question, answer) in row.with(word) {
                let Question { criterion, path } = question;
                text.push_str(&format!(
                    "{}: {} on {}: {}\n",
                    word.name(),
                    criterion.name,
                    path.name,
                    answer.text(question)
                ));
            }
        }
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        row.with(Assessment::NotRun).for_each(|(_, answer)| *reasons.entry(&answer.reason).or_default() += 1);
        text.extend(reasons.iter().map(|(reason, count)| format!("not run, {count}: {reason}\n")));
    }
    text.push_str("\nnot applicable\n");
    text.extend(NOT_APPLICABLE.iter().map(|(section, title, why)| format!("§{section} {title}: {why}\n")));
    text
}

fn by_criterion(row: &Row) -> impl Iterator<Item = &[(Question, Answer)]> {
    row.answers.chunk_by(|a, b| a.0.criterion.name == b.0.criterion.name)
}

/// A matrix of criteria and controllers: the paths on which a criterion is not met.
fn markdown(results: &Results) -> String {
    let name = |row: &Row| {
        if row.stack == "sim" {
            format!("`{}`", row.controller)
        } else {
            format!("`{}` on {}", row.controller, row.stack)
        }
    };
    let names: Vec<String> = results.rows.iter().map(name).collect();
    let mut text = format!("| § | criterion | {} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let columns: Vec<Vec<&[(Question, Answer)]>> = results.rows.iter().map(|row| by_criterion(row).collect()).collect();
    for number in 0..columns.first().map_or(0, Vec::len) {
        let Criterion { section, name, .. } = columns[0][number][0].0.criterion;
        let cells = columns.iter().map(|column| {
            let answers = column[number];
            let paths = |word| {
                let some = answers.iter().filter(move |(_, answer)| answer.assessment == word);
                some.map(|(question, _)| question.path.name).collect::<Vec<_>>()
            };
            let bad = paths(Assessment::NotMet);
            if let [(question, answer)] = answers
                && answer.assessment == Assessment::Shown
            {
                return if answer.value.is_some() { answer.text(question) } else { "runs away".to_owned() };
            }
            if bad.is_empty() { "–".to_owned() } else { format!("**{}**: {}", bad.len(), bad.join(", ")) }
        });
        text.push_str(&format!("| {section} | {name} | {} |\n", cells.collect::<Vec<_>>().join(" | ")));
    }
    let total = |word| {
        let counts = results.rows.iter().map(|row| row.with(word).count().to_string());
        format!("| | *{}* | {} |\n", word.name(), counts.collect::<Vec<_>>().join(" | "))
    };
    text.extend(Assessment::ALL.map(total));
    text
}
