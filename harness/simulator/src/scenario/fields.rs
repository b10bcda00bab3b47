//! Reading the keys of one table, with a problem for everything that is not as it
//! should be.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use windlass_controllers::{Span, Time};

use super::problem::{Problems, nearest};

/// Delays up to an hour, in ms.
pub(super) const MAX_DELAY: f64 = 3.6e6;
/// Instants up to half a year, in s.
pub(super) const MAX_TIME: f64 = 1.5e7;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Found<T> {
    pub value: T,
    pub span: Range<usize>,
}

/// Bounds of a number, with its unit.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    low: f64,
    high: f64,
    open: bool,
    unit: &'static str,
}

/// From `low` to `high`, both included.
pub(super) const fn within(low: f64, high: f64, unit: &'static str) -> Bounds {
    Bounds { low, high, open: false, unit }
}

/// A rate that carries a packet within the longest run: a bit per second, up to 100 Tbit/s; in Mbit/s.
pub(super) const fn rate_bounds() -> Bounds {
    within(1e-6, 1e8, "Mbit/s")
}

/// More than 0, up to `high`.
pub(super) const fn above_zero(high: f64, unit: &'static str) -> Bounds {
    Bounds { low: 0.0, high, open: true, unit }
}

impl Bounds {
    fn hold(self, x: f64) -> bool {
        x <= self.high && if self.open { x > self.low } else { x >= self.low }
    }

    fn text(self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        if self.open {
            format!("a number above {} and up to {}{unit}", self.low, self.high)
        } else {
            format!("a number from {} to {}{unit}", self.low, self.high)
        }
    }
}

/// One table of a scenario file being read.
pub(super) struct Section<'t> {
    /// How to call it in messages: `[dumbbell]`, `flow "a"`.
    pub name: String,
    /// Place of the value in the text, bytes.
    pub span: Range<usize>,
    table: &'t DeTable<'t>,
    asked: RefCell<Vec<&'static str>>,
    problems: &'t RefCell<Problems>,
}

impl<'t> Section<'t> {
    pub fn new(name: &str, span: Range<usize>, table: &'t DeTable<'t>, problems: &'t RefCell<Problems>) -> Section<'t> {
        Section { name: name.to_owned(), span, table, asked: RefCell::default(), problems }
    }

    /// The same table under another name, to be finished in its place.
    pub fn renamed(&self, name: &str) -> Section<'t> {
        Section { name: name.to_owned(), span: self.span.clone(), asked: self.asked.clone(), ..*self }
    }

    /// The folder that names of files are relative to.
    pub fn folder(&self) -> PathBuf {
        self.problems.borrow().folder()
    }

    /// Adds a problem at `span`.
    pub fn problem(&self, span: &Range<usize>, label: &str, message: String, help: Option<String>) {
        self.problems.borrow_mut().add(span.clone(), label, message, help);
    }

    /// Adds a problem at the table itself.
    pub fn lacks(&self, message: String, help: Option<String>) {
        self.problem(&self.span, "here", message, help);
    }

    fn get(&self, key: &'static str) -> Option<(&'t DeValue<'t>, Range<usize>)> {
        self.asked.borrow_mut().push(key);
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some((value.get_ref(), value.span()))
    }

    /// Whether the key is there.
    pub fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    fn wrong(&self, key: &str, value: &DeValue<'_>, span: &Range<usize>, expected: &str) {
        let message = format!("{}: {key} is {}; expected {expected}", self.name, shown(value));
        self.problem(span, &format!("expected {expected}"), message, None);
    }

    /// The number under `key`, within `bounds`; `None` if it is missing or wrong.
    pub fn number(&self, key: &'static str, bounds: Bounds) -> Option<Found<f64>> {
        let (value, span) = self.get(key)?;
        match number(value).filter(|x| bounds.hold(*x)) {
            Some(value) => Some(Found { value, span }),
            None => {
                self.wrong(key, value, &span, &bounds.text());
                None
            }
        }
    }

    /// A number in `bounds`, or `default`.
    pub fn number_or(&self, key: &'static str, bounds: Bounds, default: f64) -> f64 {
        self.number(key, bounds).map_or(default, |found| found.value)
    }

    /// A number in `bounds` that has to be there.
    pub fn required_number(&self, key: &'static str, bounds: Bounds) -> Option<Found<f64>> {
        if !self.has(key) {
            self.lacks(format!("{} has no {key}", self.name), Some(format!("add {key} = {}", bounds.text())));
        }
        self.number(key, bounds)
    }

    /// The whole number under `key`, `low` to `high`; `None` if it is missing or wrong.
    pub fn whole(&self, key: &'static str, low: u64, high: u64, unit: &'static str) -> Option<Found<u64>> {
        let (value, span) = self.get(key)?;
        match whole(value).filter(|x| (low..=high).contains(x)) {
            Some(value) => Some(Found { value, span }),
            None => {
                let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
                self.wrong(key, value, &span, &format!("a whole number from {low} to {high}{unit}"));
                None
            }
        }
    }

    /// Whole numbers in ascending order.
    pub fn ascending(&self, key: &'static str) -> Vec<u64> {
        const EXPECTED: &str = "a list of ascending whole numbers";
        let Some((value, span)) = self.get(key) else { return Vec::new() };
        let list: Option<Vec<u64>> =
            value.as_array().and_then(|array| array.iter().map(|item| whole(item.get_ref())).collect());
        match list.filter(|list| list.windows(2).all(|pair| pair[0] < pair[1])) {
            Some(list) => list,
            None => {
                self.wrong(key, value, &span, EXPECTED);
                Vec::new()
            }
        }
    }

