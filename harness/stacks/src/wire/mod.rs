//! Real stacks on real UDP sockets, through a userspace link that is the network model in
//! real time. `docs/wire.md` says how, and what can be expected of two real clocks. A stack's part
//! in a run is a [`Program`]: two of them, each on a socket of its own.

mod link;
mod relay;
mod run;
mod socket;
mod transfer;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::driver::sender_log::{Output, SenderLog};
use crate::{FlowLog, RunError};

use bytes::Bytes;
use windlass_adapter::{Groups, NamedController, SharedTrace};
use windlass_controllers::Time;
use windlass_simulator::scenario::FlowSpec;

pub use link::{Carried, Link, LinkError, Transit};
pub use run::{Report, no_socket, run};
pub use socket::{Inbox, Open, bind};

/// The monotonic clock since the run's start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// Instant of time 0.
    pub fn origin(self) -> Instant {
        self.origin
    }

    /// Time since the origin.
    pub fn now(self) -> Time {
        Time(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// `at` as an [`Instant`].
    pub fn instant(self, at: Time) -> Instant {
        self.origin + Duration::from_nanos(at.0)
    }
}

/// A stack that runs on real sockets.
pub trait Program {
    /// Name of the stack, as in results.
    const NAME: &'static str;
    /// What it takes of [`FlowSpec::key_beyond`]'s keys.
    const KEYS: &'static [&'static str] = &[];
    /// The program that connects and sends.
    type Sender: Sender;
    /// The program that accepts and receives.
    type Receiver: Receiver;

    /// Makes both programs of a flow, bound to 127.0.0.1 and doing nothing yet. Called
    /// inside the runtime that will run them.
    ///
    /// # Errors
    /// The stack cannot run the flow.
    fn ends(&self, flow: &FlowSpec, log: Option<FlowLog>) -> Result<Ends<Self::Sender, Self::Receiver>, RunError>;

    /// The groups its flows are in.
    fn groups(&self) -> &Groups<NamedController, String>;
}

/// Both programs of a flow.
pub struct Ends<S, R> {
    /// The end that sends.
    pub sender: S,
    /// The end that receives.
    pub receiver: R,
    /// Events and decisions of the sender's controller.
    pub sender_log: Arc<Mutex<SenderLog>>,
    /// The qlog trace of the flow; `None` if nothing is logged.
    pub trace: Option<SharedTrace<Output>>,
}

/// A program that connects and sends on one stream. Errors are in the stack's words.
pub trait Sender: Send + 'static {
    /// Address of its socket.
    fn address(&self) -> SocketAddr;
    /// Connects and opens the stream.
    fn connect(&mut self, peer: SocketAddr) -> impl Future<Output = Result<(), String>> + Send;
    /// Hands over bytes, as soon as the stack takes them.
    fn write(&mut self, bytes: Bytes) -> impl Future<Output = Result<(), String>> + Send;
    /// Ends the stream; what was handed over is still delivered.
    fn finish(&mut self) -> impl Future<Output = Result<(), String>> + Send;
    /// Closes the connection at once.
    fn close(&mut self);
    /// Packets as the stack counts them.
    fn counts(&self) -> Counts;
}

/// Counters of a stack's sending end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets the sender sent.
    pub sent: u64,
    /// Packets the sender declared lost.
    pub lost: u64,
}

/// A program that accepts a connection and receives a stream. Errors are in the stack's words.
pub trait Receiver: Send + 'static {
    /// Address of its socket.
    fn address(&self) -> SocketAddr;
    /// Waits for the connection and its stream.
    fn accept(&mut self) -> impl Future<Output = Result<(), String>> + Send;
    /// The next bytes; `None` after the last.
    fn read(&mut self) -> impl Future<Output = Result<Option<Bytes>, String>> + Send;
}
