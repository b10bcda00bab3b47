//! The programs of a flow on real sockets: quiche as a program drives it, on a thread for each
//! end.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quiche::Connection;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;
use windlass::wire::{self, Clock, Counts, Ends, Inbox, Open, Program, Report};
use windlass_adapter::Groups;
use windlass_controllers::{Algorithm, Time};

use crate::dialect::STACK;
use crate::end::End;
use crate::flow::STREAM;
use crate::net::Codepoint;
use crate::proto::ClientConfig;
use crate::scenario::{FlowSpec, Scenario};
use crate::setup::{Beginning, Shared, receiver};
use crate::stacks::driver::journal::{Journal, lock};
use crate::stacks::driver::wire::Role;
use crate::stacks::{Log, LogOf, RunError};
use crate::tls::{Tls, tls};
use crate::watch::{Watch, Watched};

/// The longest sleep of an end, so that it notices that its program is gone.
const LOOK: Duration = Duration::from_millis(50);
/// Chunks handed over and not taken by quiche yet.
const AHEAD: usize = 4;

/// Runs a scenario on real sockets. `log` says where the log of each flow goes, if anywhere.
/// `stop` is told now and then how far the run is, and says whether to give up.
///
/// # Errors
/// quiche cannot run a flow, a flow failed, or it was told to stop.
pub fn run(scenario: &Scenario, log: &mut LogOf<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    windlass_quiche::sets_ect();
    let tls = tls().map_err(RunError::Tls)?;
    wire::run(scenario, log, stop, |clock| {
        let (scenario, seed, origin) = (&scenario.name, scenario.seed, clock.origin());
        let shared = Shared { scenario, seed, origin, groups: Groups::default(), tls, sees_packets: false };
        Ok(Live { shared, tls, clock })
    })
}

/// The stack as a program.
struct Live<'a> {
    shared: Shared<'a>,
    tls: &'static Tls,
    clock: Clock,
}

impl Program for Live<'_> {
    const NAME: &'static str = STACK;
    type Sender = Sender;
    type Receiver = Receiver;

    fn ends(&self, spec: &FlowSpec, log: Option<Log>) -> Result<Ends<Sender, Receiver>, RunError> {
        let Beginning { largest, journal, watch, config, trace } = self.shared.beginning(spec, log)?;
        let failed = |error: io::Error| RunError::Flow {
            flow: spec.name.clone(),
            at_s: 0.0,
            reason: format!("no socket for it: {error}"),
        };
        let sender = Sender::new(Arc::clone(&journal), watch, config, largest, self.clock).map_err(failed)?;
        let (spec, tls) = (spec.clone(), self.tls);
        let make = move || receiver(&spec, tls, largest);
        let receiver = Receiver::new(make, largest).map_err(failed)?;
        Ok(Ends { sender, receiver, journal, trace })
    }

    fn groups(&self) -> &Groups<Algorithm, String> {
        &self.shared.groups
    }
}

/// A socket with a thread's doorbell beside it.
struct Post {
    socket: Open,
    address: SocketAddr,
    bell: Arc<OwnedFd>,
}

impl Post {
    fn new() -> io::Result<Post> {
        let socket = Open::new(wire::bind()?)?;
        let address = socket.address()?;
        Ok(Post { socket, address, bell: Arc::new(eventfd(0, EventfdFlags::NONBLOCK)?) })
    }

    /// Drives `end` until its application says that it is over.
    fn drive(
        &self,
        mut end: End,
        ecn: impl Fn() -> Codepoint,
        mut application: impl FnMut(&mut End) -> Result<bool, String>,
    ) -> Result<(), String> {
        let mut inbox = Inbox::default();
        loop {
            end.expire();
            let over = application(&mut end)?;
            let to = end.peer();
            while end.transmit(Instant::now(), &mut |payload| {
                // What the system does not take is lost on the way.
                let _ = self.socket.send(to, ecn(), payload);
            })? {
                application(&mut end)?;
            }
            if over {
                return Ok(());
            }
            self.wait(end.timeout());
            self.socket.receive(&mut inbox, |from, codepoint, payload| {
                end.heard_from(from);
                // What is wrong with it ends the connection, and is noticed there.
                let _ = end.receive(codepoint, &mut payload.to_vec());
            });
        }
    }

