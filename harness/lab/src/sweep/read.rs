//! Reading the file of a plan.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};
use windlass_adapter::NamedController;
use windlass_simulator::scenario::{BUILTIN, NATIVE, ScenarioError};
use windlass_stacks::stack::Runner;

use super::axes::{Axis, label};
use crate::evaluation::Source;

/// Seeds of a plan at most.
const MOST_SEEDS: u64 = 1_000_000;

const KEYS: [&str; 5] = ["scenario", "controllers", "stacks", "seeds", "axes"];

/// Why a plan cannot be used.
#[derive(thiserror::Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("cannot read the plan {}: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The error of the read.
        source: std::io::Error,
    },
    /// The file has a mistake.
    #[error("{file}:{line}: {message}")]
    Wrong {
        /// Name of the file.
        file: String,
        /// Line of the mistake, from 1.
        line: usize,
        /// What is wrong, with the value and what was expected.
        message: String,
    },
    /// A scenario that the plan names has mistakes.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl std::fmt::Debug for PlanError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// A scenario that cells vary.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Base {
    /// What results call it.
    pub name: String,
    /// Name of its file, beside which the files lie that it names.
    pub file: String,
    /// The file, word for word; `None` of a scenario that stands in the plan.
    pub text: Option<String>,
    /// Its keys.
    pub table: Table,
}

/// A plan while it is read.
pub(super) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    /// The plan with the places of its keys.
    placed: DeTable<'t>,
    table: Table,
}

