//! A plan: which cells a sweep has.

use std::path::Path;

use toml::Table;
use windlass_adapter::NamedController;
use windlass_simulator::scenario::{Problem, Scenario, ScenarioError};

use super::axes::{self, Axis};
use super::read::{Base, PlanError, Reader};
use crate::grid::Cell;

/// Cells a plan has at most.
const MOST: usize = 10_000_000;

/// Work of a run before its first packet, in packets.
const WORK_OF_A_RUN: f64 = 300.0;

/// How many times a packet of a real stack takes as long as one of the simulator: it is encrypted, and there are ACKs.
const WORK_OF_A_STACK: f64 = 100.0;

/// Scenarios, controllers, stacks, seeds and values of keys: every combination is a cell.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub(super) scenarios: Vec<Base>,
    /// Keys of the scenarios that vary.
    pub axes: Vec<Axis>,
    /// Controllers of the flows under test; an empty name is the scenario's own.
    pub controllers: Vec<String>,
    /// Names of the stacks; `sim` is the simulator.
    pub stacks: Vec<String>,
    /// Seeds of all random numbers.
    pub seeds: Vec<u64>,
}

/// What a cell is, by the numbers of its values in the lists of the plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Number of the scenario.
    pub scenario: usize,
    /// Number of the value of each axis.
    pub values: Vec<usize>,
    /// Number of the controller.
    pub controller: usize,
    /// Number of the stack.
    pub stack: usize,
    /// Number of the seed.
    pub seed: usize,
}

