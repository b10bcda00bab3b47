//! Making flows one after the other for a stack that does not report their peers.

use std::fmt;
use std::hash::Hash;
use std::net::{Ipv4Addr, SocketAddr};

use windlass_controllers::{ConfiguredController, Path, Time};

#[cfg(feature = "config")]
use crate::config::{Config, ConfigError};
use crate::flow_builder::{Choice, FlowBuilder};
use crate::{ChoiceError, Flow, Groups, NamedController, Peer, Recorder, SavedPaths, Stack};

/// Makes flows of one controller, all to one peer.
pub struct FlowFactory<C: ConfiguredController = NamedController> {
    builder: FlowBuilder<C>,
    choice: Choice<C>,
    peer: SocketAddr,
}

impl FlowFactory {
    /// A factory of flows of the catalogue's controller `text`: a name, or
    /// `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal `stack` does not report.
    pub fn named(text: &str, stack: &Stack) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::named(text, stack)?, &NO_PEER.into()))
    }

    /// A factory of what `config` says for `peer`, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal `stack` does not report, or its recordings
    /// cannot be written.
    #[cfg(feature = "config")]
    pub fn from_config(config: &Config, peer: &Peer<'_>, stack: &Stack) -> Result<Self, ConfigError> {
        Ok(Self::of(FlowBuilder::from_config(config, stack)?.recorded_by(config, stack)?, peer))
    }
}

/// The peer where the stack reports none.
const NO_PEER: (Ipv4Addr, u16) = (Ipv4Addr::UNSPECIFIED, 0);

impl<C: ConfiguredController> FlowFactory<C> {
    /// A factory of flows of `controller`: [`Static`](windlass_controllers::Static) makes one of
    /// any controller.
    ///
    /// # Errors
    /// The controller needs a signal `stack` does not report.
    pub fn new(controller: C, stack: &Stack) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::new(controller, stack)?, &NO_PEER.into()))
    }

    fn of(builder: FlowBuilder<C>, peer: &Peer<'_>) -> Self {
        FlowFactory { choice: builder.choose(peer), builder, peer: peer.address }
    }

    /// Puts every flow into the group of `key`. Without this, the flows of a controller
    /// that needs groups form one group per factory.
    #[must_use]
    pub fn group<K>(self, groups: &Groups<C, K>, key: K) -> Self
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
    {
        FlowFactory { builder: self.builder.group(groups, move |_| key.clone()), ..self }
    }

    /// Gives every flow the recorder `make` returns for it. Together with the
    /// [`Path`] the flow starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(self, make: impl Fn(&Path) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        FlowFactory { builder: self.builder.record_with(move |new| make(new.path)), ..self }
    }

    /// Has every flow resume what earlier ones observed of the path, which is kept in `paths` under `key`; see
    /// [`FlowBuilder::resume`].
    #[must_use]
    pub fn resume<K>(self, paths: &SavedPaths<K>, key: K) -> Self
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
    {
        FlowFactory { builder: self.builder.resume(paths, move |_| key.clone()), ..self }
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The
    /// default differs from factory to factory.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        FlowFactory { builder: self.builder.seed(seed), ..self }
    }

    /// The configured controller of every flow this factory makes.
    #[must_use]
    pub fn controller(&self) -> &C {
        &self.choice.controller
    }

    /// A flow that starts `now` on a path of datagrams of `mtu` bytes.
    #[must_use]
    pub fn make(&self, now: Time, mtu: u32) -> Flow<C> {
        self.builder.start(&self.choice, self.peer.into(), now, mtu)
    }
}

impl<C: ConfiguredController> fmt::Debug for FlowFactory<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowFactory")
            .field("controller", self.controller())
            .field("builder", &self.builder)
            .finish_non_exhaustive()
    }
}
