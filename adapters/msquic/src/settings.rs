//! The settings file: the configuration file of all adapters, with three additions. A line
//! `plugin = "…"` names the plugin, a section `[app.NAME]` is the configuration of one application,
//! and a section `[msquic]` holds MsQuic's own settings, which `sys/c/storage.c` reads.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path as File, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_adapter::config::{Config, ConfigError};

use crate::Definition;
use crate::definition::{NewConnection, StartFlow};
use crate::flow::{GuardedPath, warn};
use crate::packets;
use crate::plugin::effective_user;

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

/// A settings file that is read again for each connection. If its text changed, it applies to the
/// connections that start after that. A file with a mistake is reported once, and its last valid settings
/// stay in effect.
///
/// Its text is compared, not its times: two edits within one tick of the file system's clock, or an editor
/// that keeps the times, would go unnoticed. A file has some hundred bytes, and connections are not started
/// so often that reading them matters.
struct WatchedFile {
    file: PathBuf,
    /// What was read last: the text, or the mistake.
    current: Mutex<(Result<String, String>, Arc<Settings>)>,
}

impl WatchedFile {
    fn settings(&self) -> Arc<Settings> {
        let mut before = None;
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text_of(&self.file);
        if text != current.0 {
            match text.clone().and_then(|text| parse(&self.file, &text)) {
                Ok(settings) => before = Some(std::mem::replace(&mut current.1, Arc::new(settings))),
                Err(error) => warn(&format!("{error}; the settings before the change stay in effect")),
            }
            current.0 = text;
        }
        let settings = Arc::clone(&current.1);
        drop(current);
        // Its log writer waits for the disk, which other connections need not.
        drop(before);
        settings
    }
}

impl StartFlow for WatchedFile {
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String> {
        self.settings().start(new)
    }
}

/// Reads the file at `path`, and again for new connections.
pub(crate) fn read(path: &str) -> Result<Arc<dyn StartFlow>, String> {
    let file = PathBuf::from(path);
    let text = text_of(&file)?;
    let settings = parse(&file, &text)?;
    let current = Mutex::new((Ok(text), Arc::new(settings)));
    let watched = Arc::new(WatchedFile { file, current });
    // The packets of every connection are logged where flows are recorded.
    let source = Arc::clone(&watched);
    packets::add_source(move |new| Some(packets::new_file(&source.settings().definition(new.app).log_writer()?, new)));
    Ok(watched)
}

/// The largest settings file, bytes.
const MAX_FILE: u64 = 1 << 20;
/// Symbolic links on the way to a settings file.
const MAX_LINKS: usize = 40;

/// The text of a settings file that is to be trusted (see [`trust`]).
fn text_of(file: &File) -> Result<String, String> {
    let read = || {
        trust(file)?;
        let mut text = String::new();
        std::fs::File::open(file)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
        match text.len() as u64 {
            0..=MAX_FILE => Ok(text),
            _ => Err(io::Error::other(format!("it is larger than {MAX_FILE} bytes"))),
        }
    };
    read().map_err(|source| ConfigError::Unreadable { path: file.to_owned(), source }.to_string())
}

/// Whether `path` is a regular file that nobody but root and the effective user of the process can change:
/// `WmTrust` of `sys/c/files.c` has the same rule, and looked at the file when it was named.
fn trust(path: &File) -> io::Result<()> {
    let reversed = |path: &File| {
        let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
        names.map(|part| part.as_os_str().to_owned()).rev().collect::<Vec<_>>()
    };
    let mut here = PathBuf::from("/");
    let mut left = reversed(&std::path::absolute(path)?);
    let mut links = 0;
    loop {
        let status = here.symlink_metadata()?;
        check_owner(&here, &status)?;
        if status.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("too many symbolic links"));
            }
            let target = here.read_link()?;
            left.extend(reversed(&target));
            here = if target.is_absolute() { "/".into() } else { here.with_file_name("") };
            continue;
        }
        match left.pop() {
            Some(name) => here.push(name),
            None if status.is_file() => return Ok(()),
            None => return Err(io::Error::other("it is no regular file")),
        }
    }
}

/// Whether the owner and the permissions of `path` leave it to root and this process' user (and a group of
/// theirs) to change it.
fn check_owner(path: &File, status: &Metadata) -> io::Result<()> {
    let (owner, user) = (status.uid(), effective_user());
    let path = path.display();
    if owner != 0 && owner != user {
        return Err(io::Error::other(format!("{path} belongs to user {owner}; expected root or user {user}")));
    }
    // In a directory with the sticky bit nobody renames or removes files of others.
    let protected = status.is_symlink() || status.is_dir() && status.mode() & 0o1000 != 0;
    if status.mode() & 0o002 != 0 && !protected {
        return Err(io::Error::other(format!(
            "every user can write to {path}; expected its owner or group alone (chmod o-w)"
        )));
    }
    Ok(())
}

fn parse(file: &File, text: &str) -> Result<Settings, String> {
    let parts = Parts::of(text);
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
            packets::flush_at_exit();
            Ok(Settings { default, apps })
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
