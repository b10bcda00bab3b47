//! Controllers by their names: those of the catalogue, and those that a program brings with it.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};
use std::sync::{Mutex, OnceLock, PoisonError};

use windlass_controllers::param::{Param, ParamError, Range};
use windlass_controllers::parts::careful_resume::Resuming;
use windlass_controllers::text::{Configurable, assign, write};
use windlass_controllers::{
    Algorithm, AnyGroup, AnyState, ConfiguredController, Controller, Decision, Entry, Event, Info, ParseError, Path,
    Signals, Static, Table, View,
};

mod foreign;

pub use foreign::{Foreign, Lent};

/// A controller with its parameters, as a name stands for it: one of the catalogue, or one that the program
/// [added](NamedController::add) or [lent](NamedController::lend).
// Parameters are plain data that may be copied.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NamedController {
    /// One of the catalogue.
    Catalogue(Algorithm),
    /// One of the program's own.
    Own(Own),
}

/// The controllers that this program added.
static ADDED: OnceLock<(Vec<Entry<NamedController>>, Vec<&'static str>)> = OnceLock::new();

/// Error of adding controllers.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The catalogue, or another of the program's own, has the name.
    #[error("there is a controller {0:?} already; expected another name")]
    Taken(&'static str),
    /// The name is none that a user can type everywhere.
    #[error("{0:?} is no name of a controller; expected lower-case words joined by -, such as \"my-scheme\"")]
    Name(&'static str),
    /// The program added controllers before.
    #[error("controllers were added before; expected all of a program at once")]
    Twice,
}

impl std::fmt::Debug for AddError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl NamedController {
    /// The entry of a controller of the program's own, for [`add`](Self::add). `page` is what `windlass explain` says
    /// of it, in Markdown, besides what its constants say.
    #[must_use]
    pub fn own<C: Controller + Debug + 'static>(page: &'static str) -> Entry<NamedController> {
        Entry::of::<C>(page, NamedController::Own(Own::interned(Box::new(Static::<C>(Default::default())))))
    }

    /// Has every name that is read in this process stand for one of `entries`, too: once, before any is read.
    ///
    /// # Errors
    /// A name is taken or none, or it was done before.
    pub fn add(entries: Vec<Entry<NamedController>>) -> Result<(), AddError> {
        let mut names: Vec<&'static str> = Vec::new();
        for Entry { name, .. } in &entries {
            check_name(name, names.contains(name))?;
            names.push(name);
        }
        ADDED.set((entries, names)).map_err(|_| AddError::Twice)
    }

    /// Those that the program added.
    #[must_use]
    pub fn added() -> &'static [Entry<NamedController>] {
        ADDED.get().map_or(&[], |(entries, _)| entries)
    }

    /// Every controller, those of the catalogue first.
    pub fn all() -> impl Iterator<Item = Entry<NamedController>> {
        let catalogue = Algorithm::ALL.iter().map(|entry| {
            let Entry { name, summary, source, page, fallback, state_size, default } = *entry;
            Entry { name, summary, source, page, fallback, state_size, default: Self::Catalogue(default()) }
        });
        catalogue.chain(Self::added().iter().copied())
    }

    /// The controller called `name`, with default parameters.
    #[must_use]
    pub fn named(name: &str) -> Option<NamedController> {
        let name = name.strip_prefix(Algorithm::PREFIX).unwrap_or(name);
        let own = || Self::added().iter().find(|entry| entry.name == name).map(|entry| entry.default);
        Algorithm::named(name).map(Self::Catalogue).or_else(own).or_else(|| Self::lent(name))
    }

    /// Reads `name` or `name:parameter=value,…`, as [`Algorithm::read`] does.
    ///
    /// # Errors
    /// What is wrong with the text, and what was expected.
    pub fn read(text: &str) -> Result<NamedController, ParseError<'_>> {
        let (name, assignments) = text.split_once(':').unwrap_or((text, ""));
        match Self::named(name) {
            Some(own @ Self::Own(_)) if assignments.is_empty() => Ok(own),
            Some(Self::Own(own)) => {
                let mut changed = own.controller.boxed();
                assign(changed.as_configurable(), assignments)?;
                Ok(Self::Own(Own::interned(changed)))
            }
            Some(Self::Catalogue(_)) => Algorithm::read(text).map(Self::Catalogue),
            None => {
                let own = ADDED.get().map_or(&[][..], |(_, names)| names);
                Err(ParseError::UnknownController { name, catalogue: Algorithm::NAMES, own })
            }
        }
    }

    /// Its entry in the catalogue.
    ///
    /// # Panics
    /// It is one that was never [added](Self::add).
    #[must_use]
    pub fn entry(&self) -> Entry<NamedController> {
        let name = ConfiguredController::name(self);
        Self::all().find(|entry| entry.name == name).expect("names stand for what is listed")
    }

    /// Sets the parameter called `name`; `profile` sets all of them.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take `value`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        match self {
            Self::Catalogue(algorithm) => algorithm.set(name, value),
            Self::Own(own) => {
                let mut changed = own.controller.boxed();
                changed.set(name, value)?;
                *own = Own::interned(changed);
                Ok(())
            }
        }
    }

    /// Names every parameter with its current value.
    pub fn describe(&self, visit: &mut dyn FnMut(&Param)) {
        match self {
            Self::Catalogue(algorithm) => algorithm.describe(visit),
            Self::Own(own) => own.controller.describe(visit),
        }
    }

    /// A parameter whose value another one forbids.
    #[must_use]
    pub fn limit(&self) -> Option<(&'static str, Range)> {
        match self {
            Self::Catalogue(algorithm) => algorithm.limit(),
            Self::Own(own) => own.controller.limit(),
        }
    }

    /// What it cannot work without, with these parameters.
    #[must_use]
    pub fn needs(&self) -> Signals {
        ConfiguredController::needs(self)
    }
}

