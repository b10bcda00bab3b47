//! Controllers of other crates in the catalogue, by name beside its own.
//!
//! A crate makes an [`Entry`] of each of its controllers with [`entry`] and gives all to [`add`]
//! before a name is read. From then on [`Algorithm::read`] knows them, and so does all that reads
//! names: scenarios, configuration files, adapters, the command. Their parameters and states are kept
//! without an allocation, up to [`LARGEST_STATE`] bytes; a larger state does not compile.

use core::fmt;
use core::marker::PhantomData;

use windlass_erased::{Erased, Given};

use crate::param::{Param, ParamError, Parameters, Range};
use crate::{Algorithm, ConfiguredController, Controller, Decision, Entry, Event, Info, Path, Signals, Table, View};

const STATE: usize = 128;

/// The largest state of a flow that a controller of another crate may have, bytes.
pub const LARGEST_STATE: usize = 8 * STATE;

/// The parameters of a controller of another crate.
type ParamsOf = Erased<64>;
/// The state of one of its flows.
pub(crate) type OwnState = Erased<STATE>;
/// The state that a group of its flows shares.
pub(crate) type OwnGroup = Erased<32>;

static ADDED: Given<Entry> = Given::new();

/// The catalogue's entry of a controller of another crate; `page` is its page, in Markdown.
#[must_use]
pub const fn entry<C: Controller + 'static>(page: &'static str) -> Entry {
    Entry {
        name: C::INFO.name,
        summary: C::INFO.summary,
        source: C::INFO.source,
        page,
        fallback: C::INFO.fallback,
        state_size: size_of::<C::State>(),
        default: || Algorithm::Own(Own::of::<C>()),
    }
}

/// Why controllers were not added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AddError {
    /// There is a controller of that name.
    Taken(&'static str),
    /// That is no name: expected lower-case words of letters and digits, joined by `-`.
    NotAName(&'static str),
    /// This program has added its controllers before.
    Twice,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddError::Taken(name) => write!(f, "there is a controller {name:?} already; expected another name"),
            AddError::NotAName(name) => {
                write!(
                    f,
                    "{name:?} is no name of a controller; expected lower-case words joined by -, such as my-scheme"
                )
            }
            AddError::Twice => f.write_str("controllers were added before; expected all of a program at once"),
        }
    }
}

impl fmt::Debug for AddError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for AddError {}

/// Adds controllers to the catalogue of this process, all of them or none. Names that were read
/// before do not find them.
///
/// # Errors
/// A name is taken or none, or controllers were added before.
pub fn add(entries: &'static [Entry]) -> Result<(), AddError> {
    for (i, Entry { name, .. }) in entries.iter().enumerate() {
        let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if !name.split('-').all(word) {
            return Err(AddError::NotAName(name));
        }
        if Algorithm::ALL.iter().chain(&entries[..i]).any(|other| other.name == *name) {
            return Err(AddError::Taken(name));
        }
    }
    if ADDED.give(entries) { Ok(()) } else { Err(AddError::Twice) }
}

/// The entries of this process's own controllers.
pub(crate) fn added() -> &'static [Entry] {
    ADDED.all()
}

/// A controller of another crate, with its parameters.
#[derive(Clone, Copy)]
pub struct Own {
    functions: &'static dyn Functions,
    params: ParamsOf,
}

impl Own {
    fn of<C: Controller + 'static>() -> Own {
        Own { functions: const { &Of::<C>(PhantomData) }, params: Erased::new(C::Params::default()) }
    }
}

impl Own {
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        self.functions.set(&mut self.params, name, value)
    }
    pub(crate) fn describe(&self, visit: &mut dyn FnMut(&Param)) {
        self.functions.describe(&self.params, visit);
    }
    pub(crate) fn limit(&self) -> Option<(&'static str, Range)> {
        self.functions.limit(&self.params)
    }
}

impl ConfiguredController for Own {
    type State = OwnState;
    type Group = OwnGroup;

