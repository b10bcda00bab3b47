//! quinn and its fork noq: one driver for the API of `quinn-proto`, which `noq-proto` keeps but for a few names.
//!
//! A stack shim implements [`QuinnApi`]: the macro `implement_quinn_api` writes what both crates spell alike, each in its
//! own types, and the stack's module adds what differs. Everything else is generic over the trait.

pub(crate) mod checksum;
mod end;
mod flow;
mod implement;
mod session;
mod setup;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use windlass_adapter::{ChoiceError, Groups, NamedController, Recorder, SavedPaths};
use windlass_controllers::{Path, Signals, Time};
use windlass_network::Codepoint;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{AckPolicy, FlowSpec, Scenario};

use crate::driver::native::NativeDecision;
use crate::driver::sender_log::SenderLog;
use crate::stack::Stack;
use crate::wire;
use crate::{OpenLog, RunError};

pub(crate) use implement::implement_quinn_api;
pub(crate) use session::{implement_packet_key, implement_session};
pub(crate) use setup::{Driver, Natives, Observed, run_live};
pub(crate) use tls::{KeyObserver, TlsConfigs, tls_configs};

/// What the driver needs of a crate with the API of `quinn-proto`: the stack shim.
pub trait QuinnApi: Sized + Send + Sync + 'static {
    /// The stack's name in results.
    const NAME: &'static str;
    /// Its name in results of runs over UDP sockets.
    const LIVE_NAME: &'static str;
    /// The signals it gives a controller.
    const PROVIDES: Signals;
    /// Names after `native:`.
    const NATIVES: &'static [&'static str];

    /// `proto::Endpoint`.
    type Endpoint;
    /// `proto::ConnectionHandle`.
    type Handle: Copy;
    /// `proto::Connection`.
    type Connection;
    /// `proto::ClientConfig`.
    type ClientConfig;
    /// `proto::StreamId`.
    type StreamId: Copy;
    /// `dyn proto::congestion::Controller`.
    type Controller: ?Sized;
    /// `dyn proto::congestion::ControllerFactory`.
    type Factory: ?Sized + Send + Sync;
    /// TLS configuration of both ends.
    type Tls: Send + Sync;
    /// The program that sends over a UDP socket.
    type LiveSender: wire::Sender;
    /// The program that receives over a UDP socket.
    type LiveReceiver: wire::Receiver;

    /// TLS for all runs of this process: keys are made once.
    ///
    /// # Errors
    /// Errors of rcgen and rustls.
    fn tls() -> Result<&'static Self::Tls, String>;

    /// The endpoint and configuration of a client. Only one that sends has `sending`.
    fn client(
        seed: [u8; 32],
        tls: &Self::Tls,
        transport: &Transport,
        sending: Option<Sending<Self>>,
    ) -> (Self::Endpoint, Self::ClientConfig);

    /// The endpoint of a server. Only one that sends has `sending`.
    fn server(seed: [u8; 32], tls: &Self::Tls, transport: &Transport, sending: Option<Sending<Self>>)
    -> Self::Endpoint;

    /// Both ends of a flow over UDP sockets.
    ///
    /// # Errors
    /// There is no socket for one.
    fn live_ends(
        tls: &Self::Tls,
        transport: &Transport,
        factory: Arc<Self::Factory>,
    ) -> io::Result<(Self::LiveSender, Self::LiveReceiver)>;

    /// Starts to connect.
    ///
    /// # Errors
    /// The stack's.
    fn connect(
        endpoint: &mut Self::Endpoint,
        now: Instant,
        config: Self::ClientConfig,
        peer: SocketAddr,
    ) -> Result<(Self::Handle, Self::Connection), String>;

    /// A datagram arrives at an endpoint with at most one `connection`, which it may accept. Returns what is
    /// answered at once.
    ///
    /// # Errors
    /// The reason why a connection was not accepted.
    fn handle(
        endpoint: &mut Self::Endpoint,
        connection: &mut Option<(Self::Handle, Self::Connection)>,
        now: Instant,
        peer: SocketAddr,
        ecn: Codepoint,
        payload: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Sent>, String>;

    /// The next datagram of a connection.
    fn transmit(
        endpoint: &mut Self::Endpoint,
        connection: &mut (Self::Handle, Self::Connection),
        now: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Sent>;

    /// Expiry of the connection's next timer; `None` if none is set.
    fn timeout(connection: &mut Self::Connection) -> Option<Instant>;

    /// Runs the connection's timers that are due.
    fn handle_timeout(connection: &mut Self::Connection, now: Instant);

    /// The next event for the application.
    fn poll(connection: &mut Self::Connection) -> Option<ConnectionEvent>;

    /// Closes the connection with error code 0.
    fn close(connection: &mut Self::Connection, now: Instant);

    /// Opens a stream, if the peer allows one.
    fn open(connection: &mut Self::Connection, way: Way) -> Option<Self::StreamId>;

    /// Accepts a stream, if there is one.
    fn accept(connection: &mut Self::Connection, way: Way) -> Option<Self::StreamId>;

    /// Writes what a stream takes of `chunk`, which keeps the rest. Returns whether it took any.
    fn write(connection: &mut Self::Connection, stream: Self::StreamId, chunk: &mut Bytes) -> bool;

    /// Has a stream send before those of lower priority (0 unless set).
    ///
    /// # Errors
    /// The stack's.
    fn set_priority(connection: &mut Self::Connection, stream: Self::StreamId, priority: i32) -> Result<(), String>;

    /// Resets a stream with error code 0: what was not sent of it, and what was lost, is not sent any more.
    ///
    /// # Errors
    /// The stack's.
    fn reset(connection: &mut Self::Connection, stream: Self::StreamId) -> Result<(), String>;

    /// Ends a stream.
    ///
    /// # Errors
    /// The stack's.
    fn finish(connection: &mut Self::Connection, stream: Self::StreamId) -> Result<(), String>;

    /// Reads what has arrived of a stream, in whatever order, into `take` with its offset. Returns whether the
    /// stream is at its end.
    ///
    /// # Errors
    /// The stack's.
    fn read(
        connection: &mut Self::Connection,
        stream: Self::StreamId,
        take: &mut dyn FnMut(u64, Bytes),
    ) -> Result<bool, String>;

    /// Congestion window, bytes.
    fn window(connection: &Self::Connection) -> u64;

    /// Smoothed RTT.
    fn rtt(connection: &Self::Connection) -> Duration;

    /// Packets sent and packets lost.
    fn packets(connection: &mut Self::Connection) -> (u64, u64);

    /// The factory of a controller of the catalogue.
    ///
    /// # Errors
    /// There is no such controller, or it needs a signal the stack does not report.
    fn catalogue(
        spec: &FlowSpec,
        origin: Instant,
        seed: u64,
        groups: &Groups<NamedController, String>,
        saved_paths: &SavedPaths<String>,
        recorder: impl Fn(&Path) -> Box<dyn Recorder> + Send + Sync + 'static,
    ) -> Result<Arc<Self::Factory>, ChoiceError>;

    /// The factory of the stack's own controller called `name`, with an initial window of ten datagrams of
    /// `payload` bytes; `None` if there is none.
    fn native(name: &str, payload: u16) -> Option<Arc<Self::Factory>>;

    /// `natives` as a factory of the stack.
    fn observed(natives: Natives<Self>) -> Arc<Self::Factory>;

    /// A controller made by `factory`.
    fn build(factory: Arc<Self::Factory>, now: Instant, payload: u16) -> Box<Self::Controller>;

    /// A copy of a native controller, for a path that moved.
    fn copy(native: &Self::Controller) -> Box<Self::Controller>;

    /// The congestion window of a native controller, bytes.
    fn native_window(native: &Self::Controller) -> u64;

    /// Stores what a native controller decided.
    fn note(decision: &NativeDecision, native: &Self::Controller);
}

impl<Q: QuinnApi> Stack for Q {
    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn live_name(&self) -> &'static str {
        Q::LIVE_NAME
    }

    fn provides(&self) -> Signals {
        Q::PROVIDES
    }

    fn natives(&self) -> &'static [&'static str] {
        Q::NATIVES
    }

    fn run(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        Driver::<Q>::run(scenario, log, stop)
    }

    fn run_live(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        run_live::<Q>(scenario, log, stop).map(|report| report.outcome)
    }
}

