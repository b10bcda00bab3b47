//! One flow: the transfer over a connection, and what is measured of it.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use s2n_quic::client::Connect;
use s2n_quic::connection::Handle;
use s2n_quic::{Client, Server};
use windlass_controllers::{Decision, Event, Time};

use super::clock::Clock;
use crate::measure::Meter;
use crate::scenario::FlowSpec;
use crate::stacks::identity::SERVER_NAME;
use crate::stacks::payload::{Hash, Sink, Source};

/// Unsent bytes the application keeps ready, so that it is never what limits a flow.
const READY: u64 = 1 << 19;
/// How far the receiver gets before the sender's copy is hashed and forgotten.
const CONFIRM: u64 = 1 << 20;

/// A flow as its two ends, its controller and the network see it.
pub struct Flow {
    /// RTT, window, congestion responses, packets.
    pub meter: Meter,
    /// The decision in force, for the marks packets get.
    pub decision: Decision,
    /// When it started to connect.
    pub started: Option<Time>,
    /// When it was over, and what the receiver had then.
    pub over: Option<(Time, u64)>,
    /// Why it failed, and when.
    pub failed: Option<(Time, String)>,
    /// When its receiver vanishes.
    vanishes: Option<Time>,
    source: Source,
    sink: Sink,
    confirmed: u64,
    /// Bytes still to make.
    left: u64,
    /// Stream bytes sent at least once.
    sent: u64,
    connection: Option<Handle>,
    /// The sender, waiting for something to change.
    waiting: Option<Waker>,
}

impl Flow {
    /// A flow of `spec` from `source` that has decided `decision`.
    pub fn new(spec: &FlowSpec, decision: Decision, source: Source) -> Flow {
        Flow {
            vanishes: spec.vanishes,
            meter: Meter::new(spec.packet_bytes),
            decision,
            started: None,
            over: None,
            failed: None,
            source,
            sink: Sink::default(),
            confirmed: 0,
            left: spec.transfer_bytes.unwrap_or(u64::MAX),
            sent: 0,
            connection: None,
            waiting: None,
        }
    }

    /// Stream bytes up to `end` were sent.
    pub fn stream_sent(&mut self, end: u64) {
        if end > self.sent {
            self.sent = end;
            self.wake();
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// One of our controllers heard something and decided.
    pub fn heard(&mut self, event: &Event, decision: &Decision) {
        if self.over.is_none() {
            self.meter.heard(event, decision, &self.decision);
        }
        self.decision = *decision;
    }

    /// The window of another controller; whether it answered congestion.
    pub fn window(&mut self, now: Time, bytes: u64, answered: bool) {
        if self.over.is_none() {
            self.meter.congestion_events += u64::from(answered);
            self.meter.window(now.0, bytes);
        }
    }

    /// An RTT sample of another controller.
    pub fn sampled(&mut self, rtt: Duration) {
        if self.over.is_none() {
            self.meter.rtt.add(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// A point of the series.
    pub fn sample(&mut self, now: Time) {
        if self.started.is_some() && self.over.is_none() {
            self.meter.sample(now.0, self.sink.received());
        }
    }

    fn begin(&mut self, now: Time) {
        self.started = Some(now);
        self.meter.start(now.0, self.decision.cwnd);
    }

    fn end(&mut self, now: Time) {
        if self.over.is_none() {
            // The last stretch of the series belongs to the flow.
            self.sample(now);
            self.over = Some((now, self.sink.received()));
            self.wake();
        }
    }

    /// A connection was lost; to a peer that vanished, that ends the transfer.
    fn fail(&mut self, now: Time, reason: String) {
        if self.vanishes.is_some_and(|at| now >= at) {
            self.end(now);
        } else if self.over.is_none() && self.failed.is_none() {
            self.failed = Some((now, reason));
        }
    }

    fn receive(&mut self, bytes: bytes::Bytes) {
        self.sink.take(self.sink.in_order(), bytes);
        if self.sink.in_order() >= self.confirmed + CONFIRM {
            self.confirmed = self.sink.in_order();
            self.source.confirm(self.confirmed);
        }
    }

    /// Application bytes the receiver has.
    pub fn received(&self) -> u64 {
        self.sink.received()
    }

    /// The hash of what arrived.
    ///
    /// # Errors
    /// The sender's first so many bytes are others.
    pub fn check(&mut self) -> Result<Hash, String> {
        let sink = std::mem::take(&mut self.sink);
        let source = std::mem::replace(&mut self.source, Source::new(0, ""));
        let length = sink.in_order();
        let received = sink.finish();
        if source.finish(length) != Some(received) {
            return Err(format!("the first {length} bytes received are not those sent"));
        }
        Ok(received)
    }
}

/// A flow among those who hold it. All run on one thread.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Flow>>);

impl Shared {
    pub fn new(flow: Flow) -> Shared {
        Shared(Arc::new(Mutex::new(flow)))
    }

    pub fn lock(&self) -> MutexGuard<'_, Flow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the flow is over, or `ready`.
    async fn until(&self, ready: impl Fn(&Flow) -> bool) {
        poll_fn(|context| {
            let mut flow = self.lock();
            if flow.over.is_some() || ready(&flow) {
                return Poll::Ready(());
            }
            flow.waiting = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The end that connects at `start` and sends.
    pub async fn send(self, client: Client, peer: SocketAddr, start: Time, clock: Clock) {
        clock.wait(start).await;
        self.lock().begin(clock.now());
        if let Err(reason) = self.transfer(client, peer).await {
            self.lock().fail(clock.now(), format!("the sender lost the connection: {reason}"));
        }
    }

    async fn transfer(&self, client: Client, peer: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
        let mut connection = client.connect(Connect::new(peer).with_server_name(SERVER_NAME)).await?;
        self.lock().connection = Some(connection.handle());
        let mut stream = connection.open_send_stream().await?;
        loop {
            self.until(|flow| flow.source.made() < flow.sent + READY).await;
            let chunk = {
                let mut flow = self.lock();
                if flow.over.is_some() {
                    break;
                }
                let left = flow.left;
                let chunk = flow.source.take(left);
                flow.left -= chunk.len() as u64;
                chunk
            };
            if chunk.is_empty() {
                stream.finish()?;
                break;
            }
            stream.send(chunk).await?;
        }
        self.until(|_| false).await;
        connection.close(0u32.into());
        Ok(())
    }

    /// The end that accepts and receives.
    pub async fn receive(self, mut server: Server, clock: Clock) {
        let Some(mut connection) = server.accept().await else { return };
        let result = async {
            if let Some(mut stream) = connection.accept_receive_stream().await? {
                while let Some(chunk) = stream.receive().await? {
                    self.lock().receive(chunk);
                }
                self.lock().end(clock.now());
            }
            Ok::<(), Box<dyn std::error::Error>>(())
        }
        .await;
        if let Err(reason) = result {
            self.lock().fail(clock.now(), format!("the receiver lost the connection: {reason}"));
        }
    }

    /// Ends the transfer at `stop`, where it is.
    pub async fn stop(self, stop: Time, clock: Clock) {
        clock.wait(stop).await;
        let connection = {
            let mut flow = self.lock();
            flow.end(clock.now());
            flow.connection.take()
        };
        if let Some(connection) = connection {
            connection.close(0u32.into());
        }
    }
}
