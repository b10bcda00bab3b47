//! One flow: a connection between two ends and the transfer over it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quiche::Connection;
use quiche::harness::clock;
use windlass_controllers::Span;
use windlass_network::Codepoint;
use windlass_simulator::scenario::{AckPolicy, FlowSpec};
use windlass_stacks::driver::datagrams::{Datagram, Role};
use windlass_stacks::driver::liveness::receiver_probe_timeout;
use windlass_stacks::driver::sender_log::{SenderLog, lock};
use windlass_stacks::payload::{Hash, Transfer, Writer};
use windlass_stacks::sans_io;

use crate::controller::{ClientConfig, Kind, Observed};
use crate::end::{ADDRESSES, End, number, sender};

/// The stream of the transfer: the client's first that goes one way.
pub const STREAM: u64 = 2;
/// The largest datagram of the sender that is taken for one without data, bytes: an ACK alone
/// is smaller, and data fills whole datagrams.
const MAX_WITHOUT_DATA: usize = 100;
/// Windows of data that are handed over before they have arrived: many, since behind a loss nothing arrives in order.
const AHEAD: u64 = 16;
/// The error code connections are closed with.
const DONE: u64 = 0;

/// A flow of a run.
pub struct Flow {
    ends: [End; 2],
    controller: Observed,
    sender_log: Arc<Mutex<SenderLog>>,
    transfer: Transfer,
    writer: Writer,
    finished: bool,
    ended: bool,
    /// An end ran into its idle timeout.
    timed_out: bool,
    acks: Acks,
}

/// When the receiver acknowledges. quiche itself does so whenever it is asked for a datagram.
struct Acks {
    policy: AckPolicy,
    /// Datagrams since it was asked last.
    arrived: u32,
    /// Time at which it has to be driven.
    due: Option<Instant>,
}

impl Flow {
    /// A flow of `spec` in the run with `seed`, not connected yet. `receiver` is what the receiving end
    /// accepts with, `largest` the size of the largest datagrams.
    pub fn new(
        receiver: quiche::Config,
        largest: usize,
        kind: Kind,
        sender_log: Arc<Mutex<SenderLog>>,
        seed: u64,
        spec: &FlowSpec,
    ) -> Flow {
        let [here, there] = ADDRESSES;
        Flow {
            ends: [
                End::new(Role::Sender, None, [here, there], largest),
                End::new(Role::Receiver, Some(receiver), [there, here], largest),
            ],
            controller: Observed::new(kind),
            sender_log,
            // It answers no requests, so there is one.
            transfer: Transfer::of(seed, spec).remove(0),
            writer: Writer::new(spec.writes),
            finished: false,
            ended: false,
            timed_out: false,
            acks: Acks { policy: spec.ack, arrived: 0, due: None },
        }
    }

    fn end(&mut self, role: Role) -> &mut End {
        &mut self.ends[role as usize]
    }

    /// Decides whether the receiver waits before it acknowledges (`RFC 9000 §13.2`): not if
    /// there is a gap, a mark, or a handshake.
    fn schedule_ack(&mut self, now: Instant, ecn: Codepoint) -> Result<(), String> {
        let before = self.transfer.in_order();
        self.read();
        self.acks.arrived += 1;
        let established = self.end(Role::Receiver).connection_ref().is_some_and(Connection::is_established);
        let waits = established
            && self.transfer.in_order() > before
            && ecn != Codepoint::Ce
            && !self.ended
            && self.acks.arrived < self.acks.policy.every;
        let due = now + if waits { Duration::from_nanos(self.acks.policy.max_delay.0) } else { Duration::ZERO };
        self.acks.due = Some(self.acks.due.map_or(due, |earlier| earlier.min(due)));
        Ok(())
    }