/// Parts of a sending end.
pub struct Sending<Q: QuinnApi> {
    /// Sees its packets in the clear.
    pub log: Arc<Mutex<SenderLog>>,
    /// Makes its controller.
    pub factory: Arc<Q::Factory>,
}

/// Which ends of a stream send on it (`RFC 9000 §2.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The one that opens it.
    One,
    /// Both.
    Both,
}

/// A datagram an endpoint has written to its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// ECN codepoint of the IP header.
    pub ecn: Codepoint,
    /// Size of its payload, bytes.
    pub bytes: usize,
    /// Destination.
    pub to: SocketAddr,
}

/// Events of a connection for the application.
pub enum ConnectionEvent {
    /// The connection was lost.
    Lost {
        /// True if its idle timeout ended it.
        timed_out: bool,
        /// Error of the stack.
        reason: String,
    },
    /// Something the transfer does not depend on.
    Other,
}

/// How a flow's two ends are configured: nothing but the controller and the scenario's windows limits it, and nothing depends on the day or
/// the machine.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// UDP payload of the first datagrams, bytes.
    pub payload: u16,
    /// The largest UDP payload its datagrams can come to have, bytes.
    pub largest: u16,
    /// Upper bound of path MTU discovery, bytes, where the scenario asks for it.
    pub discover: Option<u16>,
    /// Idle timeout: only a flow whose receiver falls silent is ever given up.
    pub idle_timeout: Option<Duration>,
    /// Ack-eliciting threshold and largest delay the sender asks for (`draft-ietf-quic-ack-frequency`); `None` where
    /// the stack's own policy is the scenario's.
    pub ack_frequency: Option<(u32, Duration)>,
    /// Window of the connection and of each stream, bytes; `None` for as much as the stack can.
    pub receive_window: Option<u32>,
    /// How many unidirectional streams the sender may have open; `None` for the stack's default.
    pub streams: Option<u32>,
    /// Whether several datagrams are sent at once.
    pub segmentation: bool,
}

