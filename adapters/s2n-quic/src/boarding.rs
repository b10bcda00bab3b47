//! What a path needs to become a flow.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use windlass_adapter::{Flow, Recorder};
use windlass_controllers::{Engine, Path, Time, View};

use crate::qlog::Place;

/// Which controller, as an engine and as a user types it.
#[derive(Clone, Debug)]
pub(crate) struct Choice<E> {
    pub(crate) engine: E,
    pub(crate) text: Arc<str>,
}

/// A flow about to start, for whoever records it.
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

/// Puts a flow to a peer into its group.
pub(crate) type Join<E> = Arc<dyn Fn(&NewFlow<'_, E>, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync>;
/// Makes a flow's recorder.
pub(crate) type Record<E> = Arc<dyn Fn(&NewFlow<'_, E>) -> Option<Box<dyn Recorder>> + Send + Sync>;

/// Everything decided of a flow before its first packet leaves.
#[derive(Clone)]
pub(crate) struct Boarding<E: Engine> {
    pub(crate) choice: Choice<E>,
    pub(crate) peer: SocketAddr,
    pub(crate) seed: u64,
    pub(crate) join: Option<Join<E>>,
    pub(crate) record: Option<Record<E>>,
    /// The log of the flow's connection.
    pub(crate) log: Option<Place>,
}

impl<E: Engine> Boarding<E> {
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
        let new = NewFlow { peer: self.peer, engine: self.engine(), controller: &self.choice.text, path: &path };
        let own = self.record.as_ref().and_then(|record| record(&new));
        let logged = self.log.as_ref().map(|log| log.recorder(&new, self.initial_window(mtu)));
        let recorder: Option<Box<dyn Recorder>> = match (own, logged) {
            (Some(own), Some(logged)) => Some(Box::new([own, logged])),
            (own, logged) => own.or(logged),
        };
        match &self.join {
            Some(join) => join(&new, recorder),
            None => Flow::alone_with(self.engine().clone(), &path, recorder),
        }
    }
}

impl<E: Engine> fmt::Debug for Boarding<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boarding")
            .field("choice", &self.choice)
            .field("peer", &self.peer)
            .field("seed", &self.seed)
            .field("grouped", &self.join.is_some())
            .field("recorded", &(self.record.is_some() || self.log.is_some()))
            .finish()
    }
}
