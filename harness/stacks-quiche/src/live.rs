//! Runs over UDP sockets: quiche as a program drives it, on a thread for each end.

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
use windlass_adapter::{Groups, NamedController};
use windlass_controllers::Time;
use windlass_network::Codepoint;
use windlass_quiche::STACK;
use windlass_simulator::scenario::{FlowSpec, Scenario};
use windlass_stacks::driver::datagrams::Role;
use windlass_stacks::driver::sender_log::{SenderLog, lock};
use windlass_stacks::sans_io::Context;
use windlass_stacks::wire::{self, Clock, Counts, Ends, Inbox, Open, Program, Report};
use windlass_stacks::{FlowLog, OpenLog, RunError};

use crate::config::{Tls, tls};
use crate::controller::{ClientConfig, Kind, Observed};
use crate::end::End;
use crate::flow::STREAM;
use crate::setup::{SenderParts, receiver, sender_parts};

/// The longest sleep of an end, so that it notices that its program is gone.
const MAX_SLEEP: Duration = Duration::from_millis(50);
/// Chunks handed over and not taken by quiche yet.
const AHEAD: usize = 4;

/// Runs a scenario over UDP sockets. `log` opens the log of each flow, if it is to have one.
/// `stop` is called now and then with the time, and returns whether to give up.
///
/// # Errors
/// quiche cannot run a flow, a flow failed, or `stop` said so.
pub fn run(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    windlass_quiche::sets_ect();
    let tls = tls().map_err(RunError::Tls)?;
    wire::run(scenario, log, stop, |clock| {
        let context = Context {
            scenario: &scenario.name,
            seed: scenario.seed,
            origin: clock.origin(),
            groups: Groups::default(),
            saved_paths: scenario.saved_paths(),
        };
        Ok(Live { context, tls, clock })
    })
}

/// The stack as a program.
struct Live<'a> {
    context: Context<'a>,
    tls: &'static Tls,
    clock: Clock,
}

impl Program for Live<'_> {
    const NAME: &'static str = STACK;
    const KEYS: &'static [&'static str] = &["resume"];
    type Sender = Sender;
    type Receiver = Receiver;

    fn ends(&self, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Ends<Sender, Receiver>, RunError> {
        let SenderParts { largest, sender_log, kind, config, trace } = sender_parts(&self.context, spec, log, false)?;
        let failed = |error| wire::no_socket(&spec.name, error);
        let sender = Sender::new(Arc::clone(&sender_log), kind, config, largest, self.clock).map_err(failed)?;
        let (spec, tls) = (spec.clone(), self.tls);
        let make = move || receiver(&spec, tls, largest);
        let receiver = Receiver::new(make, largest).map_err(failed)?;
        Ok(Ends { sender, receiver, sender_log, trace })
    }

    fn groups(&self) -> &Groups<NamedController, String> {
        &self.context.groups
    }
}

/// A socket, and an event that wakes the thread waiting on it.
struct WakeableSocket {
    socket: Open,
    address: SocketAddr,
    waker: Arc<OwnedFd>,
}

impl WakeableSocket {
    fn new() -> io::Result<WakeableSocket> {
        let socket = Open::new(wire::bind()?)?;
        let address = socket.address()?;
        Ok(WakeableSocket { socket, address, waker: Arc::new(eventfd(0, EventfdFlags::NONBLOCK)?) })
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
            while end.transmit(Instant::now(), &mut |payload, to| {
                // A datagram the system does not take counts as lost.
                let _ = self.socket.send(to, ecn(), payload);
            })? {
                application(&mut end)?;
            }
            if over {
                return Ok(());
            }
            self.wait(end.timeout());
            self.socket.receive(&mut inbox, |from, codepoint, payload| {
                end.on_datagram_from(from);
                // A bad datagram closes the connection, which is noticed there.
                let _ = end.receive(codepoint, end.peer(), &mut payload.to_vec());
            });
        }
    }

    /// Sleeps until something arrives, something wakes it, or `until`.
    fn wait(&self, until: Option<Instant>) {
        let sleep = until.map_or(MAX_SLEEP, |at| at.saturating_duration_since(Instant::now())).min(MAX_SLEEP);
        let mut interests = [self.socket.interest(), PollFd::new(&self.waker, PollFlags::IN)];
        // Interrupted, it looks around and sleeps again.
        let _ = poll(&mut interests, Timespec::try_from(sleep).ok().as_ref());
        let _ = rustix::io::read(&*self.waker, &mut [0; 8]);
    }
}

