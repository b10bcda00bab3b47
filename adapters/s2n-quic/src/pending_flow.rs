//! A path that has not sent yet, with all it needs to become a flow.

use std::fmt;
use std::net::SocketAddr;

#[cfg(feature = "qlog")]
use windlass_adapter::Recorder;
use windlass_adapter::{Choice, Flow, FlowBuilder, NewFlow};
use windlass_controllers::{ConfiguredController, Path, Time, View};

#[cfg(feature = "qlog")]
use crate::qlog::Place;

/// Everything decided of a flow before its first packet leaves.
#[derive(Clone)]
pub(crate) struct PendingFlow<C: ConfiguredController> {
    pub(crate) builder: FlowBuilder<C>,
    pub(crate) choice: Choice<C>,
    pub(crate) peer: SocketAddr,
    pub(crate) seed: u64,
    /// The log of the flow's connection.
    #[cfg(feature = "qlog")]
    pub(crate) log: Option<Place>,
}

impl<C: ConfiguredController> PendingFlow<C> {
    pub(crate) fn controller(&self) -> &C {
        &self.choice.controller
    }

    /// The window the flow will start with, bytes.
    pub(crate) fn initial_window(&self, mtu: u32) -> u64 {
        let controller = self.controller();
        let state = controller.start(&Path::new(Time::ZERO, mtu, self.seed));
        controller.decide(&state, View::solo(&controller.group())).cwnd
    }

    /// The flow, which starts `now` on a path of datagrams of `mtu` bytes.
    pub(crate) fn start(&self, now: Time, mtu: u32) -> Flow<C> {
        let peer = self.peer.into();
        let path = self.builder.path(self.controller(), &peer, Path::new(now, mtu, self.seed));
        let new = NewFlow { peer, controller: self.controller(), text: &self.choice.text, path: &path };
        let recorder = self.builder.recorder(&new);
        #[cfg(feature = "qlog")]
        let recorder = self.with_log(&new, recorder);
        self.builder.join(&new, recorder)
    }

    /// `recorder`, and the log of the flow's connection if it has one.
    #[cfg(feature = "qlog")]
    fn with_log(&self, new: &NewFlow<'_, C>, recorder: Option<Box<dyn Recorder>>) -> Option<Box<dyn Recorder>> {
        let log = self.log.as_ref().map(|log| log.recorder(new, self.initial_window(new.path.mtu)));
        match (recorder, log) {
            (Some(recorder), Some(log)) => Some(Box::new([recorder, log])),
            (recorder, log) => recorder.or(log),
        }
    }
}

impl<C: ConfiguredController> fmt::Debug for PendingFlow<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingFlow")
            .field("choice", &self.choice)
            .field("peer", &self.peer)
            .field("seed", &self.seed)
            .field("builder", &self.builder)
            .finish_non_exhaustive()
    }
}
