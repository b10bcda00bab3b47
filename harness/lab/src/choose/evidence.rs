//! Tables of results.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

/// Rate, buffer and queue of a bottleneck, as `harm.csv` has them.
type Place = (String, String, String);
/// Who is harmed and who does it, with the share of goodput.
type Harms = HashMap<(String, String), f64>;

/// What `windlass harm` and `windlass rfc9743` measured in the simulator.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// By controller, criterion and path.
    answers: HashMap<(String, String, String), Answer>,
    harm: BTreeMap<Place, Harms>,
    /// All that both tables have, in the order of `harm.csv`.
    controllers: Vec<String>,
}

/// An answer of RFC 9743.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The word: met, undecided, not met.
    pub assessment: String,
    /// The mean over the seeds; `None` if there is none.
    pub value: Option<f64>,
    /// Its unit; empty of a share or a ratio.
    pub unit: String,
}

/// Files of the tables.
const HARM: &str = "harm.csv";
const RFC9743: &str = "rfc9743.csv";

impl Evidence {
    /// Reads the tables in `folder`.
    ///
    /// # Errors
    /// A file cannot be read, or a line of it; the text names both and what was expected.
    pub fn read(folder: &Path) -> Result<Evidence, String> {
        let text = |name: &str, command: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}; `windlass {command}` writes it", path.display()))
        };
        Evidence::of(&text(HARM, "harm")?, &text(RFC9743, "rfc9743 NAME,…")?)
            .map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// Takes the contents of `harm.csv` and of `rfc9743.csv`.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn of(harm: &str, rfc9743: &str) -> Result<Evidence, String> {
        let mut evidence = Evidence::default();
        let names = evidence.read_harm(harm)?;
        evidence.read_answers(rfc9743)?;
        let has_answers = |name: &String| evidence.answers.keys().any(|(controller, ..)| controller == name);
        evidence.controllers = names.into_iter().filter(has_answers).collect();
        if evidence.controllers.is_empty() {
            return Err(format!("no controller is in both {HARM} and {RFC9743}"));
        }
        Ok(evidence)
    }

    /// Controllers of which there are both harm and answers.
    #[must_use]
    pub fn controllers(&self) -> &[String] {
        &self.controllers
    }

    /// The answer of `controller`; `None` if it was not asked.
    #[must_use]
    pub fn answer(&self, controller: &str, criterion: &str, path: &str) -> Option<&Answer> {
        self.answers.get(&(controller.to_owned(), criterion.to_owned(), path.to_owned()))
    }

    /// The harm to the goodput of `to` by `by` at each place where it was measured, with the place's number and whether its queue is FQ-CoDel.
    pub fn harm<'a>(&'a self, to: &'a str, by: &'a str) -> impl Iterator<Item = (usize, bool, f64)> + 'a {
        let key = (to.to_owned(), by.to_owned());
        let places = self.harm.iter().enumerate();
        places
            .filter_map(move |(number, ((_, _, queue), pairs))| Some((number, queue == "fq-codel", *pairs.get(&key)?)))
    }

    /// The names of the columns.
    fn read_harm(&mut self, text: &str) -> Result<Vec<String>, String> {
        const OWN: [&str; 6] = ["stack", "measure", "rate_mbps", "buffer_bdp", "queue", "to"];
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads = reader.headers().map_err(|error| format!("{HARM}: {error}"))?.clone();
        if !heads.iter().take(OWN.len()).eq(OWN) {
            let first: Vec<&str> = heads.iter().take(OWN.len()).collect();
            return Err(format!("{HARM} line 1: {}; expected {}", first.join(","), OWN.join(",")));
        }
        let names: Vec<String> = heads.iter().skip(OWN.len()).map(str::to_owned).collect();
        for (line, record) in (2..).zip(reader.records()) {
            let record = record.map_err(|error| format!("{HARM}: {error}"))?;
            if &record[0] != "sim" || &record[1] != "goodput" {
                continue;
            }
            let place = (record[2].to_owned(), record[3].to_owned(), record[4].to_owned());
            let pairs = self.harm.entry(place).or_default();
            for (by, cell) in names.iter().zip(record.iter().skip(OWN.len())).filter(|(_, cell)| !cell.is_empty()) {
                let share =
                    cell.parse().map_err(|_| format!("{HARM} line {line}: {by} is {cell:?}; expected a number"))?;
                pairs.insert((record[5].to_owned(), by.clone()), share);
            }
        }
        Ok(names)
    }

    fn read_answers(&mut self, text: &str) -> Result<(), String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads = reader.headers().map_err(|error| format!("{RFC9743}: {error}"))?.clone();
        let column = |name: &str| {
            heads.iter().position(|head| head == name).ok_or_else(|| format!("{RFC9743} line 1 has no column {name}"))
        };
        let [controller, stack, criterion, path, assessment, value, unit] =
            ["controller", "stack", "criterion", "path", "assessment", "value", "unit"].map(column);
        let (controller, stack, criterion) = (controller?, stack?, criterion?);
        let (path, assessment, value, unit) = (path?, assessment?, value?, unit?);
        for (line, record) in (2..).zip(reader.records()) {
            let record = record.map_err(|error| format!("{RFC9743}: {error}"))?;
            if &record[stack] != "sim" {
                continue;
            }
            let number = match &record[value] {
                "" => None,
                cell => {
                    let number: Result<f64, _> = cell.parse();
                    Some(number.map_err(|_| format!("{RFC9743} line {line}: value is {cell:?}; expected a number"))?)
                }
            };
            let key = [controller, criterion, path].map(|at| record[at].to_owned());
            let [of, asked, on] = key;
            let answer =
                Answer { assessment: record[assessment].to_owned(), value: number, unit: record[unit].to_owned() };
            self.answers.insert((of, asked, on), answer);
        }
        Ok(())
    }
}
