//! The two ends of a flow: a client that sends and a server that receives.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};
use windlass_adapter::SharedTrace;
use windlass_controllers::Time;
use windlass_msquic_endpoint::{
    Connection, ConnectionEvent, IncomingConnection, Library, Listener, QUIC_STATISTICS_V2, Settings, Stream,
    StreamEvent, pem, reserve_port,
};
use windlass_stacks::driver::sender_log::{Output, SenderLog};
use windlass_stacks::identity::SERVER_NAME;
use windlass_stacks::wire::{self, Clock, Counts};

use crate::control::{PlannedFlow, log_packets, native_observer, plan};

/// ALPN identifier of client and server.
const ALPN: &str = "windlass";
/// Bytes in MsQuic's send buffers above which a write waits.
const MAX_BUFFERED: usize = 8 << 20;

/// The text of a connection's end.
fn ended(status: u32, error: u64) -> String {
    format!("the connection ended: status {status:#x}, error {error}")
}

/// What the callbacks of a sender share with its task.
#[derive(Default)]
struct SenderState {
    /// Bytes in MsQuic's send buffers.
    buffered: AtomicUsize,
    connected: OnceLock<()>,
    failed: OnceLock<String>,
    changed: Notify,
}

/// The end that connects and sends.
pub(crate) struct Sender {
    library: &'static Library,
    settings: Settings,
    /// `None` for one of MsQuic's own controllers.
    planned: Option<PlannedFlow>,
    sender_log: Arc<Mutex<SenderLog>>,
    clock: Clock,
    /// The trace for packets, with its time zero on MsQuic's clock.
    packets: Option<(SharedTrace<Output>, Time)>,
    reserved: Option<UdpSocket>,
    address: SocketAddr,
    state: Arc<SenderState>,
    /// The stream is dropped before its connection.
    open: Option<(Stream, Connection)>,
    last: Option<QUIC_STATISTICS_V2>,
}

impl Sender {
    pub(crate) fn new(
        library: &'static Library,
        settings: Settings,
        planned: Option<PlannedFlow>,
        sender_log: &Arc<Mutex<SenderLog>>,
        clock: Clock,
        packets: Option<(SharedTrace<Output>, Time)>,
    ) -> Result<Sender, String> {
        let reserved =
            reserve_port(Ipv4Addr::LOCALHOST.into()).map_err(|error| format!("no socket for it: {error}"))?;
        let address = reserved.local_addr().map_err(|error| error.to_string())?;
        Ok(Sender {
            library,
            settings,
            planned,
            sender_log: Arc::clone(sender_log),
            clock,
            packets,
            reserved: Some(reserved),
            address,
            state: Arc::default(),
            open: None,
            last: None,
        })
    }

    fn stream(&self) -> Result<&Stream, String> {
        self.open.as_ref().map(|(stream, _)| stream).ok_or_else(|| "not connected".to_owned())
    }

    /// An error once the connection has failed.
    fn check(&self) -> Result<(), String> {
        self.state.failed.get().map_or(Ok(()), |reason| Err(reason.clone()))
    }
}

