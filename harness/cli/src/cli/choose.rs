//! `windlass choose`: which controller for which use, by results.

use std::path::PathBuf;

use super::error::print;
use super::{CliError, choice};
use windlass_adapter::NamedController;
use windlass_controllers::Signals;
use windlass_lab::choose::{Choice, Evidence, Needs, Ranked, USES, Use, choose};
use windlass_simulator::scenario::Control;
use windlass_stacks::stack::Runner;

/// How many are shown of a ranking.
const SHOWN: usize = 3;

/// Recommend a controller for a use, with the evidence
///
/// The recommendation follows from results by criteria that are printed with it: harm.csv, as `windlass harm` writes it, and rfc9743.csv, as `windlass
/// rfc9743` does. Both are in a checkout's docs; results of your own, with controllers of your own, go in their place with --results.
#[derive(Debug, clap::Args)]
pub(super) struct Choose {
    /// bulk, background, video, data-centre, satellite or parallel [default: all of them]
    #[arg(value_name = "USE")]
    uses: Vec<String>,
    /// The network marks packets, and the stack carries marks (ECN)
    #[arg(long)]
    ecn: bool,
    /// The bottleneck has FQ-CoDel: only harm there counts
    #[arg(long)]
    fq: bool,
    /// The stack it is to run in [default: any of them]
    #[arg(long, value_name = "STACK")]
    stack: Option<String>,
    /// Print the tables of docs/choose.md
    #[arg(long)]
    markdown: bool,
    /// Directory of harm.csv and rfc9743.csv
    #[arg(long, value_name = "DIR", default_value = "docs")]
    results: PathBuf,
}

impl Choose {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let uses = self.uses()?;
        let stacks: Vec<Runner> = match &self.stack {
            Some(name) => choice::stacks(std::slice::from_ref(name))?,
            None => Runner::all().into_iter().filter(|stack| stack.name() != "sim").collect(),
        };
        let evidence = Evidence::read(&self.results).map_err(CliError::Usage)?;
        let pick = |asked: &Use, ecn: bool| {
            let needs = Needs { ecn, fq: self.fq };
            choose(&evidence, asked, needs, &|name| refused(name, ecn, &stacks))
        };
        let text: String = if self.markdown {
            uses.iter().map(|one| markdown(one, &[false, true].map(|ecn| pick(one, ecn)))).collect()
        } else {
            uses.iter().map(|one| shown(one, self.ecn, &pick(one, self.ecn))).collect()
        };
        print(&text)
    }

    fn uses(&self) -> Result<Vec<&'static Use>, CliError> {
        let named = |name: &String| {
            Use::named(name).ok_or_else(|| {
                let names = USES.map(|one| one.name);
                CliError::Usage(format!("unknown use {name:?}; expected {}", names.join(", ")))
            })
        };
        let typed: Result<Vec<_>, _> = self.uses.iter().map(named).collect();
        let typed = typed?;
        Ok(if typed.is_empty() { USES.iter().collect() } else { typed })
    }
}

/// Why `name` cannot be used at all.
fn refused(name: &str, ecn: bool, stacks: &[Runner]) -> Option<String> {
    let controller = match NamedController::read(name) {
        Ok(controller) => controller,
        Err(error) => return Some(error.to_string()),
    };
    if !ecn && controller.needs().contains(Signals::ECN) {
        return Some("needs marks (ECN)".to_owned());
    }
    let control = Control::Named(controller);
    if stacks.iter().any(|stack| stack.check(&control, name).is_ok()) {
        return None;
    }
    Some(match stacks {
        [one] => format!("needs what {} does not report", one.name()),
        _ => "needs what no stack reports".to_owned(),
    })
}

/// `cubic (0.98): goodput on …`.
fn evidence_of(ranked: &Ranked) -> String {
    format!("{:.2}: {}", ranked.score, ranked.numbers.join(", "))
}

fn shown(asked: &Use, ecn: bool, choice: &Choice) -> String {
    let (requirements, measure) = asked.asks(ecn);
    let mut text = format!("{}: {}\n", asked.name, asked.about);
    text.extend(requirements.iter().map(|one| format!("  asked: {}\n", one.text())));
    text.push_str(&format!("  ranked by: {}\n", measure.text()));
    if choice.ranked.is_empty() {
        text.push_str("  no controller meets all that is asked\n");
    }
    for (number, ranked) in (1..).zip(choice.ranked.iter().take(SHOWN)) {
        text.push_str(&format!("  {number}. {}, {}\n", ranked.controller, evidence_of(ranked)));
    }
    text.extend(choice.out.iter().map(|(why, names)| format!("  out, {}: {why}: {}\n", names.len(), names.join(", "))));
    text.push('\n');
    text
}

/// A section: what is asked, and a table without marks and one with them.
fn markdown(asked: &Use, choices: &[Choice; 2]) -> String {
    let mut text = format!("### {}\n\n{}.\n", asked.name, capital(asked.about));
    for (ecn, choice) in [false, true].into_iter().zip(choices) {
        let (requirements, measure) = asked.asks(ecn);
        text.push_str(if ecn { "\n**With marks (`--ecn`)**\n\n" } else { "\n**Without marks**\n\n" });
        text.extend(requirements.iter().map(|one| format!("* asked: {}\n", one.text())));
        text.push_str(&format!("* ranked by: {}\n\n", measure.text()));
        if choice.ranked.is_empty() {
            text.push_str("No controller meets all that is asked.\n");
        } else {
            text.push_str("| | controller | | evidence |\n|--:|---|--:|---|\n");
        }
        for (number, ranked) in (1..).zip(choice.ranked.iter().take(SHOWN)) {
            let Ranked { controller, score, numbers } = ranked;
            text.push_str(&format!("| {number} | `{controller}` | {score:.2} | {} |\n", numbers.join(", ")));
        }
        let out = choice.out.iter().map(|(why, names)| format!("{} ({why})", names.len())).collect::<Vec<_>>();
        text.push_str(&format!("\n{} meet it; out: {}.\n", choice.ranked.len(), out.join("; ")));
    }
    text.push('\n');
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
