//! Registers controllers with quiche by name.

use std::collections::BTreeSet;
use std::sync::{Arc, Once, PoisonError, RwLock};

use quiche::external;
use windlass_adapter::{ChoiceError, NamedController};
use windlass_controllers::{Algorithm, ConfiguredController};

use crate::Definition;

/// A prefix that every name may have. `reno`, `cubic`, `bbr`, `bbr2` and `bbr2_gcongestion` are
/// quiche's own without it.
pub const PREFIX: &str = Algorithm::PREFIX;

/// Error of registering a name.
#[derive(Clone, PartialEq)]
pub enum RegisterError {
    /// The controller cannot be used.
    Choice(ChoiceError),
    /// There is no controller of that name in the catalogue.
    Unknown(String),
    /// quiche's own controllers keep their names.
    Reserved(String),
    /// All names there is room for are taken.
    Full(external::TooManyNames),
}

impl std::fmt::Display for RegisterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RegisterError::Choice(error) => error.fmt(f),
            RegisterError::Unknown(name) => write!(
                f,
                "there is no controller {name:?} in the catalogue; expected a name without parameters, which \
                 follow when the name is used"
            ),
            RegisterError::Reserved(name) => {
                write!(f, "{name:?} is quiche's own; ours of that name is \"{PREFIX}{name}\"")
            }
            RegisterError::Full(error) => error.fmt(f),
        }
    }
}

impl std::fmt::Debug for RegisterError {
    /// The text, since `main` prints errors with `Debug`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RegisterError {}

/// Names of the catalogue that quiche accepts.
static REGISTERED: RwLock<BTreeSet<&'static str>> = RwLock::new(BTreeSet::new());

/// Makes quiche accept the name of a controller of the catalogue, with any parameters.
///
/// # Errors
/// There is no such controller, or it needs a signal quiche does not report.
pub fn register(name: &str) -> Result<(), RegisterError> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let known = NamedController::all().find(|entry| entry.name == name);
    let known = known.ok_or_else(|| RegisterError::Unknown(name.to_owned()))?;
    let controller = known.default;
    // What it does without a signal is chosen by a parameter.
    if controller.fallback().is_none() {
        check(name).map_err(RegisterError::Choice)?;
    }
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).insert(known.name);
    install_resolver();
    Ok(())
}

/// Makes quiche accept the names of all controllers of the catalogue. One that needs a signal
/// quiche does not report is refused when its name is used; the log says why.
pub fn register_all() {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.extend(NamedController::all().map(|entry| entry.name));
    drop(registered);
    install_resolver();
}

/// Gives `definition` a name in quiche. A name can be given again, for connections made later.
///
/// # Errors
/// quiche has a controller of that name, or there is no room for another name.
pub fn register_as<E: ConfiguredController>(name: &str, definition: Definition<E>) -> Result<(), RegisterError> {
    if is_native(name) {
        return Err(RegisterError::Reserved(name.to_owned()));
    }
    external::register(name, Arc::new(definition)).map(drop).map_err(RegisterError::Full)
}

/// Checks what is to be given to quiche as a controller: a name and parameters. A name without parameters that is
/// quiche's own (`cubic`) is always taken, for quiche's own controller; `windlass/cubic` is ours.
///
/// # Errors
/// They cannot be read, or the controller needs a signal quiche does not report: the reason that
/// quiche's own error does not carry.
pub fn check(text: &str) -> Result<(), ChoiceError> {
    if is_native(text) {
        return Ok(());
    }
    Definition::named(text.strip_prefix(PREFIX).unwrap_or(text)).map(drop)
}

/// Whether quiche knows the name itself and so never asks for it.
fn is_native(name: &str) -> bool {
    matches!(name, "reno" | "cubic" | "bbr" | "bbr2" | "bbr2_gcongestion")
}

/// Makes quiche ask [`resolve`] for names it does not know.
fn install_resolver() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| external::add_resolver(Arc::new(resolve)));
}

/// The algorithm of a name, with its parameters.
fn resolve(text: &str) -> Option<Arc<dyn external::Algorithm>> {
    let bare = text.strip_prefix(PREFIX).unwrap_or(text);
    let name = bare.split(':').next().unwrap_or(bare);
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).contains(name);
    if !registered && NamedController::named(name).is_some() {
        log::error!("congestion controller {text:?}: {name} is in the catalogue, but this program did not register it");
        return None;
    }
    match Definition::named(bare) {
        Ok(definition) => Some(Arc::new(definition)),
        Err(error) => {
            log::error!("congestion controller {text:?}: {error}");
            None
        }
    }
}