impl wire::Sender for Sender {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn connect(&mut self, peer: SocketAddr) -> Result<(), String> {
        let observer = self.planned.is_none().then(|| native_observer(&self.sender_log, self.clock));
        if let Some((trace, origin)) = self.packets.take() {
            log_packets(peer, trace, origin, self.planned.is_some())?;
        }
        if let Some(planned) = self.planned.take() {
            plan(peer, planned);
        }
        let state = Arc::clone(&self.state);
        let on_event = move |event: ConnectionEvent<'_>| match event {
            ConnectionEvent::Connected => {
                let _ = state.connected.set(());
                state.changed.notify_one();
            }
            ConnectionEvent::Statistics(statistics) => {
                if let Some(observer) = &observer {
                    observer(statistics);
                }
            }
            ConnectionEvent::Failed { status, error } => {
                let _ = state.failed.set(ended(status, error));
                state.changed.notify_one();
            }
            ConnectionEvent::StreamOpened(_) | ConnectionEvent::ResumptionTicket(_) | ConnectionEvent::Closed => {}
        };
        // Frees the port for MsQuic.
        self.reserved = None;
        let connection = self
            .library
            .connect(ALPN, &self.settings, Some(self.address), peer, on_event)
            .map_err(|error| error.to_string())?;
        while self.state.connected.get().is_none() {
            self.check()?;
            self.state.changed.notified().await;
        }
        let state = Arc::clone(&self.state);
        let stream = connection
            .open_unidirectional(move |event| match event {
                StreamEvent::Sent(bytes) => {
                    state.buffered.fetch_sub(bytes, Ordering::Relaxed);
                    state.changed.notify_one();
                }
                StreamEvent::Closed => state.changed.notify_one(),
                _ => {}
            })
            .map_err(|error| error.to_string())?;
        self.open = Some((stream, connection));
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
        while self.state.buffered.load(Ordering::Relaxed) > MAX_BUFFERED {
            self.check()?;
            self.state.changed.notified().await;
        }
        self.state.buffered.fetch_add(bytes.len(), Ordering::Relaxed);
        self.stream()?.send(bytes, false).map_err(|error| error.to_string())
    }

    async fn finish(&mut self) -> Result<(), String> {
        self.stream()?.send(Bytes::new(), true).map_err(|error| error.to_string())
    }

    fn close(&mut self) {
        if let Some((_, connection)) = &self.open {
            self.last = connection.statistics().ok();
            connection.shutdown();
        }
    }

    fn counts(&self) -> Counts {
        let now = || self.open.as_ref().and_then(|(_, connection)| connection.statistics().ok());
        self.last.or_else(now).map_or(Counts::default(), |statistics| Counts {
            sent: statistics.SendTotalPackets,
            lost: statistics.SendSuspectedLostPackets,
        })
    }
}

/// An event of a receiver's callbacks.
enum ReceiverEvent {
    Data(Bytes),
    End,
    Failed(String),
}

/// Handles of one kind that a receiver has open, shared with the callbacks that open them.
struct Open<T>(Arc<Mutex<Option<Vec<T>>>>);

impl<T> Clone for Open<T> {
    fn clone(&self) -> Self {
        Open(Arc::clone(&self.0))
    }
}

impl<T> Open<T> {
    fn new() -> Open<T> {
        Open(Arc::new(Mutex::new(Some(Vec::new()))))
    }

    /// Keeps what `open` opens, unless all were closed.
    fn keep(&self, open: impl FnOnce() -> T) {
        if let Some(all) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            all.push(open());
        }
    }

    /// Closes all, and those to come.
    fn close(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(all);
    }
}

/// The end that accepts and receives.
pub(crate) struct Receiver {
    events: mpsc::UnboundedReceiver<ReceiverEvent>,
    pending: VecDeque<ReceiverEvent>,
    address: SocketAddr,
    streams: Open<Stream>,
    connections: Open<Connection>,
    _listener: Listener,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // A connection is closed after its streams, and the listener, which waits for its connections, after them.
        self.streams.close();
        self.connections.close();
    }
}

