//! Making controllers for the connections of an endpoint.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use s2n_quic::provider::congestion_controller::{self, PathInfo};
use s2n_quic::provider::event::events::SocketAddress;
use windlass_adapter::config::{Config, ConfigError};
use windlass_adapter::{ChoiceError, Flow, Groups, Recorder, choose, require};
use windlass_controllers::{Algorithm, Engine, Signals};

use crate::boarding::{Boarding, Choice, Join, Record};
use crate::qlog::Recorders;
use crate::{Controller, NewFlow, PROVIDES, Qlog, STACK};

/// Which controller for which peer.
type Choose<E> = Arc<dyn Fn(SocketAddr) -> Choice<E> + Send + Sync>;

/// Makes a controller for every path of every connection of an endpoint: what
/// `with_congestion_controller` takes.
#[derive(Clone)]
pub struct Endpoint<E: Engine = Algorithm> {
    choose: Choose<E>,
    join: Option<Join<E>>,
    record: Option<Record<E>>,
    logs: Option<Recorders>,
    seed: u64,
    made: u64,
}

impl Endpoint {
    /// An endpoint whose connections all use the catalogue's controller `text`: a name, or
    /// `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal s2n-quic does not report.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        let engine = choose(text, STACK, PROVIDES)?;
        Ok(Self::of(engine, &engine.to_string()))
    }

    /// An endpoint whose connections use what `config` says for their peers' addresses,
    /// with its groups. Where the file asks for recording, a [`Qlog`] made by
    /// [`Qlog::from_config`] does it, packets and all; see [`record_in`](Self::record_in).
    ///
    /// # Errors
    /// A controller of the file needs a signal s2n-quic does not report, or a rule goes by
    /// host names, which s2n-quic does not tell a congestion controller.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.check(STACK, PROVIDES)?;
        config.check_addresses_suffice(STACK)?;
        let groups = config.clone();
        let config = config.clone();
        let mut endpoint = Self::choosing(Arc::new(move |peer| {
            let chosen = config.choose(&peer.into());
            Choice { engine: chosen.algorithm, text: chosen.text.as_str().into() }
        }));
        endpoint.join = Some(Arc::new(move |new, recorder| groups.join(new.engine, new.path, new.peer, recorder)));
        Ok(endpoint)
    }
}

impl<E: Engine> Endpoint<E> {
    /// An endpoint whose connections all use `engine`: [`Fixed`](crate::Fixed) makes one of
    /// any controller.
    ///
    /// # Errors
    /// The controller needs a signal s2n-quic does not report.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        require(&engine, engine.name(), STACK, PROVIDES)?;
        let name = engine.name();
        Ok(Self::of(engine, name))
    }

    fn of(engine: E, text: &str) -> Self {
        let grouped = engine.needs().contains(Signals::GROUPS);
        let choice = Choice { engine, text: text.into() };
        let endpoint = Self::choosing(Arc::new(move |_| choice.clone()));
        if grouped { endpoint.group(&Groups::default(), |peer| peer.ip()) } else { endpoint }
    }

    fn choosing(choose: Choose<E>) -> Self {
        Endpoint { choose, join: None, record: None, logs: None, seed: RandomState::new().hash_one(STACK), made: 0 }
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
        self.join = Some(Arc::new(move |new, recorder| {
            Flow::grouped_with(new.engine.clone(), new.path, &groups, key_of(new.peer), recorder)
        }));
        self
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(mut self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        self.record = Some(Arc::new(move |new| Some(make(new))));
        self
    }

    /// Records every flow in the log of its connection, beside its packets. `qlog` has to be
    /// the event subscriber of the endpoint that takes this as its congestion controller,
    /// and of no other; paths that connections move to later are not recorded.
    #[must_use]
    pub fn record_in(mut self, qlog: &Qlog) -> Self {
        self.logs = Some(qlog.recorders());
        self
    }

    /// Sets the seed of controllers that need randomness. The default differs from
    /// endpoint to endpoint.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A controller for a path to `peer`, of datagrams of `mtu` bytes.
    pub fn make(&mut self, peer: SocketAddr, mtu: u16) -> Controller<E> {
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let boarding = Boarding {
            choice: (self.choose)(peer),
            peer,
            seed: self.seed.wrapping_add(self.made),
            join: self.join.clone(),
            record: self.record.clone(),
            log: self.logs.as_ref().and_then(Recorders::take),
        };
        self.made += 1;
        Controller::new(boarding, mtu)
    }
}

impl<E: Engine> congestion_controller::Endpoint for Endpoint<E> {
    type CongestionController = Controller<E>;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Controller<E> {
        self.make(address(&path.remote_address), path.max_datagram_size)
    }
}

/// An address as the standard library has it. A kind of address this version does not know
/// is none.
pub(crate) fn address(address: &SocketAddress<'_>) -> SocketAddr {
    match *address {
        SocketAddress::IpV4 { ip, port, .. } => (IpAddr::from(*ip), port).into(),
        SocketAddress::IpV6 { ip, port, .. } => (IpAddr::from(*ip), port).into(),
        _ => ([0, 0, 0, 0], 0).into(),
    }
}

impl<E: Engine> fmt::Debug for Endpoint<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("grouped", &self.join.is_some())
            .field("recorded", &(self.record.is_some() || self.logs.is_some()))
            .field("seed", &self.seed)
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
