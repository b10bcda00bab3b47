//! `windlass list`, the controllers and their parameters, and `windlass scenarios`, the
//! built-in scenarios.

use serde_json::{Value, json};
use windlass_adapter::NamedController;
use windlass_controllers::Entry;

use super::error::print;
use super::text::{Align, aligned, width, wrapped};
use super::{CliError, choice};
use crate::book::{params, profiles, runs_on};
use windlass_lab::evaluation::Source;
use windlass_simulator::scenario::BUILTIN;

/// List the controllers, or the parameters of one
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// A controller whose parameters to list, as NAME or NAME:parameter=value,…
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let text = match (&self.name, self.json) {
            (None, false) => all_as_text(),
            (None, true) => pretty(&Value::Array(NamedController::all().map(|entry| entry_as_json(&entry)).collect())),
            (Some(name), json) => {
                let algorithm = choice::controller(name)?;
                if json { pretty(&one_as_json(&algorithm)) } else { one_as_text(&algorithm) }
            }
        };
        print(&text)
    }
}

/// What `windlass list NAME --json` prints, of every controller.
#[must_use]
pub fn controllers() -> Value {
    NamedController::all().map(|entry| one_as_json(&entry.default)).collect()
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn all_as_text() -> String {
    const INDENT: usize = 4;
    let width = width();
    let mut text = String::new();
    for entry in NamedController::all() {
        let needs = entry.default.needs();
        text.push_str(&format!("{}\n", entry.name));
        text.push_str(&wrapped(entry.summary, INDENT, width));
        text.push_str(&wrapped(&format!("source: {}", entry.source), INDENT, width));
        text.push_str(&wrapped(&format!("needs: {needs}"), INDENT, width));
        text.push_str(&wrapped(&format!("runs on: {}", runs_on(needs).join(", ")), INDENT, width));
    }
    text.push_str(&format!(
        "\n{} controllers. `windlass list NAME` lists a controller's parameters.\n",
        NamedController::all().count()
    ));
    text
}

fn one_as_text(algorithm: &NamedController) -> String {
    let width = width();
    let entry = algorithm.entry();
    let needs = algorithm.needs();
    let mut text = format!("{}\n", entry.name);
    for line in [
        entry.summary.to_owned(),
        format!("source: {}", entry.source),
        format!("needs: {needs}"),
        format!("runs on: {}", runs_on(needs).join(", ")),
    ] {
        text.push_str(&wrapped(&line, 4, width));
    }
    if let Some(does) = entry.fallback {
        text.push_str(&wrapped(&format!("with fallback=on: {does}"), 4, width));
    }
    text.push_str(&wrapped(&format!("state of a flow: {} bytes", entry.state_size), 4, width));
    text.push('\n');
    text.push_str(&parameters_as_text(algorithm, width));
    text
}

fn parameters_as_text(algorithm: &NamedController, width: usize) -> String {
    let [quic, paper] = profiles(algorithm);
    let given = params(algorithm);
    if given.is_empty() {
        return "It has no parameters.\n".to_owned();
    }
    let changed = given != quic;
    let mut heads = vec![("parameter", Align::Left), ("quic", Align::Right), ("paper", Align::Right)];
    if changed {
        heads.push(("given", Align::Right));
    }
    heads.extend([("unit", Align::Left), ("takes", Align::Left)]);
    let rows: Vec<Vec<String>> = given
        .iter()
        .zip(quic.iter().zip(&paper))
        .map(|(given, (quic, paper))| {
            let mut row = vec![given.name.to_owned(), quic.value.to_string(), paper.value.to_string()];
            if changed {
                row.push(given.value.to_string());
            }
            let takes = given.range.to_string();
            row.extend([given.unit.to_owned(), if is_long(&takes) { "see below".to_owned() } else { takes }]);
            row
        })
        .collect();
    let mut lines = aligned(&heads, &rows).into_iter();
    let mut text = lines.next().map(|head| head + "\n").unwrap_or_default();
    for (line, param) in lines.zip(&given) {
        text.push_str(&line);
        text.push('\n');
        let takes = param.range.to_string();
        let takes = if is_long(&takes) { format!(" Takes {takes}.") } else { String::new() };
        text.push_str(&wrapped(&format!("{}{takes} [{}]", param.doc, param.source), 4, width));
    }
    text.push_str("\nColumns: the values of profile=quic (the default) and of profile=paper.\n");
    text
}

/// Whether what a parameter takes has no room in a column.
fn is_long(takes: &str) -> bool {
    takes.len() > 40
}

fn entry_as_json(entry: &Entry<NamedController>) -> Value {
    let needs = entry.default.needs();
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "source": entry.source,
        "needs": needs.names().collect::<Vec<_>>(),
        "runs_on": runs_on(needs),
        "fallback": entry.fallback,
        "state_bytes": entry.state_size,
    })
}

fn one_as_json(algorithm: &NamedController) -> Value {
    use windlass_controllers::param::{Range, Value as Setting};
    // JSON has no infinity: it is the word "inf" there, as in text.
    let number = |x: f64| if x.is_finite() { json!(x) } else { json!(x.to_string()) };
    let setting = |value: Setting| match value {
        Setting::Number(x) => number(x),
        Setting::Word(word) => json!(word),
        Setting::Several(..) => json!(value.to_string()),
    };
    let range = |range: Range| match range {
        Range::Numbers(low, high) => json!({ "from": number(low), "to": number(high) }),
        Range::Words(words) => json!({ "one_of": words }),
        Range::Several(words) => json!({ "some_of": words }),
    };
    let [quic, paper] = profiles(algorithm);
    let rows = params(algorithm).into_iter().zip(quic.iter().zip(&paper)).map(|(param, (quic, paper))| {
        json!({
            "name": param.name,
            "value": setting(param.value),
            "quic": setting(quic.value),
            "paper": setting(paper.value),
            "unit": param.unit,
            "range": range(param.range),
            "source": param.source,
            "doc": param.doc,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let mut value = entry_as_json(&algorithm.entry());
    value["needs"] = json!(algorithm.needs().names().collect::<Vec<_>>());
    value["runs_on"] = json!(runs_on(algorithm.needs()));
    value["parameters"] = json!(rows);
    value
}

/// List the built-in scenarios, or print one as a start for a file of your own
#[derive(Debug, clap::Args)]
pub(super) struct Scenarios {
    /// The scenario to print
    name: Option<String>,
}

impl Scenarios {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.name {
            Some(name) => print(&choice::builtin(name)?.text),
            None => print(&builtin_scenarios()),
        }
    }
}

fn builtin_scenarios() -> String {
    let mut text = String::new();
    for (heading, evaluated) in [("Run by `windlass evaluate`:", true), ("Examples:", false)] {
        text.push_str(&format!("{heading}\n"));
        for scenario in BUILTIN.iter().filter(|scenario| scenario.evaluated == evaluated) {
            let description = Source::builtin(scenario.name)
                .and_then(|source| source.read(Some("reno")).ok())
                .map(|scenario| scenario.description)
                .unwrap_or_default();
            text.push_str(&format!("  {}\n{}", scenario.name, wrapped(&description, 6, width())));
        }
        text.push('\n');
    }
    text.push_str("`windlass scenarios NAME` prints one; docs/scenarios.md explains the keys.\n");
    text
}