    /// A list of numbers within `bounds` in ascending order, which has to be there.
    pub fn ascending_numbers(&self, key: &'static str, bounds: Bounds) -> Option<Found<Vec<f64>>> {
        let Some((value, span)) = self.get(key) else {
            self.lacks(format!("{} has no {key}", self.name), Some(format!("add {key} = [{}]", bounds.text())));
            return None;
        };
        let item = |item: &Spanned<DeValue<'_>>| number(item.get_ref()).filter(|x| bounds.hold(*x));
        let list = value.as_array().and_then(|array| array.iter().map(item).collect::<Option<Vec<f64>>>());
        match list.filter(|list| list.windows(2).all(|pair| pair[0] < pair[1])) {
            Some(value) => Some(Found { value, span }),
            None => {
                self.wrong(key, value, &span, &format!("an ascending list, each of it {}", bounds.text()));
                None
            }
        }
    }

    /// The boolean under `key`; `None` if it is missing or wrong.
    pub fn flag(&self, key: &'static str) -> Option<bool> {
        let (value, span) = self.get(key)?;
        if value.as_bool().is_none() {
            self.wrong(key, value, &span, "true or false");
        }
        value.as_bool()
    }

    /// A text that is not empty.
    pub fn text(&self, key: &'static str) -> Option<Found<String>> {
        let (value, span) = self.get(key)?;
        match value.as_str().filter(|text| !text.trim().is_empty()) {
            Some(text) => Some(Found { value: text.to_owned(), span }),
            None => {
                self.wrong(key, value, &span, "a text");
                None
            }
        }
    }

    /// One of `words`, the first if the key is not there.
    pub fn word(&self, key: &'static str, words: &[&'static str]) -> &'static str {
        let Some((value, span)) = self.get(key) else { return words[0] };
        let text = value.as_str().unwrap_or_default();
        if let Some(word) = words.iter().find(|word| **word == text) {
            return word;
        }
        let expected = words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ");
        let help = nearest(text, words.iter().copied()).map(|word| format!("did you mean {word:?}?"));
        let message = format!("{}: {key} is {}; expected {expected}", self.name, shown(value));
        self.problem(&span, &format!("expected {expected}"), message, help);
        words[0]
    }

    /// The list of strings under `key`; `None` if it is missing or wrong.
    pub fn texts(&self, key: &'static str) -> Option<Vec<Found<String>>> {
        let (value, span) = self.get(key)?;
        let list = value.as_array().and_then(|array| {
            let item = |item: &Spanned<DeValue<'_>>| {
                Some(Found { value: item.get_ref().as_str()?.to_owned(), span: item.span() })
            };
            array.iter().map(item).collect::<Option<Vec<_>>>()
        });
        if list.is_none() {
            self.wrong(key, value, &span, "a list of names, such as [\"access\", \"bottleneck\"]");
        }
        list
    }

    /// A table below this one.
    pub fn table(&self, key: &'static str, name: &str) -> Option<Section<'t>> {
        let (value, span) = self.get(key)?;
        match value.as_table() {
            Some(table) => Some(Section::new(name, span, table, self.problems)),
            None => {
                self.wrong(key, value, &span, &format!("a table, [{key}]"));
                None
            }
        }
    }

    /// Whether the key holds a table rather than a plain value.
    pub fn is_table(&self, key: &'static str) -> bool {
        self.get(key).is_some_and(|(value, _)| value.as_table().is_some())
    }

    /// The tables of a list, `[[key]]`.
    pub fn tables(&self, key: &'static str) -> Vec<Section<'t>> {
        let Some((value, span)) = self.get(key) else { return Vec::new() };
        let mut out = Vec::new();
        let Some(array) = value.as_array() else {
            self.wrong(key, value, &span, &format!("a list of tables, [[{key}]]"));
            return out;
        };
        for item in array.iter() {
            match item.get_ref().as_table() {
                Some(table) => out.push(Section::new(&format!("[[{key}]]"), item.span(), table, self.problems)),
                None => self.wrong(key, item.get_ref(), &item.span(), &format!("a table, [[{key}]]")),
            }
        }
        out
    }

    /// Adds a problem for every unknown key.
    pub fn finish(&self) {
        let asked: BTreeSet<&str> = self.asked.borrow().iter().copied().collect();
        self.problems.borrow_mut().asked.extend(self.asked.borrow().iter().copied());
        let known = asked.iter().copied().collect::<Vec<_>>().join(", ");
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if asked.contains(name) {
                continue;
            }
            let help = match nearest(name, asked.iter().copied()) {
                Some(known) => format!("did you mean {known}?"),
                None => format!("known keys are {known}"),
            };
            self.problem(&key.span(), "unknown key", format!("{} has no key {name}", self.name), Some(help));
        }
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let x = match value {
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok()? as f64,
        DeValue::Float(float) => float.as_str().parse().ok()?,
        _ => return None,
    };
    Some(x).filter(|x: &f64| x.is_finite())
}

fn whole(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok(),
        // 1e6 is a float in TOML and a whole number to everybody else.
        DeValue::Float(_) => number(value).filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x)).map(|x| x as u64),
        _ => None,
    }
}

/// A value as a message shows it.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() > 40 => {
            format!("{:?}…", text.chars().take(40).collect::<String>())
        }
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// `x` milliseconds.
pub(super) fn ms(x: f64) -> Span {
    Span((x * 1e6).round() as u64)
}

/// `x` seconds after the start of the run.
pub(super) fn at_s(x: f64) -> Time {
    Time((x * 1e9).round() as u64)
}
