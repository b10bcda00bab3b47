//! One flow: how far its transfer is, and what is measured of it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use s2n_quic::connection::Handle;
use windlass_controllers::{Decision, Event, Span, Time};

use crate::driver::liveness::{Liveness, Progress, pacing_gap};
use crate::driver::sender_log::lock;
use crate::payload::{Hash, Transfer, Writer};
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::FlowSpec;

/// Unsent bytes the application keeps ready, so that it is never what limits a flow.
const READY: u64 = 1 << 19;
/// How far the bidirectional streams of a client are apart (`RFC 9000 §2.1`).
pub(super) const STREAM_STEP: u64 = 4;

/// Something a flow did that the network has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// Its ends were made: the addresses of the sending and the receiving one.
    Made([SocketAddr; 2]),
    /// The connection ended.
    Over,
}

/// Reports what one flow does to the network it is on.
#[derive(Clone, Debug)]
pub struct Notifier {
    number: usize,
    notices: Notices,
}

/// The notices of all flows that were not read yet, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<Mutex<Vec<(usize, Notice)>>>);

impl Notices {
    /// The notifier of flow `number`.
    pub fn of(&self, number: usize) -> Notifier {
        Notifier { number, notices: self.clone() }
    }

    /// Moves what there is into `items`.
    pub fn read(&self, items: &mut Vec<(usize, Notice)>) {
        items.append(&mut lock(&self.0));
    }
}

impl Notifier {
    /// Queues the ends' addresses.
    pub fn made(&self, ends: [SocketAddr; 2]) {
        lock(&self.notices.0).push((self.number, Notice::Made(ends)));
    }

    /// Queues the end of the connection.
    pub fn over(&self) {
        lock(&self.notices.0).push((self.number, Notice::Over));
    }
}

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
    /// Time at which it started to connect.
    pub started: Option<Time>,
    /// Time of its end, and the receiver's bytes then.
    pub over: Option<(Time, u64)>,
    /// Time and reason of its failure.
    pub failed: Option<(Time, String)>,
    /// Whether it moves again after faults; `None` where there are none.
    pub liveness: Option<Liveness>,
    /// When the sender and the receiver last received a datagram.
    pub received_at: [Time; 2],
    /// Recorders of its controllers that are not dropped yet.
    pub recorders: usize,
    /// What the sender's datagrams are that the network has not taken yet, where it has to
    /// know.
    pub sent_datagrams: VecDeque<SentDatagram>,
    /// Time at which its receiver vanishes; `None` if it stays.
    vanishes: Option<Time>,
    idle_timeout: Span,
    transfers: Vec<Transfer>,
    /// Whether they answer requests.
    pub(super) answers: bool,
    writer: Writer,
    /// Streams with data at a time.
    at_once: u64,
    /// The run's seed and its own name, which the bytes of a video's chunks depend on; `None` if it has none.
    video: Option<(u64, String)>,
    /// Instant that stands for time 0.
    origin: Instant,
    /// Bytes of each stream that were sent at least once.
    pub(super) sent: Vec<u64>,
    /// Streams the receiver has read to their ends.
    pub(super) ended: usize,
    pub(super) connection: Option<Handle>,
    /// Time at which it is to start, once that is known.
    pub(super) starts: Option<Time>,
    /// Tasks of the sender that wait for something to change.
    waiting: Vec<Waker>,
    notifier: Notifier,
}

impl Flow {
    /// A flow of `spec` in the run with `seed` whose controller decides `decision` at first.
    pub fn new(spec: &FlowSpec, decision: Decision, seed: u64, notifier: Notifier) -> Flow {
        let transfers = Transfer::of(seed, spec);
        Flow {
            sent: vec![0; transfers.len()],
            at_once: transfers.len().max(1) as u64,
            video: spec.video.is_some().then(|| (seed, spec.name.clone())),
            transfers,
            answers: spec.requests.is_some(),
            writer: Writer::new(spec.writes),
            origin: Instant::now(),
            ended: 0,
            vanishes: spec.vanishes,
            idle_timeout: spec.idle_timeout,
            meter: Meter::of(spec),
            decision,
            started: None,
            over: None,
            failed: None,
            liveness: None,
            received_at: [Time::ZERO; 2],
            recorders: 0,
            sent_datagrams: VecDeque::new(),
            connection: None,
            starts: None,
            waiting: Vec::new(),
            notifier,
        }
    }