    /// Hands over as much as quiche takes, so that the application never limits the flow, but no more than [`AHEAD`] windows that
    /// have not arrived in order: quiche takes what the window has room for with every ACK again, whatever waits already
    /// (`update_tx_cap` in its `src/lib.rs`), and while a probe is due, whatever flow control allows (`cwnd_available` in
    /// `src/recovery/gcongestion/recovery.rs`). Of a flow that is paced below its window gigabytes would wait.
    fn write(&mut self, now: Instant) -> Result<(), String> {
        if self.ended || self.finished {
            return Ok(());
        }
        let Some(connection) = self.ends[Role::Sender as usize].connection() else { return Ok(()) };
        if !connection.is_established() {
            return Ok(());
        }
        let before = self.transfer.made();
        let mut room = {
            let mut log = lock(&self.sender_log);
            let time = log.by_network();
            self.writer.write(now, before, time, &mut log.meter)
        };
        loop {
            if self.transfer.unwritten.is_empty() && !self.transfer.is_written() {
                if self.transfer.made() - self.transfer.in_order() > AHEAD * window(connection) {
                    return Ok(());
                }
                match connection.stream_capacity(STREAM) {
                    Ok(0) => return Ok(()),
                    // Writing to it creates it.
                    Ok(_) | Err(quiche::Error::InvalidStreamState(_)) => {}
                    Err(error) => return Err(error.to_string()),
                }
                self.transfer.make(room);
                room -= self.transfer.unwritten.len() as u64;
                if self.transfer.unwritten.is_empty() {
                    return Ok(());
                }
            }
            let last = self.transfer.is_made();
            match connection.stream_send(STREAM, &self.transfer.unwritten, last) {
                Ok(taken) => {
                    let all = taken == self.transfer.unwritten.len();
                    let _ = self.transfer.unwritten.split_to(taken);
                    self.finished = all && last;
                    if self.finished || !all {
                        return Ok(());
                    }
                }
                Err(quiche::Error::Done) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn read(&mut self) {
        let Some(connection) = self.ends[Role::Receiver as usize].connection() else { return };
        let mut buffer = [0; 1 << 14];
        // Nothing to read, or no stream yet.
        while let Ok((bytes, end)) = connection.stream_recv(STREAM, &mut buffer) {
            self.transfer.receive(self.transfer.in_order(), &buffer[..bytes]);
            self.ended |= end;
        }
        let mut log = lock(&self.sender_log);
        let time = log.by_network();
        log.meter.received(time, self.transfer.in_order());
    }

    /// Reads what quiche's statistics say of the controller.
    fn observe(&mut self) -> Result<(), String> {
        let Some(connection) = self.ends[Role::Sender as usize].connection_ref() else { return Ok(()) };
        let mut sender_log = lock(&self.sender_log);
        let now = sender_log.now;
        self.controller.observe(now, connection, &mut sender_log)
    }
}

/// The congestion window, bytes.
fn window(connection: &Connection) -> u64 {
    connection.path_stats().next().map_or(0, |path| path.cwnd as u64)
}

impl sans_io::Connection for Flow {
    type Config = ClientConfig;

    /// quiche 0.30 keeps the backoff of its probe timeout when it discards Handshake keys (`on_pkt_num_space_discarded` in
    /// `src/recovery/congestion/recovery.rs`), which RFC 9002 §6.2.2 has it reset. As the probes of the Handshake and of
    /// the Application space take turns, each doubling it for both, a fault may end right after a Handshake probe;
    /// one of the Application space, the Handshake probe that gets through and the data's own follow, each after twice the
    /// time before: 2 + 4 + 8 of a last probe timeout, of which twice is at most what had passed.
    const HANDSHAKE_TIMEOUTS: u64 = 7;

    fn connect(&mut self, now: Instant, mut config: ClientConfig) -> Result<(), String> {
        clock::set(Some(now));
        self.end(Role::Sender).connect(&mut config.config, config.choice)
    }

    fn stop(&mut self, now: Instant) {
        clock::set(Some(now));
        self.ended = true;
        if let Some(connection) = self.end(Role::Sender).connection() {
            // It may be closed already.
            let _ = connection.close(true, DONE, b"");
        }
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn receive(
        &mut self,
        role: Role,
        now: Instant,
        ecn: Codepoint,
        address: u16,
        mut payload: BytesMut,
        _send: &mut dyn FnMut(Datagram<'_>),
    ) -> Result<(), String> {
        clock::set(Some(now));
        let from = if role == Role::Sender { ADDRESSES[Role::Receiver as usize] } else { sender(address) };
        self.end(role).receive(ecn, from, &mut payload)?;
        match role {
            Role::Sender => self.observe()?,
            Role::Receiver => self.schedule_ack(now, ecn)?,
        }
        Ok(())
    }

    fn drive(
        &mut self,
        role: Role,
        now: Instant,
        gone: bool,
        send: &mut dyn FnMut(Datagram<'_>),
    ) -> Result<(), String> {
        clock::set(Some(now));
        self.end(role).expire();
        if let Some(reason) = self.end(role).closed().filter(|_| !self.ended) {
            // One that has timed out stays closed, whatever arrives after.
            if !gone && !self.timed_out {
                return Err(format!("the {} lost the connection: {reason}", role.name()));
            }
            self.timed_out = true;
            self.ended = role == Role::Sender;
        }
        if role == Role::Receiver {
            if self.acks.due.is_some_and(|due| due > now) {
                return Ok(());
            }
            (self.acks.arrived, self.acks.due) = (0, None);
        }
        loop {
            let ecn = match role {
                Role::Sender => {
                    self.write(now)?;
                    self.controller.kind.codepoint(&lock(&self.sender_log).decision)
                }
                Role::Receiver => Codepoint::NotEct,
            };
            let sends = role == Role::Sender && self.end(role).connection_ref().is_some_and(Connection::is_established);
            let sender_log = Arc::clone(&self.sender_log);
            if !self.end(role).transmit(now, &mut |payload, to| {
                lock(&sender_log).data_packets += u64::from(sends && payload.len() > MAX_WITHOUT_DATA);
                send(Datagram { ecn, payload, address: number(to) });
            })? {
                break;
            }
        }
        if role == Role::Sender {
            self.observe()?;
        }
        Ok(())
    }

    fn timeout(&mut self, role: Role) -> Option<Instant> {
        let due = self.acks.due.filter(|_| role == Role::Receiver);
        let writes = role == Role::Sender && !self.ended && !self.finished;
        let write = self.writer.next().filter(|_| writes);
        [self.end(role).timeout(), due, write].into_iter().flatten().min()
    }

    fn receiver_timeout(&mut self) -> Option<Span> {
        let path = self.end(Role::Receiver).connection_ref()?.path_stats().next()?;
        Some(receiver_probe_timeout(path.rtt, Some(path.rttvar)))
    }

    fn timed_out(&self) -> bool {
        self.timed_out
    }

    fn received(&self) -> u64 {
        self.transfer.in_order()
    }

    fn sender_log(&self) -> &Arc<Mutex<SenderLog>> {
        &self.sender_log
    }

    fn window(&mut self) -> Option<u64> {
        self.end(Role::Sender).connection_ref().map(window)
    }

    fn packets(&mut self) -> Option<(u64, u64)> {
        let stats = self.end(Role::Sender).connection_ref()?.stats();
        Some((stats.sent as u64, stats.lost as u64))
    }

    fn check(self) -> Result<Hash, String> {
        Transfer::check(vec![self.transfer])
    }
}
