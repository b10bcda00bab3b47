//! Scenarios of cells: a scenario file with a document's network and flows, and the values of a cell set in it.

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use windlass_lab::sweep;

/// How much of an experiment is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The whole of it, with the document's own times.
    Full,
    /// A tenth of the document's times: shows that it works, and is not to be compared with
    /// the document.
    Quick,
    /// Such a part of the document's times, for the trial of a claim.
    Part(u8),
}

impl Scale {
    /// A time of the document, s, at this scale.
    #[must_use]
    pub fn time(self, seconds: f64) -> f64 {
        match self {
            Scale::Full => seconds,
            Scale::Quick => seconds / 10.0,
            Scale::Part(part) => seconds / f64::from(part.max(1)),
        }
    }

    /// Its name in paths and files: `full`, `quick` or `part`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scale::Full => "full",
            Scale::Quick => "quick",
            Scale::Part(_) => "part",
        }
    }
}

/// A scenario file in the times of a document.
#[derive(Clone, Debug)]
pub struct Template(Table);

impl Template {
    /// Reads a scenario file.
    ///
    /// # Panics
    /// It is not TOML.
    #[must_use]
    pub fn new(text: &str) -> Template {
        Template(text.parse().unwrap_or_else(|error| panic!("a template is TOML: {error}")))
    }

    /// Sets a key as sweeps do ([`sweep::set`]): `dumbbell.rate_mbps`, `link.back.delay_ms`, `flow.count`, the last of all flows.
    ///
    /// # Panics
    /// There is no table to set it in.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Template {
        sweep::set(&mut self.0, key, &value.into()).unwrap_or_else(|error| panic!("{key}: {error}"));
        self
    }

    /// The table called `name` of a list, `link`, `flow` or `traffic`, which is taken out of the scenario.
    ///
    /// # Panics
    /// There is none.
    pub fn take(&mut self, list: &str, name: &str) -> Part {
        let tables = self.0.get_mut(list).and_then(Value::as_array_mut);
        let place = |tables: &Vec<Value>| {
            tables.iter().position(|table| table.get("name").and_then(Value::as_str) == Some(name))
        };
        let taken = tables.and_then(|tables| place(tables).map(|nth| (tables.remove(nth), tables.is_empty())));
        if let Some((_, true)) = taken {
            self.0.remove(list);
        }
        match taken.map(|(table, _)| table) {
            Some(Value::Table(table)) => Part(table),
            _ => panic!("the template has no {list} called {name}"),
        }
    }

    /// Without the table called `name` of a list.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn without(mut self, list: &str, name: &str) -> Template {
        self.take(list, name);
        self
    }

    /// With one more table in a list, behind the others.
    #[must_use]
    pub fn and(mut self, list: &str, part: Part) -> Template {
        let tables = self.0.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(tables) = tables {
            tables.push(Value::Table(part.0));
        }
        self
    }

    /// The same with several.
    #[must_use]
    pub fn and_each(self, list: &str, parts: impl IntoIterator<Item = Part>) -> Template {
        parts.into_iter().fold(self, |template, part| template.and(list, part))
    }

    /// At a scale of the document's times: all in seconds but random additions to starts.
    #[must_use]
    pub fn at(mut self, scale: Scale) -> Template {
        for_each_number(&mut self.0, &|key, number| match key {
            "start_jitter_s" => number,
            _ if key.ends_with("_s") => scale.time(number),
            _ => number,
        });
        self
    }
}

/// As a scenario file.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Replaces every number by what `replacement` makes of its key and it. Whole numbers are written without a point.
fn for_each_number(table: &mut Table, replacement: &dyn Fn(&str, f64) -> f64) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => for_each_number(inner, replacement),
            Value::Array(list) => {
                list.iter_mut().filter_map(Value::as_table_mut).for_each(|inner| for_each_number(inner, replacement));
            }
            Value::Integer(number) => *value = written(replacement(key, *number as f64)),
            Value::Float(number) => *value = written(replacement(key, *number)),
            _ => {}
        }
    }
}

fn written(number: f64) -> Value {
    let whole = number as i64;
    if whole as f64 == number { Value::Integer(whole) } else { Value::Float(number) }
}

/// A table of a list of a scenario: a link, a flow or a source of traffic.
#[derive(Clone, Debug)]
pub struct Part(Table);

impl Part {
    /// With a key set.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Part {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// The same if there is a value.
    #[must_use]
    pub fn with_any(self, key: &str, value: Option<impl Into<Value>>) -> Part {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration_s = 100\n[[link]]\nname = \"a\"\ndelay_ms = 10\n[[link.change]]\nat_s = 5.5\ndelay_ms = 20\n\
                        [[flow]]\nname = \"b\"\nstart_s = 2\nstart_jitter_s = 0.5\n";

    #[test]
    fn only_times_of_the_document_are_shortened() {
        let scaled = Template::new(TEXT).at(Scale::Quick).0;
        assert_eq!(scaled["duration_s"].as_integer(), Some(10));
        assert_eq!(scaled["link"][0]["delay_ms"].as_integer(), Some(10));
        assert_eq!(scaled["link"][0]["change"][0]["at_s"].as_float(), Some(0.55));
        assert_eq!(scaled["flow"][0]["start_s"].as_float(), Some(0.2));
        assert_eq!(scaled["flow"][0]["start_jitter_s"].as_float(), Some(0.5));
        assert_eq!(Template::new(TEXT).at(Scale::Full).0["duration_s"].as_integer(), Some(100));
    }

    #[test]
    fn a_flow_can_be_the_pattern_of_others() {
        let mut template = Template::new(TEXT);
        let flow = template.take("flow", "b");
        let both = template.and_each("flow", ["c", "d"].map(|name| flow.clone().with("name", name)));
        let text = both.set("flow.d.start_s", 7).to_string();
        let read: Table = text.parse().unwrap();
        let starts: Vec<_> = read["flow"].as_array().unwrap().iter().map(|flow| flow["start_s"].as_integer()).collect();
        assert_eq!(starts, [Some(2), Some(7)]);
    }
}
