//! The server of a measurement.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};

use windlass_msquic_endpoint::{
    Connection, ConnectionEvent, IncomingConnection, IncomingStream, Library, Listener, Settings, StreamEvent,
};

use crate::{ALPN, Error, SendStream, lock};

/// A server; it runs until it is dropped.
pub struct Server {
    listener: Listener,
    /// Has an item for each connection that was closed.
    closed: Mutex<Receiver<()>>,
}

impl Server {
    /// The address it listens at.
    ///
    /// # Errors
    /// MsQuic does not report it.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        Ok(self.listener.address()?)
    }

    /// Waits until the next connection is closed.
    pub fn wait(&self) {
        let _ = lock(&self.closed).recv();
    }
}

/// Starts a server at `address` with the PEM files of a certificate and its key.
///
/// # Errors
/// MsQuic refuses the address or the files.
pub fn serve(
    library: &Library,
    settings: &Settings,
    address: SocketAddr,
    certificate: &Path,
    key: &Path,
) -> Result<Server, Error> {
    let configuration = library.server(ALPN, settings, certificate, key)?;
    let (sender, ended) = channel();
    let on_connection = move |incoming: IncomingConnection<'_>| {
        let peer = Arc::new(Peer::default());
        let (sender, ended) = (sender.clone(), Arc::clone(&peer));
        let connection = incoming.accept(move |event| match event {
            ConnectionEvent::StreamOpened(stream) => answer(stream, &sender),
            ConnectionEvent::Closed => {
                let _ = sender.send(Ended::Connection(Arc::clone(&ended)));
            }
            _ => {}
        });
        *lock(&peer.connection) = Some(connection);
    };
    let listener = Listener::start(library, &configuration, address, on_connection)?;
    let (closes, closed) = channel();
    // It ends with the listener and its connections.
    std::thread::spawn(move || close_ended(&ended, &closes));
    Ok(Server { listener, closed: Mutex::new(closed) })
}

#[derive(Default)]
struct Peer {
    connection: Mutex<Option<Connection>>,
}

/// The response on a stream.
#[derive(Default)]
struct Response {
    /// The first eight bytes of the request.
    request: Mutex<Vec<u8>>,
    outgoing: SendStream,
}

/// A handle to close. MsQuic's own threads, in callbacks, must not.
enum Ended {
    Stream(Arc<Response>),
    Connection(Arc<Peer>),
}

/// Closes ended streams and connections.
fn close_ended(ended: &Receiver<Ended>, closes: &Sender<()>) {
    for handle in ended {
        match handle {
            Ended::Stream(response) => drop(response),
            Ended::Connection(peer) => {
                drop(lock(&peer.connection).take());
                let _ = closes.send(());
            }
        }
    }
}

fn answer(stream: IncomingStream, ended: &Sender<Ended>) {
    let response = Arc::<Response>::default();
    let (weak, ended) = (Arc::downgrade(&response), ended.clone());
    // The callback must not drop its own stream; it passes it on at the last event.
    let last = Mutex::new(Some(Arc::clone(&response)));
    let stream = stream.accept(move |event| {
        if matches!(event, StreamEvent::Closed) {
            if let Some(response) = lock(&last).take() {
                let _ = ended.send(Ended::Stream(response));
            }
        } else if let Some(response) = Weak::upgrade(&weak) {
            response.on_event(&event);
        }
    });
    response.outgoing.set_stream(stream);
}

impl Response {
    fn on_event(&self, event: &StreamEvent<'_>) {
        match event {
            StreamEvent::Received { data, .. } => {
                let mut request = lock(&self.request);
                for part in *data {
                    let missing = 8 - request.len();
                    request.extend_from_slice(&part[..missing.min(part.len())]);
                }
            }
            StreamEvent::PeerFinished => match lock(&self.request).as_slice().try_into() {
                Ok(request) => self.outgoing.begin(u64::from_be_bytes(request)),
                Err(_) => self.outgoing.abort(),
            },
            StreamEvent::Sent(_) => self.outgoing.send_next(),
            StreamEvent::PeerAborted => self.outgoing.abort(),
            _ => {}
        }
    }
}
