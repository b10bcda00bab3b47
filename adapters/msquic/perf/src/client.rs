//! The client.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use windlass_msquic_endpoint::{Connection, ConnectionEvent, Library, QUIC_STATISTICS_V2, Settings, StreamEvent};

use crate::outgoing::Outgoing;
use crate::{ALPN, Failed, PATIENCE, lock};

/// What to measure on one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Bytes each request sends besides its head.
    pub upload: u64,
    /// Bytes each request asks for.
    pub download: u64,
    /// Requests under way at a time.
    pub parallel: usize,
    /// New requests begin until then; `None` for one each.
    pub duration: Option<Duration>,
}

/// What came of it.
pub struct Measured {
    /// From the first request's beginning to the last one's end.
    pub elapsed: Duration,
    /// How long each request took, ascending.
    pub latencies: Vec<Duration>,
    /// Bytes that arrived, those of answers.
    pub received: u64,
    /// MsQuic's numbers of the client's end.
    pub statistics: QUIC_STATISTICS_V2,
}

impl Measured {
    /// The latency that so much of all requests, 0 to 1, did not exceed.
    #[must_use]
    pub fn latency(&self, share: f64) -> Option<Duration> {
        let last = self.latencies.len().checked_sub(1)?;
        self.latencies.get(((last as f64) * share).round() as usize).copied()
    }
}

/// What the client's closures tell.
enum Told {
    Connected,
    Lost(String),
    Closed,
    /// The request of that place is over, with so many bytes.
    Over(usize, u64),
}

/// A request under way.
struct Request {
    /// Its stream goes with it.
    _outgoing: Arc<Outgoing>,
    began: Instant,
}

impl Request {
    fn begin(connection: &Connection, plan: &Plan, place: usize, tell: &Sender<Told>) -> Result<Request, Failed> {
        let outgoing = Arc::<Outgoing>::default();
        let (weak, tell) = (Arc::downgrade(&outgoing), tell.clone());
        let received = std::sync::Mutex::new(0);
        let began = Instant::now();
        let stream = connection.open(move |event| match event {
            StreamEvent::Received { data, .. } => {
                *lock(&received) += data.iter().map(|part| part.len() as u64).sum::<u64>();
            }
            StreamEvent::Sent(_) => {
                if let Some(outgoing) = Weak::upgrade(&weak) {
                    outgoing.more();
                }
            }
            StreamEvent::PeerFinished => {
                let _ = tell.send(Told::Over(place, *lock(&received)));
            }
            StreamEvent::PeerAborted => {
                let _ = tell.send(Told::Lost("the server gave a request up".to_owned()));
            }
            _ => {}
        })?;
        outgoing.take(stream);
        outgoing.head(plan.download.to_be_bytes());
        outgoing.begin(plan.upload);
        Ok(Request { _outgoing: outgoing, began })
    }
}

fn next(heard: &Receiver<Told>) -> Result<Told, Failed> {
    match heard.recv_timeout(PATIENCE) {
        Ok(Told::Lost(reason)) => Err(Failed(reason)),
        Ok(told) => Ok(told),
        Err(_) => Err(Failed(format!("nothing happened for {} s", PATIENCE.as_secs()))),
    }
}

/// Carries out `plan` on a connection to `peer`.
///
/// # Errors
/// There is no connection, it ended, or a request did not.
pub fn run(library: &Library, settings: &Settings, peer: SocketAddr, plan: &Plan) -> Result<Measured, Failed> {
    let (tell, heard) = channel();
    let told = tell.clone();
    let connection = library.connect(ALPN, settings, None, peer, move |event| {
        let _ = told.send(match event {
            ConnectionEvent::Connected => Told::Connected,
            ConnectionEvent::Lost(status, error) => {
                Told::Lost(format!("the connection ended: status {status:#x}, error {error}"))
            }
            ConnectionEvent::Closed => Told::Closed,
            ConnectionEvent::Statistics(_) | ConnectionEvent::Opened(_) => return,
        });
    })?;
    while !matches!(next(&heard)?, Told::Connected) {}
    let start = Instant::now();
    let mut requests = Vec::new();
    for place in 0..plan.parallel {
        requests.push(Some(Request::begin(&connection, plan, place, &tell)?));
    }
    let (mut latencies, mut received, mut open) = (Vec::new(), 0, plan.parallel);
    while open > 0 {
        let Told::Over(place, bytes) = next(&heard)? else { continue };
        if bytes != plan.download {
            return Err(Failed(format!("an answer has {bytes} bytes; expected {}", plan.download)));
        }
        received += bytes;
        latencies.extend(requests[place].take().map(|request| request.began.elapsed()));
        if plan.duration.is_some_and(|duration| start.elapsed() < duration) {
            requests[place] = Some(Request::begin(&connection, plan, place, &tell)?);
        } else {
            open -= 1;
        }
    }
    let elapsed = start.elapsed();
    latencies.sort_unstable();
    let statistics = connection.statistics()?;
    connection.shut_down();
    while !matches!(heard.recv_timeout(PATIENCE), Ok(Told::Closed) | Err(_)) {}
    Ok(Measured { elapsed, latencies, received, statistics })
}
