//! Making controllers for a transport configuration.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use quinn_proto::congestion::{self, ControllerFactory};
use windlass_adapter::config::{Config, ConfigError, Peer};
use windlass_adapter::{ChoiceError, Flow, Groups, Recorder, choose, require};
use windlass_controllers::{Algorithm, Engine, Path, Signals, Time};

use crate::{Controller, PROVIDES, STACK};

type Join<E> = Arc<dyn Fn(E, &Path, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync>;
type Record = Arc<dyn Fn(&Path) -> Option<Box<dyn Recorder>> + Send + Sync>;

/// Makes a controller for every connection of a transport configuration.
///
/// quinn does not tell a factory whom a connection goes to. Connections that should form
/// a group are built from one factory, or from several with the same
/// [`group`](Factory::group).
pub struct Factory<E: Engine = Algorithm> {
    engine: E,
    join: Option<Join<E>>,
    record: Option<Record>,
    origin: OnceLock<Instant>,
    seed: u64,
    built: AtomicU64,
}

impl Factory {
    /// A factory of the catalogue's controller `text`: a name, or
    /// `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal quinn does not report.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        Ok(Self::unchecked(choose(text, STACK, PROVIDES)?))
    }

    /// A factory of what `config` says for `peer`, with its groups and recordings. Make one
    /// for each peer; all share the groups of the file.
    ///
    /// # Errors
    /// A controller of the file needs a signal quinn does not report, or its recordings
    /// cannot be written.
    pub fn from_config<'a>(config: &Config, peer: impl Into<Peer<'a>>) -> Result<Self, ConfigError> {
        config.check(STACK, PROVIDES)?;
        let peer = peer.into();
        let (chosen, address) = (config.choose(&peer).clone(), peer.address);
        let mut factory = Self::unchecked(chosen.algorithm).origin(config.origin());
        if let Some(recording) = config.recording() {
            let (spool, config) = (recording.open()?, config.clone());
            factory.record = Some(Arc::new(move |path| {
                let recording = config.recording()?;
                Some(recording.recorder(&spool, STACK, &chosen.algorithm, &chosen.text, address, path))
            }));
        }
        let config = config.clone();
        factory.join =
            Some(Arc::new(move |algorithm, path, recorder| config.join(&algorithm, path, address, recorder)));
        Ok(factory)
    }
}

impl<E: Engine> Factory<E> {
    /// A factory of `engine`: [`Fixed`](crate::Fixed) makes one of any controller.
    ///
    /// # Errors
    /// The controller needs a signal quinn does not report.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        require(&engine, engine.name(), STACK, PROVIDES)?;
        Ok(Self::unchecked(engine))
    }

    fn unchecked(engine: E) -> Self {
        let factory = Factory {
            join: None,
            record: None,
            origin: OnceLock::new(),
            seed: RandomState::new().hash_one(STACK),
            built: AtomicU64::new(0),
            engine,
        };
        if factory.engine.needs().contains(Signals::GROUPS) { factory.group(&Groups::default(), ()) } else { factory }
    }

    /// Puts every flow into the group of `key`: usually the peer's address without its
    /// port, with one factory per peer. Strength and other shared facts can be changed at
    /// any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per
    /// factory.
    #[must_use]
    pub fn group<K>(mut self, groups: &Groups<E, K>, key: K) -> Self
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
    {
        let groups = groups.clone();
        self.join = Some(Arc::new(move |engine, path, recorder| {
            Flow::grouped_with(engine, path, &groups, key.clone(), recorder)
        }));
        self
    }

    /// Gives every flow the recorder `make` returns for it. Together with the
    /// [`Path`] the flow starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(mut self, make: impl Fn(&Path) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        self.record = Some(Arc::new(move |path| Some(make(path))));
        self
    }

    /// Sets the origin of time. The default is the start of the first connection;
    /// factories that share groups or logs need the same one.
    #[must_use]
    pub fn origin(mut self, origin: Instant) -> Self {
        self.origin = OnceLock::from(origin);
        self
    }

    /// Sets the seed of controllers that need randomness. The default differs from
    /// factory to factory.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The algorithm.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// A controller for a path of datagrams of `mtu` bytes that starts `now`.
    #[must_use]
    pub fn make(&self, now: Instant, mtu: u16) -> Controller<E> {
        let origin = *self.origin.get_or_init(|| now);
        let since = now.saturating_duration_since(origin);
        let start = Time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        let nth = self.built.fetch_add(1, Ordering::Relaxed);
        let path = Path { now: start, mtu: u32::from(mtu), seed: self.seed.wrapping_add(nth) };
        let recorder = self.record.as_ref().and_then(|make| make(&path));
        let flow = match &self.join {
            Some(join) => join(self.engine.clone(), &path, recorder),
            None => {
                let mut flow = Flow::alone(self.engine.clone(), &path);
                if let Some(recorder) = recorder {
                    flow.record(recorder);
                }
                flow
            }
        };
        Controller::new(flow, origin, start, mtu)
    }
}

impl<E: Engine> ControllerFactory for Factory<E> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(self.make(now, current_mtu))
    }
}

impl<E: Engine> fmt::Debug for Factory<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory")
            .field("engine", &self.engine)
            .field("grouped", &self.join.is_some())
            .field("recorded", &self.record.is_some())
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