impl<'t> Reader<'t> {
    /// # Errors
    /// It is not TOML, or has keys that no plan has.
    pub fn new(file: &'t str, text: &'t str) -> Result<Reader<'t>, PlanError> {
        let not_toml = |error: toml::de::Error| {
            let line = line(text, error.span().map_or(0, |span| span.start));
            PlanError::Wrong { file: file.to_owned(), line, message: format!("not valid TOML: {}", error.message()) }
        };
        let placed = DeTable::parse(text).map_err(not_toml)?.into_inner();
        let table: Table = text.parse().map_err(not_toml)?;
        let reader = Reader { file, text, placed, table };
        match reader.table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            Some(key) => {
                let message = format!("a plan has no key {key}; expected one of {}", KEYS.join(", "));
                Err(reader.wrong(&[key], message))
            }
            None => Ok(reader),
        }
    }

    /// The error of the value that `keys` lead to.
    pub fn wrong(&self, keys: &[&str], message: String) -> PlanError {
        let line = self.place(&self.placed, keys).map_or(1, |at| line(self.text, at));
        PlanError::Wrong { file: self.file.to_owned(), line, message }
    }

    /// Where the key is, or the deepest of its tables. Keys may stand there in one, `"link.rate_mbps"`, or apart.
    fn place(&self, table: &DeTable<'_>, keys: &[&str]) -> Option<usize> {
        let [key, below @ ..] = keys else { return None };
        let at = |key: &str| table.iter().find(|(name, _)| name.get_ref() == key);
        if let Some((name, value)) = at(key) {
            let deeper = value.get_ref().as_table().and_then(|table| self.place(table, below));
            return deeper.or(Some(name.span().start));
        }
        let (first, rest) = key.split_once('.')?;
        let (name, value) = at(first)?;
        let deeper = match value.get_ref() {
            DeValue::Table(table) => self.place(table, &[rest]),
            _ => None,
        };
        deeper.or(Some(name.span().start))
    }

    /// The scenarios, each with a name of its own.
    pub fn scenarios(&self) -> Result<Vec<Base>, PlanError> {
        let expected = "the name of a scenario or of its file, a list of these, or a table, [scenario]";
        let bases: Vec<Base> = match self.table.get("scenario") {
            None => return Err(self.wrong(&[], format!("the plan has no scenario; expected {expected}"))),
            Some(Value::Table(table)) => vec![self.base(self.file.to_owned(), None, table.clone())],
            Some(value) => {
                let named = listed(value).iter().map(|one| match one.as_str() {
                    Some(name) => self.named(name),
                    None => Err(self.wrong(&["scenario"], format!("scenario is {one}; expected {expected}"))),
                });
                named.collect::<Result<_, _>>()?
            }
        };
        self.distinct("scenario", bases.iter().map(|base| base.name.clone()))?;
        Ok(bases)
    }

    fn base(&self, file: String, text: Option<String>, table: Table) -> Base {
        let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
        let name = table.get("name").and_then(Value::as_str).map_or_else(|| stem.into_owned(), str::to_owned);
        Base { name, file, text, table }
    }

    fn named(&self, name: &str) -> Result<Base, PlanError> {
        let folder = Path::new(self.file).parent().unwrap_or(Path::new(""));
        let path = folder.join(name);
        let source = if path.is_file() {
            Source::file(&path)?
        } else {
            let Some(builtin) = Source::builtin(name) else {
                let all = BUILTIN.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
                let message =
                    format!("scenario {name:?}: there is no file {}; expected one, or one of {all}", path.display());
                return Err(self.wrong(&["scenario"], message));
            };
            // Files that axes name lie beside the plan.
            Source { file: folder.join(format!("{name}.toml")).display().to_string(), ..builtin }
        };
        match source.text.parse() {
            Ok(table) => Ok(self.base(source.file, Some(source.text), table)),
            Err(error) => {
                source.read(None)?;
                Err(self.wrong(&["scenario"], format!("scenario {name:?}: {}", error.message())))
            }
        }
    }

    /// The keys that vary.
    pub fn axes(&self) -> Result<Vec<Axis>, PlanError> {
        let Some(value) = self.table.get("axes") else { return Ok(Vec::new()) };
        let Some(table) = value.as_table() else {
            return Err(self.wrong(&["axes"], format!("axes is {value}; expected a table, [axes]")));
        };
        let mut axes = Vec::new();
        self.axes_in("", table, &mut axes)?;
        self.distinct("axes", axes.iter().map(|axis| axis.key.clone()))?;
        // In the order of the file.
        axes.sort_by_key(|axis| self.place(&self.placed, &["axes", &axis.key]));
        Ok(axes)
    }

    fn axes_in(&self, above: &str, table: &Table, axes: &mut Vec<Axis>) -> Result<(), PlanError> {
        for (key, value) in table {
            let key = format!("{above}{key}");
            let wrong = |message: String| self.wrong(&["axes", &key], format!("axis {key}{message}"));
            match value {
                Value::Table(below) => self.axes_in(&format!("{key}."), below, axes)?,
                _ if key == "seed" => return Err(wrong(": expected seeds = … above".to_owned())),
                _ if key == "under_test" => return Err(wrong(": expected controllers = … above".to_owned())),
                Value::Array(values) if !values.is_empty() => {
                    self.distinct(&format!("axis {key}"), values.iter().map(label))?;
                    axes.push(Axis { key, values: values.clone() });
                }
                other => return Err(wrong(format!(" is {other}; expected a list of values"))),
            }
        }
        Ok(())
    }

    /// The controllers; one without a name, the scenario's own, where the plan has none.
    pub fn controllers(&self) -> Result<Vec<String>, PlanError> {
        let Some(value) = self.table.get("controllers") else { return Ok(vec![String::new()]) };
        let wrong = |message: String| self.wrong(&["controllers"], message);
        let mut names = Vec::new();
        for one in listed(value) {
            match one {
                Value::String(name) => names.push(name.clone()),
                Value::Table(table) => names.extend(combined(table).map_err(wrong)?),
                other => return Err(wrong(format!("controllers has {other}; {EXPECTED}"))),
            }
        }
        for name in names.iter().filter(|name| !name.starts_with(NATIVE)) {
            NamedController::read(name).map_err(|error| wrong(format!("controllers: {error}")))?;
        }
        self.filled("controllers", &names)?;
        self.distinct("controllers", names.iter().cloned())?;
        Ok(names)
    }

    /// The stacks; the simulator where the plan has none.
    pub fn stacks(&self) -> Result<Vec<String>, PlanError> {
        let Some(value) = self.table.get("stacks") else { return Ok(vec!["sim".to_owned()]) };
        let mut names = Vec::new();
        for one in listed(value) {
            let name = one.as_str().filter(|name| Runner::named(name).is_some());
            let Some(name) = name else {
                let known = Runner::all().iter().map(|stack| stack.name()).collect::<Vec<_>>().join(", ");
                let message = format!("stacks has {}; expected some of {known}", one);
                return Err(self.wrong(&["stacks"], message));
            };
            names.push(name.to_owned());
        }
        self.filled("stacks", &names)?;
        self.distinct("stacks", names.iter().cloned())?;
        Ok(names)
    }

    /// The seeds: 1 to a number, or a list; 1 where the plan has none.
    pub fn seeds(&self) -> Result<Vec<u64>, PlanError> {
        let Some(value) = self.table.get("seeds") else { return Ok(vec![1]) };
        let wrong = || {
            let message = format!(
                "seeds is {value}; expected how many there are, 1 to {MOST_SEEDS}, or a list of them, 0 to 2⁶³ − 1"
            );
            self.wrong(&["seeds"], message)
        };
        let whole = |value: &Value| value.as_integer().and_then(|seed| u64::try_from(seed).ok()).ok_or_else(wrong);
        let seeds: Vec<u64> = match value {
            Value::Array(list) => list.iter().map(whole).collect::<Result<_, _>>()?,
            _ => (1..=whole(value).ok().filter(|count| *count <= MOST_SEEDS).unwrap_or(0)).collect(),
        };
        if seeds.is_empty() {
            return Err(wrong());
        }
        self.distinct("seeds", seeds.iter().map(u64::to_string))?;
        Ok(seeds)
    }

    fn filled(&self, key: &str, list: &[String]) -> Result<(), PlanError> {
        if list.is_empty() { Err(self.wrong(&[key], format!("{key} is empty; expected some"))) } else { Ok(()) }
    }

    fn distinct(&self, key: &str, names: impl Iterator<Item = String>) -> Result<(), PlanError> {
        let mut seen = std::collections::HashSet::new();
        for name in names {
            if !seen.insert(name.clone()) {
                let place = key.split_once(' ').map_or(vec![key], |(_, axis)| vec!["axes", axis]);
                return Err(self.wrong(&place, format!("{key} has {name} twice; expected each value once")));
            }
        }
        Ok(())
    }
}

const EXPECTED: &str =
    "expected names, such as \"copa:delta=0.3\", or tables, such as { name = \"copa\", delta = [0.1, 0.3] }";

/// The controllers that a table with lists of their parameters is: every combination.
fn combined(table: &Table) -> Result<Vec<String>, String> {
    let Some(name) = table.get("name").and_then(Value::as_str) else {
        return Err(format!("controllers has {table} without a name; {EXPECTED}", table = Value::Table(table.clone())));
    };
    let mut names = vec![name.to_owned()];
    for (key, value) in table.iter().filter(|(key, _)| *key != "name") {
        let of = |name: &String| {
            let separator = if name.contains(':') { ',' } else { ':' };
            let with = |value: &Value| format!("{name}{separator}{key}={}", label(value));
            listed(value).iter().map(with).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(of).collect();
    }
    Ok(names)
}

/// A value as a list: itself where it is none.
fn listed(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// The line, from 1, of the byte at `at`.
fn line(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}
