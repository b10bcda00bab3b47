//! The flow of a connection: its controller, its group, its recorder.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_controllers::parts::careful_resume::resumes;
use windlass_controllers::{ConfiguredController, Path, Signals, Time};

#[cfg(feature = "config")]
use crate::config::{Config, ConfigError};
use crate::saved_paths::PathMemory;
use crate::{ChoiceError, Flow, Groups, NamedController, Peer, Recorder, SavedPaths, Stack, choose, require};

/// Which controller, as a controller and as a user types it.
#[derive(Clone, Debug)]
pub struct Choice<C> {
    /// The configured controller.
    pub controller: C,
    /// The algorithm as a user types it.
    pub text: Arc<str>,
}

/// A flow about to start, for recorders and groups.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow<'a, C: ConfiguredController> {
    /// Address and name of the peer the flow sends to.
    pub peer: Peer<'a>,
    /// The configured controller.
    pub controller: &'a C,
    /// The algorithm as a user types it.
    pub text: &'a str,
    /// The path it starts on.
    pub path: &'a Path,
}

type Choose<C> = Arc<dyn Fn(&Peer<'_>) -> Choice<C> + Send + Sync>;
type Join<C> = Arc<dyn Fn(&NewFlow<'_, C>, Option<Box<dyn Recorder>>) -> Flow<C> + Send + Sync>;
type Record<C> = Arc<dyn Fn(&NewFlow<'_, C>) -> Option<Box<dyn Recorder>> + Send + Sync>;

/// Chooses and starts flows that a stack can run. What is cloned counts its flows together.
#[derive(Clone)]
pub struct FlowBuilder<C: ConfiguredController = NamedController> {
    choose: Choose<C>,
    join: Option<Join<C>>,
    record: Option<Record<C>>,
    saved: Option<Arc<dyn PathMemory>>,
    seed: u64,
    made: Arc<AtomicU64>,
}

impl FlowBuilder {
    /// Flows of the catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal `stack` does not report.
    pub fn named(text: &str, stack: &Stack) -> Result<Self, ChoiceError> {
        Ok(Self::unchecked(choose(text, stack.name, stack.provides)?, text))
    }

    /// Flows of what `config` says for each peer, in its groups.
    ///
    /// # Errors
    /// A controller of the file needs a signal `stack` does not report.
    #[cfg(feature = "config")]
    pub fn from_config(config: &Config, stack: &Stack) -> Result<Self, ConfigError> {
        config.check(stack.name, stack.provides)?;
        let (chosen, groups) = (config.clone(), config.clone());
        let mut builder = Self::choosing(move |peer| {
            let chosen = chosen.choose(peer);
            Choice { controller: chosen.algorithm, text: chosen.text.as_str().into() }
        });
        builder.join =
            Some(Arc::new(move |new, recorder| groups.join(new.controller, new.path, new.peer.address, recorder)));
        if let Some(paths) = config.saved_paths() {
            let (config, stack) = (config.clone(), stack.name);
            builder = builder.resume(paths, move |peer| config.path_key(stack, peer.address.ip().to_canonical()));
        }
        Ok(builder)
    }

    /// Records flows as `config` says, if it does.
    ///
    /// # Errors
    /// Recordings cannot be written.
    #[cfg(feature = "config")]
    pub fn recorded_by(mut self, config: &Config, stack: &Stack) -> Result<Self, ConfigError> {
        if let Some(recording) = config.recording() {
            let (writer, config, stack) = (recording.open()?, config.clone(), stack.name);
            self.record = Some(Arc::new(move |new| {
                let recording = config.recording()?;
                Some(recording.recorder(&writer, stack, new.controller, new.text, new.peer.address, new.path))
            }));
        }
        Ok(self)
    }
}

impl<C: ConfiguredController> FlowBuilder<C> {
    /// Flows of `controller`: [`Static`](windlass_controllers::Static) makes one of any controller.
    ///
    /// # Errors
    /// The controller needs a signal `stack` does not report.
    pub fn new(controller: C, stack: &Stack) -> Result<Self, ChoiceError> {
        let name = controller.name();
        require(&controller, name, stack.name, stack.provides)?;
        Ok(Self::unchecked(controller, name))
    }

    /// Flows of `controller`, which the user called `text` and which the stack can run.
    fn unchecked(controller: C, text: &str) -> Self {
        let grouped = controller.needs().contains(Signals::GROUPS);
        let choice = Choice { controller, text: text.into() };
        let builder = Self::choosing(move |_| choice.clone());
        if grouped { builder.group(&Groups::default(), |peer| peer.ip()) } else { builder }
    }

    /// Flows of what `choose` returns for each peer, which it checks itself.
    pub fn choosing(choose: impl Fn(&Peer<'_>) -> Choice<C> + Send + Sync + 'static) -> Self {
        FlowBuilder {
            choose: Arc::new(choose),
            join: None,
            record: None,
            saved: None,
            seed: RandomState::new().hash_one(0),
            made: Arc::default(),
        }
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer's address.
    /// Weights and other shared state can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(mut self, groups: &Groups<C, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        let groups = groups.clone();
        self.join = Some(Arc::new(move |new, recorder| {
            Flow::grouped_with(new.controller.clone(), new.path, &groups, key_of(new.peer.address), recorder)
        }));
        self
    }

    /// Has `join` make every flow, alone or in a group, of what is chosen and recorded.
    #[must_use]
    pub fn join_with(
        mut self,
        join: impl Fn(&NewFlow<'_, C>, Option<Box<dyn Recorder>>) -> Flow<C> + Send + Sync + 'static,
    ) -> Self {
        self.join = Some(Arc::new(join));
        self
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(mut self, make: impl Fn(&NewFlow<'_, C>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        self.record = Some(Arc::new(move |new| Some(make(new))));
        self
    }

    /// Has flows resume what earlier ones observed of the path (`RFC 9959`), which is kept in `paths` under the key that
    /// `key_of` gives for the peer; flows that share `paths` need times of one origin. Flows of groups, which share more
    /// than that, and of a program's own controllers that ignore `WindowSet` do not resume.
    #[must_use]
    pub fn resume<K>(mut self, paths: &SavedPaths<K>, key_of: impl Fn(&Peer<'_>) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
    {
        self.saved = Some(Arc::new((paths.clone(), key_of)));
        self
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from builder to builder.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Flows of what `adjust` makes of each choice, as a stack with other defaults has it.
    #[must_use]
    pub fn adjusted(mut self, adjust: impl Fn(Choice<C>) -> Choice<C> + Send + Sync + 'static) -> Self {
        let choose = self.choose;
        self.choose = Arc::new(move |peer| adjust(choose(peer)));
        self
    }

    /// The controller of the flows to `peer`.
    #[must_use]
    pub fn choose(&self, peer: &Peer<'_>) -> Choice<C> {
        (self.choose)(peer)
    }

    /// The seed of the next flow.
    #[must_use]
    pub fn next_seed(&self) -> u64 {
        self.seed.wrapping_add(self.made.fetch_add(1, Ordering::Relaxed))
    }

    /// The recorder of a flow, if something records it.
    #[must_use]
    pub fn recorder(&self, new: &NewFlow<'_, C>) -> Option<Box<dyn Recorder>> {
        self.record.as_ref().and_then(|record| record(new))
    }

    fn memory(&self, controller: &C) -> Option<&dyn PathMemory> {
        self.saved.as_deref().filter(|_| !controller.needs().contains(Signals::GROUPS) && resumes(controller))
    }

    /// `path` to `peer`, with what a flow of `controller` may resume of it. The flow has to be [joined](Self::join).
    #[must_use]
    pub fn path(&self, controller: &C, peer: &Peer<'_>, path: Path) -> Path {
        self.memory(controller).map_or(path, |memory| memory.resume(peer, path))
    }

    /// A flow, in its group if it has one.
    #[must_use]
    pub fn join(&self, new: &NewFlow<'_, C>, recorder: Option<Box<dyn Recorder>>) -> Flow<C> {
        let recorder = match self.memory(new.controller) {
            Some(memory) => Some(memory.observe(&new.peer, new.path, recorder)),
            None => recorder,
        };
        match &self.join {
            Some(join) => join(new, recorder),
            None => Flow::ungrouped_with(new.controller.clone(), new.path, recorder),
        }
    }

    /// A flow of `choice` to `peer` that starts `now` on a path of datagrams of `mtu` bytes,
    /// with its group and its recorder.
    #[must_use]
    pub fn start(&self, choice: &Choice<C>, peer: Peer<'_>, now: Time, mtu: u32) -> Flow<C> {
        let path = self.path(&choice.controller, &peer, Path::new(now, mtu, self.next_seed()));
        let new = NewFlow { peer, controller: &choice.controller, text: &choice.text, path: &path };
        self.join(&new, self.recorder(&new))
    }
}

impl<C: ConfiguredController> fmt::Debug for FlowBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowBuilder")
            .field("grouped", &self.join.is_some())
            .field("recorded", &self.record.is_some())
            .field("resumes", &self.saved.is_some())
            .field("seed", &self.seed)
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}
