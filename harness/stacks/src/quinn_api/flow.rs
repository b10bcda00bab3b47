//! One flow: a connection between two ends and the transfer over it.

mod objects;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use windlass_controllers::Span;
use windlass_network::Codepoint;
use windlass_simulator::scenario::FlowSpec;

use super::end::End;
use super::{ConnectionEvent, QuinnApi, Way};
use crate::driver::datagrams::{Datagram, Role};
use crate::driver::liveness::receiver_probe_timeout;
use crate::driver::sender_log::{SenderLog, lock};
use crate::driver::stream_acks::StreamAcks;
use crate::payload::{Hash, Transfer, Writer, request};
use crate::sans_io::Connection;

/// Unsent bytes the application keeps ready: more than a pacer lets go at once
/// (256 datagrams), so that the application is never what limits a flow.
const READY: u64 = 1 << 19;
/// The first unidirectional stream of a client, and how far its bidirectional ones are apart (`RFC 9000 §2.1`).
const UNIDIRECTIONAL: u64 = 2;
const STREAM_STEP: u64 = 4;

/// A flow under way.
pub struct Flow<S: QuinnApi> {
    ends: [End<S>; 2],
    sender_log: Arc<Mutex<SenderLog>>,
    streams: Vec<StreamState<S>>,
    transfers: Vec<Transfer>,
    writer: Writer,
    /// The receiver connects and asks; else the sender connects.
    asks: bool,
    /// Streams with data at a time.
    at_once: u64,
    /// The client's video, if it plays one.
    video: Option<VideoClient>,
    seed: u64,
    name: String,
    /// Limit of the receiver's flow control that is not logged yet.
    granted: Option<u64>,
    ended: bool,
    /// An end ran into its idle timeout.
    timed_out: bool,
}

/// What it takes to ask for a chunk of a video.
struct VideoClient {
    /// When it asks for the next one; `None` while one is under way.
    next: Option<Instant>,
}

/// A stream, as both ends have it.
struct StreamState<S: QuinnApi> {
    id: u64,
    sending: Option<S::StreamId>,
    receiving: Option<S::StreamId>,
    /// The sender has the whole request.
    is_requested: bool,
    /// Everything was handed to the stream.
    finished: bool,
    ended: bool,
}

impl<S: QuinnApi> StreamState<S> {
    /// Stream `number`, which answers a request if its receiver `asks`.
    fn new(asks: bool, number: u64) -> Self {
        StreamState {
            id: if asks { STREAM_STEP * number } else { UNIDIRECTIONAL },
            sending: None,
            receiving: None,
            is_requested: !asks,
            finished: false,
            ended: false,
        }
    }
}

impl<S: QuinnApi> Flow<S> {
    /// A flow of `spec` in the run with `seed`, not connected yet.
    pub fn new(ends: [S::Endpoint; 2], sender_log: Arc<Mutex<SenderLog>>, seed: u64, spec: &FlowSpec) -> Self {
        let [sender, receiver] = ends;
        let asks = spec.requests.is_some();
        let transfers = Transfer::of(seed, spec);
        let video = spec.video.is_some().then_some(VideoClient { next: None });
        {
            let mut log = lock(&sender_log);
            log.server = asks;
            log.acks = spec.objects().map(|_| StreamAcks::default());
        }
        Flow {
            ends: [End::new(sender, Role::Sender), End::new(receiver, Role::Receiver)],
            sender_log,
            streams: (0..transfers.len() as u64).map(|number| StreamState::new(asks, number)).collect(),
            at_once: transfers.len().max(1) as u64,
            transfers,
            video,
            seed,
            name: spec.name.clone(),
            writer: Writer::new(spec.writes),
            asks,
            granted: spec.receive_window,
            ended: false,
            timed_out: false,
        }
    }

    fn end(&mut self, role: Role) -> &mut End<S> {
        &mut self.ends[role as usize]
    }