/// Checks that `name` is one that a user can type everywhere, and that of no controller: `taken` if of one not of the
/// catalogue.
fn check_name(name: &'static str, taken: bool) -> Result<(), AddError> {
    let words = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) && !word.is_empty();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.split('-').all(words) {
        return Err(AddError::Name(name));
    }
    if taken || Algorithm::named(name).is_some() {
        return Err(AddError::Taken(name));
    }
    Ok(())
}

impl From<Algorithm> for NamedController {
    fn from(algorithm: Algorithm) -> NamedController {
        Self::Catalogue(algorithm)
    }
}

/// The text that [`read`](NamedController::read) takes for it.
impl Display for NamedController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ConfiguredController::write(self, f)
    }
}

/// A controller of the program's own, with its parameters: kept once for as long as the process runs, for each text
/// that stands for it.
#[derive(Clone, Copy)]
pub struct Own {
    controller: &'static dyn Erased,
    /// The text that reads as it.
    text: &'static str,
}

impl Own {
    fn interned(controller: Box<dyn Erased>) -> Own {
        static ALL: Mutex<BTreeMap<(TypeId, &'static str), Own>> = Mutex::new(BTreeMap::new());
        let mut text = String::new();
        let _ = write(&mut text, controller.plain(), controller.boxed().as_configurable());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = controller.kind();
        if let Some(own) = all.get(&(kind, text.as_str())) {
            return *own;
        }
        let own = Own { controller: Box::leak(controller), text: text.leak() };
        all.insert((kind, own.text), own);
        own
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        std::ptr::eq(self.text, other.text) && std::ptr::addr_eq(self.controller, other.controller)
    }
}

impl Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.controller.fmt(f)
    }
}

/// A controller whose states are of a type that only itself knows.
trait Erased: Configurable + Debug + Send + Sync {
    fn kind(&self) -> TypeId;
    fn boxed(&self) -> Box<dyn Erased>;
    fn plain(&self) -> &dyn Configurable;
    fn as_configurable(&mut self) -> &mut dyn Configurable;
    fn info(&self) -> Info;
    fn needs(&self) -> Signals;
    fn wants_packet_sent(&self) -> bool;
    fn wants_packet_sent_in(&self, state: &Kept) -> bool;
    fn group(&self) -> Kept;
    fn start(&self, path: &Path) -> Kept;
    fn step(&self, state: &mut Kept, group: Table<'_, Kept>, event: &Event);
    fn decide(&self, state: &Kept, group: View<'_, Kept>) -> Option<Decision>;
    fn inspect(&self, state: &Kept, group: View<'_, Kept>, visit: &mut dyn FnMut(&'static str, f64));
}

impl<C: Controller + Debug + 'static> Erased for Static<C> {
    fn kind(&self) -> TypeId {
        TypeId::of::<Self>()
    }
    fn boxed(&self) -> Box<dyn Erased> {
        Box::new(*self)
    }
    fn plain(&self) -> &dyn Configurable {
        self
    }
    fn as_configurable(&mut self) -> &mut dyn Configurable {
        self
    }
    fn info(&self) -> Info {
        C::INFO
    }
    fn needs(&self) -> Signals {
        C::needs(&self.0)
    }
    fn wants_packet_sent(&self) -> bool {
        C::WANTS_PACKET_SENT
    }
    fn wants_packet_sent_in(&self, state: &Kept) -> bool {
        wants_packet_sent::<C::State>(state)
    }
    fn group(&self) -> Kept {
        Kept::new(C::group(&self.0))
    }
    fn start(&self, path: &Path) -> Kept {
        match Resuming::start(self, path) {
            Some(resuming) => Kept::new(resuming),
            None => Kept::new(C::start(&self.0, path)),
        }
    }
    fn step(&self, state: &mut Kept, Table { shared, members, me }: Table<'_, Kept>, event: &Event) {
        let Some(shared) = shared.get_mut() else {
            return debug_assert!(false, "state and group belong to another controller");
        };
        let group = Table { shared, members, me };
        if let Some(state) = state.get_mut() {
            C::step(&self.0, state, group, event);
        } else if let Some(resuming) = state.get_mut::<Resuming<C::State>>() {
            resuming.step(self, group, event);
        }
    }
    fn decide(&self, state: &Kept, View { shared, members, me }: View<'_, Kept>) -> Option<Decision> {
        let group = View { shared: shared.get()?, members, me };
        match state.get() {
            Some(state) => Some(C::decide(&self.0, state, group)),
            None => Some(state.get::<Resuming<C::State>>()?.decide(self, group)),
        }
    }
    fn inspect(
        &self,
        state: &Kept,
        View { shared, members, me }: View<'_, Kept>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let Some(shared) = shared.get() else { return };
        let group = View { shared, members, me };
        if let Some(state) = state.get() {
            C::inspect(&self.0, state, group, visit);
        } else if let Some(resuming) = state.get::<Resuming<C::State>>() {
            resuming.inspect(self, group, visit);
        }
    }
}

