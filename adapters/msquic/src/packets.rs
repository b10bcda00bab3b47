//! qlog of every packet of MsQuic's connections, for any congestion control, from MsQuic's own
//! trace points. Only an MsQuic built with the feature `packet-qlog` has them; without it nothing
//! is logged.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use windlass_abi::msquic::{Trace as Event, trace};
use windlass_adapter::config::Peer;
use windlass_adapter::{LogWriter, SharedTrace};
use windlass_controllers::Time;
use windlass_qlog::{Detail, Header, Profile, Trace, Vantage};

use crate::STACK;
use crate::flow::warn;
use crate::process::{call_at_exit, environment};

mod connection_log;

#[cfg(feature = "native")]
pub use crate::native::{log_to_directory, log_with};
use connection_log::ConnectionLog;

/// The writer of one connection's qlog.
pub type Output = Box<dyn Write + Send>;

/// Not 0 while packets are logged. The plugin's table points to it.
pub(crate) static TRACING: AtomicU32 = AtomicU32::new(0);

/// A connection whose log begins.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionInfo<'a> {
    /// `QUIC_STATISTICS_V2.CorrelationId`, unique in this process.
    pub connection: u64,
    /// Address and, for clients, host name of the peer.
    pub peer: Peer<'a>,
    /// Whether this end is the client.
    pub client: bool,
    /// `QUIC_REGISTRATION_CONFIG.AppName`.
    pub app: Option<&'a str>,
    /// Now, on MsQuic's clock.
    pub now: Time,
    /// A full datagram, bytes of UDP payload.
    pub mtu: u32,
}

/// The trace that the packets of a connection are written to.
#[derive(Clone)]
pub struct Destination {
    /// The trace; others may write to it as well.
    pub trace: SharedTrace<Output>,
    /// Time zero of the trace, on MsQuic's clock.
    pub origin: Time,
    /// Records dropped so far because the disk was too slow.
    pub dropped: Arc<AtomicU64>,
    /// Whether the trace already names the controller.
    pub has_controller: bool,
    /// Whether a recorder of the flow writes the controller's state and decisions to the trace.
    pub has_recorder: bool,
}

type Destinations = dyn Fn(&ConnectionInfo<'_>) -> Option<Destination> + Send + Sync;
/// Sources of destinations. A connection gets the first destination that one of them returns.
static SOURCES: RwLock<Vec<Arc<Destinations>>> = RwLock::new(Vec::new());
/// Logs by connection; `None` if no source has a destination for it.
static LOGS: RwLock<BTreeMap<u64, Option<Arc<Mutex<ConnectionLog>>>>> = RwLock::new(BTreeMap::new());

/// [`log_with`] without adding the plugin, which calls this itself.
pub(crate) fn add_source(source: impl Fn(&ConnectionInfo<'_>) -> Option<Destination> + Send + Sync + 'static) {
    SOURCES.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(source));
    TRACING.store(1, Ordering::Relaxed);
}

/// Logs every new connection to a file of its own in `directory`, for the plugin, which calls this itself.
pub(crate) fn open_directory(directory: PathBuf) -> io::Result<LogWriter> {
    let writer = LogWriter::open(directory)?;
    flush_at_exit();
    let files = writer.clone();
    add_source(move |new| Some(new_file(&files, new)));
    Ok(writer)
}

/// A new file of `writer` for a connection.
pub(crate) fn new_file(writer: &LogWriter, new: &ConnectionInfo<'_>) -> Destination {
    static STARTED: LazyLock<u128> =
        LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis());
    let end = if new.client { "client" } else { "server" };
    let process = format!("{}-{}", *STARTED, std::process::id());
    let name = format!("{STACK}-{process}-{end}-{}.sqlog", new.connection);
    let file = writer.file(&name);
    let dropped = file.lost();
    let (title, group) = (format!("{STACK} to {}", new.peer.address), format!("{process}-{}", new.connection));
    let header = Header {
        title: &title,
        vantage: if new.client { Vantage::Client } else { Vantage::Server },
        name: STACK,
        group_id: &group,
        origin_ns: new.now.0,
        ..Header::default()
    };
    let mut trace = Trace::new(Box::new(file) as Output, Profile::Ietf, Detail::Packets, &header);
    // The writer never drops the first record of a file, without which the rest cannot be read.
    let _ = trace.flush();
    Destination { trace: trace.into(), origin: Time::ZERO, dropped, has_controller: false, has_recorder: false }
}

