//! The settings file: the configuration file of all adapters, with three additions. A line
//! `plugin = "…"` names the plugin, a section `[app.NAME]` is the configuration of one application,
//! and a section `[msquic]` holds MsQuic's own settings, which `sys/c/storage.c` reads.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path as File, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use windlass_adapter::config::{Config, ConfigError};

use crate::Definition;
use crate::definition::{NewConnection, StartFlow};
use crate::flow::{GuardedPath, warn};
use crate::packets;

struct Settings {
    /// For applications without a section.
    default: Definition,
    apps: BTreeMap<String, Definition>,
}

impl Settings {
    fn definition(&self, app: Option<&str>) -> &Definition {
        app.and_then(|app| self.apps.get(app)).unwrap_or(&self.default)
    }
}

impl StartFlow for Settings {
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String> {
        self.definition(new.app).start(new)
    }
}

/// Modification time and size, which change with a file; `None` if there is no file.
type Version = Option<(SystemTime, u64)>;

fn version(file: &File) -> Version {
    let of = |metadata: Metadata| Some((metadata.modified().ok()?, metadata.len()));
    std::fs::metadata(file).ok().and_then(of)
}

/// A settings file that is read again when it changed, for the connections that start after that. A
/// file with a mistake is reported once, and its last valid settings stay in effect.
struct WatchedFile {
    file: PathBuf,
    current: Mutex<(Version, Arc<Settings>)>,
}

impl WatchedFile {
    fn settings(&self) -> Arc<Settings> {
        let now = version(&self.file);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if now != current.0 {
            current.0 = now;
            match parse(&self.file) {
                Ok(settings) => current.1 = Arc::new(settings),
                Err(error) => warn(&format!("{error}; the settings before the change stay in effect")),
            }
        }
        Arc::clone(&current.1)
    }
}

impl StartFlow for WatchedFile {
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String> {
        self.settings().start(new)
    }
}

/// Reads the file at `path`, and again for new connections when it changed.
pub(crate) fn read(path: &str) -> Result<Arc<dyn StartFlow>, String> {
    let file = PathBuf::from(path);
    // Before the file is read, so that the next connection sees a change in between.
    let version = version(&file);
    let current = Mutex::new((version, Arc::new(parse(&file)?)));
    let watched = Arc::new(WatchedFile { file, current });
    // The packets of every connection are logged where flows are recorded.
    let source = Arc::clone(&watched);
    packets::add_source(move |new| Some(packets::new_file(&source.settings().definition(new.app).log_writer()?, new)));
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
    let default = define(&parts.common);
    let mut apps = BTreeMap::new();
    for (app, text) in &parts.apps {
        if let Some(definition) = define(text) {
            apps.insert(app.clone(), definition);
        }
    }
    match default {
        Some(default) if problems.is_empty() => {
            let settings = Settings { default, apps };
            for writer in settings.apps.values().chain([&settings.default]).filter_map(Definition::log_writer) {
                packets::wait_for(&writer);
            }
            Ok(settings)
        }
        _ => Err(problems.join("\n")),
    }
}

/// A settings file, split by whom its lines are for. Every part has all lines of the file, with blanks
/// in place of the others', so that mistakes are reported with line and column of the file.
#[derive(PartialEq, Debug, Default)]
struct Parts {
    /// For applications without a section.
    common: String,
    apps: BTreeMap<String, String>,
}

impl Parts {
    fn of(text: &str) -> Parts {
        let mut parts = Parts::default();
        let mut section = Section::Common;
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
            parts.common.push_str(if section == Section::Common { &line } else { &empty });
            before.push_str(&empty);
        }
        parts
    }
}

/// Whom a section is for.
#[derive(PartialEq, Debug)]
enum Section {
    Common,
    App(String),
    /// MsQuic's own controller (`[msquic]`).
    Native,
}

impl Section {
    /// The section that a header begins, and the header as its part has it.
    fn of(header: String) -> (Section, String) {
        match app_section(&header) {
            _ if header.trim_matches(['[', ']', ' ', '\t', '\r', '\n']) == "msquic" => {
                (Section::Native, blank(&header))
            }
            Some((app, rest)) => (Section::App(app), rest),
            None => (Section::Common, header),
        }
    }
}

/// A blank line of the same length.
fn blank(line: &str) -> String {
    line.chars().map(|c| if c == '\n' || c == '\r' { c } else { ' ' }).collect()
}

/// Whether the line is `plugin = …`.
fn is_plugin(line: &str) -> bool {
    line.trim_start().strip_prefix("plugin").is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// The NAME of a header `[app.NAME]`, `[app.NAME.rest]` or `[[app.NAME.rest]]`, and the header in the
/// part of that application.
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
        // Of the same length, so that columns stay.
        format!("{}{}{rest}", blank(&line[..line.len() - rest.len() - open]), &line[..open])
    };
    Some((name.to_owned(), header))
}

#[cfg(test)]
mod tests;
