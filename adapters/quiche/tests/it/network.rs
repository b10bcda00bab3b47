//! Two quiche connections over a link in memory, under virtual time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use quiche::{Config, Connection, ConnectionId, RecvInfo};
use windlass_quiche::{Recorder, StateVariables};

pub const MTU: usize = 1350;
/// The client's address.
pub const CLIENT: ([u8; 4], u16) = ([192, 0, 2, 7], 4000);
/// The server's address.
pub const SERVER: ([u8; 4], u16) = ([192, 0, 2, 1], 443);

struct Identity {
    _directory: tempfile::TempDir,
    certificate: String,
    key: String,
}

static IDENTITY: LazyLock<Identity> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let certificate = write("certificate.pem", made.cert.pem());
    let key = write("key.pem", made.signing_key.serialize_pem());
    Identity { certificate, key, _directory: directory }
});

/// A configuration of either side.
pub fn config() -> Config {
    let mut config = Config::new(quiche::PROTOCOL_VERSION).unwrap();
    prepare(&mut config);
    config
}

/// Everything of a configuration but its TLS context.
pub fn prepare(config: &mut Config) {
    config.load_cert_chain_from_pem_file(&IDENTITY.certificate).unwrap();
    config.load_priv_key_from_pem_file(&IDENTITY.key).unwrap();
    config.set_application_protos(&[b"file"]).unwrap();
    config.verify_peer(false);
    config.set_max_idle_timeout(30_000);
    config.set_max_recv_udp_payload_size(MTU);
    config.set_max_send_udp_payload_size(MTU);
    config.set_initial_max_data(1 << 40);
    config.set_initial_max_stream_data_bidi_local(1 << 40);
    config.set_initial_max_stream_data_bidi_remote(1 << 40);
    config.set_initial_max_streams_bidi(100);
    config.set_max_connection_window(1 << 40);
    config.set_max_stream_window(1 << 40);
}

/// Source and destination of a datagram.
type Ends = (SocketAddr, SocketAddr);

/// One direction of the path.
pub struct Link {
    pub delay: Duration,
    /// bit/s; `None` if it takes no time to send.
    pub rate: Option<u64>,
    /// The most bytes that may wait.
    pub queue: usize,
    /// Whether the nth datagram is lost.
    pub loses: Box<dyn FnMut(u64) -> bool>,
    /// Extra delay of the nth datagram.
    pub holds: Box<dyn FnMut(u64) -> Duration>,
    count: u64,
    free_at: Option<Instant>,
    flying: VecDeque<(Instant, Ends, Vec<u8>)>,
    pub lost: u64,
    pub bytes: u64,
}

impl Link {
    pub fn new(delay: Duration) -> Link {
        Link {
            delay,
            rate: None,
            queue: usize::MAX,
            loses: Box::new(|_| false),
            holds: Box::new(|_| Duration::ZERO),
            count: 0,
            free_at: None,
            flying: VecDeque::new(),
            lost: 0,
            bytes: 0,
        }
    }

    fn carry(&mut self, now: Instant, ends: Ends, datagram: Vec<u8>) {
        self.count += 1;
        let takes =
            self.rate.map_or(Duration::ZERO, |rate| Duration::from_nanos(datagram.len() as u64 * 8_000_000_000 / rate));
        let starts = self.free_at.map_or(now, |free| free.max(now));
        let waiting =
            self.rate.map_or(0, |rate| ((starts - now).as_nanos() as u64 * (rate / 8) / 1_000_000_000) as usize);
        if (self.loses)(self.count) || waiting + datagram.len() > self.queue {
            self.lost += 1;
            return;
        }
        self.bytes += datagram.len() as u64;
        let leaves = starts + takes;
        self.free_at = Some(leaves);
        let arrives = leaves + self.delay + (self.holds)(self.count);
        let place = self.flying.partition_point(|(at, ..)| *at <= arrives);
        self.flying.insert(place, (arrives, ends, datagram));
    }
}

