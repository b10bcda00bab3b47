//! What the catalogue and the stacks say of a controller, the page about it in Markdown, and the links of the
//! repository's Markdown files as the book needs them.

use std::path::{Component, Path, PathBuf};

use windlass_adapter::NamedController;
use windlass_controllers::param::Param;
use windlass_controllers::{ConfiguredController, Entry, Signals};
use windlass_simulator::golden::{GoldenScenario, Trace, record};
use windlass_simulator::scenario::Scenario;
use windlass_stacks::stack::Runner;

/// A controller with its page and its golden trace.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The whole page as Markdown.
    pub markdown: String,
    /// The trace its picture shows.
    pub trace: Trace,
    /// The scenario the trace was recorded on.
    pub scenario: Scenario,
}

/// The page about `algorithm`, which a user typed as `typed`, with its picture under the
/// name `picture`.
///
/// # Errors
/// The scenario of its trace cannot be run.
pub fn explain(algorithm: &NamedController, typed: &str, picture: &str) -> Result<Explained, String> {
    let golden = GoldenScenario::of(algorithm);
    let scenario = golden.scenario(typed).map_err(|error| error.to_string())?;
    let trace = record(&golden, typed, &scenario).map_err(|error| error.to_string())?;
    let entry = algorithm.entry();
    let mut markdown = format!("# {typed}\n\n{}: {}.\n\n{}\n", entry.name, entry.summary, entry.page.trim());
    markdown.push_str(&parameters(algorithm));
    markdown.push_str(&signals(&entry, algorithm.needs()));
    markdown.push_str(&format!(
        "\n## Source and size\n\nBuilt from {}. A flow's state takes {} bytes.\n",
        entry.source, entry.state_size
    ));
    markdown.push_str(&format!("\n## Golden trace\n\n{}\n\n", scenario.description));
    markdown.push_str(&format!("![The congestion window of {typed} over time]({picture})\n\n"));
    for flow in &trace.flows {
        let [sent, lost, marked, responses] = flow.totals;
        markdown.push_str(&format!(
            "- {}: {sent} packets sent, {lost} lost, {marked} marked, {responses} congestion responses\n",
            flow.name
        ));
    }
    Ok(Explained { markdown, trace, scenario })
}

/// Text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn parameters(algorithm: &NamedController) -> String {
    let given = params(algorithm);
    let mut text = String::from("\n## Parameters\n\n");
    let Some(own) = given.last() else {
        text.push_str("None.\n");
        return text;
    };
    let [quic, paper] = profiles(algorithm);
    let changed = given != quic;
    let head = ["parameter", "quic", "paper", "given", "unit", "takes", "meaning"];
    let pick = |cells: [&str; 7]| {
        let kept: Vec<&str> = cells.iter().enumerate().filter(|(i, _)| changed || *i != 3).map(|(_, c)| *c).collect();
        row(&kept)
    };
    text.push_str(&pick(head));
    text.push_str(&pick(["---", "--:", "--:", "--:", "---", "---", "---"]));
    for (given, (quic, paper)) in given.iter().zip(quic.iter().zip(&paper)) {
        let Param { name, doc, unit, source, range, value } = given;
        text.push_str(&pick([
            &format!("`{name}`"),
            &quic.value.to_string(),
            &paper.value.to_string(),
            &value.to_string(),
            unit,
            &cell(&range.to_string()),
            &cell(&format!("{doc} ({source})")),
        ]));
    }
    text.push_str(&format!(
        "\nThe columns are the values of `profile=quic`, the default, and of `profile=paper`. \
         Set them in the name: `{}:profile=paper,{}={}`.\n",
        ConfiguredController::name(algorithm),
        own.name,
        own.value,
    ));
    text
}

fn signals(entry: &Entry<NamedController>, needs: Signals) -> String {
    let mut text =
        format!("\n## Signals\n\nNeeds {}.\n\n", if needs.is_empty() { "none".to_owned() } else { needs.to_string() });
    for stack in Runner::builtin() {
        let lacking = needs.without(stack.provides());
        let says = if lacking.is_empty() { "provides all".to_owned() } else { format!("lacks {lacking}") };
        text.push_str(&format!("- **{}**: {says}\n", stack.name()));
    }
    if let Some(does) = entry.fallback {
        text.push_str(&format!("\nWhere a signal is lacking, `{}:fallback=on` {does}.\n", entry.name));
    }
    text
}

/// Its parameters with their values.
#[must_use]
pub fn params(algorithm: &NamedController) -> Vec<Param> {
    let mut all = Vec::new();
    algorithm.describe(&mut |param| all.push(*param));
    all
}

/// Its parameters under the profiles `quic` and `paper`.
#[must_use]
pub fn profiles(algorithm: &NamedController) -> [Vec<Param>; 2] {
    ["quic", "paper"].map(|profile| {
        let text = format!("{}:profile={profile}", ConfiguredController::name(algorithm));
        NamedController::read(&text).map(|algorithm| params(&algorithm)).unwrap_or_default()
    })
}

/// The names of the stacks that provide `needs`.
#[must_use]
pub fn runs_on(needs: Signals) -> Vec<&'static str> {
    Runner::builtin().iter().filter(|stack| stack.provides().contains(needs)).map(|stack| stack.name()).collect()
}

/// `markdown`, a file in the directory `dir` of the repository, as a page of the book:
/// links to files of `docs/` lead to the book's pages, links to other files to the
/// repository on the web.
pub(super) fn relinked(markdown: &str, dir: &Path) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(start) = rest.find("](") {
        let (before, link) = rest.split_at(start + 2);
        text.push_str(before);
        rest = link;
        if let Some(end) = link.find(')') {
            text.push_str(&relink(&link[..end], dir));
            rest = &link[end..];
        }
    }
    text + rest
}

fn relink(link: &str, dir: &Path) -> String {
    if link.starts_with('#') || link.contains(':') {
        return link.to_owned();
    }
    let path = resolved(&dir.join(link));
    let shown = path.to_string_lossy();
    // From the page's own directory in the book to the book's.
    let up = "../".repeat(dir.strip_prefix("docs").map_or(0, |within| within.components().count()));
    match path.strip_prefix("docs") {
        Ok(page) => format!("{up}{}", page.display()),
        Err(_) if shown == "CONTRIBUTING.md" => format!("{up}contributing.md"),
        Err(_) => format!("{}/blob/main/{shown}", env!("CARGO_PKG_REPOSITORY")),
    }
}

/// `path` without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, component| {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(part) => path.push(part),
            _ => {}
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_into_the_book_or_to_the_repository() {
        let relinked = |text| relinked(text, Path::new("docs"));
        assert_eq!(relinked("[a](qlog.md#x) [b](#y) [c](https://z)"), "[a](qlog.md#x) [b](#y) [c](https://z)");
        assert_eq!(relinked("[a](../CONTRIBUTING.md)."), "[a](contributing.md).");
        let below =
            super::relinked("[a](../qlog.md) [b](two.md) [c](../../CONTRIBUTING.md)", Path::new("docs/questions"));
        assert_eq!(below, "[a](../qlog.md) [b](../questions/two.md) [c](../contributing.md)");
        let web = format!("[a]({}/blob/main/adapters/quinn/README.md)", env!("CARGO_PKG_REPOSITORY"));
        assert_eq!(relinked("[a](../adapters/quinn/README.md)"), web);
        assert_eq!(super::relinked("[a](docs/qlog.md) ![b](", Path::new("")), "[a](qlog.md) ![b](");
    }
}