impl Receiver {
    pub(crate) fn new(library: &Library, settings: &Settings) -> Result<Receiver, String> {
        let identity = identity()?;
        let server = library.server(ALPN, settings, &identity.certificate, &identity.key);
        let server = server.map_err(|error| error.to_string())?;
        let (sender, events) = mpsc::unbounded_channel();
        let (streams, connections) = (Open::new(), Open::new());
        let (kept_streams, kept) = (Open::clone(&streams), Open::clone(&connections));
        let on_connection = move |incoming: IncomingConnection<'_>| {
            let (sender, streams) = (sender.clone(), Open::clone(&kept_streams));
            let on_event = move |event: ConnectionEvent<'_>| match event {
                ConnectionEvent::StreamOpened(stream) => {
                    let sender = sender.clone();
                    let on_event = move |event: StreamEvent<'_>| {
                        if let StreamEvent::Received { data, fin, .. } = event {
                            let _ = sender.send(ReceiverEvent::Data(Bytes::from(data.concat())));
                            if fin {
                                let _ = sender.send(ReceiverEvent::End);
                            }
                        }
                    };
                    streams.keep(|| stream.accept(on_event));
                }
                ConnectionEvent::Failed { status: 0, error: 0 } => {
                    let _ = sender.send(ReceiverEvent::Failed("its peer closed the connection".to_owned()));
                }
                ConnectionEvent::Failed { status, error } => {
                    let _ = sender.send(ReceiverEvent::Failed(ended(status, error)));
                }
                _ => {}
            };
            kept.keep(|| incoming.accept(on_event));
        };
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::start(library, &server, local, on_connection).map_err(|error| error.to_string())?;
        let address = listener.address().map_err(|error| error.to_string())?;
        Ok(Receiver { events, pending: VecDeque::new(), address, streams, connections, _listener: listener })
    }

    async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let event = match self.pending.pop_front() {
            Some(event) => event,
            None => self.events.recv().await.ok_or("its listener is closed")?,
        };
        match event {
            ReceiverEvent::Data(bytes) => Ok(Some(bytes)),
            ReceiverEvent::End => Ok(None),
            ReceiverEvent::Failed(reason) => Err(reason),
        }
    }
}

impl wire::Receiver for Receiver {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn accept(&mut self) -> Result<(), String> {
        // The first data opens the stream.
        let first = self.events.recv().await.ok_or("its listener is closed")?;
        self.pending.push_back(first);
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<Bytes>, String> {
        self.next().await
    }
}

/// PEM files of the servers' certificate and its key; MsQuic reads them from files.
#[derive(Debug)]
struct Identity {
    certificate: PathBuf,
    key: PathBuf,
    _directory: TempDir,
}

/// The identity of all servers of this process. Only its user can read the files.
fn identity() -> Result<&'static Identity, String> {
    static IDENTITY: OnceLock<Result<Identity, String>> = OnceLock::new();
    IDENTITY
        .get_or_init(|| new_identity().map_err(|error| format!("certificate: {error}")))
        .as_ref()
        .map_err(Clone::clone)
}

fn new_identity() -> Result<Identity, Box<dyn std::error::Error>> {
    // MsQuic's TLS takes no Ed25519, which the harness' other stacks use.
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let certificate = CertificateParams::new(vec![SERVER_NAME.to_owned()])?.self_signed(&key)?;
    let directory = tempfile::tempdir()?;
    let write = |name: &str, label: &str, der: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, pem(label, der)).map(|()| path)
    };
    let certificate = write("certificate.pem", "CERTIFICATE", certificate.der())?;
    let key = write("key.pem", "PRIVATE KEY", &key.serialize_der())?;
    Ok(Identity { certificate, key, _directory: directory })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::program::library;

    #[test]
    fn a_receiver_closes_what_it_accepted() {
        let (library, settings) = (library().unwrap(), Settings { streams: 1, ..Settings::default() });
        let mut receiver = Receiver::new(library, &settings).unwrap();
        let (connected, done) = std::sync::mpsc::channel();
        let on_event = move |event: ConnectionEvent<'_>| {
            if matches!(event, ConnectionEvent::Connected) {
                let _ = connected.send(());
            }
        };
        let client = library.connect(ALPN, &settings, None, receiver.address, on_event).unwrap();
        done.recv_timeout(Duration::from_secs(60)).unwrap();
        let stream = client.open_unidirectional(|_| {}).unwrap();
        stream.send(Bytes::from_static(b"data"), false).unwrap();
        assert!(matches!(receiver.events.blocking_recv(), Some(ReceiverEvent::Data(_))));
        let (_, none) = mpsc::unbounded_channel();
        let events = std::mem::replace(&mut receiver.events, none);
        assert!(events.sender_strong_count() > 0);
        drop(receiver);
        // The callbacks own the other end of the channel.
        assert_eq!(events.sender_strong_count(), 0);
    }
}
