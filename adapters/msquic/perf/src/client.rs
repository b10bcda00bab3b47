//! The client of a measurement.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use windlass_msquic_endpoint::{Connection, ConnectionEvent, Library, QUIC_STATISTICS_V2, Settings, StreamEvent};

use crate::{ALPN, Error, SendStream, TIMEOUT, lock};

/// The requests of a measurement on one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Bytes each request sends after its first eight.
    pub upload: u64,
    /// Bytes to download with each request.
    pub download: u64,
    /// Requests under way at the same time.
    pub parallel: usize,
    /// New requests begin within this time; `None`: `parallel` requests in all.
    pub duration: Option<Duration>,
}

/// The result of a measurement.
pub struct Measurement {
    /// From the first request's start to the last one's end.
    pub elapsed: Duration,
    /// Durations of the requests, ascending.
    pub latencies: Vec<Duration>,
    /// Bytes received by all requests.
    pub received: u64,
    /// MsQuic's statistics of the client's connection.
    pub statistics: QUIC_STATISTICS_V2,
}

impl Measurement {
    /// The quantile `share`, 0 to 1, of the latencies; `None` without requests.
    #[must_use]
    pub fn latency(&self, share: f64) -> Option<Duration> {
        let last = self.latencies.len().checked_sub(1)?;
        self.latencies.get(((last as f64) * share).round() as usize).copied()
    }
}

/// Events of the client's callbacks.
enum ClientEvent {
    Connected,
    Failed(String),
    Closed,
    /// The request with that index ended after that many bytes.
    RequestEnded(usize, u64),
}

/// A request that has not ended.
struct Request {
    /// Holds the handle: the stream closes when it is dropped.
    _outgoing: Arc<SendStream>,
    began: Instant,
}

impl Request {
    fn begin(
        connection: &Connection,
        plan: &Plan,
        index: usize,
        events: &Sender<ClientEvent>,
    ) -> Result<Request, Error> {
        let outgoing = Arc::<SendStream>::default();
        let (weak, events) = (Arc::downgrade(&outgoing), events.clone());
        let received = std::sync::Mutex::new(0);
        let began = Instant::now();
        let stream = connection.open(move |event| match event {
            StreamEvent::Received { data, .. } => {
                *lock(&received) += data.iter().map(|part| part.len() as u64).sum::<u64>();
            }
            StreamEvent::Sent(_) => {
                if let Some(outgoing) = Weak::upgrade(&weak) {
                    outgoing.send_next();
                }
            }
            StreamEvent::PeerFinished => {
                let _ = events.send(ClientEvent::RequestEnded(index, *lock(&received)));
            }
            StreamEvent::PeerAborted => {
                let _ = events.send(ClientEvent::Failed("the server aborted a request".to_owned()));
            }
            _ => {}
        })?;
        outgoing.set_stream(stream);
        outgoing.send_request(plan.download.to_be_bytes());
        outgoing.begin(plan.upload);
        Ok(Request { _outgoing: outgoing, began })
    }
}

/// The next event; an error if the connection failed or nothing happens.
fn next(events: &Receiver<ClientEvent>) -> Result<ClientEvent, Error> {
    match events.recv_timeout(TIMEOUT) {
        Ok(ClientEvent::Failed(reason)) => Err(Error(reason)),
        Ok(event) => Ok(event),
        Err(_) => Err(Error(format!("nothing happened for {} s", TIMEOUT.as_secs()))),
    }
}

/// Carries out `plan` on a connection to `peer`.
///
/// # Errors
/// The connection cannot be opened or fails, or a request fails.
pub fn run(library: &Library, settings: &Settings, peer: SocketAddr, plan: &Plan) -> Result<Measurement, Error> {
    let (sender, events) = channel();
    let on_connection = sender.clone();
    let connection = library.connect(ALPN, settings, None, peer, move |event| {
        let _ = on_connection.send(match event {
            ConnectionEvent::Connected => ClientEvent::Connected,
            ConnectionEvent::Failed { status, error } => {
                ClientEvent::Failed(format!("the connection ended: status {status:#x}, error {error}"))
            }
            ConnectionEvent::Closed => ClientEvent::Closed,
            ConnectionEvent::Statistics(_)
            | ConnectionEvent::StreamOpened(_)
            | ConnectionEvent::ResumptionTicket(_) => return,
        });
    })?;
    while !matches!(next(&events)?, ClientEvent::Connected) {}
    let start = Instant::now();
    let mut requests = Vec::new();
    for index in 0..plan.parallel {
        requests.push(Some(Request::begin(&connection, plan, index, &sender)?));
    }
    let (mut latencies, mut received, mut open) = (Vec::new(), 0, plan.parallel);
    while open > 0 {
        let ClientEvent::RequestEnded(index, bytes) = next(&events)? else { continue };
        if bytes != plan.download {
            return Err(Error(format!("an answer has {bytes} bytes; expected {}", plan.download)));
        }
        received += bytes;
        latencies.extend(requests[index].take().map(|request| request.began.elapsed()));
        if plan.duration.is_some_and(|duration| start.elapsed() < duration) {
            requests[index] = Some(Request::begin(&connection, plan, index, &sender)?);
        } else {
            open -= 1;
        }
    }
    let elapsed = start.elapsed();
    latencies.sort_unstable();
    let statistics = connection.statistics()?;
    connection.shutdown();
    while !matches!(events.recv_timeout(TIMEOUT), Ok(ClientEvent::Closed) | Err(_)) {}
    Ok(Measurement { elapsed, latencies, received, statistics })
}