/// The stack's own receiver: an ACK for every second packet, after 25 ms, at once after a gap.
const OWN_POLICY: AckPolicy = AckPolicy::DELAYED;
/// Streams for groups of objects that may be open at a time, so that the newest group waits for no older one.
const GROUP_STREAMS: u32 = 4096;

impl Transport {
    /// The configuration of `spec`, whose first datagrams have `payload` bytes.
    fn of(spec: &FlowSpec, payload: u16) -> Transport {
        let policy = &spec.ack;
        let asks = (policy.every, policy.max_delay) != (OWN_POLICY.every, OWN_POLICY.max_delay);
        // The stack refuses less than its timers' granularity.
        let max_delay = Duration::from_nanos(policy.max_delay.0).max(Duration::from_millis(1));
        Transport {
            payload,
            // Read with the scenario: no smaller and no larger than QUIC allows.
            largest: spec.discover_packet_bytes.and_then(|bytes| u16::try_from(bytes).ok()).unwrap_or(payload),
            discover: spec.discover_packet_bytes.map(|bytes| u16::try_from(bytes).unwrap_or(u16::MAX)),
            idle_timeout: spec.vanishes.map(|_| Duration::from_nanos(spec.idle_timeout.0)),
            ack_frequency: asks.then(|| (policy.every.saturating_sub(1), max_delay)),
            receive_window: spec.receive_window.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            streams: spec.objects().map(|_| GROUP_STREAMS),
            segmentation: false,
        }
    }
}
