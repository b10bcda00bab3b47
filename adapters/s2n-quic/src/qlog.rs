//! qlog of an endpoint's connections, from s2n-quic's own events.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use s2n_quic::provider::event::events::{self, EndpointType};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};
#[cfg(feature = "config")]
use windlass_adapter::config::{Config, ConfigError};
use windlass_adapter::qlog::Level;
use windlass_adapter::{LogWriter, QlogRecorder, Recorder, SharedTrace};
use windlass_controllers::ConfiguredController;
use windlass_qlog::{
    ConnectionId, Detail, Header, Profile, RecoveryParameters, Side, Trace, TransportParameters, Vantage,
};

use crate::{NewFlow, STACK};

mod connection;

pub use connection::Connection;

/// Writer of one connection's qlog.
pub type Output = Box<dyn Write + Send>;

/// A connection about to be logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewConnection {
    /// s2n-quic's number of it, unique for an endpoint.
    pub id: u64,
    /// Whether this endpoint opened it.
    pub client: bool,
}

/// Records dropped of a connection, where its output counts them.
type Lost = Arc<AtomicU64>;
type Outputs = Box<dyn FnMut(&NewConnection) -> Option<(Output, Lost)> + Send>;

/// Writes a qlog file for every connection of an endpoint: packets with their frames,
/// losses, recovery metrics, parameters and congestion states. It is an event subscriber,
/// and composes with others as s2n-quic has it, `.with_event((qlog, mine))?`.
///
/// With [`Endpoint::record_in`](crate::Endpoint::record_in), what the endpoint's controllers
/// get and decide goes into the same files.
pub struct Qlog {
    /// Of all processes' endpoints, this one; `None` where the caller has outputs of its own, so that equal runs give equal
    /// bytes.
    endpoint: Option<String>,
    outputs: Outputs,
    writer: Option<LogWriter>,
    profile: Profile,
    detail: Detail,
    title: String,
    controller: Option<String>,
    recorders: Recorders,
}

impl Qlog {
    /// Writes to files in `directory`, which is made if it is not there. A thread writes
    /// them; what the disk cannot keep up with is dropped by record, counted, and reported in
    /// the file and by [`LogWriter::report`].
    ///
    /// # Errors
    /// The directory cannot be made, or no thread.
    pub fn to_directory(directory: impl Into<PathBuf>) -> io::Result<Qlog> {
        Ok(Self::to_log_writer(LogWriter::open(directory)?))
    }

    /// Writes where `config` says, what it says; `None` if it says nothing of recording.
    ///
    /// # Errors
    /// The directory cannot be made.
    #[cfg(feature = "config")]
    pub fn from_config(config: &Config) -> Result<Option<Qlog>, ConfigError> {
        let Some(recording) = config.recording() else { return Ok(None) };
        let qlog = Self::to_log_writer(recording.open()?);
        qlog.recorders.set_level(recording.level());
        Ok(Some(qlog))
    }

    /// Writes to what `outputs` returns for each connection. They are written to at once:
    /// files belong into [`to_directory`](Self::to_directory).
    #[must_use]
    pub fn to(mut outputs: impl FnMut(&NewConnection) -> Option<Output> + Send + 'static) -> Qlog {
        Self::with(Box::new(move |new| Some((outputs(new)?, Lost::default()))), None)
    }

    fn to_log_writer(writer: LogWriter) -> Qlog {
        let files = writer.clone();
        let endpoint = endpoint();
        let named = endpoint.clone();
        let outputs = move |new: &NewConnection| {
            let end = if new.client { "client" } else { "server" };
            let file = files.file(&format!("{STACK}-{named}-{end}-{}.sqlog", new.id));
            let lost = file.lost();
            Some((Box::new(file) as Output, lost))
        };
        Qlog { endpoint: Some(endpoint), ..Self::with(Box::new(outputs), Some(writer)) }
    }

    fn with(outputs: Outputs, writer: Option<LogWriter>) -> Qlog {
        Qlog {
            endpoint: None,
            outputs,
            writer,
            profile: Profile::Ietf,
            detail: Detail::Packets,
            title: STACK.to_owned(),
            controller: None,
            recorders: Recorders::default(),
        }
    }

