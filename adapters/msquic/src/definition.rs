//! What a name stands for.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use windlass_adapter::config::{Config, ConfigError, Peer};
use windlass_adapter::{ChoiceError, Flow, Groups, Recorder, choose, require};
use windlass_controllers::{Algorithm, Engine, Path, Signals, Time};

use crate::flow::Guarded;
use crate::{AT_MOST, PROVIDES, STACK, WITH_ECN, WITH_ONE_WAY_DELAY};

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

/// A flow about to start, for whoever records it or puts it into a group.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow<'a, E: Engine> {
    /// Whom it sends to.
    pub peer: Peer<'a>,
    /// The algorithm.
    pub engine: &'a E,
    /// The algorithm as a user types it.
    pub controller: &'a str,
    /// The path it starts on.
    pub path: &'a Path,
}

type Choose<E> = Box<dyn Fn(&Peer<'_>) -> (E, Arc<str>) + Send + Sync>;
type Join<E> = Box<dyn Fn(&NewFlow<'_, E>, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync>;
type Record<E> = Box<dyn Fn(&NewFlow<'_, E>) -> Option<Box<dyn Recorder>> + Send + Sync>;

/// What a name stands for: a controller, with its groups and recorders. Goes to
/// `register_as`.
pub struct Definition<E: Engine = Algorithm> {
    choose: Choose<E>,
    join: Option<Join<E>>,
    record: Option<Record<E>>,
    seed: u64,
    made: AtomicU64,
}

impl Definition {
    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal MsQuic never reports.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        Ok(Self::of(choose(text, STACK, AT_MOST)?, text))
    }

    /// What `config` says for each peer, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal MsQuic never reports, or recordings cannot be
    /// written.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.check(STACK, AT_MOST)?;
        let chosen = config.clone();
        let mut definition = Self::choosing(Box::new(move |peer| {
            let chosen = chosen.choose(peer);
            (chosen.algorithm, chosen.text.as_str().into())
        }));
        if let Some(recording) = config.recording() {
            let (spool, config) = (recording.open()?, config.clone());
            definition.record = Some(Box::new(move |new| {
                let recording = config.recording()?;
                Some(recording.recorder(&spool, STACK, new.engine, new.controller, new.peer.address, new.path))
            }));
        }
        let groups = config.clone();
        definition.join =
            Some(Box::new(move |new, recorder| groups.join(new.engine, new.path, new.peer.address, recorder)));
        Ok(definition)
    }
}

impl<E: Engine> Definition<E> {
    /// `engine`: [`Fixed`](crate::Fixed) makes one of any controller.
    ///
    /// # Errors
    /// The controller needs a signal MsQuic never reports.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        require(&engine, engine.name(), STACK, AT_MOST)?;
        let name = engine.name();
        Ok(Self::of(engine, name))
    }

    fn of(engine: E, text: &str) -> Self {
        let text: Arc<str> = text.into();
        let grouped = engine.needs().contains(Signals::GROUPS);
        let definition = Self::choosing(Box::new(move |_| (engine.clone(), Arc::clone(&text))));
        if grouped { definition.group(&Groups::default(), |peer| peer.ip()) } else { definition }
    }

    fn choosing(choose: Choose<E>) -> Self {
        let seed = RandomState::new().hash_one(STACK);
        Definition { choose, join: None, record: None, seed, made: AtomicU64::new(0) }
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer's address.
    /// Strength and other shared facts can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(mut self, groups: &Groups<E, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        let groups = groups.clone();
        self.join = Some(Box::new(move |new, recorder| {
            Flow::grouped_with(new.engine.clone(), new.path, &groups, key_of(new.peer.address), recorder)
        }));
        self
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(mut self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        self.record = Some(Box::new(move |new| Some(make(new))));
        self
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from definition to definition.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

impl<E: Engine> Start for Definition<E> {
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String> {
        let (engine, controller) = (self.choose)(&new.peer);
        new.check(&engine, &controller)?;
        let seed = self.seed.wrapping_add(self.made.fetch_add(1, Ordering::Relaxed));
        let path = Path { now: new.now, mtu: new.mtu, seed };
        let flow = NewFlow { peer: new.peer, engine: &engine, controller: &controller, path: &path };
        let recorder = self.record.as_ref().and_then(|record| record(&flow));
        let flow = match &self.join {
            Some(join) => join(&flow, recorder),
            None => {
                let mut flow = Flow::alone(engine.clone(), &path);
                if let Some(recorder) = recorder {
                    flow.record(recorder);
                }
                flow
            }
        };
        let path = crate::path::Path::new(flow, new.now, new.mtu, new.in_flight);
        Ok(Guarded::new(Box::new(path), controller))
    }
}

impl<E: Engine> fmt::Debug for Definition<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition")
            .field("grouped", &self.join.is_some())
            .field("recorded", &self.record.is_some())
            .field("seed", &self.seed)
            .finish_non_exhaustive()
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