/// One side: its connection, its way out, and when it may use it next.
pub struct Side {
    pub connection: Connection,
    pub out: Link,
    /// Earliest time of the next datagram; `None` for at once.
    release: Option<Instant>,
}

pub struct Network {
    pub now: Instant,
    pub client: Side,
    pub server: Side,
    /// Bytes of answers that reached the client.
    pub received: u64,
    to_send: u64,
    /// The stream of the request that is answered.
    request: u64,
    asked: bool,
    /// Bytes the client has yet to send on a stream of its own, beside its requests.
    pub to_upload: usize,
    /// Those that reached the server.
    pub uploaded: u64,
    /// The address the server sees the client at, where a NAT is between them.
    pub seen_as: Option<SocketAddr>,
}

/// The stream of an upload.
const UPLOAD: u64 = 4 * 99;

impl Network {
    /// The server will answer a request with `bytes`.
    pub fn new(client: &mut Config, server: &mut Config, rtt: Duration, bytes: u64) -> Network {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(1);
        let now = Instant::now();
        quiche::harness::clock::set(Some(now));
        let nth = CONNECTIONS.fetch_add(2, Ordering::Relaxed);
        let id = |nth: u64| ConnectionId::from_vec([nth.to_be_bytes(), nth.to_be_bytes()].concat());
        let (here, there) = (SocketAddr::from(CLIENT), SocketAddr::from(SERVER));
        let side = |connection| Side { connection, out: Link::new(rtt / 2), release: None };
        let connecting = quiche::connect(Some("localhost"), &id(nth), here, there, client).unwrap();
        let accepting = quiche::accept(&id(nth + 1), None, there, here, server).unwrap();
        Network {
            now,
            client: side(connecting),
            server: side(accepting),
            received: 0,
            to_send: bytes,
            request: 0,
            asked: false,
            to_upload: 0,
            uploaded: 0,
            seen_as: None,
        }
    }

    /// The client asks for another answer.
    pub fn ask(&mut self, bytes: u64) {
        self.request += 4;
        (self.to_send, self.asked) = (bytes, false);
    }

    /// Limits the way from the server to the client.
    pub fn bottleneck(mut self, rate: u64, queue: usize) -> Network {
        self.server.out.rate = Some(rate);
        self.server.out.queue = queue;
        self
    }

    /// Runs until `until` says so after some step; false if nothing happens any more, or after
    /// ten minutes.
    pub fn run(&mut self, mut until: impl FnMut(&Network) -> bool) -> bool {
        let end = self.now + Duration::from_secs(600);
        while self.now < end {
            self.step();
            if until(self) {
                return true;
            }
            let next = [self.client.next(self.now), self.server.next(self.now)].into_iter().flatten().min();
            let Some(next) = next else { return false };
            self.now = self.now.max(next);
            quiche::harness::clock::set(Some(self.now));
        }
        false
    }