    /// Sets the profile; the IETF's by default.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how much is written; every packet by default.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Sets what [`Endpoint::record_in`](crate::Endpoint::record_in) adds; by default
    /// metrics, congestion states, losses and marks, not every step.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        self.recorders.set_level(level);
        self
    }

    /// Sets the title of the files.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.title = title.to_owned();
        self
    }

    /// Names the controller of connections that no windlass endpoint controls, for the file.
    #[must_use]
    pub fn controller(mut self, name: &str) -> Self {
        self.controller = Some(name.to_owned());
        self
    }

    /// What writes the files, if [`to_directory`](Self::to_directory) made it: reports what
    /// was dropped, and waits until all is written.
    #[must_use]
    pub fn log_writer(&self) -> Option<LogWriter> {
        self.writer.clone()
    }

    pub(crate) fn recorders(&self) -> Recorders {
        self.recorders.wanted();
        self.recorders.clone()
    }

    fn begin(&mut self, new: &NewConnection, now: u64) -> Option<Connection> {
        let (output, lost) = (self.outputs)(new)?;
        // s2n-quic counts connections from 0 in each endpoint. A client learns of the original destination connection ID
        // from the server's transport parameters; a server's events do not have it.
        let group = self.endpoint.as_ref().map_or(new.id.to_string(), |endpoint| format!("{endpoint}-{}", new.id));
        let header = Header {
            title: &self.title,
            vantage: if new.client { Vantage::Client } else { Vantage::Server },
            name: STACK,
            group_id: &group,
            origin_ns: now,
            ..Header::default()
        };
        let mut trace = Trace::new(output, self.profile, self.detail, &header);
        // A file's beginning is always taken; if it was dropped the rest would be lost.
        let _ = trace.flush();
        let trace = SharedTrace::from(trace);
        self.recorders.offer(&trace);
        Some(Connection::new(trace, lost, self.controller.clone()))
    }
}

impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlog")
            .field("profile", &self.profile)
            .field("detail", &self.detail)
            .field("title", &self.title)
            .finish_non_exhaustive()
    }
}

/// Hands the file of a connection to its controller. s2n-quic makes the context of a
/// connection's events and then, before anything else, its controller.
#[derive(Clone, Default)]
pub(crate) struct Recorders(Arc<Mutex<Offer>>);

#[derive(Default)]
struct Offer {
    wanted: bool,
    level: Level,
    trace: Option<SharedTrace<Output>>,
}

impl Recorders {
    fn lock(&self) -> std::sync::MutexGuard<'_, Offer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_level(&self, level: Level) {
        self.lock().level = level;
    }

    fn wanted(&self) {
        self.lock().wanted = true;
    }

    fn offer(&self, trace: &SharedTrace<Output>) {
        let mut offer = self.lock();
        offer.trace = offer.wanted.then(|| trace.clone());
    }

    /// The file of the connection whose controller is made now.
    pub(crate) fn take(&self) -> Option<Place> {
        let mut offer = self.lock();
        let level = offer.level;
        offer.trace.take().map(|trace| Place { trace, level })
    }
}

/// The log that a flow is recorded in.
#[derive(Clone)]
pub(crate) struct Place {
    trace: SharedTrace<Output>,
    level: Level,
}

impl Place {
    /// The recorder of a flow that starts.
    pub(crate) fn recorder<C: ConfiguredController>(&self, new: &NewFlow<'_, C>, window: u64) -> Box<dyn Recorder> {
        let parameters = RecoveryParameters {
            initial_congestion_window: Some(window),
            ..RecoveryParameters::rfc9002(new.text, new.path.mtu)
        };
        self.trace.lock().recovery_parameters_set(new.path.now.0, &parameters);
        // s2n-quic's event of a change has its time and the size before; its callback neither.
        let recorder = QlogRecorder::new(self.trace.clone(), self.level, new.controller, new.text, new.path);
        // Of the marks that ACK frames count some are s2n-quic's own (RFC 9002 §8.3).
        Box::new(recorder.without_mtu_updated().with_marks_of_the_network(new.path.now))
    }
}

/// What no other endpoint of this process or another is called: when it began, its process, and which of that it is.
fn endpoint() -> String {
    static ENDPOINTS: AtomicU64 = AtomicU64::new(0);
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{began}-{}-{}", std::process::id(), ENDPOINTS.fetch_add(1, Ordering::Relaxed))
}

/// When, in nanoseconds since the origin of s2n-quic's clock.
fn nanos(meta: &ConnectionMeta) -> u64 {
    u64::try_from(meta.timestamp.duration_since_start().as_nanos()).unwrap_or(u64::MAX)
}

type Context = Option<Connection>;

impl Subscriber for Qlog {
    type ConnectionContext = Context;

    fn create_connection_context(&mut self, meta: &ConnectionMeta, _: &ConnectionInfo<'_>) -> Context {
        let new = NewConnection { id: meta.id, client: matches!(meta.endpoint_type, EndpointType::Client { .. }) };
        self.begin(&new, nanos(meta))
    }