fn wake(waker: &OwnedFd) {
    // A waker that rings already needs no ringing.
    let _ = rustix::io::write(waker, &1_u64.to_ne_bytes());
}

/// A command of the sender's program to its thread.
enum Command {
    Write(Bytes),
    Finish,
    Close,
}

/// Status of the sender's thread, for its program.
#[derive(Debug, Default)]
struct Status {
    counts: Counts,
    failed: Option<String>,
}

/// The end that connects and sends.
pub struct Sender {
    socket: Option<WakeableSocket>,
    address: SocketAddr,
    waker: Arc<OwnedFd>,
    /// The end to connect with, and what with.
    config: Option<ClientConfig>,
    largest: usize,
    kind: Kind,
    sender_log: Arc<Mutex<SenderLog>>,
    clock: Clock,
    commands: Option<mpsc::Sender<Command>>,
    status: Arc<Mutex<Status>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Sender {
    fn new(
        sender_log: Arc<Mutex<SenderLog>>,
        kind: Kind,
        config: ClientConfig,
        largest: usize,
        clock: Clock,
    ) -> io::Result<Sender> {
        let socket = WakeableSocket::new()?;
        Ok(Sender {
            address: socket.address,
            waker: Arc::clone(&socket.waker),
            socket: Some(socket),
            config: Some(config),
            largest,
            kind,
            sender_log,
            clock,
            commands: None,
            status: Arc::default(),
            thread: None,
        })
    }

    /// Starts the thread, which sends to `ready` when it is connected.
    fn start(&mut self, peer: SocketAddr, ready: mpsc::Sender<()>) -> Result<(), String> {
        let (Some(socket), Some(ClientConfig { mut config, choice })) = (self.socket.take(), self.config.take()) else {
            return Err("connected before".to_owned());
        };
        let mut end = End::new(Role::Sender, None, [self.address, peer], self.largest);
        end.connect(&mut config, choice)?;
        let (commands, received) = mpsc::channel(AHEAD);
        self.commands = Some(commands);
        let mut work = Sending {
            received,
            ready: Some(ready),
            chunk: Bytes::new(),
            finishes: false,
            finished: false,
            controller: Observed::new(self.kind),
            sender_log: Arc::clone(&self.sender_log),
            status: Arc::clone(&self.status),
            clock: self.clock,
        };
        let (sender_log, status, kind) = (Arc::clone(&self.sender_log), Arc::clone(&self.status), self.kind);
        self.thread = Some(thread::spawn(move || {
            let ecn = || kind.codepoint(&lock(&sender_log).decision);
            if let Err(reason) = socket.drive(end, ecn, |end| work.step(end)) {
                lock(&status).failed = Some(reason);
            }
        }));
        Ok(())
    }

    async fn send(&mut self, command: Command) -> Result<(), String> {
        let commands = self.commands.as_ref().ok_or("not connected")?;
        let sent = commands.send(command).await;
        wake(&self.waker);
        sent.map_err(|_| lock(&self.status).failed.clone().unwrap_or_else(|| "its connection is over".to_owned()))
    }
}

/// The work of the sender's thread.
struct Sending {
    received: mpsc::Receiver<Command>,
    ready: Option<mpsc::Sender<()>>,
    chunk: Bytes,
    finishes: bool,
    finished: bool,
    controller: Observed,
    sender_log: Arc<Mutex<SenderLog>>,
    status: Arc<Mutex<Status>>,
    clock: Clock,
}

impl Sending {
    /// quiche takes no more for the moment. Returns whether the program is gone.
    fn closed_by_program(&self, connection: &mut Connection) -> Result<bool, String> {
        if self.received.is_closed() { close(connection) } else { Ok(false) }
    }

