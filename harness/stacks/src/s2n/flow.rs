//! One flow: the transfer over a connection, and what is measured of it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use s2n_quic::client::Connect;
use s2n_quic::connection::Handle;
use s2n_quic::provider::io::testing::spawn;
use s2n_quic::{Client, Server};
use windlass_controllers::{Decision, Event, Span, Time};

use super::clock::Clock;
use super::ends::Ends;
use super::observe::Notifier;
use crate::driver::liveness::{Liveness, Progress, pacing_gap};
use crate::driver::sender_log::lock;
use crate::identity::SERVER_NAME;
use crate::payload::{Hash, Sink, Source, check};
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::FlowSpec;

/// Unsent bytes the application keeps ready, so that it is never what limits a flow.
const READY: u64 = 1 << 19;
/// How far the receiver gets before the sender's copy is hashed and forgotten.
const CONFIRM: u64 = 1 << 20;

/// A datagram an end has handed to its socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentDatagram {
    /// UDP payload, bytes.
    pub bytes: usize,
    /// Whether it carries stream data.
    pub data: bool,
}

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
    /// Whether it moves again after faults; `None` where there are none.
    pub liveness: Option<Liveness>,
    /// When the sender and the receiver last received a datagram.
    pub heard: [Time; 2],
    /// Recorders of its controllers that are not dropped yet.
    pub recorders: usize,
    /// What the sender's datagrams are that the network has not taken yet, where it has to
    /// know.
    pub sent_datagrams: VecDeque<SentDatagram>,
    /// Time at which its receiver vanishes; `None` if it stays.
    vanishes: Option<Time>,
    idle_timeout: Span,
    source: Source,
    sink: Sink,
    confirmed: u64,
    /// Application bytes not yet handed to s2n-quic.
    left: u64,
    /// Stream bytes sent at least once.
    sent: u64,
    connection: Option<Handle>,
    /// When it is to start, once that is known.
    starts: Option<Time>,
    /// The sender, waiting for something to change.
    waiting: Option<Waker>,
    notifier: Notifier,
}

impl Flow {
    /// A flow of `spec` from `source` whose controller decides `decision` at first.
    pub fn new(spec: &FlowSpec, decision: Decision, source: Source, notifier: Notifier) -> Flow {
        Flow {
            vanishes: spec.vanishes,
            idle_timeout: spec.idle_timeout,
            meter: Meter::new(spec.packet_bytes),
            decision,
            started: None,
            over: None,
            failed: None,
            liveness: None,
            heard: [Time::ZERO; 2],
            recorders: 0,
            sent_datagrams: VecDeque::new(),
            source,
            sink: Sink::default(),
            confirmed: 0,
            left: spec.transfer_bytes.unwrap_or(u64::MAX),
            sent: 0,
            connection: None,
            starts: None,
            waiting: None,
            notifier,
        }
    }

    /// Schedules the flow's start.
    pub fn start_at(&mut self, at: Time) {
        self.starts = Some(at);
        self.wake();
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

    /// One of our controllers got an event and decided.
    pub fn on_event(&mut self, event: &Event, decision: &Decision) {
        if self.over.is_none() {
            self.meter.on_event(event, decision, &self.decision);
            if let (Some(liveness), Some(rtt)) = (&mut self.liveness, event.rtt()) {
                liveness.on_rtt_sample(event.now, rtt.latest);
            }
        }
        self.decision = *decision;
    }

    /// The window of a native controller, bytes, and whether congestion reduced it.
    pub fn window(&mut self, now: Time, bytes: u64, reduced: bool) {
        if self.over.is_none() {
            self.meter.congestion_events += u64::from(reduced);
            self.meter.window(now.0, bytes);
        }
    }

    /// An RTT sample of another controller.
    pub fn on_rtt_sample(&mut self, now: Time, rtt: Duration) {
        if self.over.is_none() {
            let sample = Span(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
            self.meter.rtt.add(sample.0);
            if let Some(liveness) = &mut self.liveness {
                liveness.on_rtt_sample(now, sample);
            }
        }
    }

    /// Notes if it does not move as it should, with packets of `packet_bytes`.
    pub fn watch(&mut self, now: Time, packet_bytes: u32) {
        let (received, gap) = (self.sink.received(), pacing_gap(&self.decision, packet_bytes));
        let progress = Progress { received, gap, ..Progress::default() };
        if self.over.is_some() || self.failed.is_some() {
            return;
        }
        if let Some(Err(reason)) = self.liveness.as_mut().map(|liveness| liveness.check(now, &progress)) {
            self.failed = Some((now, reason));
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
        if let Some(liveness) = &mut self.liveness {
            liveness.start(now);
        }
    }

    fn end(&mut self, now: Time) {
        if self.over.is_none() {
            // The last stretch of the series belongs to the flow.
            self.sample(now);
            self.over = Some((now, self.sink.received()));
            self.notifier.over();
            self.wake();
        }
    }

    /// A connection was lost; to a peer that vanished or that an end did not hear for as long as the idle timeout,
    /// that ends the transfer.
    fn fail(&mut self, now: Time, reason: String) {
        let idle = self.heard.iter().any(|heard| now.since(*heard) >= self.idle_timeout);
        if self.vanishes.is_some_and(|at| now >= at || idle) {
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
        check(std::mem::replace(&mut self.source, Source::new(0, "")), std::mem::take(&mut self.sink))
    }
}

/// A flow among those who hold it. All run on one thread.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Flow>>);

impl Shared {
    pub fn new(flow: Flow) -> Shared {
        Shared(Arc::new(Mutex::new(flow)))
    }

    pub fn lock(&self) -> std::sync::MutexGuard<'_, Flow> {
        lock(&self.0)
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

    /// The whole flow: waits for its start, makes its ends and has them do their work until
    /// `stop`.
    pub async fn live(self, ends: Ends, stop: Time, clock: Clock) {
        self.until(|flow| flow.starts.is_some()).await;
        let Some(start) = self.lock().starts.filter(|start| *start < stop) else { return };
        clock.wait(start).await;
        let made = ends.make(&self).map_err(|error| error.to_string());
        let (server, client, peer) = match made {
            Ok(made) => made,
            Err(reason) => return self.lock().fail(clock.now(), format!("its ends cannot be made: {reason}")),
        };
        spawn(self.clone().receive(server, clock));
        spawn(self.clone().stop(stop, clock));
        self.send(client, peer, clock).await;
    }

    /// The end that connects and sends.
    async fn send(self, client: Client, peer: SocketAddr, clock: Clock) {
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
    async fn receive(self, mut server: Server, clock: Clock) {
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
    async fn stop(self, stop: Time, clock: Clock) {
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
