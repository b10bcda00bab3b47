//! From text to a configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use toml::{Spanned, Value};
use windlass_controllers::{ConfiguredController, Span, param::ParamError};

use super::destination::{Destination, FORMS};
use super::problem::Lines;
use super::{Chosen, Config, ConfigError, Contents, Problem, Recording, Resume, Rule};
use crate::qlog::Level;
use crate::{Groups, NamedController, ResumeSettings, SavedPaths, assigns, with_parameter};

type Parameters = BTreeMap<Spanned<String>, Spanned<Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    controller: Spanned<String>,
    #[serde(default)]
    parameters: Parameters,
    #[serde(default)]
    rule: Vec<RuleTable>,
    #[serde(default)]
    group: GroupTable,
    resume: Option<ResumeTable>,
    recording: Option<RecordingTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    to: Spanned<Value>,
    controller: Spanned<String>,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupTable {
    ipv4_prefix: Option<Spanned<i64>>,
    ipv6_prefix: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingTable {
    directory: Spanned<PathBuf>,
    #[serde(default)]
    steps: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeTable {
    lifetime_s: Option<Spanned<i64>>,
    max_paths: Option<Spanned<i64>>,
    max_jump_bytes: Option<Spanned<i64>>,
    ipv4_prefix: Option<Spanned<i64>>,
    ipv6_prefix: Option<Spanned<i64>>,
}

/// Reads the text of the file `name`, which lies in `directory`.
pub(super) fn read(name: &str, directory: Option<&Path>, text: &str) -> Result<Config, ConfigError> {
    let mut reader = Reader { name, lines: Lines::of(text), problems: Vec::new() };
    let document: Document = match toml::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            let message = error.message().trim_end().replace('\n', "; ");
            return Err(ConfigError::Wrong(vec![reader.problem(&error.span().unwrap_or_default(), message)]));
        }
    };
    let otherwise = reader.chosen(&document.controller, &document.parameters);
    let rules = document.rule.iter().map(|rule| reader.rule(rule)).collect::<Vec<_>>();
    let group_prefixes = (
        reader.prefix("ipv4_prefix", document.group.ipv4_prefix.as_ref(), 32),
        reader.prefix("ipv6_prefix", document.group.ipv6_prefix.as_ref(), 128),
    );
    let recording = document.recording.map(|table| {
        if table.directory.get_ref().as_os_str().is_empty() {
            reader.wrong(&table.directory.span(), "directory is \"\"; expected a directory".to_owned());
        }
        let level = if table.steps { Level::Steps } else { Level::Recovery };
        Recording::new(directory.unwrap_or(Path::new("")).join(table.directory.into_inner()), level)
    });
    let resume = document.resume.as_ref().map(|table| reader.resume(table));
    ConfigError::unless_empty(reader.problems)?;
    // Without problems everything was read.
    let (Some(otherwise), Some(rules)) = (otherwise, rules.into_iter().collect::<Option<Vec<_>>>()) else {
        return Err(ConfigError::Wrong(Vec::new()));
    };
    Ok(Config(Arc::new(Contents {
        name: name.to_owned(),
        otherwise,
        rules,
        group_prefixes,
        recording,
        resume,
        groups: Groups::default(),
        origin: Instant::now(),
    })))
}

