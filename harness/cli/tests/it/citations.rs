//! What holds of every source file: each `spec: NAME §…` leads to a section and a rule of `specs/NAME.md`, and errors print their text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NAMES: [&str; 4] = ["arumaithurai", "chan", "cho", "sharma"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One specification: its text by section.
struct Spec {
    /// Section numbers with their own text, without that of subsections.
    sections: BTreeMap<String, String>,
    text: String,
}

impl Spec {
    fn read(name: &str) -> Spec {
        let text = fs::read_to_string(root().join(format!("specs/{name}.md"))).unwrap();
        let mut sections: BTreeMap<String, String> = BTreeMap::new();
        let mut section = String::new();
        for line in text.lines() {
            if line.starts_with('#') {
                let title = line.trim_start_matches('#').trim_start();
                let number: String = title.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                let number = number.trim_end_matches('.');
                if !number.is_empty() {
                    section = number.to_owned();
                }
            }
            let text = sections.entry(section.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
        Spec { sections, text }
    }

    /// The text of a section with its subsections. What has no heading of its own is an
    /// item of a numbered list: `1.3.3` is item 3 of 1.3.
    fn section(&self, number: &str) -> Option<String> {
        let within = format!("{number}.");
        let text: String = self
            .sections
            .iter()
            .filter(|(section, _)| *section == number || section.starts_with(&within))
            .map(|(_, text)| text.as_str())
            .collect();
        if !text.is_empty() {
            return Some(text);
        }
        let (outer, item) = number.rsplit_once('.')?;
        let list = self.section(outer)?;
        let start = format!("{item}. ");
        list.lines().find(|line| line.trim_start_matches(['-', '*', ' ']).starts_with(&start)).map(|_| list.clone())
    }

    /// Whether the text names `rule`, as a word of its own.
    fn has_rule(text: &str, rule: &str) -> bool {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(rule).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + rule.len()..].chars().next();
            !before.is_some_and(word) && !after.is_some_and(|c| c.is_ascii_digit())
        })
    }
}

/// The text with comment marks and line ends folded into spaces, so that a citation that
/// goes over lines is whole.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start();
        let line = ["//!", "///", "//", "#", "* "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        out.push(' ');
        out.push_str(line.trim());
    }
    out
}

/// What a citation says after `spec: `, up to where it must have ended.
fn citations(text: &str) -> Vec<String> {
    let text = folded(text);
    let mut found = Vec::new();
    for (at, _) in text.match_indices("spec: ") {
        let rest = &text[at + 6..];
        if !NAMES.iter().any(|name| rest.starts_with(&format!("{name} "))) {
            continue;
        }
        let end = rest.find(['`', '"', '|', ')', ':', '(', '\\', '<']).unwrap_or(rest.len());
        found.push(rest[..end].to_owned());
    }
    found
}

/// A rule's name: a capital with a number or a hyphen (`T-8`, `A48`, `B-IDLE`, `F2.5a`).
fn is_rule(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-.′".contains(c))
        && (word.chars().any(|c| c.is_ascii_digit()) || word.contains('-'))
}

/// Whether a numbered list of `text` has an item `number`.
fn has_item(text: &str, number: &str) -> bool {
    let item = format!("{number}. ");
    text.match_indices(&item).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || ".§".contains(c)))
}

/// What is wrong with a citation; and how many sections it named.
fn resolve(citation: &str, specs: &BTreeMap<&str, Spec>, wrong: &mut Vec<String>) -> usize {
    let mut spec: Option<&Spec> = None;
    let mut section: Option<String> = None;
    let mut sections = 0;
    let mut words = citation.split_whitespace().peekable();
    while let Some(raw) = words.next() {
        let ends_part = raw.ends_with(';') || raw.ends_with('.');
        let word = raw.trim_end_matches([',', ';', '.']).trim_start_matches('[').trim_end_matches(']');
        if let Some(named) = specs.get(word) {
            (spec, section) = (Some(named), None);
            continue;
        }
        let Some(spec) = spec else { break };
        if let Some(numbers) = word.strip_prefix('§') {
            let number = numbers.trim_end_matches(|c: char| !c.is_ascii_digit());
            for part in number.split(['–', '-']) {
                let part = part.trim_start_matches('§');
                match spec.section(part) {
                    Some(text) => section = Some(text),
                    None => wrong.push(format!("no section {part}")),
                }
                sections += 1;
            }
        } else if word == "rule" || word == "item" {
            let Some(next) = words.next() else { break };
            let number: String = next.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let number = number.trim_end_matches('.');
            let text = section.as_deref().unwrap_or(&spec.text);
            let first = number.split('.').next().unwrap_or_default();
            if !has_item(text, first) && !Spec::has_rule(text, &format!("rule {number}")) {
                wrong.push(format!("no rule {number}"));
            }
        } else if ["Eq", "Eqs", "eq", "Alg", "Table", "Fig"].contains(&word) {
            let Some(next) = words.peek() else { break };
            let number = next.trim_end_matches([',', ';', '.']);
            let number = number.split('–').next().unwrap_or_default().to_owned();
            words.next();
            if !Spec::has_rule(&spec.text, &number) {
                wrong.push(format!("no {word} {number}"));
            }
        } else if is_rule(word) && !word.starts_with("RFC") {
            let rule = word.split_once("..").map_or(word, |(first, _)| first);
            // A register's entry may be cited beside any section.
            let stands = Spec::has_rule(&spec.text, rule)
                || rule.split_once('.').is_some_and(|(rule, step)| {
                    let step: String = step.chars().take_while(char::is_ascii_digit).collect();
                    spec.text.find(&format!("**{rule} ")).is_some_and(|at| has_item(&spec.text[at..], &step))
                });
            if !stands {
                wrong.push(format!("no rule {rule}"));
            }
        } else if ends_part || !["and", "of", "the"].contains(&word) {
            // Prose, or the next document of another kind.
            break;
        }
    }
    sections
}

