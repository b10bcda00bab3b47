//! The driver of sans-I/O stacks under virtual time, generic over the stack.
//!
//! A sans-I/O stack takes time and datagrams as arguments, so a run is deterministic: [`run`] puts the datagrams of every
//! flow on the network model and moves time from one event to the next. A stack implements [`SansIo`], which makes
//! flows, and [`Connection`], which is one flow's connection with its two ends and the transfer over it.

mod run;
mod scheduled;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::BytesMut;
use windlass_adapter::{Groups, NamedController, SavedPaths, SharedTrace};
use windlass_controllers::Span;
use windlass_network::Codepoint;
use windlass_simulator::scenario::FlowSpec;

use crate::driver::datagrams::{Datagram, Role};
use crate::driver::liveness::PROBE_TIMEOUTS;
use crate::driver::sender_log::{Output, SenderLog};
use crate::payload::Hash;
use crate::{FlowLog, RunError};

pub use run::run;

/// A sans-I/O stack.
pub trait SansIo {
    /// Name of the stack, as in results.
    const NAME: &'static str;
    /// Keys that it knows of those that say what a flow's applications do.
    const KEYS: &'static [&'static str];
    /// The two ends of a flow.
    type Connection: Connection;

    /// Makes the parts of a flow, which is not connected yet. `log` says where its log goes, if anywhere.
    ///
    /// # Errors
    /// The stack cannot run the flow.
    fn parts(
        &self,
        run: &Context<'_>,
        spec: &FlowSpec,
        log: Option<FlowLog>,
    ) -> Result<Parts<Self::Connection>, RunError>;
}

/// Data shared by all flows of a run.
pub struct Context<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// The origin of virtual time.
    pub origin: Instant,
    /// The groups flows share windows in.
    pub groups: Groups<NamedController, String>,
    /// What is known of the paths that flows resume.
    pub saved_paths: SavedPaths<String>,
}

/// A flow not connected yet, and how to connect it.
pub struct Parts<C: Connection> {
    /// The two ends of the flow.
    pub connection: C,
    /// Configuration of the end that connects.
    pub config: C::Config,
    /// The qlog trace of the flow; `None` if nothing is logged.
    pub trace: Option<SharedTrace<Output>>,
}

/// A flow's connection: two ends, and the transfer from one to the other. Errors are in the stack's words.
pub trait Connection {
    /// Configuration of the client.
    type Config;

    /// Probe timeouts within which the first byte has to arrive after a fault.
    const HANDSHAKE_TIMEOUTS: u64 = PROBE_TIMEOUTS;

    /// The end that connects.
    fn client(&self) -> Role {
        Role::Sender
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// The stack refuses to connect.
    fn connect(&mut self, now: Instant, config: Self::Config) -> Result<(), String>;

    /// Ends the transfer where it is.
    fn stop(&mut self, now: Instant);

    /// Whether the transfer is over: complete or stopped.
    fn ended(&self) -> bool;

    /// A datagram reaches an end, which may answer at once with `send`. `address` is the one of the sender's
    /// addresses it comes from or was sent to; it differs from 0 where the receiver sees the sender move.
    ///
    /// # Errors
    /// The receiver did not accept the connection.
    fn receive(
        &mut self,
        role: Role,
        now: Instant,
        ecn: Codepoint,
        address: u16,
        payload: BytesMut,
        send: &mut dyn FnMut(Datagram<'_>),
    ) -> Result<(), String>;

    /// Runs an end: its timers that are due, its application, its transmissions, each through `send`. If the
    /// other end is `gone`, this one may run into its idle timeout, which ends the flow.
    ///
    /// # Errors
    /// The connection was lost.
    fn drive(&mut self, role: Role, now: Instant, gone: bool, send: &mut dyn FnMut(Datagram<'_>))
    -> Result<(), String>;

    /// Time at which an end has to be driven next; `None` if only a datagram can make it do anything.
    fn timeout(&mut self, role: Role) -> Option<Instant>;

    /// The receiver's probe timeout before backoff, by its own estimates; `None` before it has any.
    fn receiver_timeout(&mut self) -> Option<Span>;

    /// Whether an end ran into its idle timeout, after which nothing moves any more.
    fn timed_out(&self) -> bool;

    /// Application bytes the receiver has, each counted once.
    fn received(&self) -> u64;

    /// Log of the sending end.
    fn sender_log(&self) -> &Arc<Mutex<SenderLog>>;

    /// The congestion window, bytes; `None` before it connected.
    fn window(&mut self) -> Option<u64>;

    /// Packets the stack counts as sent and as lost at the sending end; `None` before it connected.
    fn packets(&mut self) -> Option<(u64, u64)>;

    /// The hash of what arrived without a gap before it.
    ///
    /// # Errors
    /// The sender's first so many bytes are others.
    fn check(self) -> Result<Hash, String>;
}
