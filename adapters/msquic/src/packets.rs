//! Files of every packet of MsQuic's connections, whatever controls them, from MsQuic's own trace
//! points. Only an MsQuic built with the feature `packet-qlog` tells of packets; with any other
//! there are no files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use windlass_adapter::config::Peer;
use windlass_adapter::{LogWriter, SharedTrace};
use windlass_controllers::Time;
use windlass_msquic_abi as abi;
use windlass_qlog::{Detail, Header, Profile, Trace, Vantage};

use crate::STACK;
use crate::flow::say;
use crate::path::time;

mod file;

use file::File;

/// Where the qlog of one connection goes.
pub type Output = Box<dyn Write + Send>;

/// Not 0 while packets are wanted; what the plugin's table points to.
pub(crate) static TRACING: AtomicU32 = AtomicU32::new(0);

/// A connection whose first packet is about to be told.
#[derive(Clone, Copy, Debug)]
pub struct NewTrace<'a> {
    /// `QUIC_STATISTICS_V2.CorrelationId`, unique in this process.
    pub connection: u64,
    /// Who is at the other end.
    pub peer: Peer<'a>,
    /// Whether this end opened it.
    pub client: bool,
    /// `QUIC_REGISTRATION_CONFIG.AppName`.
    pub app: Option<&'a str>,
    /// MsQuic's clock.
    pub now: Time,
    /// A full datagram, bytes of UDP payload.
    pub mtu: u32,
}

/// Where the packets of a connection are written.
#[derive(Clone)]
pub struct Place {
    /// What is written to, by others as well.
    pub trace: SharedTrace<Output>,
    /// What MsQuic's clock showed when the trace's time began.
    pub origin: Time,
    /// Records of the file dropped so far.
    pub lost: Arc<AtomicU64>,
    /// Whether the trace says already who controls the connection.
    pub named: bool,
    /// Whether a recorder of the flow writes to the trace what its controller knows and decides.
    pub recorded: bool,
}

type Places = dyn Fn(&NewTrace<'_>) -> Option<Place> + Send + Sync;
/// Places of everybody who asked for files; the first that has one for a connection is it.
static PLACES: RwLock<Vec<Arc<Places>>> = RwLock::new(Vec::new());
/// Files by connection; none of those nobody wants.
static FILES: RwLock<BTreeMap<u64, Option<Arc<Mutex<File>>>>> = RwLock::new(BTreeMap::new());

/// Asks `place` where the packets of each connection go that begins from now on, unless somebody
/// asked before knows. What it writes to is written to at once, on MsQuic's threads: files belong
/// into [`to_directory`].
///
/// # Errors
/// There are too many plugins.
#[cfg(feature = "native")]
pub fn to(place: impl Fn(&NewTrace<'_>) -> Option<Place> + Send + Sync + 'static) -> Result<(), crate::Refused> {
    ask(place);
    crate::plug()
}

/// [`to`], for what MsQuic's side itself asks for.
pub(crate) fn ask(place: impl Fn(&NewTrace<'_>) -> Option<Place> + Send + Sync + 'static) {
    PLACES.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(place));
    TRACING.store(1, Ordering::Relaxed);
}

/// Writes a file in `directory`, which is made if it is not there, for every connection that
/// begins from now on. A thread writes them; what the disk cannot keep up with is dropped by
/// record, counted, and told in the file and by [`LogWriter::report`].
///
/// # Errors
/// The directory cannot be made, no thread, or there are too many plugins.
#[cfg(feature = "native")]
pub fn to_directory(directory: impl Into<PathBuf>) -> io::Result<LogWriter> {
    let spool = ask_directory(directory.into())?;
    crate::plug().map_err(io::Error::other)?;
    Ok(spool)
}

fn ask_directory(directory: PathBuf) -> io::Result<LogWriter> {
    let spool = LogWriter::open(directory)?;
    wait_for(&spool);
    let files = spool.clone();
    ask(move |new| Some(place(&files, new)));
    Ok(spool)
}

/// A file of `spool` for a connection.
pub(crate) fn place(spool: &LogWriter, new: &NewTrace<'_>) -> Place {
    static STARTED: LazyLock<u128> =
        LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis());
    let end = if new.client { "client" } else { "server" };
    let name = format!("{STACK}-{}-{}-{end}-{}.sqlog", *STARTED, std::process::id(), new.connection);
    let file = spool.file(&name);
    let lost = file.lost();
    let (title, group) = (format!("{STACK} to {}", new.peer.address), format!("{:016x}", new.connection));
    let header = Header {
        title: &title,
        vantage: if new.client { Vantage::Client } else { Vantage::Server },
        name: STACK,
        group_id: &group,
        origin_ns: new.now.0,
        ..Header::default()
    };
    let mut trace = Trace::new(Box::new(file) as Output, Profile::Ietf, Detail::Packets, &header);
    // A file's beginning is always taken; if it was dropped the rest would be lost.
    let _ = trace.flush();
    Place { trace: trace.into(), origin: Time::ZERO, lost, named: false, recorded: false }
}

/// Spools that packets go to, to be waited for when the process ends.
static SPOOLS: Mutex<Vec<LogWriter>> = Mutex::new(Vec::new());

/// Has the process wait at its end until `spool` is written.
pub(crate) fn wait_for(spool: &LogWriter) {
    SPOOLS.lock().unwrap_or_else(PoisonError::into_inner).push(spool.clone());
    write_all_at_exit();
}

/// A program that returns from `main` does not wait for a thread of ours.
fn write_all_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        crate::exit::call_at_exit(|| {
            TRACING.store(0, Ordering::Relaxed);
            for file in FILES.read().unwrap_or_else(PoisonError::into_inner).values().flatten() {
                file.lock().unwrap_or_else(PoisonError::into_inner).flush();
            }
            for spool in SPOOLS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                spool.wait();
            }
        });
    });
}