    fn on_connection_started(
        &mut self,
        context: &mut Context,
        meta: &ConnectionMeta,
        event: &events::ConnectionStarted<'_>,
    ) {
        if let Some(connection) = context {
            connection.started(nanos(meta), &event.path);
        }
    }

    fn on_frame_sent(&mut self, context: &mut Context, _: &ConnectionMeta, event: &events::FrameSent) {
        if let Some(connection) = context {
            connection.frame_sent(&event.packet_header, &event.frame);
        }
    }

    fn on_ack_range_sent(&mut self, context: &mut Context, _: &ConnectionMeta, event: &events::AckRangeSent) {
        if let Some(connection) = context {
            connection.range_sent(&event.packet_header, &event.ack_range);
        }
    }

    fn on_ack_delay(&mut self, context: &mut Context, _: &ConnectionMeta, event: &events::AckDelay) {
        if let Some(connection) = context {
            connection.delay_sent(&event.packet_header, event.delay);
        }
    }

    fn on_packet_sent(&mut self, context: &mut Context, meta: &ConnectionMeta, event: &events::PacketSent) {
        if let Some(connection) = context {
            connection.packet_sent(nanos(meta), event);
        }
    }

    fn on_packet_received(&mut self, context: &mut Context, meta: &ConnectionMeta, event: &events::PacketReceived) {
        if let Some(connection) = context {
            connection.packet_received(nanos(meta), event);
        }
    }

    fn on_frame_received(&mut self, context: &mut Context, _: &ConnectionMeta, event: &events::FrameReceived<'_>) {
        if let Some(connection) = context {
            connection.frame_received(&event.packet_header, &event.frame);
        }
    }

    fn on_ack_range_received(
        &mut self,
        context: &mut Context,
        _: &ConnectionMeta,
        event: &events::AckRangeReceived<'_>,
    ) {
        if let Some(connection) = context {
            connection.range_received(&event.packet_header, &event.ack_range);
        }
    }

    fn on_packet_lost(&mut self, context: &mut Context, meta: &ConnectionMeta, event: &events::PacketLost<'_>) {
        if let Some(connection) = context {
            connection.packet_lost(nanos(meta), event);
        }
    }

    fn on_recovery_metrics(
        &mut self,
        context: &mut Context,
        meta: &ConnectionMeta,
        event: &events::RecoveryMetrics<'_>,
    ) {
        if let Some(connection) = context {
            connection.metrics(nanos(meta), event);
        }
    }

    fn on_slow_start_exited(&mut self, context: &mut Context, meta: &ConnectionMeta, _: &events::SlowStartExited) {
        if let Some(connection) = context {
            connection.state(nanos(meta), "congestion_avoidance");
        }
    }

    fn on_bbr_state_changed(&mut self, context: &mut Context, meta: &ConnectionMeta, event: &events::BbrStateChanged) {
        if let Some(connection) = context {
            connection.state(nanos(meta), connection::bbr_state(&event.state));
        }
    }

    fn on_pacing_rate_updated(
        &mut self,
        context: &mut Context,
        meta: &ConnectionMeta,
        event: &events::PacingRateUpdated,
    ) {
        if let Some(connection) = context {
            connection.pacing_rate(nanos(meta), event.bytes_per_second.saturating_mul(8));
        }
    }

    fn on_mtu_updated(&mut self, context: &mut Context, meta: &ConnectionMeta, event: &events::MtuUpdated) {
        if let Some(connection) = context {
            connection.mtu(nanos(meta), event.mtu);
        }
    }

    fn on_transport_parameters_received(
        &mut self,
        context: &mut Context,
        meta: &ConnectionMeta,
        event: &events::TransportParametersReceived<'_>,
    ) {
        let Some(connection) = context else { return };
        let sent = &event.transport_parameters;
        let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).ok();
        let original = sent.original_destination_connection_id.as_ref().and_then(|id| ConnectionId::new(id.bytes));
        let parameters = TransportParameters {
            original_destination_connection_id: original,
            initial_max_data: None,
            initial_max_stream_data_bidi_local: Some(sent.initial_max_stream_data_bidi_local),
            initial_max_stream_data_bidi_remote: Some(sent.initial_max_stream_data_bidi_remote),
            initial_max_stream_data_uni: Some(sent.initial_max_stream_data_uni),
            max_idle_timeout: millis(sent.max_idle_timeout),
            max_ack_delay: millis(sent.max_ack_delay),
            ack_delay_exponent: Some(sent.ack_delay_exponent.into()),
            max_udp_payload_size: Some(sent.max_udp_payload_size),
        };
        connection.aside(nanos(meta), move |now, trace| trace.parameters_set(now, Side::Remote, &parameters));
    }
}
