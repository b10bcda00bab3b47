//! The settings file of the libraries that unmodified programs load in place of their stack's: the configuration
//! file with a section `[app.NAME]` for each application, which is a configuration of its own, and sections that are
//! named after a stack and hold its own settings. A line `plugin = "…"` is MsQuic's, and nothing here.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::problem::{Lines, Place};
use super::{Config, ConfigError, Problem};

/// Sections of stacks.
const STACKS: [&str; 2] = ["msquic", "quiche"];

/// What a settings file says, with a `T` made of each configuration in it.
#[derive(Debug)]
pub struct Settings<T> {
    /// For applications without a section; none where the file has sections of applications alone.
    default: Option<T>,
    apps: BTreeMap<String, T>,
    overrides: bool,
}

/// The section `[quiche]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuicheTable {
    /// Whether the file applies to a program that names its controller itself, too.
    #[serde(default, rename = "override")]
    overrides: bool,
}

impl<T> Settings<T> {
    /// What applies to the application `app`; `None` where the file has sections of other applications alone.
    pub fn of_app(&self, app: Option<&str>) -> Option<&T> {
        app.and_then(|app| self.apps.get(app)).or(self.default.as_ref())
    }

    /// Whether `[quiche]` has `override = true`: the file then applies to a program that names its controller
    /// itself, too.
    #[must_use]
    pub fn overrides(&self) -> bool {
        self.overrides
    }
}

type Make<T> = dyn Fn(&Config) -> Result<T, ConfigError> + Send + Sync;

/// A settings file that is read again whenever it is needed. If its text changed, it applies from then on. A file
/// with a mistake is reported once, and its last valid settings stay in effect.
///
/// Its text is compared, not its times: two edits within one tick of the file system's clock, or an editor
/// that keeps the times, would go unnoticed. A file has some hundred bytes, and connections are not started
/// so often that reading them matters.
pub struct SettingsFile<T> {
    file: PathBuf,
    /// The user that, beside root, may change it.
    user: u32,
    make: Box<Make<T>>,
    warn: fn(&str),
    current: Mutex<Current<T>>,
}

struct Current<T> {
    /// What was read last: the text, or why there was none.
    text: Result<String, String>,
    /// Of the last text without a mistake.
    settings: Arc<Settings<T>>,
}

impl<T> SettingsFile<T> {
    /// Reads the file at `path`, which only root and `user`, the effective user of the process, may be able to
    /// change, and makes a `T` of each configuration with `make`. `warn` gets a line for each later mistake.
    ///
    /// # Errors
    /// The file cannot be read or trusted, or has a mistake.
    pub fn read(
        path: impl Into<PathBuf>,
        user: u32,
        make: impl Fn(&Config) -> Result<T, ConfigError> + Send + Sync + 'static,
        warn: fn(&str),
    ) -> Result<SettingsFile<T>, ConfigError> {
        let file = path.into();
        let text = text_of(&file, user)?;
        let settings = parse(&file, &text, &make)?;
        let current = Mutex::new(Current { text: Ok(text), settings: Arc::new(settings) });
        Ok(SettingsFile { file, user, make: Box::new(make), warn, current })
    }

    /// The settings in effect.
    pub fn settings(&self) -> Arc<Settings<T>> {
        let mut before = None;
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text_of(&self.file, self.user).map_err(|error| error.to_string());
        if text != current.text {
            let parsed =
                text.clone().and_then(|text| parse(&self.file, &text, &*self.make).map_err(|error| error.to_string()));
            match parsed {
                Ok(settings) => before = Some(std::mem::replace(&mut current.settings, Arc::new(settings))),
                Err(error) => (self.warn)(&format!("{error}; the settings before the change stay in effect")),
            }
            current.text = text;
        }
        let settings = Arc::clone(&current.settings);
        drop(current);
        // Its log writer waits for the disk, which other connections need not.
        drop(before);
        settings
    }
}

/// The largest settings file, bytes.
const MAX_FILE: u64 = 1 << 20;
/// Symbolic links on the way to a settings file.
const MAX_LINKS: usize = 40;

/// The text of a settings file that is to be trusted (see [`trust`]).
fn text_of(file: &Path, user: u32) -> Result<String, ConfigError> {
    let read = || {
        trust(file, user)?;
        let mut text = String::new();
        std::fs::File::open(file)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
        match text.len() as u64 {
            0..=MAX_FILE => Ok(text),
            _ => Err(io::Error::other(format!("it is larger than {MAX_FILE} bytes"))),
        }
    };
    read().map_err(|source| ConfigError::Unreadable { path: file.to_owned(), source })
}

