//! Making controllers for the connections of an endpoint.

use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};

use s2n_quic::provider::congestion_controller::{self, PathInfo};
use s2n_quic::provider::event::events::SocketAddress;
use windlass_adapter::config::{Config, ConfigError};
use windlass_adapter::{ChoiceError, FlowBuilder, Groups, NewFlow, Recorder, Stack};
use windlass_controllers::{Algorithm, ConfiguredController};

use crate::boarding::Boarding;
use crate::qlog::Recorders;
use crate::{Controller, PROVIDES, Qlog, STACK};

const THIS: Stack = Stack { name: STACK, provides: PROVIDES };

/// Makes a controller for every path of every connection of an endpoint: what
/// `with_congestion_controller` takes.
#[derive(Clone)]
pub struct Endpoint<E: ConfiguredController = Algorithm> {
    policy: FlowBuilder<E>,
    logs: Option<Recorders>,
}

impl Endpoint {
    /// An endpoint whose connections all use the catalogue's controller `text`: a name, or
    /// `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal s2n-quic does not report.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::named(text, &THIS)?))
    }

    /// An endpoint whose connections use what `config` says for their peers' addresses,
    /// with its groups. Where the file asks for recording, a [`Qlog`] made by
    /// [`Qlog::from_config`] does it, packets and all; see [`record_in`](Self::record_in).
    ///
    /// # Errors
    /// A controller of the file needs a signal s2n-quic does not report, or a rule goes by
    /// host names, which s2n-quic does not tell a congestion controller.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.check_addresses_suffice(STACK)?;
        Ok(Self::of(FlowBuilder::from_config(config, &THIS)?))
    }
}

impl<E: ConfiguredController> Endpoint<E> {
    /// An endpoint whose connections all use `engine`: [`Static`](crate::Static) makes one of
    /// any controller.
    ///
    /// # Errors
    /// The controller needs a signal s2n-quic does not report.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::new(engine, &THIS)?))
    }

    fn of(policy: FlowBuilder<E>) -> Self {
        Endpoint { policy, logs: None }
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer. Strength
    /// and other shared facts can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(self, groups: &Groups<E, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        Endpoint { policy: self.policy.group(groups, key_of), ..self }
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        Endpoint { policy: self.policy.record_with(make), ..self }
    }

    /// Records every flow in the log of its connection, beside its packets. `qlog` has to be
    /// the event subscriber of the endpoint that takes this as its congestion controller,
    /// and of no other; paths that connections move to later are not recorded.
    #[must_use]
    pub fn record_in(mut self, qlog: &Qlog) -> Self {
        self.logs = Some(qlog.recorders());
        self
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from endpoint to endpoint.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Endpoint { policy: self.policy.seed(seed), ..self }
    }

    /// A controller for a path to `peer`, of datagrams of `mtu` bytes.
    pub fn make(&mut self, peer: SocketAddr, mtu: u16) -> Controller<E> {
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let boarding = Boarding {
            choice: self.policy.choose(&peer.into()),
            peer,
            seed: self.policy.next_seed(),
            policy: self.policy.clone(),
            log: self.logs.as_ref().and_then(Recorders::take),
        };
        Controller::new(boarding, mtu)
    }
}

impl<E: ConfiguredController> congestion_controller::Endpoint for Endpoint<E> {
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

impl<E: ConfiguredController> fmt::Debug for Endpoint<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("policy", &self.policy)
            .field("logged", &self.logs.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
