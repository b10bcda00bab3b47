//! Making flows: one after the other, of one controller, for one stack.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_controllers::{Algorithm, Engine, Path, Signals, Time};

#[cfg(feature = "config")]
use crate::config::{Config, ConfigError, Peer};
use crate::{ChoiceError, Flow, Groups, Recorder, choose, require};

type Join<E> = Arc<dyn Fn(E, &Path, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync>;
type Record = Arc<dyn Fn(&Path) -> Option<Box<dyn Recorder>> + Send + Sync>;

/// A stack as far as choosing a controller for it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Its name in errors and logs.
    pub name: &'static str,
    /// What it reports to a controller, with the bookkeeping of its adapter.
    pub provides: Signals,
}

/// Makes flows that `stack` can run.
pub struct Maker<E: Engine = Algorithm> {
    engine: E,
    join: Option<Join<E>>,
    record: Option<Record>,
    seed: u64,
    made: AtomicU64,
}

impl Maker {
    /// A maker of flows of the catalogue's controller `text`: a name, or
    /// `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal `stack` does not report.
    pub fn named(text: &str, stack: &Stack) -> Result<Self, ChoiceError> {
        Ok(Self::unchecked(choose(text, stack.name, stack.provides)?))
    }

    /// A maker of what `config` says for `peer`, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal `stack` does not report, or its recordings
    /// cannot be written.
    #[cfg(feature = "config")]
    pub fn from_config(config: &Config, peer: &Peer<'_>, stack: &Stack) -> Result<Self, ConfigError> {
        config.check(stack.name, stack.provides)?;
        let (chosen, address, stack) = (config.choose(peer).clone(), peer.address, *stack);
        let mut maker = Self::unchecked(chosen.algorithm);
        if let Some(recording) = config.recording() {
            let (spool, config) = (recording.open()?, config.clone());
            maker.record = Some(Arc::new(move |path| {
                let recording = config.recording()?;
                Some(recording.recorder(&spool, stack.name, &chosen.algorithm, &chosen.text, address, path))
            }));
        }
        let config = config.clone();
        maker.join = Some(Arc::new(move |algorithm, path, recorder| config.join(&algorithm, path, address, recorder)));
        Ok(maker)
    }
}

impl<E: Engine> Maker<E> {
    /// A maker of flows of `engine`: [`Fixed`](windlass_controllers::Fixed) makes one of
    /// any controller.
    ///
    /// # Errors
    /// The controller needs a signal `stack` does not report.
    pub fn new(engine: E, stack: &Stack) -> Result<Self, ChoiceError> {
        require(&engine, engine.name(), stack.name, stack.provides)?;
        Ok(Self::unchecked(engine))
    }

    fn unchecked(engine: E) -> Self {
        let maker =
            Maker { join: None, record: None, seed: RandomState::new().hash_one(0), made: AtomicU64::new(0), engine };
        if maker.engine.needs().contains(Signals::GROUPS) { maker.group(&Groups::default(), ()) } else { maker }
    }

    /// Puts every flow into the group of `key`. Without this, the flows of a controller
    /// that needs groups form one group per maker.
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

    /// Sets the seed of controllers that need randomness; flows count up from it. The
    /// default differs from maker to maker.
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

    /// A flow that starts `now` on a path of datagrams of `mtu` bytes.
    #[must_use]
    pub fn make(&self, now: Time, mtu: u32) -> Flow<E> {
        let nth = self.made.fetch_add(1, Ordering::Relaxed);
        let path = Path { now, mtu, seed: self.seed.wrapping_add(nth) };
        let recorder = self.record.as_ref().and_then(|make| make(&path));
        match &self.join {
            Some(join) => join(self.engine.clone(), &path, recorder),
            None => Flow::alone_with(self.engine.clone(), &path, recorder),
        }
    }
}

impl<E: Engine> fmt::Debug for Maker<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker")
            .field("engine", &self.engine)
            .field("grouped", &self.join.is_some())
            .field("recorded", &self.record.is_some())
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
