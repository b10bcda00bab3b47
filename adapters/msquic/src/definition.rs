//! Definitions: what the name of a controller stands for.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use windlass_adapter::config::{Config, ConfigError, Peer, Recording};
use windlass_adapter::{
    Choice, ChoiceError, Flow, FlowBuilder, Groups, LogWriter, NamedController, NewFlow, QlogRecorder, Recorder, Stack,
    require,
};
use windlass_controllers::{ConfiguredController, Signals, Time};

use crate::flow::GuardedPath;
use crate::packets::{self, ConnectionInfo, Destination};
use crate::{AT_MOST, PROVIDES, STACK, WITH_ECN, WITH_ONE_WAY_DELAY};

/// MsQuic with all its settings turned on.
const MSQUIC: Stack = Stack { name: STACK, provides: AT_MOST };

/// A connection that needs a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewConnection<'a> {
    pub(crate) now: Time,
    pub(crate) peer: Peer<'a>,
    pub(crate) mtu: u32,
    pub(crate) in_flight: u64,
    pub(crate) app: Option<&'a str>,
    pub(crate) ecn: bool,
    pub(crate) one_way_delay: bool,
    /// `QUIC_STATISTICS_V2.CorrelationId` if MsQuic reports the packets of connections.
    pub(crate) packets: Option<u64>,
    pub(crate) client: bool,
}

impl NewConnection<'_> {
    fn provides(&self) -> Signals {
        let ecn = if self.ecn { WITH_ECN } else { Signals::NONE };
        let one_way = if self.one_way_delay { WITH_ONE_WAY_DELAY } else { Signals::NONE };
        PROVIDES.and(ecn).and(one_way)
    }

    /// The connection as its packet log describes it; `None` if MsQuic reports no packets.
    fn info(&self) -> Option<ConnectionInfo<'_>> {
        let NewConnection { now, peer, mtu, app, client, .. } = *self;
        self.packets.map(|connection| ConnectionInfo { connection, peer, client, app, now, mtu })
    }

    /// Checks that the connection reports the signals that `controller` needs.
    fn check<E: ConfiguredController>(&self, controller: &E, text: &str) -> Result<(), String> {
        let provides = self.provides();
        require(controller, text, STACK, provides).map_err(|error| {
            let missing = controller.needs().without(provides);
            // The program's settings, or its user's.
            let settings = [(WITH_ECN, "EcnEnabled"), (WITH_ONE_WAY_DELAY, "OneWayDelayEnabled")];
            let helps = settings.iter().filter(|(signals, _)| missing.without(*signals) != missing);
            let lines: Vec<String> = helps.map(|(_, setting)| format!("{setting} = true")).collect();
            match &lines[..] {
                [] => error.to_string(),
                lines => format!(
                    "{error}, or put {} into the section [msquic] of the settings file (QUIC_SETTINGS in the program's source)",
                    lines.join(" and ")
                ),
            }
        })
    }
}

/// A definition with any controller.
pub(crate) trait StartFlow: Send + Sync {
    /// Starts the flow of a connection.
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String>;
}

/// A controller with its groups and recorders, for `register_as`.
pub struct Definition<E: ConfiguredController = NamedController> {
    builder: FlowBuilder<E>,
    /// The configuration whose `[recording]` applies to the flows.
    recording: Option<Config>,
    origin: Box<dyn Fn(&Peer<'_>) -> Time + Send + Sync>,
}

impl<E: ConfiguredController> From<FlowBuilder<E>> for Definition<E> {
    fn from(builder: FlowBuilder<E>) -> Self {
        Definition { builder, recording: None, origin: Box::new(|_| Time::ZERO) }
    }
}

impl Definition {
    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal MsQuic never reports.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        FlowBuilder::named(text, &MSQUIC).map(Definition::from)
    }

    /// The controller that `config` selects for each peer, with its groups and recordings.
    ///
    /// # Errors
    /// A controller of the file needs a signal MsQuic never reports, or recordings cannot be
    /// written.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let builder = FlowBuilder::from_config(config, &MSQUIC)?.recorded_by(config, &MSQUIC)?;
        let recording = config.recording().map(|_| config.clone());
        Ok(Definition { recording, ..Definition::from(builder) })
    }

    /// The same without recordings, whatever `config` says of them.
    pub(crate) fn unrecorded(config: &Config) -> Result<Self, ConfigError> {
        FlowBuilder::from_config(config, &MSQUIC).map(Definition::from)
    }
}

impl<E: ConfiguredController> Definition<E> {
    /// `controller` with its parameters; [`Static`](crate::Static) is one for any controller type.
    ///
    /// # Errors
    /// The controller needs a signal MsQuic never reports.
    pub fn new(controller: E) -> Result<Self, ChoiceError> {
        FlowBuilder::new(controller, &MSQUIC).map(Definition::from)
    }