    /// Lets `span` pass.
    pub fn rest(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.step();
            let next = [self.client.next(self.now), self.server.next(self.now), Some(end)].into_iter().flatten().min();
            self.now = self.now.max(next.unwrap_or(end));
            quiche::harness::clock::set(Some(self.now));
        }
        self.step();
    }

    /// Does all that is due at this time.
    pub fn step(&mut self) {
        let (now, here) = (self.now, SocketAddr::from(CLIENT));
        let seen_as = self.seen_as;
        deliver(now, &mut self.client, &mut self.server, |(from, to)| Some((seen_as.unwrap_or(from), to)));
        // The address a NAT gave before is not in use any more.
        deliver(now, &mut self.server, &mut self.client, |(from, to)| match seen_as {
            Some(seen_as) => (to == seen_as).then_some((from, here)),
            None => Some((from, to)),
        });
        self.client.expire();
        self.server.expire();
        if self.client.connection.is_established() && !self.asked {
            self.asked = self.client.connection.stream_send(self.request, b"all of it", true).is_ok();
        }
        let mut buffer = [0; 65_536];
        for stream in self.client.connection.readable() {
            while let Ok((read, _)) = self.client.connection.stream_recv(stream, &mut buffer) {
                self.received += read as u64;
            }
        }
        let client = &mut self.client.connection;
        while self.to_upload > 0 && (client.is_established() || client.is_in_early_data()) {
            let piece = buffer.len().min(self.to_upload);
            let Ok(taken) = client.stream_send(UPLOAD, &buffer[..piece], piece == self.to_upload) else { break };
            self.to_upload -= taken;
        }
        for stream in self.server.connection.readable() {
            while let Ok((read, _)) = self.server.connection.stream_recv(stream, &mut buffer) {
                self.uploaded += if stream == UPLOAD { read as u64 } else { 0 };
            }
        }
        while self.to_send > 0 && self.server.connection.stream_capacity(self.request).is_ok_and(|room| room > 0) {
            let piece = buffer.len().min(usize::try_from(self.to_send).unwrap());
            let end = piece as u64 == self.to_send;
            let Ok(taken) = self.server.connection.stream_send(self.request, &buffer[..piece], end) else { break };
            self.to_send -= taken as u64;
        }
        self.client.send(now);
        self.server.send(now);
    }

    /// Runs until the whole answer is there.
    pub fn transfer(&mut self, bytes: u64) -> bool {
        self.run(|network| network.received >= bytes)
    }

    /// The server's congestion window in quiche's statistics, of its active path, bytes.
    pub fn window(&self) -> usize {
        self.server.path().cwnd
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        quiche::harness::clock::set(None);
    }
}

/// `arrives` says how the ends see each other's addresses, or that a datagram goes to an unused address.
fn deliver(now: Instant, from: &mut Side, to: &mut Side, arrives: impl Fn(Ends) -> Option<Ends>) {
    while from.out.flying.front().is_some_and(|(at, ..)| *at <= now) {
        let (_, ends, mut datagram) = from.out.flying.pop_front().unwrap();
        let Some(ends) = arrives(ends) else { continue };
        match to.connection.recv(&mut datagram, RecvInfo { from: ends.0, to: ends.1 }) {
            Ok(_) | Err(quiche::Error::Done) => {}
            Err(error) => panic!("{ends:?}: {error}"),
        }
    }
}

impl Side {
    /// quiche's statistics of its active path.
    pub fn path(&self) -> quiche::PathStats {
        self.connection.path_stats().find(|path| path.active).unwrap()
    }

    fn expire(&mut self) {
        if self.connection.timeout().is_some_and(|left| left.is_zero()) {
            self.connection.on_timeout();
        }
    }

    /// Sends all that may leave now. quiche is asked for a datagram only when it may leave:
    /// what was asked for counts as in flight.
    fn send(&mut self, now: Instant) {
        let mut datagram = vec![0; MTU];
        loop {
            self.release = self.connection.get_next_release_time().and_then(|release| release.time(now));
            if self.release.is_some() {
                return;
            }
            let Ok((bytes, info)) = self.connection.send(&mut datagram) else { return };
            self.out.carry(now, (info.from, info.to), datagram[..bytes].to_vec());
        }
    }

    fn next(&self, now: Instant) -> Option<Instant> {
        let arrival = self.out.flying.front().map(|(at, ..)| *at);
        // A timer of nothing left would stop time.
        let timer = self.connection.timeout().map(|left| now + left.max(Duration::from_micros(1)));
        [arrival, self.release, timer].into_iter().flatten().min()
    }
}

/// Records the window decided last, bytes.
#[derive(Clone, Default)]
pub struct LastWindow(pub Arc<AtomicU64>);

impl Recorder for LastWindow {
    fn record(
        &mut self,
        _: &windlass_controllers::Event,
        decision: &windlass_controllers::Decision,
        _: &StateVariables<'_>,
    ) {
        self.0.store(decision.cwnd, Ordering::Relaxed);
    }
}