struct Reader<'a> {
    name: &'a str,
    lines: Lines<'a>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&self, span: &std::ops::Range<usize>, message: String) -> Problem {
        let place = self.lines.place(span);
        Problem { file: self.name.to_owned(), line: place.line, column: place.column, message }
    }

    fn wrong(&mut self, span: &std::ops::Range<usize>, message: String) {
        let problem = self.problem(span, message);
        self.problems.push(problem);
    }

    /// A controller with its parameters; `None` after a problem. A profile is set before
    /// the parameters it would set.
    fn chosen(&mut self, controller: &Spanned<String>, parameters: &Parameters) -> Option<Chosen> {
        let mut algorithm = match NamedController::read(controller.get_ref()) {
            Ok(algorithm) => algorithm,
            Err(error) => {
                self.wrong(&controller.span(), format!("controller is {:?}: {error}", controller.get_ref()));
                return None;
            }
        };
        let before = self.problems.len();
        let (profile, rest): (Vec<_>, Vec<_>) =
            parameters.iter().partition(|(parameter, _)| parameter.get_ref() == "profile");
        for (parameter, value) in profile.into_iter().chain(rest) {
            self.set(&mut algorithm, parameter, value);
        }
        if let Some((limited, expected)) = algorithm.limit() {
            let given = parameters.iter().find(|(parameter, _)| parameter.get_ref() == limited);
            let span = given.map_or(controller.span(), |(_, value)| value.span());
            let value = given.and_then(|(_, value)| scalar(value.get_ref())).unwrap_or_default();
            let name = ConfiguredController::name(&algorithm);
            self.wrong(
                &span,
                format!("{name}: {limited} is {value:?}; expected {expected}, as the other parameters are"),
            );
        }
        let place = self.lines.place(&controller.span());
        let text = typed(&algorithm, controller.get_ref(), parameters);
        (self.problems.len() == before).then_some(Chosen { algorithm, text, place })
    }

    fn set(&mut self, algorithm: &mut NamedController, parameter: &Spanned<String>, value: &Spanned<Value>) {
        let (name, controller) = (parameter.get_ref(), ConfiguredController::name(algorithm));
        let Some(text) = scalar(value.get_ref()) else {
            let expected = "a number, a text, true or false";
            self.wrong(&value.span(), format!("{controller}: {name} is {}; expected {expected}", value.get_ref()));
            return;
        };
        match algorithm.set(name, &text) {
            Ok(()) => {}
            Err(ParamError::Expected(expected)) => {
                self.wrong(&value.span(), format!("{controller}: {name} is {text:?}; expected {expected}"));
            }
            Err(ParamError::Unknown) => {
                let mut known = String::from("profile");
                algorithm.describe(&mut |param| {
                    known.push_str(", ");
                    known.push_str(param.name);
                });
                self.wrong(&parameter.span(), format!("{controller} has no parameter {name:?}; it has {known}"));
            }
        }
    }

    fn rule(&mut self, rule: &RuleTable) -> Option<Rule> {
        let before = self.problems.len();
        let texts = match rule.to.get_ref() {
            Value::Array(values) => values.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
            value => value.as_str().map(|text| vec![text]),
        };
        let mut to = Vec::new();
        match texts.filter(|texts| !texts.is_empty()) {
            None => {
                self.wrong(&rule.to.span(), format!("to is {}; expected {FORMS}, or a list of them", rule.to.get_ref()))
            }
            Some(texts) => {
                for text in texts {
                    match Destination::read(text) {
                        Ok(destination) => to.push(destination),
                        Err(expected) => {
                            self.wrong(&rule.to.span(), format!("to is {text:?}; expected {expected}"));
                        }
                    }
                }
            }
        }
        let chosen = self.chosen(&rule.controller, &rule.parameters)?;
        let place = self.lines.place(&rule.to.span());
        (self.problems.len() == before).then_some(Rule { to, place, chosen })
    }

    /// Hours and a million paths are more than any use of it.
    fn resume(&mut self, table: &ResumeTable) -> Resume {
        let settings = ResumeSettings::default();
        let seconds = settings.lifetime.0 / 1_000_000_000;
        let lifetime = self.whole("lifetime_s", table.lifetime_s.as_ref(), "seconds", 86_400, seconds);
        let paths = settings.max_paths as u64;
        let paths = self.whole("max_paths", table.max_paths.as_ref(), "paths", 1_000_000, paths);
        let jump = self.whole("max_jump_bytes", table.max_jump_bytes.as_ref(), "bytes", u64::from(u32::MAX), u64::MAX);
        let settings = settings.with_lifetime(Span::from_millis(lifetime * 1000)).with_max_jump(jump);
        let prefixes = (
            self.prefix("ipv4_prefix", table.ipv4_prefix.as_ref(), 32),
            self.prefix("ipv6_prefix", table.ipv6_prefix.as_ref(), 128),
        );
        Resume { paths: SavedPaths::new(settings.with_max_paths(paths as usize)), prefixes }
    }

    /// A number from 1 to `most`, `otherwise` where it is missing.
    fn whole(&mut self, name: &str, number: Option<&Spanned<i64>>, unit: &str, most: u64, otherwise: u64) -> u64 {
        let Some(number) = number else { return otherwise };
        match u64::try_from(*number.get_ref()).ok().filter(|number| (1..=most).contains(number)) {
            Some(number) => number,
            None => {
                let message = format!("{name} is {}; expected {unit} from 1 to {most}", number.get_ref());
                self.wrong(&number.span(), message);
                otherwise
            }
        }
    }

    /// The length of a prefix of at most `most` bits, which is all of them by default.
    fn prefix(&mut self, name: &str, length: Option<&Spanned<i64>>, most: u8) -> u8 {
        let Some(length) = length else { return most };
        match u8::try_from(*length.get_ref()).ok().filter(|length| *length <= most) {
            Some(length) => length,
            None => {
                let expected = format!("{name} is {}; expected bits from 0 to {most}", length.get_ref());
                self.wrong(&length.span(), expected);
                most
            }
        }
    }
}

/// The text of `algorithm`, which was typed as `controller` with `parameters`: what is no default, and defaults that were typed, as a stack may have
/// others.
fn typed(algorithm: &NamedController, controller: &str, parameters: &Parameters) -> String {
    let (_, assignments) = controller.split_once(':').unwrap_or_default();
    let in_name = assignments.split(',').filter_map(|one| one.split_once('='));
    let in_name = in_name.map(|(name, value)| (name, value.to_owned()));
    let below = parameters.iter().filter_map(|(name, value)| Some((name.get_ref().as_str(), scalar(value.get_ref())?)));
    let mut text = algorithm.to_string();
    for (name, value) in in_name.chain(below).filter(|(name, _)| *name != "profile") {
        if !assigns(&text, name) {
            text = with_parameter(&text, name, &value);
        }
    }
    text
}

/// A value as it stands behind a parameter's name on a command line.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Float(float) => Some(float.to_string()),
        Value::Boolean(flag) => Some(if *flag { "on" } else { "off" }.to_owned()),
        _ => None,
    }
}