/// Writes everything when the process ends, which does not wait for the writers' threads.
pub(crate) fn flush_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        call_at_exit(|| {
            TRACING.store(0, Ordering::Relaxed);
            for log in LOGS.read().unwrap_or_else(PoisonError::into_inner).values().flatten() {
                log.lock().unwrap_or_else(PoisonError::into_inner).flush();
            }
            LogWriter::wait_for_all();
        });
    });
}

/// Logs to the directory of the environment variable `MSQUIC_QLOG`, if it is set.
pub(crate) fn read_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(directory) = environment(c"MSQUIC_QLOG").filter(|directory| !directory.is_empty()) else { return };
        if let Err(error) = open_directory(PathBuf::from(&directory)) {
            warn(&format!("MSQUIC_QLOG is {}: {error}; no packets are logged", directory.display()));
        }
    });
}

/// The log of a connection, if it has one.
fn log_of(connection: u64) -> Option<Arc<Mutex<ConnectionLog>>> {
    LOGS.read().unwrap_or_else(PoisonError::into_inner).get(&connection).cloned().flatten()
}

/// The destination of a connection's packets, if it has one. Opens the log of a new connection.
pub(crate) fn destination_of(new: &ConnectionInfo<'_>) -> Option<Destination> {
    open_log(new);
    Some(log_of(new.connection)?.lock().unwrap_or_else(PoisonError::into_inner).destination())
}

/// Writes the controller of a connection to its log, if it has one that does not name it yet.
/// `window` is the initial congestion window, bytes; `has_recorder` is as in [`Destination`].
pub(crate) fn record_controller(new: &ConnectionInfo<'_>, controller: &str, window: u64, has_recorder: bool) {
    if let Some(log) = log_of(new.connection) {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.record_controller(new.now, controller, new.mtu, window, has_recorder);
    }
}

/// Opens the log of a new connection, if a source has a destination for it.
fn open_log(new: &ConnectionInfo<'_>) {
    if TRACING.load(Ordering::Relaxed) == 0 || new.peer.address.port() == 0 {
        return;
    }
    if LOGS.read().unwrap_or_else(PoisonError::into_inner).contains_key(&new.connection) {
        return;
    }
    let sources = SOURCES.read().unwrap_or_else(PoisonError::into_inner).clone();
    let destination = sources.iter().find_map(|source| source(new));
    let log = destination.map(|destination| Arc::new(Mutex::new(ConnectionLog::new(destination, new.mtu))));
    LOGS.write().unwrap_or_else(PoisonError::into_inner).insert(new.connection, log);
}

/// Writes a trace event to the log of its connection. `new` is `None` after the connection's end.
pub(crate) fn record(event: &Event, new: Option<&ConnectionInfo<'_>>, frames: &[u8], controller: Option<&str>) {
    if event.kind == trace::CLOSED {
        drop(LOGS.write().unwrap_or_else(PoisonError::into_inner).remove(&event.connection));
        return;
    }
    let Some(new) = new else { return };
    // Before the first packet MsQuic may not know the peer of a connection.
    if matches!(event.kind, trace::FRAMES | trace::SENT | trace::RECEIVED) {
        open_log(new);
    }
    let Some(log) = log_of(event.connection) else { return };
    let written = catch_unwind(AssertUnwindSafe(|| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.record(Time(event.now_ns), new.mtu, event, frames, controller);
    }));
    if written.is_err() {
        warn(&format!("the log of connection {} ends here", event.connection));
        let before = LOGS.write().unwrap_or_else(PoisonError::into_inner).insert(event.connection, None);
        // Dropping it flushes the writer that panicked.
        let _ = catch_unwind(AssertUnwindSafe(move || drop((log, before))));
    }
}

#[cfg(test)]
mod tests;
