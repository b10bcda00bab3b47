//! Which controller the connections of an unmodified program get: that of the environment, unless the program names
//! one itself.

use std::env;
use std::fmt::Display;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use quiche::CongestionControlAlgorithm;
use quiche::external::{self, Algorithm, Controller, NewPath, Selection};
use windlass_quiche::{Config, Definition, Peer, SettingsFile};

/// A controller's name with its parameters.
const NAME: &str = "QUICHE_CC";
/// A settings file.
const FILE: &str = "QUICHE_CONFIG";
/// 1: a line for every connection.
const LOG: &str = "WINDLASS_LOG";
/// The prefix of quiche's own controllers in `QUICHE_CC`.
const OWN: &str = "quiche/";

/// Has quiche ask for the controller of every path, if a variable is set.
pub(crate) fn install() {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if ![NAME, FILE, LOG].into_iter().any(is_set) {
        return;
    }
    if has_more_rights_than_its_user() {
        warn(&format!("{NAME}, {FILE} and {LOG} are ignored in a program that has rights its user lacks"));
        return;
    }
    let log = env::var_os(LOG).is_some_and(|value| value == "1");
    if log {
        warn("quiche's C library with windlass' controllers is loaded");
    }
    let environment = OnceLock::new();
    external::set_selector(Arc::new(move |selection| {
        // A panic must not reach the program, which is in C.
        let selected =
            catch_unwind(AssertUnwindSafe(|| environment.get_or_init(Environment::read).select(selection, log)));
        selected.unwrap_or_else(|_| {
            warn("selecting a controller panicked; the connection keeps the program's choice");
            None
        })
    }));
}

/// Whether the program is set-uid or set-gid, or got capabilities from its file.
fn has_more_rights_than_its_user() -> bool {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    let secure = if cfg!(target_os = "linux") {
        // The kernel's auxiliary vector; a program that may not read it has such rights.
        std::fs::read("/proc/self/auxv").map_or(true, |vector| is_secure(&vector))
    } else {
        false
    };
    secure || getuid() != geteuid() || getgid() != getegid()
}

/// Whether an auxiliary vector has a nonzero `AT_SECURE` (getauxval(3)).
fn is_secure(vector: &[u8]) -> bool {
    const AT_SECURE: usize = 23;
    let words: Vec<_> = vector
        .chunks_exact(size_of::<usize>())
        .map(|word| usize::from_ne_bytes(word.try_into().unwrap_or_default()))
        .collect();
    words.chunks_exact(2).any(|pair| pair[0] == AT_SECURE && pair[1] != 0)
}

/// Writes a line to standard error.
fn warn(text: &str) {
    let line: String = text.replace('\n', "; ").chars().filter(|c| !c.is_control()).collect();
    // If it cannot be written, there is nowhere to report that.
    let _ = writeln!(std::io::stderr(), "windlass: {line}");
}

/// A configuration of the settings file, and the flows it defines.
struct FromFile {
    config: Config,
    definition: Definition,
}

/// The settings file as an algorithm: what it says when a path starts.
struct File {
    settings: SettingsFile<FromFile>,
    /// The section for this program.
    app: Option<String>,
}

impl Algorithm for File {
    fn start(&self, path: &NewPath) -> Option<Box<dyn Controller>> {
        self.settings.settings().of_app(self.app.as_deref())?.definition.start(path)
    }
}

/// Variables of the environment.
struct Environment {
    /// The controller of `QUICHE_CC`, as it was typed.
    named: Option<(CongestionControlAlgorithm, String)>,
    file: Option<(CongestionControlAlgorithm, Arc<File>)>,
}