impl Plan {
    /// Reads the plan in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or has a mistake.
    pub fn load(path: &Path) -> Result<Plan, PlanError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| PlanError::Unreadable { path: path.to_owned(), source })?;
        Plan::parse(&path.display().to_string(), &text)
    }

    /// Reads a plan from `text`; `file` names it in messages, and files that it names are looked for beside it.
    ///
    /// # Errors
    /// The text has a mistake, or a scenario that it names has.
    pub fn parse(file: &str, text: &str) -> Result<Plan, PlanError> {
        let reader = Reader::new(file, text)?;
        let plan = Plan {
            scenarios: reader.scenarios()?,
            axes: reader.axes()?,
            controllers: reader.controllers()?,
            stacks: reader.stacks()?,
            seeds: reader.seeds()?,
        };
        let lists = plan.axes.iter().map(|axis| axis.values.len());
        let lists = lists.chain([plan.scenarios.len(), plan.controllers.len(), plan.stacks.len(), plan.seeds.len()]);
        if lists.clone().try_fold(1, usize::checked_mul).is_none_or(|cells| cells > MOST) {
            let product = lists.map(|length| length.to_string()).collect::<Vec<_>>().join(" × ");
            return Err(reader.wrong(&[], format!("the plan has {product} cells; expected at most {MOST}")));
        }
        plan.check(&reader)?;
        match plan.lent() {
            Some(name) => Err(reader.wrong(&[], format!("{name} is a controller that this program only lends its name; expected controllers whose code a cell can be named by"))),
            None => Ok(plan),
        }
    }

    /// Number of scenarios.
    #[must_use]
    pub fn scenarios(&self) -> usize {
        self.scenarios.len()
    }

    /// Number of cells.
    #[must_use]
    pub fn count(&self) -> usize {
        self.points() * self.each()
    }

    /// How many cells have the same scenario and values.
    fn each(&self) -> usize {
        self.controllers.len() * self.stacks.len() * self.seeds.len()
    }

    /// Number of combinations of scenarios and values.
    fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product::<usize>() * self.scenarios.len()
    }

    /// What cell `number` is. Seeds change from one to the next, then stacks, controllers, values of the last axis and so on.
    #[must_use]
    pub fn settings(&self, number: usize) -> Settings {
        let mut rest = number;
        let mut next = |length: usize| {
            let nth = rest % length.max(1);
            rest /= length.max(1);
            nth
        };
        let seed = next(self.seeds.len());
        let stack = next(self.stacks.len());
        let controller = next(self.controllers.len());
        let mut values: Vec<usize> = self.axes.iter().rev().map(|axis| next(axis.values.len())).collect();
        values.reverse();
        Settings { scenario: rest, values, controller, stack, seed }
    }

    /// Name of scenario `number`.
    #[must_use]
    pub fn scenario_name(&self, number: usize) -> &str {
        &self.scenarios[number].name
    }

    /// The scenario of `settings`.
    fn scenario(&self, settings: &Settings) -> Table {
        let mut table = self.scenarios[settings.scenario].table.clone();
        for (axis, nth) in self.axes.iter().zip(&settings.values) {
            // That it can be set was checked when the plan was read.
            let _ = axes::set(&mut table, &axis.key, &axis.values[*nth]);
        }
        table
    }

    /// What messages and pages call a cell.
    #[must_use]
    pub fn name(&self, settings: &Settings) -> String {
        let mut name = self.scenario_name(settings.scenario).to_owned();
        for (axis, nth) in self.axes.iter().zip(&settings.values) {
            name.push_str(&format!(" {}={}", axis.key, axis.label(*nth)));
        }
        let controller = &self.controllers[settings.controller];
        let with = if controller.is_empty() { String::new() } else { format!(" {controller}") };
        format!("{name}{with} on {}, seed {}", self.stacks[settings.stack], self.seeds[settings.seed])
    }

    /// Every cell, in the order of [`settings`](Plan::settings).
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.numbered(0, 1).map(|(_, cell)| cell)
    }

    /// Cell `number`.
    #[must_use]
    pub fn cell(&self, number: usize) -> Cell {
        let settings = self.settings(number);
        let table = self.scenario(&settings);
        self.of(&settings, &table.to_string(), axes::packets(&table))
    }

    /// Every `step`th cell from number `first` on, with its number.
    pub(super) fn numbered(&self, first: usize, step: usize) -> impl Iterator<Item = (usize, Cell)> {
        let mut point: Option<(usize, String, f64)> = None;
        (first..self.count()).step_by(step.max(1)).map(move |number| {
            let settings = self.settings(number);
            // Cells of one scenario and the same values follow each other.
            let nth = number / self.each();
            if point.as_ref().is_none_or(|(of, ..)| *of != nth) {
                let table = self.scenario(&settings);
                point = Some((nth, table.to_string(), axes::packets(&table)));
            }
            let (text, packets) = point.as_ref().map_or(("", 0.0), |(_, text, packets)| (text.as_str(), *packets));
            (number, self.of(&settings, text, packets))
        })
    }

    fn of(&self, settings: &Settings, scenario: &str, packets: f64) -> Cell {
        let stack = &self.stacks[settings.stack];
        let times = if stack == "sim" { 1.0 } else { WORK_OF_A_STACK };
        Cell {
            name: self.name(settings),
            scenario: scenario.to_owned(),
            file: self.scenarios[settings.scenario].file.clone(),
            controller: self.controllers[settings.controller].clone(),
            stack: stack.clone(),
            seed: self.seeds[settings.seed],
            reads: "sweep/1".to_owned(),
            work: (WORK_OF_A_RUN + packets * times) as u64,
        }
    }

    /// Whether the keys of all axes lead somewhere and are known in every scenario, and whether the scenarios have mistakes
    /// of their own.
    fn check(&self, reader: &Reader<'_>) -> Result<(), PlanError> {
        for (scenario, base) in self.scenarios.iter().enumerate() {
            let own = self.mistakes(base, &base.table);
            for (number, axis) in self.axes.iter().enumerate() {
                let wrong = |message: &str| {
                    let message = format!("axis {}: {message}; scenario {:?}", axis.key, base.name);
                    reader.wrong(&["axes", &axis.key], message)
                };
                let within =
                    |other: &&Axis| other.key.strip_prefix(&axis.key).is_some_and(|rest| rest.starts_with('.'));
                if let Some(other) = self.axes.iter().find(within) {
                    return Err(wrong(&format!("{} is a part of it; expected one axis for both", other.key)));
                }
                axes::set(&mut base.table.clone(), &axis.key, &axis.values[0]).map_err(|message| wrong(&message))?;
                if let Some(mistake) = self.unknown(scenario, number, &own) {
                    return Err(wrong(&mistake.text()));
                }
            }
            // What is wrong without the axes, too, is the scenario's mistake and no cell's.
            let first = Settings { scenario, ..self.settings(0) };
            let with = self.mistakes(base, &self.scenario(&first));
            if let Some(mistake) = with.iter().find(|mistake| own.contains(mistake)) {
                let (Some(text), controller) = (&base.text, self.first_controller()) else {
                    return Err(reader.wrong(&["scenario"], format!("[scenario]: {}", mistake.text())));
                };
                Scenario::read(&base.file, text, controller)?;
            }
        }
        Ok(())
    }

    /// A controller of the plan whose rules are not in the code that names a cell, if there is one.
    fn lent(&self) -> Option<&'static str> {
        let scenarios = self.scenarios.iter().map(|base| base.table.to_string());
        let values = self.axes.iter().flat_map(|axis| axis.values.iter().map(axes::label));
        scenarios.chain(values).chain(self.controllers.iter().cloned()).find_map(|text| NamedController::lent_in(&text))
    }

    fn first_controller(&self) -> Option<&str> {
        Some(self.controllers[0].as_str()).filter(|name| !name.is_empty())
    }

    fn mistakes(&self, base: &Base, table: &Table) -> Vec<Mistake> {
        match Scenario::read(&base.file, &table.to_string(), self.first_controller()) {
            Ok(_) => Vec::new(),
            Err(ScenarioError::Wrong { problems }) => {
                let of = |problem: Problem| Mistake { message: problem.message, help: problem.help };
                problems.into_iter().map(of).collect()
            }
            Err(error) => vec![Mistake { message: error.to_string(), help: None }],
        }
    }

    /// What the scenario reader says of the key of an axis, if it knows it with no value of any axis: what is no key with
    /// one may be one with another. `own` are the mistakes without axes.
    fn unknown(&self, scenario: usize, axis: usize, own: &[Mistake]) -> Option<Mistake> {
        let parts: Vec<String> = self.axes[axis].key.split('.').map(|part| format!(" has no key {part}")).collect();
        let is_of_key = |mistake: &Mistake| parts.iter().any(|part| mistake.message.ends_with(part));
        let refused = |changed: usize, nth: usize| {
            let mut settings = Settings { scenario, ..self.settings(0) };
            settings.values[changed] = nth;
            let mistakes = self.mistakes(&self.scenarios[scenario], &self.scenario(&settings));
            mistakes.into_iter().find(|mistake| is_of_key(mistake) && !own.contains(mistake))
        };
        let mistake = refused(axis, 0)?;
        let each = |other: usize| (0..self.axes[other].values.len()).map(move |nth| (other, nth));
        let mut others = (0..self.axes.len()).flat_map(each);
        others.all(|(other, nth)| refused(other, nth).is_some()).then_some(mistake)
    }
}

/// What is wrong with a scenario, and how to mend it.
#[derive(PartialEq)]
struct Mistake {
    message: String,
    help: Option<String>,
}

impl Mistake {
    fn text(&self) -> String {
        let help = self.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
        format!("{}{help}", self.message)
    }
}