/// A value of a type that only its controller knows.
#[derive(Debug)]
pub struct Kept(Box<dyn Value>);

trait Value: Debug + Send + Sync {
    fn boxed(&self) -> Box<dyn Value>;
    fn is_equal(&self, other: &dyn Value) -> bool;
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Clone + PartialEq + Debug + Send + Sync + 'static> Value for T {
    fn boxed(&self) -> Box<dyn Value> {
        Box::new(self.clone())
    }
    fn is_equal(&self, other: &dyn Value) -> bool {
        other.any().downcast_ref() == Some(self)
    }
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Kept {
    fn new<T: Clone + PartialEq + Debug + Send + Sync + 'static>(value: T) -> Kept {
        Kept(Box::new(value))
    }
    fn get<T: 'static>(&self) -> Option<&T> {
        self.0.any().downcast_ref()
    }
    fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.any_mut().downcast_mut()
    }
}

impl Clone for Kept {
    fn clone(&self) -> Kept {
        Kept(self.0.boxed())
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        self.0.is_equal(&*other.0)
    }
}

/// The state of a flow, or of a group, of a [`NamedController`].
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, Debug)]
pub enum Named<T> {
    /// State of a controller of the catalogue, in place.
    Catalogue(T),
    /// State of a controller of the program's own; or of a flow of the catalogue's that [resumes](Resuming), until it has.
    Own(Kept),
}

/// Steps a flow of the catalogue's that resumes. Once it has, its state is that of any other flow.
#[cold]
fn resume(algorithm: &Algorithm, state: &mut Named<AnyState>, group: Table<'_, AnyGroup>, event: &Event) {
    let Named::Own(kept) = state else { return };
    let Some(resuming) = kept.get_mut::<Resuming<AnyState>>() else {
        return debug_assert!(false, "state and group belong to another controller");
    };
    // Only now, so that what ended it can be seen after the event that did.
    if resuming.is_over() {
        let mut own = resuming.state;
        algorithm.step(&mut own, group, event);
        *state = Named::Catalogue(own);
    } else {
        resuming.step(algorithm, group, event);
    }
}

/// Whether a flow with states of type `S` that resumes needs to know of packets sent.
fn wants_packet_sent<S: 'static>(state: &Kept) -> bool {
    state.get::<Resuming<S>>().is_some_and(|resuming| resuming.resume.wants_packet_sent())
}

impl ConfiguredController for NamedController {
    type State = Named<AnyState>;
    type Group = Named<AnyGroup>;

