//! The transfer of a flow, shared by its two programs, the link and the run.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::sleep_until;
use windlass_controllers::{Decision, Time};

use super::Clock;
use super::{Receiver, Sender};
use crate::driver::sender_log::SenderLog;
use crate::driver::sender_log::lock;
use crate::payload::{Hash, Sink, Source};
use windlass_simulator::scenario::FlowSpec;

/// Bytes beyond two windows that the sender hands over before the receiver has what came
/// before, so that the application is never what limits a flow.
const READY: u64 = 1 << 20;

/// The application of a flow, shared by both ends.
pub struct Transfer {
    /// The flow as the scenario describes it.
    pub spec: FlowSpec,
    /// Time at which it is to start.
    pub start: Time,
    clock: Clock,
    sender_log: Arc<Mutex<SenderLog>>,
    payload: Mutex<Payload>,
    received: AtomicU64,
    started: OnceLock<Time>,
    /// Time of its end, and the receiver's bytes then.
    over: OnceLock<(Time, u64)>,
    failed: OnceLock<(Time, String)>,
    /// Notified when the receiver reads something.
    moved: Notify,
    ended: Notify,
}

struct Payload {
    source: Source,
    sink: Sink,
    /// Application bytes not yet handed to the stack.
    left: u64,
}

impl Transfer {
    /// The transfer of a flow in the run with `seed`.
    pub fn new(spec: &FlowSpec, seed: u64, clock: Clock, sender_log: Arc<Mutex<SenderLog>>) -> Transfer {
        let source = Source::new(seed, &spec.name);
        let left = spec.transfer_bytes.unwrap_or(u64::MAX);
        Transfer {
            start: spec.starts(seed),
            spec: spec.clone(),
            clock,
            sender_log,
            payload: Mutex::new(Payload { source, sink: Sink::default(), left }),
            received: AtomicU64::new(0),
            started: OnceLock::new(),
            over: OnceLock::new(),
            failed: OnceLock::new(),
            moved: Notify::new(),
            ended: Notify::new(),
        }
    }

    /// Time the transfer started; `None` before.
    pub fn started(&self) -> Option<Time> {
        self.started.get().copied()
    }

    /// Time of its end, and the receiver's bytes then; `None` while it runs.
    pub fn over(&self) -> Option<(Time, u64)> {
        self.over.get().copied()
    }

    /// Time and reason of its failure.
    pub fn failed(&self) -> Option<&(Time, String)> {
        self.failed.get()
    }

    /// Application bytes the receiver has.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The decision after the latest event.
    pub fn decision(&self) -> Decision {
        lock(&self.sender_log).decision
    }

    /// A point of the series.
    pub fn sample(&self, now: Time) {
        if self.started().is_some_and(|started| started < now) && self.over().is_none() {
            lock(&self.sender_log).meter.sample(now.0, self.received());
        }
    }

    /// The flow is over, where it is, unless it was before.
    pub fn end(&self) {
        let now = self.clock.now().min(self.spec.stop);
        if self.over().is_none() {
            // The last stretch of the series belongs to the flow.
            self.sample(now);
            if self.over.set((now, self.received())).is_ok() {
                lock(&self.sender_log).over = true;
            }
        }
        self.ended.notify_waiters();
    }

    fn fail(&self, reason: String) {
        if self.over().is_none() {
            let _ = self.failed.set((self.clock.now(), reason));
        }
        self.end();
    }

    /// Waits until the flow is over.
    async fn ends(&self) {
        let ended = self.ended.notified();
        if self.over().is_none() {
            ended.await;
        }
    }

    /// The next bytes to hand over; none after the last.
    async fn chunk(&self) -> Bytes {
        loop {
            {
                let window = self.decision().cwnd;
                let mut payload = lock(&self.payload);
                let Payload { source, left, .. } = &mut *payload;
                if source.made() < self.received() + window.saturating_mul(2).saturating_add(READY) {
                    let chunk = source.take(*left);
                    *left -= chunk.len() as u64;
                    return chunk;
                }
            }
            self.moved.notified().await;
        }
    }

    /// Runs the sending program from the flow's start to its end, and returns it.
    pub async fn send<S: Sender>(self: Arc<Self>, mut program: S, peer: SocketAddr) -> S {
        let clock = self.clock;
        // A flow that stops before it starts never does.
        let start = if self.start < self.spec.stop { self.start } else { Time(u64::MAX / 2) };
        tokio::select! {
            () = sleep_until(clock.instant(start).into()) => {}
            () = self.ends() => return program,
        }
        let now = clock.now();
        let _ = self.started.set(now);
        {
            let mut sender_log = lock(&self.sender_log);
            let cwnd = sender_log.decision.cwnd;
            sender_log.meter.start(now.0, cwnd);
        }
        let work = async {
            program.connect(peer).await?;
            loop {
                let chunk = self.chunk().await;
                if chunk.is_empty() {
                    break program.finish().await;
                }
                program.write(chunk).await?;
            }
        };
        let result = tokio::select! {
            result = async { work.await?; self.ends().await; Ok::<(), String>(()) } => result,
            () = self.ends() => Ok(()),
            () = sleep_until(clock.instant(self.spec.stop).into()) => Ok(()),
        };
        match result {
            Err(reason) if !self.spec.has_vanished(clock.now()) => self.fail(format!("the sender failed: {reason}")),
            _ => self.end(),
        }
        program.close();
        program
    }

    /// Runs the receiving program until nothing more can come.
    pub async fn receive<R: Receiver>(self: Arc<Self>, mut program: R) {
        if let Err(reason) = self.take(&mut program).await
            && !self.spec.has_vanished(self.clock.now())
        {
            self.fail(format!("the receiver failed: {reason}"));
        }
        // Its connection closes when it goes, but its last acknowledgement is under way.
        std::future::pending::<()>().await;
    }

    async fn take<R: Receiver>(&self, program: &mut R) -> Result<(), String> {
        program.accept().await?;
        while let Some(bytes) = program.read().await? {
            {
                let mut payload = lock(&self.payload);
                let Payload { source, sink, .. } = &mut *payload;
                sink.take(source, sink.in_order(), &bytes);
                self.received.store(sink.received(), Ordering::Relaxed);
            }
            self.moved.notify_one();
        }
        self.end();
        Ok(())
    }

    /// The hash of what arrived without a gap before it.
    ///
    /// # Errors
    /// A byte that arrived is not the one sent there.
    pub fn check(&self) -> Result<Hash, String> {
        let mut payload = lock(&self.payload);
        let Payload { source, sink, .. } = &mut *payload;
        sink.check(source)
    }
}