    /// Schedules the flow's start.
    pub fn start_at(&mut self, at: Time) {
        self.starts = Some(at);
        self.wake();
    }

    /// Bytes up to `end` of stream `id` were sent.
    pub fn stream_sent(&mut self, id: u64, end: u64) {
        let number = if self.answers { id / STREAM_STEP } else { 0 };
        if let Some(sent) = self.sent.get_mut(number as usize)
            && end > *sent
        {
            *sent = end;
            self.wake();
        }
    }

    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }

    /// Whether stream `number` has so little unsent that the application writes more.
    pub(super) fn wants(&self, number: usize) -> bool {
        self.transfers[number].made() < self.sent[number] + READY / self.at_once
    }

    /// The next bytes of stream `number`; or when there are some, where the application has a rate.
    pub(super) fn make(&mut self, number: usize, now: Time) -> Result<Bytes, Time> {
        let instant = self.origin + Duration::from_nanos(now.0);
        let room = self.writer.write(instant, Transfer::made_by(&self.transfers), now, &mut self.meter);
        let transfer = &mut self.transfers[number];
        transfer.make(room);
        match self.writer.next().filter(|_| !transfer.is_written() && transfer.unwritten.is_empty()) {
            Some(next) => Err(now + Span(next.saturating_duration_since(instant).as_nanos() as u64)),
            None => Ok(std::mem::take(&mut transfer.unwritten)),
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
        let (received, gap) = (Transfer::received(&self.transfers), pacing_gap(&self.decision, packet_bytes));
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
            self.meter.sample(now.0, Transfer::received(&self.transfers));
        }
    }

    pub(super) fn begin(&mut self, now: Time) {
        self.started = Some(now);
        self.meter.start(now.0, self.decision.cwnd);
        if let Some(liveness) = &mut self.liveness {
            liveness.start(now);
        }
    }

    pub(super) fn end(&mut self, now: Time) {
        if self.over.is_none() {
            // The last stretch of the series belongs to the flow.
            self.sample(now);
            self.over = Some((now, Transfer::received(&self.transfers)));
            self.notifier.over();
            self.wake();
        }
    }

    /// A connection was lost. That ends the transfer if the peer vanished or an end received nothing for the idle timeout.
    pub(super) fn fail(&mut self, now: Time, reason: String) {
        let idle = self.received_at.iter().any(|at| now.since(*at) >= self.idle_timeout);
        if self.vanishes.is_some_and(|at| now >= at || idle) {
            self.end(now);
        } else if self.over.is_none() && self.failed.is_none() {
            self.failed = Some((now, reason));
        }
    }

    pub(super) fn receive(&mut self, number: usize, bytes: Bytes, now: Time) {
        let transfer = &mut self.transfers[number];
        transfer.receive(transfer.in_order(), &bytes);
        self.meter.received(now, Transfer::in_order_of(&self.transfers));
    }

    /// Whether its client asks for a video in chunks.
    pub(super) fn has_video(&self) -> bool {
        self.video.is_some()
    }

    /// When its client asks for the next chunk, the first time at once; `None` while one is under way.
    pub(super) fn next_chunk(&self) -> Option<Time> {
        let player = self.meter.player.as_ref()?;
        player.next().or(self.transfers.is_empty().then_some(Time::ZERO))
    }

    /// The client asks for a chunk at `now`. Returns the stream's number.
    pub(super) fn ask_for_chunk(&mut self, now: Time) -> Option<usize> {
        let (Some(player), Some((seed, name))) = (&mut self.meter.player, &self.video) else { return None };
        let number = self.transfers.len();
        self.transfers.push(Transfer::new(*seed, name, number as u64, player.ask(now)));
        self.sent.push(0);
        Some(number)
    }

    /// Application bytes the receiver has.
    pub fn received(&self) -> u64 {
        Transfer::received(&self.transfers)
    }

    /// The hash of what arrived.
    ///
    /// # Errors
    /// The sender's first so many bytes are others.
    pub fn check(&mut self) -> Result<Hash, String> {
        Transfer::check(std::mem::take(&mut self.transfers))
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
    pub(super) async fn until(&self, ready: impl Fn(&Flow) -> bool) {
        poll_fn(|context| {
            let mut flow = self.lock();
            if flow.over.is_some() || ready(&flow) {
                return Poll::Ready(());
            }
            flow.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