    fn write(&mut self, now: Instant) -> Result<(), String> {
        if self.writer.groups.is_some() {
            return self.write_objects(now);
        }
        if self.ended || self.streams.iter().all(|stream| stream.finished) {
            return Ok(());
        }
        let Some(connection) = self.ends[Role::Sender as usize].connection() else { return Ok(()) };
        for stream in &mut self.streams {
            if stream.sending.is_none() {
                stream.sending =
                    if self.asks { S::accept(connection, Way::Both) } else { S::open(connection, Way::One) };
            }
            if let (Some(id), false) = (stream.sending, stream.is_requested) {
                stream.is_requested = S::read(connection, id, &mut |_, _| {})?;
            }
        }
        if self.streams.first().is_some_and(|stream| stream.sending.is_some())
            && let Some(window) = self.granted.take()
        {
            lock(&self.sender_log).granted(window);
        }
        let ready = READY / self.at_once;
        if !self.streams.iter().any(|stream| stream.sending.is_some() && stream.is_requested) {
            return Ok(());
        }
        let mut room = {
            let mut log = lock(&self.sender_log);
            let time = log.by_network();
            self.writer.write(now, Transfer::made_by(&self.transfers), time, &mut log.meter)
        };
        for (stream, transfer) in self.streams.iter_mut().zip(&mut self.transfers) {
            let Some(id) = stream.sending.filter(|_| stream.is_requested && !stream.finished) else { continue };
            let sent = lock(&self.sender_log).stream_sent(stream.id);
            while transfer.written() < sent + ready {
                if transfer.is_written() {
                    stream.finished = true;
                    S::finish(connection, id)?;
                    break;
                }
                let made = transfer.made();
                transfer.make(room);
                room -= transfer.made() - made;
                // Written in part, the chunk keeps the rest; blocked, it keeps everything.
                if transfer.unwritten.is_empty() || !S::write(connection, id, &mut transfer.unwritten) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, now: Instant) -> Result<(), String> {
        let Some(connection) = self.ends[Role::Receiver as usize].connection() else { return Ok(()) };
        for (number, (stream, transfer)) in (0..).zip(self.streams.iter_mut().zip(&mut self.transfers)) {
            if stream.receiving.is_none() {
                stream.receiving = match self.asks {
                    true => ask::<S>(connection, number)?,
                    false => S::accept(connection, Way::One),
                };
            }
            let Some(id) = stream.receiving else { break };
            stream.ended |= S::read(connection, id, &mut |offset, bytes| transfer.receive(offset, &bytes))?;
        }
        let mut log = lock(&self.sender_log);
        let at = log.by_network();
        if self.writer.groups.is_some() {
            for (group, transfer) in (0..).zip(&self.transfers) {
                log.meter.received_of_group(at, group, transfer.in_order());
            }
            return Ok(());
        }
        log.meter.received(at, Transfer::in_order_of(&self.transfers));
        drop(log);
        if self.video.is_some() {
            return self.ask_for_chunk(now);
        }
        self.ended |= self.streams.iter().all(|stream| stream.ended);
        Ok(())
    }

    /// The client of a video asks for the next chunk once that is due.
    fn ask_for_chunk(&mut self, now: Instant) -> Result<(), String> {
        let mut log = lock(&self.sender_log);
        let at = log.by_network();
        let (Some(player), Some(video)) = (&mut log.meter.player, &mut self.video) else { return Ok(()) };
        video.next = player.next().map(|next| now + Duration::from_nanos(next.since(at).0));
        if !player.is_due(at) || self.ended {
            return Ok(());
        }
        let Some(connection) = self.ends[Role::Receiver as usize].connection() else { return Ok(()) };
        let number = self.streams.len() as u64;
        let Some(id) = ask::<S>(connection, number as u32)? else { return Ok(()) };
        video.next = None;
        self.transfers.push(Transfer::new(self.seed, &self.name, number, player.ask(at)));
        self.streams.push(StreamState { receiving: Some(id), ..StreamState::new(true, number) });
        Ok(())
    }
}

/// Opens a stream with request `number` on it, if the peer allows one; a request is small enough to fit into any window.
fn ask<S: QuinnApi>(connection: &mut S::Connection, number: u32) -> Result<Option<S::StreamId>, String> {
    let Some(id) = S::open(connection, Way::Both) else { return Ok(None) };
    S::write(connection, id, &mut request(number));
    S::finish(connection, id)?;
    Ok(Some(id))
}

impl<S: QuinnApi> Connection for Flow<S> {
    type Config = S::ClientConfig;

    fn client(&self) -> Role {
        if self.asks { Role::Receiver } else { Role::Sender }
    }

    fn connect(&mut self, now: Instant, config: S::ClientConfig) -> Result<(), String> {
        let client = self.client();
        self.end(client).connect(now, config)
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
            Role::Sender => self.write(now)?,
            Role::Receiver => self.read(now)?,
        }
        self.end(role).transmit(now, send);
        Ok(())
    }

    fn timeout(&mut self, role: Role) -> Option<Instant> {
        let write = self.writer.next().filter(|_| {
            role == Role::Sender && !self.ended && self.transfers.iter().any(|transfer| !transfer.is_written())
        });
        let next = self.video.as_ref().and_then(|video| video.next).filter(|_| role == Role::Receiver && !self.ended);
        [self.end(role).timeout(), write, next].into_iter().flatten().min()
    }

    fn receiver_timeout(&mut self) -> Option<Span> {
        let connection = self.end(Role::Receiver).connection()?;
        Some(receiver_probe_timeout(S::rtt(connection), None))
    }

    fn timed_out(&self) -> bool {
        self.timed_out
    }

    fn received(&self) -> u64 {
        Transfer::received(&self.transfers)
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
        Transfer::check(self.transfers)
    }
}