/// Files of the checkout that may cite.
fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !["generated", "target", "node_modules", "specs"].contains(&name.as_str()) {
                files(&path, found);
            }
        } else if [".rs", ".md", ".toml"].iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

#[test]
fn every_citation_resolves() {
    let specs: BTreeMap<&str, Spec> = NAMES.iter().map(|name| (*name, Spec::read(name))).collect();
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let (mut cited, mut unresolved) = (0, Vec::new());
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for citation in citations(&text) {
            let mut wrong = Vec::new();
            cited += resolve(&citation, &specs, &mut wrong);
            let shown: String = citation.chars().take(80).collect();
            unresolved.extend(wrong.into_iter().map(|why| format!("{}: {why}: spec: {shown}", path.display())));
        }
    }
    assert!(unresolved.is_empty(), "{} citations lead nowhere:\n{}", unresolved.len(), unresolved.join("\n"));
    assert!(cited > 500, "only {cited} sections are cited: are citations still found?");
}

#[test]
fn what_does_not_exist_is_noticed() {
    let specs: BTreeMap<&str, Spec> = NAMES.iter().map(|name| (*name, Spec::read(name))).collect();
    let wrong = |citation: &str| {
        let mut wrong = Vec::new();
        resolve(citation, &specs, &mut wrong);
        wrong
    };
    assert_eq!(wrong("sharma §8 rule 3"), Vec::<String>::new());
    assert_eq!(wrong("sharma §98.3"), ["no section 98.3"]);
    assert_eq!(wrong("cho §5, K-99"), ["no rule K-99"]);
    assert_eq!(wrong("cho §2, §77; sharma §1.5"), ["no section 77"]);
    assert_eq!(wrong("chan §3 rule 99"), ["no rule 99"]);
}

/// The errors of a source file whose `Debug` is derived, so that `?` in `main` prints names of fields in place of the text.
fn untold(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let is_error = |name: &str| {
        text.match_indices("Error for ").any(|(at, _)| {
            let after = &text[at + "Error for ".len()..];
            after.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    for (at, derive) in text.match_indices("#[derive(") {
        let derived = &text[at + derive.len()..];
        let Some((traits, rest)) = derived.split_once(")]") else { continue };
        let Some(item) = rest.lines().map(str::trim).find(|line| line.starts_with("pub ")) else { continue };
        let name = item.split([' ', '(', '<', '{', ';']).nth(2).unwrap_or_default();
        // The item that is derived, not one further on.
        let own = rest.split_once(item).is_some_and(|(between, _)| {
            between.lines().all(|line| line.trim() != "}") && !between.contains("#[derive(")
        });
        if own && traits.contains("Debug") && (traits.contains("Error") || is_error(name)) {
            found.push(name);
        }
    }
    found
}

#[test]
fn every_error_prints_its_text_where_main_returns_it() {
    assert_eq!(untold("#[derive(Debug, thiserror::Error)]\n#[error(\"{0}\")]\npub struct No;\n"), ["No"]);
    assert_eq!(untold("#[derive(Clone, Debug)]\npub enum No {}\nimpl std::error::Error for No {}\n"), ["No"]);
    assert!(untold("#[derive(Clone)]\npub enum No {}\nimpl std::error::Error for No {}\n").is_empty());
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    paths.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    assert!(paths.len() > 400, "only {} source files", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        wrong.extend(untold(&text).iter().map(|name| format!("{}: {name}", path.display())));
    }
    assert!(wrong.is_empty(), "`Debug` of these errors is not their text:\n{}", wrong.join("\n"));
}
