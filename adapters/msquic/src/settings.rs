//! The settings file: the one configuration file of all adapters, which may also hold a line
//! `plugin = "…"`, a section `[app.NAME]` for each application, a file of its own within, and
//! a section `[msquic]`, which is for MsQuic and not for us.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path as File, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use windlass_adapter::config::{Config, ConfigError};

use crate::Definition;
use crate::definition::{NewConnection, Start};
use crate::flow::{Guarded, say};
use crate::packets;

/// What a file says: for every application, and for some.
struct Settings {
    otherwise: Definition,
    apps: BTreeMap<String, Definition>,
}

impl Settings {
    fn of(&self, app: Option<&str>) -> &Definition {
        app.and_then(|app| self.apps.get(app)).unwrap_or(&self.otherwise)
    }
}

impl Start for Settings {
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String> {
        self.of(new.app).start(new)
    }
}

/// What tells one state of a file from another; none of a file that is not there.
type Mark = Option<(SystemTime, u64)>;

fn mark(file: &File) -> Mark {
    let of = |metadata: Metadata| Some((metadata.modified().ok()?, metadata.len()));
    std::fs::metadata(file).ok().and_then(of)
}

/// A file that is read again when it changed, for the connections that start then. What is
/// wrong with it then is said once, and what it said before holds.
struct Watched {
    file: PathBuf,
    current: Mutex<(Mark, Arc<Settings>)>,
}

impl Watched {
    fn settings(&self) -> Arc<Settings> {
        let now = mark(&self.file);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if now != current.0 {
            current.0 = now;
            match parse(&self.file) {
                Ok(settings) => current.1 = Arc::new(settings),
                Err(error) => say(&format!("{error}; what the file said before holds")),
            }
        }
        Arc::clone(&current.1)
    }
}

impl Start for Watched {
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String> {
        self.settings().start(new)
    }
}

/// Reads the file at `path`, and again whenever it changed.
pub(crate) fn read(path: &str) -> Result<Arc<dyn Start>, String> {
    let file = PathBuf::from(path);
    // Before it is read: a change in between is seen with the next connection.
    let mark = mark(&file);
    let current = Mutex::new((mark, Arc::new(parse(&file)?)));
    let watched = Arc::new(Watched { file, current });
    // Packets are logged where flows are recorded, of whatever connection.
    let said = Arc::clone(&watched);
    packets::ask(move |new| Some(packets::place(&said.settings().of(new.app).spool()?, new)));
    Ok(watched)
}

fn parse(file: &File) -> Result<Settings, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| ConfigError::Unreadable { path: file.to_owned(), source }.to_string())?;
    let parts = Parts::of(&text);
    let mut problems = Vec::new();
    let mut define = |text: &str| {
        let definition = Config::parse_at(file, text).and_then(|config| Definition::from_config(&config));
        definition.map_err(|error| problems.push(error.to_string())).ok()
    };
    let otherwise = define(&parts.otherwise);
    let mut apps = BTreeMap::new();
    for (app, text) in &parts.apps {
        if let Some(definition) = define(text) {
            apps.insert(app.clone(), definition);
        }
    }
    match otherwise {
        Some(otherwise) if problems.is_empty() => {
            let settings = Settings { otherwise, apps };
            for spool in settings.apps.values().chain([&settings.otherwise]).filter_map(Definition::spool) {
                packets::wait_for(&spool);
            }
            Ok(settings)
        }
        _ => Err(problems.join("\n")),
    }
}

/// A file taken apart. Every part has all lines of the file, those of the others blank, so
/// that a mistake is told where it stands.
#[derive(PartialEq, Debug, Default)]
struct Parts {
    otherwise: String,
    apps: BTreeMap<String, String>,
}

impl Parts {
    fn of(text: &str) -> Parts {
        let mut parts = Parts::default();
        let mut section = Section::Otherwise;
        let mut in_section = false;
        let mut before = String::new();
        for line in text.split_inclusive('\n') {
            let mut line = line.to_owned();
            if line.trim_start().starts_with('[') {
                in_section = true;
                (section, line) = Section::of(line);
            } else if !in_section && is_plugin(&line) {
                line = blank(&line);
            }
            let empty = blank(&line);
            if let Section::App(app) = &section {
                parts.apps.entry(app.clone()).or_insert_with(|| before.clone());
            }
            for (app, text) in &mut parts.apps {
                text.push_str(if matches!(&section, Section::App(of) if of == app) { &line } else { &empty });
            }
            parts.otherwise.push_str(if section == Section::Otherwise { &line } else { &empty });
            before.push_str(&empty);
        }
        parts
    }
}

/// Whose a section is.
#[derive(PartialEq, Debug)]
enum Section {
    Otherwise,
    App(String),
    /// MsQuic's own settings.
    Native,
}

impl Section {
    /// Of a header, and the header it is for its owner.
    fn of(header: String) -> (Section, String) {
        match app_section(&header) {
            _ if header.trim_matches(['[', ']', ' ', '\t', '\r', '\n']) == "msquic" => {
                (Section::Native, blank(&header))
            }
            Some((app, rest)) => (Section::App(app), rest),
            None => (Section::Otherwise, header),
        }
    }
}

/// A line of the same length that says nothing.
fn blank(line: &str) -> String {
    line.chars().map(|c| if c == '\n' || c == '\r' { c } else { ' ' }).collect()
}

/// A line `plugin = …`.
fn is_plugin(line: &str) -> bool {
    line.trim_start().strip_prefix("plugin").is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// Of a header `[app.NAME]`, `[app.NAME.rest]` or `[[app.NAME.rest]]`: the name, and the
/// header it is for the application.
fn app_section(line: &str) -> Option<(String, String)> {
    let open = line.find(|c| c != '[' && c != ' ' && c != '\t')?;
    let path = line[open..].strip_prefix("app.")?;
    let (name, rest) = match path.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => path.split_at(path.find(['.', ']'])?),
    };
    let header = if rest.starts_with(']') {
        blank(line)
    } else {
        let rest = rest.strip_prefix('.')?;
        // As long as before, so that columns stay.
        format!("{}{}{rest}", blank(&line[..line.len() - rest.len() - open]), &line[..open])
    };
    Some((name.to_owned(), header))
}

#[cfg(test)]
mod tests;