    /// Whether the program closed the connection.
    fn step(&mut self, end: &mut End) -> Result<bool, String> {
        if let Some(reason) = end.closed() {
            return Err(reason);
        }
        if let Some(connection) = end.connection_ref() {
            self.controller.observe(self.clock.now(), connection, &mut lock(&self.sender_log))?;
        }
        let Some(connection) = end.connection() else { return Ok(false) };
        let stats = connection.stats();
        lock(&self.status).counts = Counts { sent: stats.sent as u64, lost: stats.lost as u64 };
        if !connection.is_established() {
            return Ok(false);
        }
        if let Some(ready) = self.ready.take() {
            // The program that waits may be gone.
            let _ = ready.try_send(());
        }
        loop {
            if self.chunk.is_empty() && !self.finishes {
                match self.received.try_recv() {
                    Ok(Command::Write(chunk)) => self.chunk = chunk,
                    Ok(Command::Finish) => self.finishes = true,
                    Ok(Command::Close) | Err(TryRecvError::Disconnected) => return close(connection),
                    Err(TryRecvError::Empty) => return Ok(false),
                }
            }
            if self.finished {
                return match self.received.try_recv() {
                    Ok(Command::Close) | Err(TryRecvError::Disconnected) => close(connection),
                    _ => Ok(false),
                };
            }
            match connection.stream_send(STREAM, &self.chunk, self.finishes) {
                Ok(taken) => {
                    let all = taken == self.chunk.len();
                    let _ = self.chunk.split_to(taken);
                    self.finished = all && self.finishes;
                    if !all {
                        return self.closed_by_program(connection);
                    }
                }
                Err(quiche::Error::Done) => return self.closed_by_program(connection),
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
            None => Err(lock(&self.status).failed.clone().unwrap_or_else(|| "its thread broke down".to_owned())),
        }
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
        self.send(Command::Write(bytes)).await
    }

    async fn finish(&mut self) -> Result<(), String> {
        self.send(Command::Finish).await
    }

    fn close(&mut self) {
        // Without a channel to it, the thread closes the connection.
        if let Some(commands) = self.commands.take() {
            let _ = commands.try_send(Command::Close);
        }
        wake(&self.waker);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn counts(&self) -> Counts {
        lock(&self.status).counts
    }
}

/// The end that accepts and receives.
pub struct Receiver {
    address: SocketAddr,
    waker: Arc<OwnedFd>,
    pieces: mpsc::UnboundedReceiver<Result<Option<Bytes>, String>>,
    first: Option<Result<Option<Bytes>, String>>,
}

impl Receiver {
    fn new(
        make: impl FnOnce() -> Result<quiche::Config, String> + Send + 'static,
        largest: usize,
    ) -> io::Result<Receiver> {
        let socket = WakeableSocket::new()?;
        let (address, waker) = (socket.address, Arc::clone(&socket.waker));
        let (sender, pieces) = mpsc::unbounded_channel();
        thread::spawn(move || {
            let receive = || {
                let end = End::new(Role::Receiver, Some(make()?), [address, address], largest);
                let mut buffer = vec![0; 1 << 16];
                socket.drive(
                    end,
                    || Codepoint::NotEct,
                    |end| {
                        if let Some(reason) = end.closed() {
                            return Err(reason);
                        }
                        let Some(connection) = end.connection() else { return Ok(sender.is_closed()) };
                        while let Ok((bytes, last)) = connection.stream_recv(STREAM, &mut buffer) {
                            if bytes > 0 {
                                let _ = sender.send(Ok(Some(Bytes::copy_from_slice(&buffer[..bytes]))));
                            }
                            if last {
                                let _ = sender.send(Ok(None));
                            }
                        }
                        Ok(sender.is_closed())
                    },
                )
            };
            if let Err(reason) = receive() {
                let _ = sender.send(Err(reason));
            }
        });
        Ok(Receiver { address, waker, pieces, first: None })
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.pieces.close();
        wake(&self.waker);
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
