//! What a name stands for.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use windlass_adapter::config::{Config, ConfigError, Peer, Recording};
use windlass_adapter::{
    Choice, ChoiceError, Flow, FlowBuilder, Groups, LogWriter, NewFlow, QlogRecorder, Recorder, Stack, require,
};
use windlass_controllers::{Algorithm, ConfiguredController, Signals, Time};

use crate::flow::Guarded;
use crate::packets::{self, NewTrace, Place};
use crate::{AT_MOST, PROVIDES, STACK, WITH_ECN, WITH_ONE_WAY_DELAY};

/// MsQuic with everything turned on.
const THIS: Stack = Stack { name: STACK, provides: AT_MOST };

/// A connection that needs a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewConnection<'a> {
    pub(crate) now: Time,
    pub(crate) peer: Peer<'a>,
    pub(crate) mtu: u32,
    pub(crate) in_flight: u32,
    pub(crate) app: Option<&'a str>,
    pub(crate) ecn: bool,
    pub(crate) one_way_delay: bool,
    /// Its number, where MsQuic tells of its packets.
    pub(crate) packets: Option<u64>,
    pub(crate) client: bool,
}

impl NewConnection<'_> {
    fn provides(&self) -> Signals {
        let ecn = if self.ecn { WITH_ECN } else { Signals::NONE };
        let one_way = if self.one_way_delay { WITH_ONE_WAY_DELAY } else { Signals::NONE };
        PROVIDES.and(ecn).and(one_way)
    }

    /// The connection as one whose packets are told.
    fn traced(&self) -> Option<NewTrace<'_>> {
        let NewConnection { now, peer, mtu, app, client, .. } = *self;
        self.packets.map(|connection| NewTrace { connection, peer, client, app, now, mtu })
    }

    /// Checks that the connection reports what `engine` needs.
    fn check<E: ConfiguredController>(&self, engine: &E, controller: &str) -> Result<(), String> {
        let provides = self.provides();
        require(engine, controller, STACK, provides).map_err(|error| {
            let missing = engine.needs().without(provides);
            let mut text = format!("{error}, or turn on in QUIC_SETTINGS");
            let settings = [(WITH_ECN, " EcnEnabled"), (WITH_ONE_WAY_DELAY, " OneWayDelayEnabled")];
            for (signals, setting) in settings {
                if missing.without(signals) != missing {
                    text.push_str(setting);
                }
            }
            text
        })
    }
}

/// What starts flows.
pub(crate) trait Start: Send + Sync {
    /// A flow for a connection.
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String>;
}

/// What a name stands for: a controller, with its groups and recorders. Goes to
/// `register_as`.
pub struct Definition<E: ConfiguredController = Algorithm> {
    policy: FlowBuilder<E>,
    /// A file that says where flows are recorded.
    recording: Option<Config>,
    origin: Box<dyn Fn(&Peer<'_>) -> Time + Send + Sync>,
}

impl<E: ConfiguredController> From<FlowBuilder<E>> for Definition<E> {
    fn from(policy: FlowBuilder<E>) -> Self {
        Definition { policy, recording: None, origin: Box::new(|_| Time::ZERO) }
    }
}

impl Definition {
    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal MsQuic never reports.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        FlowBuilder::named(text, &THIS).map(Definition::from)
    }

    /// What `config` says for each peer, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal MsQuic never reports, or recordings cannot be
    /// written.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let policy = FlowBuilder::from_config(config, &THIS)?.recorded_by(config, &THIS)?;
        let recording = config.recording().map(|_| config.clone());
        Ok(Definition { recording, ..Definition::from(policy) })
    }
}