/// Checks that `path` is a regular file that only root and `user` can change. `WmTrust` of MsQuic's adapter has the
/// same rule.
fn trust(path: &Path, user: u32) -> io::Result<()> {
    let reversed = |path: &Path| {
        let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
        names.map(|part| part.as_os_str().to_owned()).rev().collect::<Vec<_>>()
    };
    let mut here = PathBuf::from("/");
    let mut left = reversed(&std::path::absolute(path)?);
    let mut links = 0;
    loop {
        let status = here.symlink_metadata()?;
        check_owner(&here, &status, user)?;
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

/// Checks that owner and permissions of `path` leave it to root and `user` (and a group of theirs) to change it.
fn check_owner(path: &Path, status: &Metadata, user: u32) -> io::Result<()> {
    let owner = status.uid();
    let path = path.display();
    if owner != 0 && owner != user {
        return Err(io::Error::other(format!("{path} belongs to user {owner}; expected root or user {user}")));
    }
    // In a directory with the sticky bit only a file's owner renames or removes it.
    let protected = status.is_symlink() || status.is_dir() && status.mode() & 0o1000 != 0;
    if status.mode() & 0o002 != 0 && !protected {
        return Err(io::Error::other(format!(
            "every user can write to {path}; expected its owner or group alone (chmod o-w)"
        )));
    }
    Ok(())
}

fn parse<T>(
    file: &Path,
    text: &str,
    make: &dyn Fn(&Config) -> Result<T, ConfigError>,
) -> Result<Settings<T>, ConfigError> {
    let parts = Parts::of(text);
    let mut problems = Vec::new();
    let mut define = |text: &str, is_app: bool| -> Result<Option<T>, ConfigError> {
        match Config::parse_at(file, text).and_then(|config| make(&config)) {
            Ok(made) => Ok(Some(made)),
            Err(ConfigError::Wrong(mut wrong)) => {
                if !is_app {
                    wrong.iter_mut().for_each(|problem| name_all_keys(&mut problem.message));
                }
                problems.append(&mut wrong);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    };
    // A file that is for some applications leaves the others as they are.
    let for_some = !parts.apps.is_empty() && says_nothing(&parts.common);
    let default = if for_some { None } else { define(&parts.common, false)? };
    let mut apps = BTreeMap::new();
    for (app, text) in &parts.apps {
        if let Some(made) = define(text, true)? {
            apps.insert(app.clone(), made);
        }
    }
    let quiche = parts.stacks.get("quiche").map_or("", String::as_str);
    let quiche: QuicheTable = toml::from_str(quiche).unwrap_or_else(|error| {
        let Place { line, column } = Lines::of(quiche).place(&error.span().unwrap_or_default());
        let message = format!("[quiche]: {}", error.message().trim_end().replace('\n', "; "));
        problems.push(Problem { file: file.display().to_string(), line, column, message });
        QuicheTable::default()
    });
    ConfigError::unless_empty(problems)?;
    Ok(Settings { default, apps, overrides: quiche.overrides })
}

/// Whether a part has blank lines and comments alone.
fn says_nothing(text: &str) -> bool {
    text.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#'))
}

/// Adds what only settings files have to the keys that a message says were expected.
fn name_all_keys(message: &mut String) {
    if message.starts_with("unknown field") && message.ends_with("`recording`") {
        message.push_str(", `plugin`, `app`");
        STACKS.iter().for_each(|stack| *message += &format!(", `{stack}`"));
    }
}

/// A settings file, split by whom its lines are for. Every part has all lines of the file, with blanks
/// in place of the others', so that mistakes are reported with line and column of the file.
#[derive(PartialEq, Debug, Default)]
struct Parts {
    /// For applications without a section.
    common: String,
    apps: BTreeMap<String, String>,
    stacks: BTreeMap<&'static str, String>,
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
            match &section {
                Section::App(app) => drop(parts.apps.entry(app.clone()).or_insert_with(|| before.clone())),
                Section::Stack(stack) => drop(parts.stacks.entry(*stack).or_insert_with(|| before.clone())),
                Section::Common => {}
            }
            for (app, text) in &mut parts.apps {
                text.push_str(if matches!(&section, Section::App(of) if of == app) { &line } else { &empty });
            }
            for (stack, text) in &mut parts.stacks {
                text.push_str(if matches!(&section, Section::Stack(of) if of == stack) { &line } else { &empty });
            }
            parts.common.push_str(if section == Section::Common { &line } else { &empty });
            before.push_str(&empty);
        }
        parts
    }
}

/// The applications a section applies to.
#[derive(PartialEq, Debug)]
enum Section {
    Common,
    App(String),
    /// A stack's own settings (`[msquic]`).
    Stack(&'static str),
}

impl Section {
    /// The section that a header begins, and the header as its part has it.
    fn of(header: String) -> (Section, String) {
        let name = header.trim_matches(['[', ']', ' ', '\t', '\r', '\n']);
        if let Some(stack) = STACKS.into_iter().find(|stack| *stack == name) {
            return (Section::Stack(stack), blank(&header));
        }
        match app_section(&header) {
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
