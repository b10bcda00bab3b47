//! What a path needs to become a flow.

use std::fmt;
use std::net::SocketAddr;

use windlass_adapter::{Choice, Flow, FlowBuilder, NewFlow, Recorder};
use windlass_controllers::{ConfiguredController, Path, Time, View};

use crate::qlog::Place;

/// Everything decided of a flow before its first packet leaves.
#[derive(Clone)]
pub(crate) struct Boarding<E: ConfiguredController> {
    pub(crate) policy: FlowBuilder<E>,
    pub(crate) choice: Choice<E>,
    pub(crate) peer: SocketAddr,
    pub(crate) seed: u64,
    /// The log of the flow's connection.
    pub(crate) log: Option<Place>,
}

impl<E: ConfiguredController> Boarding<E> {
    pub(crate) fn engine(&self) -> &E {
        &self.choice.engine
    }

    /// The window the flow will start with, bytes.
    pub(crate) fn initial_window(&self, mtu: u32) -> u64 {
        let engine = self.engine();
        let state = engine.start(&Path { now: Time::ZERO, mtu, seed: self.seed });
        engine.decide(&state, View::solo(&engine.group())).cwnd
    }

    /// The flow, which starts `now` on a path of datagrams of `mtu` bytes.
    pub(crate) fn board(&self, now: Time, mtu: u32) -> Flow<E> {
        let path = Path { now, mtu, seed: self.seed };
        let new = NewFlow { peer: self.peer.into(), engine: self.engine(), controller: &self.choice.text, path: &path };
        let logged = self.log.as_ref().map(|log| log.recorder(&new, self.initial_window(mtu)));
        let recorder: Option<Box<dyn Recorder>> = match (self.policy.recorder(&new), logged) {
            (Some(own), Some(logged)) => Some(Box::new([own, logged])),
            (own, logged) => own.or(logged),
        };
        self.policy.join(&new, recorder)
    }
}

impl<E: ConfiguredController> fmt::Debug for Boarding<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boarding")
            .field("choice", &self.choice)
            .field("peer", &self.peer)
            .field("seed", &self.seed)
            .field("policy", &self.policy)
            .field("logged", &self.log.is_some())
            .finish()
    }
}
