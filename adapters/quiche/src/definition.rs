//! What a name in quiche stands for: a controller with its groups and recorders.

use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use quiche::external::{Controller, NewPath};
#[cfg(feature = "config")]
use windlass_adapter::config::{Config, ConfigError};
use windlass_adapter::std_time::Clock;
use windlass_adapter::{ChoiceError, FlowBuilder, Groups, NamedController, NewFlow, Recorder, SavedPaths, Stack};
use windlass_controllers::{ConfiguredController, Signals};

use crate::guard::GuardedPath;
use crate::{PROVIDES, PROVIDES_WITH_ECT, STACK};

static SETS_ECT: AtomicBool = AtomicBool::new(false);

/// Declares that this program sets ECT(0) or ECT(1) on the datagrams of its sockets, which
/// quiche leaves to it. Controllers that need ECN can be used from then on. A peer that does
/// not report ECN counts goes unnoticed: its path has no marks.
pub fn sets_ect() {
    SETS_ECT.store(true, Ordering::Relaxed);
}

/// The signals quiche provides in this program.
fn provides() -> Signals {
    if SETS_ECT.load(Ordering::Relaxed) { PROVIDES_WITH_ECT } else { PROVIDES }
}

/// A controller with its groups and recorders, to be given a name by
/// [`register_as`](crate::register_as).
pub struct Definition<E: ConfiguredController = NamedController> {
    flows: FlowBuilder<E>,
    origin: OnceLock<Instant>,
}

/// quiche with the signals it provides in this program.
/// Adds advice to the error for missing CE marks.
fn advised(error: ChoiceError) -> ChoiceError {
    let marks = Signals::ECN.and(Signals::CE_COUNT);
    error.advised(marks, "set ECT(0) or ECT(1) on the program's sockets and call windlass_quiche::sets_ect()")
}

fn stack() -> Stack {
    Stack { name: STACK, provides: provides() }
}

impl Definition {
    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal quiche does not report.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::named(text, &stack()).map_err(advised)?))
    }

    /// The controllers of `config`, chosen by each peer's address, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal quiche does not report, a rule goes by host
    /// names, which quiche does not give a congestion controller, or recordings cannot be
    /// written.
    #[cfg(feature = "config")]
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.check_with_addresses(STACK, stack().provides, advised)?;
        let flows = FlowBuilder::from_config(config, &stack())?.recorded_by(config, &stack())?;
        Ok(Self::of(flows).origin(config.origin()))
    }
}

impl<E: ConfiguredController> Definition<E> {
    /// A controller with its parameters: [`Static`](crate::Static) makes one of any
    /// `windlass_controllers::Controller`.
    ///
    /// # Errors
    /// The controller needs a signal quiche does not report.
    pub fn new(controller: E) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::new(controller, &stack()).map_err(advised)?))
    }

    fn of(flows: FlowBuilder<E>) -> Self {
        Definition { flows, origin: OnceLock::new() }
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer. Weights
    /// and other shared state can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(self, groups: &Groups<E, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        Definition { flows: self.flows.group(groups, key_of), ..self }
    }

    /// Gives every flow the recorder `make` returns for it. Its records
    /// and the path the flow starts on are all that a replay needs.
    #[must_use]
    pub fn record_with(self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        Definition { flows: self.flows.record_with(make), ..self }
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from definition to definition.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Definition { flows: self.flows.seed(seed), ..self }
    }

    /// Has flows resume what earlier ones observed of the path (RFC 9959), which is kept in `paths` under the key that
    /// `key_of` gives for the peer's address. Definitions that share `paths` need the same [`origin`](Self::origin).
    #[must_use]
    pub fn resume<K>(self, paths: &SavedPaths<K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
    {
        Definition { flows: self.flows.resume(paths, move |peer| key_of(peer.address)), ..self }
    }

    /// Sets the origin of time. The default is the start of the first path; definitions that
    /// share groups or logs need the same one.
    #[must_use]
    pub fn origin(mut self, origin: Instant) -> Self {
        self.origin = OnceLock::from(origin);
        self
    }

    fn start_flow(&self, new: &NewPath) -> GuardedPath<E> {
        let peer = new.addresses.map_or((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0).into(), |(_, peer)| peer);
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let peer = peer.into();
        let choice = self.flows.choose(&peer);
        let clock = Clock::new(*self.origin.get_or_init(|| new.now), new.now);
        let mtu = u32::try_from(new.mtu).unwrap_or(u32::MAX);
        let flow = self.flows.start(&choice, peer, clock.latest(), mtu);
        GuardedPath::new(crate::path::Path::new(flow, clock, mtu), &choice.text)
    }
}

impl<E: ConfiguredController> quiche::external::Algorithm for Definition<E> {
    fn start(&self, path: &NewPath) -> Option<Box<dyn Controller>> {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.start_flow(path)));
        if made.is_err() {
            log::error!("a congestion controller panicked at its start; the path is left to quiche's CUBIC");
        }
        Some(Box::new(made.ok()?))
    }
}

impl<E: ConfiguredController> fmt::Debug for Definition<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("flows", &self.flows).finish_non_exhaustive()
    }
}