    fn info(&self) -> Info {
        match self {
            Self::Catalogue(algorithm) => algorithm.info(),
            Self::Own(own) => own.controller.info(),
        }
    }
    fn with(&self, name: &str, value: &str) -> Option<Self> {
        let mut other = *self;
        other.set(name, value).is_ok().then_some(other)
    }
    fn write(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Self::Catalogue(algorithm) => algorithm.write(f),
            Self::Own(own) => f.write_str(own.text),
        }
    }
    fn needs(&self) -> Signals {
        match self {
            Self::Catalogue(algorithm) => algorithm.needs(),
            Self::Own(own) => own.controller.needs(),
        }
    }
    fn wants_packet_sent(&self) -> bool {
        match self {
            Self::Catalogue(algorithm) => algorithm.wants_packet_sent(),
            Self::Own(own) => own.controller.wants_packet_sent(),
        }
    }
    fn wants_packet_sent_in(&self, state: &Self::State) -> bool {
        let resumes = || match state {
            Named::Catalogue(_) => false,
            Named::Own(state) => match self {
                Self::Catalogue(_) => wants_packet_sent::<AnyState>(state),
                Self::Own(own) => own.controller.wants_packet_sent_in(state),
            },
        };
        self.wants_packet_sent() || resumes()
    }
    fn group(&self) -> Self::Group {
        match self {
            Self::Catalogue(algorithm) => Named::Catalogue(algorithm.group()),
            Self::Own(own) => Named::Own(own.controller.group()),
        }
    }
    fn start(&self, path: &Path) -> Self::State {
        match self {
            Self::Catalogue(algorithm) => match Resuming::start(algorithm, path) {
                Some(resuming) => Named::Own(Kept::new(resuming)),
                None => Named::Catalogue(algorithm.start(path)),
            },
            Self::Own(own) => Named::Own(own.controller.start(path)),
        }
    }
    #[inline]
    fn step(&self, state: &mut Self::State, Table { shared, members, me }: Table<'_, Self::Group>, event: &Event) {
        match (self, state, shared) {
            (Self::Catalogue(algorithm), Named::Catalogue(state), Named::Catalogue(shared)) => {
                algorithm.step(state, Table { shared, members, me }, event);
            }
            (Self::Own(own), Named::Own(state), Named::Own(shared)) => {
                own.controller.step(state, Table { shared, members, me }, event);
            }
            (Self::Catalogue(algorithm), state @ Named::Own(_), Named::Catalogue(shared)) => {
                resume(algorithm, state, Table { shared, members, me }, event);
            }
            _ => debug_assert!(false, "state and group belong to another controller"),
        }
    }
    #[inline]
    fn decide(&self, state: &Self::State, View { shared, members, me }: View<'_, Self::Group>) -> Decision {
        let decision = match (self, state, shared) {
            (Self::Catalogue(algorithm), Named::Catalogue(state), Named::Catalogue(shared)) => {
                return algorithm.decide(state, View { shared, members, me });
            }
            (Self::Own(own), Named::Own(state), Named::Own(shared)) => {
                own.controller.decide(state, View { shared, members, me })
            }
            (Self::Catalogue(algorithm), Named::Own(state), Named::Catalogue(shared)) => state
                .get::<Resuming<AnyState>>()
                .map(|resuming| resuming.decide(algorithm, View { shared, members, me })),
            _ => None,
        };
        decision.unwrap_or_else(|| {
            debug_assert!(false, "state and group belong to another controller");
            let path = Path::new(windlass_controllers::Time::ZERO, 1200, 0);
            self.decide(&self.start(&path), View::solo(&self.group()))
        })
    }
    #[inline]
    fn step_and_decide(
        &self,
        state: &mut Self::State,
        Table { shared, members, me }: Table<'_, Self::Group>,
        event: &Event,
        decision: &mut Decision,
    ) {
        match (self, state, shared) {
            (Self::Catalogue(algorithm), Named::Catalogue(state), Named::Catalogue(shared)) => {
                algorithm.step_and_decide(state, Table { shared, members, me }, event, decision);
            }
            (_, state, shared) => {
                self.step(state, Table { shared, members, me }, event);
                *decision = self.decide(state, View { shared, members, me });
            }
        }
    }
    fn inspect(&self, state: &Self::State, group: View<'_, Self::Group>, visit: &mut dyn FnMut(&'static str, f64)) {
        let View { shared, members, me } = group;
        match (self, state, shared) {
            (Self::Catalogue(algorithm), Named::Catalogue(state), Named::Catalogue(shared)) => {
                algorithm.inspect(state, View { shared, members, me }, visit);
            }
            (Self::Own(own), Named::Own(state), Named::Own(shared)) => {
                own.controller.inspect(state, View { shared, members, me }, visit);
            }
            (Self::Catalogue(algorithm), Named::Own(state), Named::Catalogue(shared)) => {
                if let Some(resuming) = state.get::<Resuming<AnyState>>() {
                    resuming.inspect(algorithm, View { shared, members, me }, visit);
                }
            }
            _ => debug_assert!(false, "state and group belong to another controller"),
        }
    }
}

#[cfg(test)]
mod tests;
