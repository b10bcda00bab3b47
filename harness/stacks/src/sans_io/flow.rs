//! One flow: a connection between two ends and the transfer over it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::proto::{ClientConfig, ConnectionError, Dir, Endpoint, Event, ReadError, ReadableError, StreamId, VarInt};
use bytes::{Bytes, BytesMut};

use super::dialect;
use super::end::End;
use crate::driver::journal::{Journal, lock};
use crate::driver::wire::{Datagram, Role};
use crate::payload::{Hash, Sink, Source, check};
use windlass_network::Codepoint;

/// Unsent bytes the application keeps ready: more than a pacer lets go at once
/// (256 datagrams), so that the application is never what limits a flow.
const READY: u64 = 1 << 19;
/// How far the receiver gets before the sender's copy is hashed and forgotten.
const CONFIRM: u64 = 1 << 20;

/// A flow at work.
pub struct Flow {
    ends: [End; 2],
    journal: Arc<Mutex<Journal>>,
    source: Source,
    sink: Sink,
    confirmed: u64,
    sending: Option<StreamId>,
    receiving: Option<StreamId>,
    /// Made and not yet taken by the stream.
    unwritten: Bytes,
    /// Bytes still to make.
    left: u64,
    /// Everything was handed to the stream.
    finished: bool,
    ended: bool,
}

impl Flow {
    /// A flow of `bytes` from `source`, not connected yet.
    pub fn new(ends: [Endpoint; 2], journal: Arc<Mutex<Journal>>, source: Source, bytes: u64) -> Flow {
        let [sender, receiver] = ends;
        Flow {
            ends: [End::new(sender, Role::Sender), End::new(receiver, Role::Receiver)],
            journal,
            source,
            sink: Sink::default(),
            confirmed: 0,
            sending: None,
            receiving: None,
            unwritten: Bytes::new(),
            left: bytes,
            finished: false,
            ended: false,
        }
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn connect(&mut self, now: Instant, config: ClientConfig) -> Result<(), String> {
        self.end(Role::Sender).connect(now, config).map_err(|error| error.to_string())
    }

    /// Ends the transfer where it is.
    pub fn stop(&mut self, now: Instant) {
        self.ended = true;
        if let Some(connection) = self.end(Role::Sender).connection() {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
    }

    /// Whether the transfer is over: complete or stopped.
    pub fn ended(&self) -> bool {
        self.ended
    }

    fn end(&mut self, role: Role) -> &mut End {
        &mut self.ends[role as usize]
    }

    /// A datagram reaches an end, which answers with `send`.
    ///
    /// # Errors
    /// Why the receiver did not accept the connection.
    pub fn receive(
        &mut self,
        role: Role,
        now: Instant,
        ecn: Codepoint,
        payload: BytesMut,
        send: impl FnOnce(Datagram<'_>),
    ) -> Result<(), String> {
        self.end(role).receive(now, ecn, payload, send)
    }

    /// Runs an end: its timers that are due, its application, its transmissions. Returns
    /// how many datagrams it sent. If the receiver is `gone`, the sender may run into its
    /// idle timeout, which ends the flow.
    ///
    /// # Errors
    /// Why the connection was lost.
    pub fn drive(
        &mut self,
        role: Role,
        now: Instant,
        gone: bool,
        send: impl FnMut(Datagram<'_>),
    ) -> Result<usize, String> {
        self.end(role).expire(now);
        while let Some(event) = self.end(role).poll() {
            if let Event::ConnectionLost { reason } = event
                && !self.ended
            {
                if gone && reason == ConnectionError::TimedOut {
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
        Ok(self.end(role).transmit(now, send))
    }

    fn write(&mut self) -> Result<(), String> {
        if self.ended || self.finished {
            return Ok(());
        }
        let sent = lock(&self.journal).stream_sent;
        let Some(connection) = self.ends[Role::Sender as usize].connection() else { return Ok(()) };
        if self.sending.is_none() {
            self.sending = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.sending else { return Ok(()) };
        while (self.source.made() - self.unwritten.len() as u64) < sent + READY {
            if self.unwritten.is_empty() {
                if self.left == 0 {
                    self.finished = true;
                    return connection.send_stream(stream).finish().map_err(|error| error.to_string());
                }
                self.unwritten = self.source.take(self.left);
                self.left -= self.unwritten.len() as u64;
            }
            // Written in part, the chunk keeps the rest; blocked, it keeps everything.
            if !dialect::write(connection.send_stream(stream), &mut self.unwritten) {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), String> {
        let Some(connection) = self.ends[Role::Receiver as usize].connection() else { return Ok(()) };
        if self.receiving.is_none() {
            self.receiving = connection.streams().accept(Dir::Uni);
        }
        let Some(stream) = self.receiving else { return Ok(()) };
        let mut stream = connection.recv_stream(stream);
        let mut chunks = match stream.read(false) {
            Ok(chunks) => chunks,
            // Read to its end before.
            Err(ReadableError::ClosedStream) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.sink.take(chunk.offset, chunk.bytes),
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        let _ = chunks.finalize();
        if self.sink.in_order() >= self.confirmed + CONFIRM {
            self.confirmed = self.sink.in_order();
            self.source.confirm(self.confirmed);
        }
        Ok(())
    }

    /// When an end has to be driven next.
    pub fn timeout(&mut self, role: Role) -> Option<Instant> {
        self.end(role).timeout()
    }

    /// Application bytes the receiver has, each counted once.
    pub fn received(&self) -> u64 {
        self.sink.received()
    }

    /// The journal of the sending end.
    pub fn journal(&self) -> &Arc<Mutex<Journal>> {
        &self.journal
    }

    /// The window its controller decided, bytes; `None` before it connected.
    pub fn window(&mut self) -> Option<u64> {
        self.end(Role::Sender).connection().map(|connection| dialect::window(connection))
    }

    /// Packets the stack counts as sent and as lost at the sending end; `None` before it
    /// connected.
    pub fn packets(&mut self) -> Option<(u64, u64)> {
        self.end(Role::Sender).connection().map(dialect::packets)
    }

    /// The hash of what arrived without a gap before it.
    ///
    /// # Errors
    /// The sender's first so many bytes are others.
    pub fn check(self) -> Result<Hash, String> {
        check(self.source, self.sink)
    }
}