impl Environment {
    fn read() -> Environment {
        let value = |name| env::var_os(name).filter(|value| !value.is_empty());
        let usable = |name: &str, result: Result<_, String>| {
            result.map_err(|error| warn(&format!("{name}: {error}; connections keep the program's choice"))).ok()
        };
        let named = value(NAME).and_then(|text| {
            let text = text.to_string_lossy().into_owned();
            usable(NAME, named(&text)).map(|algorithm| (algorithm, text))
        });
        let file = value(FILE).and_then(|path| {
            let file = file(Path::new(&path)).and_then(|file| Ok((register(FILE, Arc::clone(&file) as _)?, file)));
            file.map_err(|error| warn(&format!("{FILE}: {error}; connections keep the program's choice"))).ok()
        });
        Environment { named, file }
    }

    /// The algorithm of a path; `None` keeps the program's.
    fn select(&self, selection: &Selection, log: bool) -> Option<CongestionControlAlgorithm> {
        // A file of other programs' sections leaves this one's choice alone.
        let settings = self.file.as_ref().map(|(_, file)| (file.settings.settings(), file.app.as_deref()));
        let settings = settings.filter(|(settings, app)| settings.of_app(*app).is_some());
        let overrides = settings.as_ref().is_some_and(|(settings, _)| settings.overrides());
        let selected = if selection.named && !overrides {
            None
        } else {
            let of_file = self.file.as_ref().filter(|_| settings.is_some()).map(|(algorithm, _)| *algorithm);
            self.named.as_ref().map(|(algorithm, _)| *algorithm).or(of_file)
        };
        if log {
            let (local, peer) = selection.addresses;
            let line = |text: &dyn Display| warn(&format!("quiche, {local} to {peer}: {text}"));
            match (selected, &self.named, &settings) {
                (None, ..) => {
                    let how = if selection.named { "named by the program" } else { "the program's choice" };
                    line(&format_args!("{}, {how}", name_of(selection.algorithm)));
                }
                (Some(_), Some((_, text)), _) => line(&format_args!("{text}, by {NAME}")),
                (Some(_), None, Some((settings, app))) => {
                    if let Some(of_app) = settings.of_app(*app) {
                        line(&format_args!("{}, by {FILE}", of_app.config.choose(&Peer::from(peer)).text));
                    }
                }
                (Some(_), None, None) => {}
            }
        }
        selected
    }
}

/// The controller of a name: one of the catalogue's, or with the prefix `quiche/` one of quiche's own.
fn named(text: &str) -> Result<CongestionControlAlgorithm, String> {
    if let Some(own) = text.strip_prefix(OWN) {
        let expected = || format!("quiche has no controller {own:?}; expected reno, cubic or bbr2_gcongestion");
        let algorithm = own.parse::<CongestionControlAlgorithm>().map_err(|_| expected())?;
        return external::registered_name(algorithm).is_none().then_some(algorithm).ok_or_else(expected);
    }
    let definition = Definition::named(text).map_err(|error| error.to_string())?;
    // Unlike a bare name it cannot be one of quiche's own.
    register(
        &format!("{}{}", windlass_quiche::PREFIX, text.trim_start_matches(windlass_quiche::PREFIX)),
        Arc::new(definition),
    )
}

fn register(name: &str, algorithm: Arc<dyn Algorithm>) -> Result<CongestionControlAlgorithm, String> {
    external::register(name, algorithm).map_err(|error| error.to_string())
}

fn file(path: &Path) -> Result<Arc<File>, String> {
    let make = |config: &Config| {
        let definition = Definition::from_config(config)?;
        Ok(FromFile { config: config.clone(), definition })
    };
    let user = rustix::process::geteuid().as_raw();
    let settings = SettingsFile::read(path, user, make, warn).map_err(|error| error.to_string())?;
    let program = env::current_exe().ok();
    let app = program.and_then(|program| Some(program.file_name()?.to_string_lossy().into_owned()));
    Ok(Arc::new(File { settings, app }))
}

/// An algorithm as users name it.
fn name_of(algorithm: CongestionControlAlgorithm) -> String {
    external::registered_name(algorithm).unwrap_or_else(|| format!("{OWN}{algorithm:?}").to_lowercase())
}