    /// Puts every flow into the group of the key that `key_of` returns for its peer's address.
    /// The weight k and other shared state can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(mut self, groups: &Groups<E, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        self.builder = self.builder.group(groups, key_of);
        self
    }

    /// Gives every flow the recorder that `make` returns for it. A recording together with the path
    /// the flow starts on is enough for a replay.
    #[must_use]
    pub fn record_with(mut self, make: impl Fn(&NewFlow<'_, E>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        self.builder = self.builder.record_with(make);
        self
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from definition to definition.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.builder = self.builder.seed(seed);
        self
    }

    /// The controller that `choose` returns for each peer, with its name as a user types it. A
    /// connection that lacks a signal the controller needs is refused, as with any definition.
    #[must_use]
    pub fn choosing(choose: impl Fn(&Peer<'_>) -> (E, Arc<str>) + Send + Sync + 'static) -> Self {
        let choice = move |peer: &Peer<'_>| {
            let (controller, text) = choose(peer);
            Choice { controller, text }
        };
        FlowBuilder::choosing(choice).into()
    }

    /// Sets time zero of the events of a peer's flow, on MsQuic's clock, which is the monotonic
    /// clock on Linux.
    #[must_use]
    pub fn time_origin(mut self, origin: impl Fn(&Peer<'_>) -> Time + Send + Sync + 'static) -> Self {
        self.origin = Box::new(origin);
        self
    }

    /// Has `join` start every flow, in a group or not, with the controller chosen and its recorder.
    #[must_use]
    pub fn join_with(
        mut self,
        join: impl Fn(&NewFlow<'_, E>, Option<Box<dyn Recorder>>) -> Flow<E> + Send + Sync + 'static,
    ) -> Self {
        self.builder = self.builder.join_with(join);
        self
    }
}

impl<E: ConfiguredController> Definition<E> {
    /// The log writer of the configuration's `[recording]`.
    pub(crate) fn log_writer(&self) -> Option<LogWriter> {
        self.recording.as_ref()?.recording()?.open().ok()
    }

    /// The recorder of a flow. If the packets of its connection are logged, a `[recording]` goes
    /// to the same file.
    fn recorder(&self, new: &NewFlow<'_, E>, packets: Option<Destination>) -> Option<Box<dyn Recorder>> {
        let level = self.recording.as_ref().and_then(Config::recording).map(Recording::level);
        match (packets, level) {
            (Some(destination), Some(level)) => {
                let recorder = QlogRecorder::new(destination.trace, level, new.controller, new.text, new.path);
                Some(Box::new(recorder.without_packet_lost().without_mtu_updated()))
            }
            _ => self.builder.recorder(new),
        }
    }
}

impl<E: ConfiguredController> StartFlow for Definition<E> {
    fn start(&self, new: &NewConnection<'_>) -> Result<GuardedPath, String> {
        let choice = self.builder.choose(&new.peer);
        new.check(&choice.controller, &choice.text)?;
        let origin = (self.origin)(&new.peer);
        let now = Time(new.now.since(origin).0);
        let start = windlass_controllers::Path::new(now, new.mtu, self.builder.next_seed());
        let start = self.builder.path(&choice.controller, &new.peer, start);
        let flow = NewFlow { peer: new.peer, controller: &choice.controller, text: &choice.text, path: &start };
        let info = new.info();
        let destination = info.and_then(|info| packets::destination_of(&info));
        let has_recorder = destination.is_some() && self.recording.is_some();
        let flow = self.builder.join(&flow, self.recorder(&flow, destination));
        if let Some(info) = info {
            packets::record_controller(&info, &choice.text, flow.with_decision(|decision| decision.cwnd), has_recorder);
        }
        let path = crate::path::Path::new(flow, new.now, origin, new.mtu, new.in_flight);
        Ok(GuardedPath::new(Box::new(path), choice.text))
    }
}

impl<E: ConfiguredController> fmt::Debug for Definition<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.builder).finish()
    }
}

/// Definitions of this program, by name.
static DEFINITIONS: RwLock<BTreeMap<String, Arc<dyn StartFlow>>> = RwLock::new(BTreeMap::new());

/// Defines `name`, which takes precedence over the catalogue. A name that was registered before
/// keeps its definition.
pub fn define_as<E: ConfiguredController>(name: &str, definition: Definition<E>) {
    DEFINITIONS.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(definition));
}

/// The definition of `text`: one of this program, or a controller of the catalogue.
pub(crate) fn find(text: &str) -> Result<Arc<dyn StartFlow>, String> {
    if let Some(definition) = DEFINITIONS.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(Arc::clone(definition));
    }
    match Definition::named(text) {
        Ok(definition) => Ok(Arc::new(definition)),
        Err(error) => Err(format!("controller {text:?}: {error}")),
    }
}
