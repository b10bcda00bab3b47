//! What a name stands for.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use windlass_adapter::config::{Config, ConfigError, Peer};
use windlass_adapter::{ChoiceError, Groups, NewFlow, Policy, Recorder, Stack, require};
use windlass_controllers::{Algorithm, Engine, Signals, Time};

use crate::flow::Guarded;
use crate::{AT_MOST, PROVIDES, STACK, WITH_ECN, WITH_ONE_WAY_DELAY};

/// MsQuic with everything turned on.
const THIS: Stack = Stack { name: STACK, provides: AT_MOST };

/// A connection that needs a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewConnection<'a> {
    pub(crate) now: Time,
    pub(crate) peer: Peer<'a>,
    pub(crate) mtu: u32,
    pub(crate) in_flight: u32,
    pub(crate) app: Option<&'a str>,
    pub(crate) ecn: bool,
    pub(crate) one_way_delay: bool,
}

impl NewConnection<'_> {
    fn provides(&self) -> Signals {
        let ecn = if self.ecn { WITH_ECN } else { Signals::NONE };
        let one_way = if self.one_way_delay { WITH_ONE_WAY_DELAY } else { Signals::NONE };
        PROVIDES.and(ecn).and(one_way)
    }

    /// Checks that the connection reports what `engine` needs.
    fn check<E: Engine>(&self, engine: &E, controller: &str) -> Result<(), String> {
        let provides = self.provides();
        require(engine, controller, STACK, provides).map_err(|error| {
            let missing = engine.needs().without(provides);
            let mut text = format!("{error}, or turn on in QUIC_SETTINGS");
            let settings = [(WITH_ECN, " EcnEnabled"), (WITH_ONE_WAY_DELAY, " OneWayDelayEnabled")];
            for (signals, setting) in settings {
                if missing.without(signals) != missing {
                    text.push_str(setting);
                }
            }
            text
        })
    }
}

/// What starts flows.
pub(crate) trait Start: Send + Sync {
    /// A flow for a connection.
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String>;
}

/// What a name stands for: a controller, with its groups and recorders. Goes to
/// `register_as`.
pub struct Definition<E: Engine = Algorithm>(Policy<E>);

impl Definition {
    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal MsQuic never reports.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        Policy::named(text, &THIS).map(Definition)
    }

    /// What `config` says for each peer, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal MsQuic never reports, or recordings cannot be
    /// written.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        Policy::from_config(config, &THIS)?.recorded_by(config, &THIS).map(Definition)
    }
}

impl<E: Engine> Definition<E> {
    /// `engine`: [`Fixed`](crate::Fixed) makes one of any controller.
    ///
    /// # Errors
    /// The controller needs a signal MsQuic never reports.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        Policy::new(engine, &THIS).map(Definition)
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer's address.
    /// Strength and other shared facts can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(self, groups: &Groups<E, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        Definition(self.0.group(groups, key_of))
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        Definition(self.0.record_with(make))
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from definition to definition.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Definition(self.0.seed(seed))
    }
}

impl<E: Engine> Start for Definition<E> {
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String> {
        let choice = self.0.choose(&new.peer);
        new.check(&choice.engine, &choice.text)?;
        let flow = self.0.start(&choice, new.peer, new.now, new.mtu);
        let path = crate::path::Path::new(flow, new.now, new.mtu, new.in_flight);
        Ok(Guarded::new(Box::new(path), choice.text))
    }
}

impl<E: Engine> fmt::Debug for Definition<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.0).finish()
    }
}

/// Definitions of this program, by name.
static NAMED: RwLock<BTreeMap<String, Arc<dyn Start>>> = RwLock::new(BTreeMap::new());

/// Has this plugin take `name` for `definition`, before the catalogue; for names not asked
/// for yet.
pub fn define_as<E: Engine>(name: &str, definition: Definition<E>) {
    NAMED.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(definition));
}

/// What `text` stands for.
pub(crate) fn find(text: &str) -> Result<Arc<dyn Start>, String> {
    if let Some(named) = NAMED.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(Arc::clone(named));
    }
    match Definition::named(text) {
        Ok(definition) => Ok(Arc::new(definition)),
        Err(error) => Err(format!("controller {text:?}: {error}")),
    }
}