    /// Sleeps until something arrives, somebody rings, or `until`.
    fn wait(&self, until: Option<Instant>) {
        let sleep = until.map_or(LOOK, |at| at.saturating_duration_since(Instant::now())).min(LOOK);
        let mut interests = [self.socket.interest(), PollFd::new(&self.bell, PollFlags::IN)];
        // Interrupted, it looks around and sleeps again.
        let _ = poll(&mut interests, Timespec::try_from(sleep).ok().as_ref());
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
    }
}

fn ring(bell: &OwnedFd) {
    // A bell that rings already needs no ringing.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

/// What the sender's program tells its thread.
enum Order {
    Write(Bytes),
    Finish,
    Close,
}

/// What both have in common.
#[derive(Debug, Default)]
struct Told {
    counts: Counts,
    failed: Option<String>,
}

/// The end that connects and sends.
pub struct Sender {
    post: Option<Post>,
    address: SocketAddr,
    bell: Arc<OwnedFd>,
    /// The end to connect with, and what with.
    config: Option<ClientConfig>,
    largest: usize,
    watch: Watch,
    journal: Arc<Mutex<Journal>>,
    clock: Clock,
    orders: Option<mpsc::Sender<Order>>,
    told: Arc<Mutex<Told>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Sender {
    fn new(
        journal: Arc<Mutex<Journal>>,
        watch: Watch,
        config: ClientConfig,
        largest: usize,
        clock: Clock,
    ) -> io::Result<Sender> {
        let post = Post::new()?;
        Ok(Sender {
            address: post.address,
            bell: Arc::clone(&post.bell),
            post: Some(post),
            config: Some(config),
            largest,
            watch,
            journal,
            clock,
            orders: None,
            told: Arc::default(),
            thread: None,
        })
    }

    /// Starts the thread, which tells `ready` when it is connected.
    fn start(&mut self, peer: SocketAddr, ready: mpsc::Sender<()>) -> Result<(), String> {
        let (Some(post), Some(ClientConfig { mut config, choice })) = (self.post.take(), self.config.take()) else {
            return Err("connected before".to_owned());
        };
        let mut end = End::new(Role::Sender, None, [self.address, peer], self.largest);
        end.connect(&mut config, choice)?;
        let (orders, taken) = mpsc::channel(AHEAD);
        self.orders = Some(orders);
        let mut work = Sending {
            taken,
            ready: Some(ready),
            chunk: Bytes::new(),
            finishes: false,
            finished: false,
            watched: Watched::new(self.watch),
            journal: Arc::clone(&self.journal),
            told: Arc::clone(&self.told),
            clock: self.clock,
        };
        let (journal, told, watch) = (Arc::clone(&self.journal), Arc::clone(&self.told), self.watch);
        self.thread = Some(thread::spawn(move || {
            let ecn = || watch.codepoint(&lock(&journal).decision);
            if let Err(reason) = post.drive(end, ecn, |end| work.step(end)) {
                lock(&told).failed = Some(reason);
            }
        }));
        Ok(())
    }

    async fn order(&mut self, order: Order) -> Result<(), String> {
        let orders = self.orders.as_ref().ok_or("not connected")?;
        let sent = orders.send(order).await;
        ring(&self.bell);
        sent.map_err(|_| lock(&self.told).failed.clone().unwrap_or_else(|| "its connection is over".to_owned()))
    }
}

/// What the sender's thread does for its program.
struct Sending {
    taken: mpsc::Receiver<Order>,
    ready: Option<mpsc::Sender<()>>,
    chunk: Bytes,
    finishes: bool,
    finished: bool,
    watched: Watched,
    journal: Arc<Mutex<Journal>>,
    told: Arc<Mutex<Told>>,
    clock: Clock,
}

impl Sending {
    /// quiche takes no more now. Whether the program has gone meanwhile.
    fn waits(&self, connection: &mut Connection) -> Result<bool, String> {
        if self.taken.is_closed() { close(connection) } else { Ok(false) }
    }

    /// Whether the program closed the connection.
    fn step(&mut self, end: &mut End) -> Result<bool, String> {
        if let Some(reason) = end.gone() {
            return Err(reason);
        }
        if let Some(connection) = end.look() {
            self.watched.look(self.clock.now(), connection, &mut lock(&self.journal))?;
        }
        let Some(connection) = end.connection() else { return Ok(false) };
        let stats = connection.stats();
        lock(&self.told).counts = Counts { sent: stats.sent as u64, lost: stats.lost as u64 };
        if !connection.is_established() {
            return Ok(false);
        }
        if let Some(ready) = self.ready.take() {
            // Whoever waits may be gone.
            let _ = ready.try_send(());
        }
        loop {
            if self.chunk.is_empty() && !self.finishes {
                match self.taken.try_recv() {
                    Ok(Order::Write(chunk)) => self.chunk = chunk,
                    Ok(Order::Finish) => self.finishes = true,
                    Ok(Order::Close) | Err(TryRecvError::Disconnected) => return close(connection),
                    Err(TryRecvError::Empty) => return Ok(false),
                }
            }
            if self.finished {
                return match self.taken.try_recv() {
                    Ok(Order::Close) | Err(TryRecvError::Disconnected) => close(connection),
                    _ => Ok(false),
                };
            }
            match connection.stream_send(STREAM, &self.chunk, self.finishes) {
                Ok(taken) => {
                    let all = taken == self.chunk.len();
                    let _ = self.chunk.split_to(taken);
                    self.finished = all && self.finishes;
                    if !all {
                        return self.waits(connection);
                    }
                }
                Err(quiche::Error::Done) => return self.waits(connection),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

fn close(connection: &mut Connection) -> Result<bool, String> {
    match connection.close(true, 0, b"") {
        Ok(()) | Err(quiche::Error::Done) => Ok(true),
        Err(error) => Err(error.to_string()),
    }
}

impl wire::Sender for Sender {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn connect(&mut self, peer: SocketAddr) -> Result<(), String> {
        let (ready, mut connected) = mpsc::channel(1);
        self.start(peer, ready)?;
        match connected.recv().await {
            Some(()) => Ok(()),
            None => Err(lock(&self.told).failed.clone().unwrap_or_else(|| "its thread broke down".to_owned())),
        }
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
        self.order(Order::Write(bytes)).await
    }

    async fn finish(&mut self) -> Result<(), String> {
        self.order(Order::Finish).await
    }

    fn close(&mut self) {
        // Without a channel to it, the thread closes the connection.
        if let Some(orders) = self.orders.take() {
            let _ = orders.try_send(Order::Close);
        }
        ring(&self.bell);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn counts(&self) -> Counts {
        lock(&self.told).counts
    }
}

/// The end that accepts and receives.
pub struct Receiver {
    address: SocketAddr,
    bell: Arc<OwnedFd>,
    pieces: mpsc::UnboundedReceiver<Result<Option<Bytes>, String>>,
    first: Option<Result<Option<Bytes>, String>>,
}

impl Receiver {
    fn new(
        make: impl FnOnce() -> Result<quiche::Config, String> + Send + 'static,
        largest: usize,
    ) -> io::Result<Receiver> {
        let post = Post::new()?;
        let (address, bell) = (post.address, Arc::clone(&post.bell));
        let (tell, pieces) = mpsc::unbounded_channel();
        thread::spawn(move || {
            let receive = || {
                let end = End::new(Role::Receiver, Some(make()?), [address, address], largest);
                let mut buffer = vec![0; 1 << 16];
                post.drive(
                    end,
                    || Codepoint::NotEct,
                    |end| {
                        if let Some(reason) = end.gone() {
                            return Err(reason);
                        }
                        let Some(connection) = end.connection() else { return Ok(tell.is_closed()) };
                        while let Ok((bytes, last)) = connection.stream_recv(STREAM, &mut buffer) {
                            if bytes > 0 {
                                let _ = tell.send(Ok(Some(Bytes::copy_from_slice(&buffer[..bytes]))));
                            }
                            if last {
                                let _ = tell.send(Ok(None));
                            }
                        }
                        Ok(tell.is_closed())
                    },
                )
            };
            if let Err(reason) = receive() {
                let _ = tell.send(Err(reason));
            }
        });
        Ok(Receiver { address, bell, pieces, first: None })
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.pieces.close();
        ring(&self.bell);
    }
}

impl wire::Receiver for Receiver {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn accept(&mut self) -> Result<(), String> {
        self.first = self.pieces.recv().await;
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<Bytes>, String> {
        match self.first.take() {
            Some(first) => first,
            None => self.pieces.recv().await.unwrap_or_else(|| Err("its thread broke down".to_owned())),
        }
    }
}