    fn info(&self) -> Info {
        self.functions.info().0
    }
    fn needs(&self) -> Signals {
        self.functions.needs(&self.params)
    }
    fn wants_packet_sent(&self) -> bool {
        self.functions.info().1
    }
    fn group(&self) -> OwnGroup {
        self.functions.group(&self.params)
    }
    fn start(&self, path: &Path) -> OwnState {
        self.functions.start(&self.params, path)
    }
    fn step(&self, state: &mut OwnState, group: Table<'_, OwnGroup>, event: &Event) {
        self.functions.step(&self.params, state, group, event);
    }
    fn decide(&self, state: &OwnState, group: View<'_, OwnGroup>) -> Decision {
        self.functions.decide(&self.params, state, group).unwrap_or_else(|| {
            debug_assert!(false, "state and group belong to another controller");
            let new = self.start(&Path { now: crate::Time::ZERO, mtu: 1200, seed: 0 });
            let decided = self.functions.decide(&self.params, &new, View::solo(&self.group()));
            decided.expect("its own state and group")
        })
    }
    fn inspect(&self, state: &OwnState, group: View<'_, OwnGroup>, visit: &mut dyn FnMut(&'static str, f64)) {
        self.functions.inspect(&self.params, state, group, visit);
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        self.info() == other.info() && self.params == other.params
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.params.fmt(f)
    }
}

/// Of one [`Controller`], whose types are known in it alone. A state or group of another controller
/// stays as it is, and gives the decision of a new flow.
trait Functions: Send + Sync {
    fn info(&self) -> (Info, bool);
    fn set(&self, params: &mut ParamsOf, name: &str, value: &str) -> Result<(), ParamError>;
    fn describe(&self, params: &ParamsOf, visit: &mut dyn FnMut(&Param));
    fn limit(&self, params: &ParamsOf) -> Option<(&'static str, Range)>;
    fn needs(&self, params: &ParamsOf) -> Signals;
    fn group(&self, params: &ParamsOf) -> OwnGroup;
    fn start(&self, params: &ParamsOf, path: &Path) -> OwnState;
    fn step(&self, params: &ParamsOf, state: &mut OwnState, group: Table<'_, OwnGroup>, event: &Event);
    fn decide(&self, params: &ParamsOf, state: &OwnState, group: View<'_, OwnGroup>) -> Option<Decision>;
    fn inspect(
        &self,
        params: &ParamsOf,
        state: &OwnState,
        group: View<'_, OwnGroup>,
        visit: &mut dyn FnMut(&'static str, f64),
    );
}

struct Of<C>(PhantomData<fn() -> C>);

/// The parameters, which [`Own::of`] made of that type.
fn params<C: Controller>(params: &ParamsOf) -> C::Params {
    params.get().copied().unwrap_or_default()
}

impl<C: Controller + 'static> Functions for Of<C> {
    fn info(&self) -> (Info, bool) {
        (C::INFO, C::WANTS_PACKET_SENT)
    }
    fn set(&self, params: &mut ParamsOf, name: &str, value: &str) -> Result<(), ParamError> {
        let params = params.get_mut::<C::Params>().ok_or(ParamError::Unknown)?;
        crate::catalogue::set(params, &C::INFO, name, value)
    }
    fn describe(&self, of: &ParamsOf, visit: &mut dyn FnMut(&Param)) {
        params::<C>(of).describe(visit);
    }
    fn limit(&self, of: &ParamsOf) -> Option<(&'static str, Range)> {
        params::<C>(of).limit()
    }
    fn needs(&self, of: &ParamsOf) -> Signals {
        C::needs(&params::<C>(of))
    }
    fn group(&self, of: &ParamsOf) -> OwnGroup {
        Erased::new(C::group(&params::<C>(of)))
    }
    fn start(&self, of: &ParamsOf, path: &Path) -> OwnState {
        Erased::new(C::start(&params::<C>(of), path))
    }
    fn step(&self, of: &ParamsOf, state: &mut OwnState, group: Table<'_, OwnGroup>, event: &Event) {
        if let (Some(state), Some(shared)) = (state.get_mut(), group.shared.get_mut()) {
            C::step(&params::<C>(of), state, Table { shared, members: group.members, me: group.me }, event);
        }
    }
    fn decide(&self, of: &ParamsOf, state: &OwnState, group: View<'_, OwnGroup>) -> Option<Decision> {
        let view = View { shared: group.shared.get()?, members: group.members, me: group.me };
        Some(C::decide(&params::<C>(of), state.get()?, view))
    }
    fn inspect(
        &self,
        of: &ParamsOf,
        state: &OwnState,
        group: View<'_, OwnGroup>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        if let (Some(state), Some(shared)) = (state.get(), group.shared.get()) {
            C::inspect(&params::<C>(of), state, View { shared, members: group.members, me: group.me }, visit);
        }
    }
}
