//! What a name stands for.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use quiche::external::{Controller, NewPath};
use windlass_adapter::config::{Config, ConfigError, Peer};
use windlass_adapter::instants::Clock;
use windlass_adapter::{ChoiceError, Flow, Groups, Recorder, choose, require};
use windlass_controllers::{Algorithm, Engine, Path, Signals};

use crate::STACK;
use crate::guard::Guarded;
use crate::names::provides;

/// A flow about to start, for whoever records it or puts it into a group.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow<'a, E: Engine> {
    /// Whom it sends to.
    pub peer: SocketAddr,
    /// The algorithm.
    pub engine: &'a E,
    /// The algorithm as a user types it.
    pub controller: &'a str,
    /// The path it starts on.
    pub path: &'a Path,
}

type Choose<E> = Box<dyn Fn(SocketAddr) -> (E, Arc<str>) + Send + Sync>;
type Join<E> = Box<dyn Fn(&NewFlow<'_, E>, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync>;
type Record<E> = Box<dyn Fn(&NewFlow<'_, E>) -> Option<Box<dyn Recorder>> + Send + Sync>;

/// What a name stands for: a controller, with its groups and recorders. Goes to
/// [`register_as`](crate::register_as).
pub struct Definition<E: Engine = Algorithm> {
    choose: Choose<E>,
    join: Option<Join<E>>,
    record: Option<Record<E>>,
    seed: u64,
    made: AtomicU64,
    origin: OnceLock<Instant>,
}

impl Definition {
    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal quiche does not report.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        let engine = choose(text, STACK, provides())?;
        Ok(Self::of(engine, text))
    }

    /// What `config` says for each peer's address, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal quiche does not report, a rule goes by host
    /// names, which quiche does not tell a congestion controller, or recordings cannot be
    /// written.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.check(STACK, provides())?;
        config.check_addresses_suffice(STACK)?;
        let chosen = config.clone();
        let mut definition = Self::choosing(Box::new(move |peer| {
            let chosen = chosen.choose(&Peer::from(peer));
            (chosen.algorithm, chosen.text.as_str().into())
        }));
        if let Some(recording) = config.recording() {
            let (spool, config) = (recording.open()?, config.clone());
            definition.record = Some(Box::new(move |new| {
                let recording = config.recording()?;
                Some(recording.recorder(&spool, STACK, new.engine, new.controller, new.peer, new.path))
            }));
        }
        let groups = config.clone();
        definition.join = Some(Box::new(move |new, recorder| groups.join(new.engine, new.path, new.peer, recorder)));
        Ok(definition.origin(config.origin()))
    }
}

impl<E: Engine> Definition<E> {
    /// `engine`: [`Fixed`](crate::Fixed) makes one of any controller.
    ///
    /// # Errors
    /// The controller needs a signal quiche does not report.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        require(&engine, engine.name(), STACK, provides())?;
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
        Definition { choose, join: None, record: None, seed, made: AtomicU64::new(0), origin: OnceLock::new() }
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer. Strength
    /// and other shared facts can be changed at any time with [`Groups::with`].
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
            Flow::grouped_with(new.engine.clone(), new.path, &groups, key_of(new.peer), recorder)
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

    /// Sets the origin of time. The default is the start of the first path; definitions that
    /// share groups or logs need the same one.
    #[must_use]
    pub fn origin(mut self, origin: Instant) -> Self {
        self.origin = OnceLock::from(origin);
        self
    }

    fn make(&self, new: &NewPath) -> Guarded<E> {
        let peer = new.addresses.map_or((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0).into(), |(_, peer)| peer);
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let (engine, controller) = (self.choose)(peer);
        let clock = Clock::new(*self.origin.get_or_init(|| new.now), new.now);
        let mtu = u32::try_from(new.mtu).unwrap_or(u32::MAX);
        let seed = self.seed.wrapping_add(self.made.fetch_add(1, Ordering::Relaxed));
        let path = Path { now: clock.now(), mtu, seed };
        let flow = {
            let new = NewFlow { peer, engine: &engine, controller: &controller, path: &path };
            let recorder = self.record.as_ref().and_then(|record| record(&new));
            match &self.join {
                Some(join) => join(&new, recorder),
                None => Flow::alone_with(engine.clone(), &path, recorder),
            }
        };
        Guarded::new(crate::path::Path::new(flow, clock, mtu), &controller)
    }
}

impl<E: Engine> quiche::external::Algorithm for Definition<E> {
    fn start(&self, path: &NewPath) -> Option<Box<dyn Controller>> {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.make(path)));
        if made.is_err() {
            log::error!("a congestion controller panicked at its start; the path is left to quiche's CUBIC");
        }
        Some(Box::new(made.ok()?))
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