/// Has the environment's `MSQUIC_QLOG` decide, if it is set.
pub(crate) fn from_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(directory) = std::env::var_os("MSQUIC_QLOG").filter(|directory| !directory.is_empty()) else { return };
        if let Err(error) = ask_directory(PathBuf::from(&directory)) {
            say(&format!("MSQUIC_QLOG is {}: {error}; no packets are logged", directory.display()));
        }
    });
}

/// The file of a connection, if there is one.
fn file_of(connection: u64) -> Option<Arc<Mutex<File>>> {
    FILES.read().unwrap_or_else(PoisonError::into_inner).get(&connection).cloned().flatten()
}

/// Where the packets of a connection are written, if anywhere, begun if it is new.
pub(crate) fn place_of(new: &NewTrace<'_>) -> Option<Place> {
    begin(new);
    Some(file_of(new.connection)?.lock().unwrap_or_else(PoisonError::into_inner).place())
}

/// Says in the file of a connection, if there is one that does not say it, who controls it;
/// `recorded` is as in [`Place`].
pub(crate) fn name(new: &NewTrace<'_>, controller: &str, window: u64, recorded: bool) {
    if let Some(file) = file_of(new.connection) {
        file.lock().unwrap_or_else(PoisonError::into_inner).name(new.now, controller, new.mtu, window, recorded);
    }
}

/// The file of a connection, begun if it is new and somebody wants it.
fn begin(new: &NewTrace<'_>) {
    if TRACING.load(Ordering::Relaxed) == 0 || new.peer.address.port() == 0 {
        return;
    }
    if FILES.read().unwrap_or_else(PoisonError::into_inner).contains_key(&new.connection) {
        return;
    }
    let places = PLACES.read().unwrap_or_else(PoisonError::into_inner).clone();
    let place = places.iter().find_map(|place| place(new));
    let file = place.map(|place| Arc::new(Mutex::new(File::new(place, new.mtu))));
    FILES.write().unwrap_or_else(PoisonError::into_inner).insert(new.connection, file);
}

/// Something happened; `new` is its connection, `None` if that is gone.
pub(crate) fn tell(traced: &abi::Traced, new: Option<&NewTrace<'_>>, frames: &[u8], controller: Option<&str>) {
    if traced.what == abi::traced::CLOSED {
        drop(FILES.write().unwrap_or_else(PoisonError::into_inner).remove(&traced.connection));
        return;
    }
    let Some(new) = new else { return };
    // Before its first packet MsQuic may not know a connection's peer.
    if matches!(traced.what, abi::traced::FRAMES | abi::traced::SENT | abi::traced::RECEIVED) {
        begin(new);
    }
    let Some(file) = file_of(traced.connection) else { return };
    let told = catch_unwind(AssertUnwindSafe(|| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.tell(time(traced.now_us), new.mtu, traced, frames, controller);
    }));
    if told.is_err() {
        say(&format!("the log of connection {} ends here", traced.connection));
        let before = FILES.write().unwrap_or_else(PoisonError::into_inner).insert(traced.connection, None);
        // The writer that panicked is asked to write what is left.
        let _ = catch_unwind(AssertUnwindSafe(move || drop((file, before))));
    }
}

#[cfg(test)]
mod tests;
