//! One flow: a connection between two ends and the transfer over it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use windlass_controllers::Span;
use windlass_network::Codepoint;

use super::end::End;
use super::{ConnectionEvent, QuinnApi};
use crate::driver::datagrams::{Datagram, Role};
use crate::driver::liveness::receiver_probe_timeout;
use crate::driver::sender_log::{SenderLog, lock};
use crate::payload::{Hash, Sink, Source, check};
use crate::sans_io::Connection;

/// Unsent bytes the application keeps ready: more than a pacer lets go at once
/// (256 datagrams), so that the application is never what limits a flow.
const READY: u64 = 1 << 19;
/// How far the receiver gets before the sender's copy is hashed and forgotten.
const CONFIRM: u64 = 1 << 20;

/// A flow under way.
pub struct Flow<S: QuinnApi> {
    ends: [End<S>; 2],
    sender_log: Arc<Mutex<SenderLog>>,
    source: Source,
    sink: Sink,
    confirmed: u64,
    sending: Option<S::StreamId>,
    receiving: Option<S::StreamId>,
    /// Made and not yet taken by the stream.
    unwritten: Bytes,
    /// Application bytes not yet handed to the stack.
    left: u64,
    /// Everything was handed to the stream.
    finished: bool,
    ended: bool,
    /// An end ran into its idle timeout.
    timed_out: bool,
}

impl<S: QuinnApi> Flow<S> {
    /// A flow of `bytes` from `source`, not connected yet.
    pub fn new(ends: [S::Endpoint; 2], sender_log: Arc<Mutex<SenderLog>>, source: Source, bytes: u64) -> Self {
        let [sender, receiver] = ends;
        Flow {
            ends: [End::new(sender, Role::Sender), End::new(receiver, Role::Receiver)],
            sender_log,
            source,
            sink: Sink::default(),
            confirmed: 0,
            sending: None,
            receiving: None,
            unwritten: Bytes::new(),
            left: bytes,
            finished: false,
            ended: false,
            timed_out: false,
        }
    }

    fn end(&mut self, role: Role) -> &mut End<S> {
        &mut self.ends[role as usize]
    }

    fn write(&mut self) -> Result<(), String> {
        if self.ended || self.finished {
            return Ok(());
        }
        let sent = lock(&self.sender_log).stream_sent;
        let Some(connection) = self.ends[Role::Sender as usize].connection() else { return Ok(()) };
        if self.sending.is_none() {
            self.sending = S::open(connection);
        }
        let Some(stream) = self.sending else { return Ok(()) };
        while (self.source.made() - self.unwritten.len() as u64) < sent + READY {
            if self.unwritten.is_empty() {
                if self.left == 0 {
                    self.finished = true;
                    return S::finish(connection, stream);
                }
                self.unwritten = self.source.take(self.left);
                self.left -= self.unwritten.len() as u64;
            }
            // Written in part, the chunk keeps the rest; blocked, it keeps everything.
            if !S::write(connection, stream, &mut self.unwritten) {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), String> {
        let Some(connection) = self.ends[Role::Receiver as usize].connection() else { return Ok(()) };
        if self.receiving.is_none() {
            self.receiving = S::accept(connection);
        }
        let Some(stream) = self.receiving else { return Ok(()) };
        let sink = &mut self.sink;
        self.ended |= S::read(connection, stream, &mut |offset, bytes| sink.take(offset, bytes))?;
        if self.sink.in_order() >= self.confirmed + CONFIRM {
            self.confirmed = self.sink.in_order();
            self.source.confirm(self.confirmed);
        }
        Ok(())
    }
}

impl<S: QuinnApi> Connection for Flow<S> {
    type Config = S::ClientConfig;

    fn connect(&mut self, now: Instant, config: S::ClientConfig) -> Result<(), String> {
        self.end(Role::Sender).connect(now, config)
    }

    fn stop(&mut self, now: Instant) {
        self.ended = true;
        if let Some(connection) = self.end(Role::Sender).connection() {
            S::close(connection, now);
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
        payload: BytesMut,
        send: &mut dyn FnMut(Datagram<'_>),
    ) -> Result<(), String> {
        self.end(role).receive(now, ecn, address, payload, send)
    }

    fn drive(
        &mut self,
        role: Role,
        now: Instant,
        gone: bool,
        send: &mut dyn FnMut(Datagram<'_>),
    ) -> Result<(), String> {
        self.end(role).expire(now);
        while let Some(event) = self.end(role).poll() {
            if let ConnectionEvent::Lost { timed_out, reason } = event
                && !self.ended
            {
                // An end that timed out answers with a stateless reset.
                if (gone && timed_out) || self.timed_out {
                    self.timed_out = true;
                    self.ended = role == Role::Sender;
                    continue;
                }
                return Err(format!("the {} lost the connection: {reason}", role.name()));
            }
        }
        match role {
            Role::Sender => self.write()?,
            Role::Receiver => self.read()?,
        }
        self.end(role).transmit(now, send);
        Ok(())
    }

    fn timeout(&mut self, role: Role) -> Option<Instant> {
        self.end(role).timeout()
    }

    fn receiver_timeout(&mut self) -> Option<Span> {
        let connection = self.end(Role::Receiver).connection()?;
        Some(receiver_probe_timeout(S::rtt(connection), None))
    }

    fn timed_out(&self) -> bool {
        self.timed_out
    }

    fn received(&self) -> u64 {
        self.sink.received()
    }

    fn sender_log(&self) -> &Arc<Mutex<SenderLog>> {
        &self.sender_log
    }

    fn window(&mut self) -> Option<u64> {
        self.end(Role::Sender).connection().map(|connection| S::window(connection))
    }

    fn packets(&mut self) -> Option<(u64, u64)> {
        self.end(Role::Sender).connection().map(S::packets)
    }

    fn check(self) -> Result<Hash, String> {
        check(self.source, self.sink)
    }
}
