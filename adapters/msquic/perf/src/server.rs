//! The server.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};

use windlass_msquic_endpoint::{
    Connection, ConnectionEvent, Incoming, Library, Listener, Opened, Settings, StreamEvent,
};

use crate::outgoing::Outgoing;
use crate::{ALPN, Failed, lock};

/// A server, until it is dropped.
pub struct Serving {
    listener: Listener,
    /// Closes what ended; it ends when the listener and its connections do.
    _janitor: std::thread::JoinHandle<()>,
}

impl Serving {
    /// Where it listens.
    ///
    /// # Errors
    /// MsQuic does not tell.
    pub fn address(&self) -> Result<SocketAddr, Failed> {
        Ok(self.listener.address()?)
    }
}

/// Serves at `address` with files of a certificate and its key, PEM.
///
/// # Errors
/// The address or the files cannot be used.
pub fn serve(
    library: &Library,
    settings: &Settings,
    address: SocketAddr,
    certificate: &Path,
    key: &Path,
) -> Result<Serving, Failed> {
    let server = library.server(ALPN, settings, certificate, key)?;
    let (over, ended) = channel();
    let meet = move |incoming: Incoming<'_>| {
        let peer = Arc::new(Peer::default());
        let (over, held) = (over.clone(), Arc::clone(&peer));
        let connection = incoming.take(move |event| match event {
            ConnectionEvent::Opened(opened) => answer(opened, &over),
            ConnectionEvent::Closed => {
                let _ = over.send(Over::Connection(Arc::clone(&held)));
            }
            _ => {}
        });
        *lock(&peer.connection) = Some(connection);
    };
    let listener = Listener::start(library, &server, address, meet)?;
    let janitor = std::thread::spawn(move || clean(&ended));
    Ok(Serving { listener, _janitor: janitor })
}

/// A connection.
#[derive(Default)]
struct Peer {
    connection: Mutex<Option<Connection>>,
}

/// A stream's answer.
#[derive(Default)]
struct Answer {
    /// The first bytes of what was asked.
    asked: Mutex<Vec<u8>>,
    outgoing: Outgoing,
}

/// What is to be closed by a thread that is none of MsQuic's.
enum Over {
    Stream(Arc<Answer>),
    Connection(Arc<Peer>),
}

fn clean(ended: &Receiver<Over>) {
    for over in ended {
        match over {
            Over::Stream(answer) => drop(answer),
            Over::Connection(peer) => drop(lock(&peer.connection).take()),
        }
    }
}

fn answer(opened: Opened, over: &Sender<Over>) {
    let answer = Arc::<Answer>::default();
    let (weak, over) = (Arc::downgrade(&answer), over.clone());
    // Its own closure must not drop a stream; this passes it on when it is over.
    let held = Mutex::new(Some(Arc::clone(&answer)));
    let stream = opened.take(move |event| {
        if matches!(event, StreamEvent::Closed) {
            if let Some(answer) = lock(&held).take() {
                let _ = over.send(Over::Stream(answer));
            }
        } else if let Some(answer) = Weak::upgrade(&weak) {
            answer.hear(&event);
        }
    });
    answer.outgoing.take(stream);
}

impl Answer {
    fn hear(&self, event: &StreamEvent<'_>) {
        match event {
            StreamEvent::Received { data, .. } => {
                let mut asked = lock(&self.asked);
                for part in *data {
                    let missing = 8 - asked.len();
                    asked.extend_from_slice(&part[..missing.min(part.len())]);
                }
            }
            StreamEvent::PeerFinished => match lock(&self.asked).as_slice().try_into() {
                Ok(asked) => self.outgoing.begin(u64::from_be_bytes(asked)),
                Err(_) => self.outgoing.abort(),
            },
            StreamEvent::Sent(_) => self.outgoing.more(),
            StreamEvent::PeerAborted => self.outgoing.abort(),
            _ => {}
        }
    }
}