impl<E: ConfiguredController> Definition<E> {
    /// `engine`: [`Static`](crate::Static) makes one of any controller.
    ///
    /// # Errors
    /// The controller needs a signal MsQuic never reports.
    pub fn new(engine: E) -> Result<Self, ChoiceError> {
        FlowBuilder::new(engine, &THIS).map(Definition::from)
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer's address.
    /// Strength and other shared facts can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(mut self, groups: &Groups<E, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        self.policy = self.policy.group(groups, key_of);
        self
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(mut self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        self.policy = self.policy.record_with(make);
        self
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from definition to definition.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.policy = self.policy.seed(seed);
        self
    }

    /// What `choose` returns for each peer: an engine, and its name as a user types it. A
    /// connection that lacks a signal the engine needs is refused as with any other.
    #[must_use]
    pub fn choosing(choose: impl Fn(&Peer<'_>) -> (E, Arc<str>) + Send + Sync + 'static) -> Self {
        let choice = move |peer: &Peer<'_>| {
            let (engine, text) = choose(peer);
            Choice { controller: engine, text }
        };
        FlowBuilder::choosing(choice).into()
    }

    /// Counts time from where `origin` says for a peer, in what controllers and recorders are
    /// told; MsQuic's clock is the monotonic one on Linux.
    #[must_use]
    pub fn since(mut self, origin: impl Fn(&Peer<'_>) -> Time + Send + Sync + 'static) -> Self {
        self.origin = Box::new(origin);
        self
    }

    /// Has `join` make every flow, alone or in a group, of what is chosen and recorded.
    #[must_use]
    pub fn join_with(
        mut self,
        join: impl Fn(&NewFlow<'_, E>, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync + 'static,
    ) -> Self {
        self.policy = self.policy.join_with(join);
        self
    }
}

impl<E: ConfiguredController> Definition<E> {
    /// Where a file says that flows are recorded.
    pub(crate) fn spool(&self) -> Option<LogWriter> {
        self.recording.as_ref()?.recording()?.open().ok()
    }

    /// What records a flow: beside the packets of its connection if those are logged where the
    /// flow would be, or would not.
    fn recorder(&self, new: &NewFlow<'_, E>, packets: Option<Place>) -> Option<Box<dyn Recorder>> {
        let level = self.recording.as_ref().and_then(Config::recording).map(Recording::level);
        match (packets, level) {
            (Some(place), Some(level)) => {
                let recorder = QlogRecorder::new(place.trace, level, new.controller, new.text, new.path);
                Some(Box::new(recorder.without_packet_lost().without_mtu_updated()))
            }
            _ => self.policy.recorder(new),
        }
    }
}

impl<E: ConfiguredController> Start for Definition<E> {
    fn start(&self, new: &NewConnection<'_>) -> Result<Guarded, String> {
        let choice = self.policy.choose(&new.peer);
        new.check(&choice.controller, &choice.text)?;
        let origin = (self.origin)(&new.peer);
        let now = Time(new.now.since(origin).0);
        let start = windlass_controllers::Path { now, mtu: new.mtu, seed: self.policy.next_seed() };
        let flow = NewFlow { peer: new.peer, controller: &choice.controller, text: &choice.text, path: &start };
        let traced = new.traced();
        let place = traced.and_then(|traced| packets::place_of(&traced));
        let recorded = place.is_some() && self.recording.is_some();
        let flow = self.policy.join(&flow, self.recorder(&flow, place));
        if let Some(traced) = traced {
            packets::name(&traced, &choice.text, flow.with_decision(|decision| decision.cwnd), recorded);
        }
        let path = crate::path::Path::new(flow, now, new.mtu, new.in_flight).since(origin);
        Ok(Guarded::new(Box::new(path), choice.text))
    }
}

impl<E: ConfiguredController> fmt::Debug for Definition<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.policy).finish()
    }
}

/// Definitions of this program, by name.
static NAMED: RwLock<BTreeMap<String, Arc<dyn Start>>> = RwLock::new(BTreeMap::new());

/// Has this plugin take `name` for `definition`, before the catalogue; for names not asked
/// for yet.
pub fn define_as<E: ConfiguredController>(name: &str, definition: Definition<E>) {
    NAMED.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(definition));
}

/// What `text` stands for.
pub(crate) fn find(text: &str) -> Result<Arc<dyn Start>, String> {
    if let Some(named) = NAMED.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(Arc::clone(named));
    }
    match Definition::named(text) {
        Ok(definition) => Ok(Arc::new(definition)),
        Err(error) => Err(format!("controller {text:?}: {error}")),
    }
}
