//! noq over two paths at once (`draft-ietf-quic-multipath`), in virtual time, and what is read of the qlog it writes:
//! each path has its packet numbers, its RTTs and a window of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    FourTuple, PathEvent, PathId, PathStatus, QlogConfig, QlogFactory, ServerConfig, Side, StreamId, TransportConfig,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use windlass_controllers::{Span, Time};
use windlass_network::{Limit, LinkSpec, Network, Packet, RouteId, Topology};
use windlass_qlog_analysis::metrics::{Measures, measure};
use windlass_qlog_analysis::read::Options;
use windlass_stacks::identity::{SERVER_NAME, identity};

const CONTROLLER: &str = "cubic";
/// Rates, Mbit/s, and delays one way, ms, of the paths.
const PATHS: [(f64, u64); 2] = [(10.0, 10), (5.0, 30)];
const PAYLOAD: u16 = 1200;
const BYTES: usize = 1_500_000;
const SERVER_ADDRESSES: [SocketAddr; 2] = [address(1), address(2)];
const CLIENT_ADDRESS: SocketAddr = address(7);

const fn address(host: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)), 443)
}

/// noq's qlog of the client's connection.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl QlogFactory for Log {
    fn for_connection(&self, side: Side, _: SocketAddr, _: ConnectionId, now: Instant) -> Option<QlogConfig> {
        let mut config = QlogConfig::new(Box::new(self.clone()));
        config.title(Some("noq over two paths".to_owned())).start_time(now);
        side.is_client().then_some(config)
    }
}

/// An end of the connection.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    established: Vec<PathId>,
    stream: Option<StreamId>,
    bytes: usize,
}

impl End {
    fn new(server: Option<ServerConfig>) -> End {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([u8::from(server.is_some()); 32]));
        let endpoint = Endpoint::new(Arc::new(config), server.map(Arc::new), true);
        End { endpoint, connection: None, established: Vec::new(), stream: None, bytes: 0 }
    }

    /// A datagram arrives over `path`. Sends what the endpoint answers at once.
    fn receive(&mut self, now: Instant, path: FourTuple, datagram: &[u8]) {
        let mut buffer = Vec::new();
        match self.endpoint.handle(now, path, None, BytesMut::from(datagram), &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.connection.as_mut().unwrap().1.handle_event(event),
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                self.connection = Some(accepted.map_err(|error| error.cause).unwrap());
            }
            Some(DatagramEvent::Response(_)) => panic!("a packet that belongs to no connection"),
            None => {}
        }
    }

    /// Runs timers that are due, opens the second path, writes, reads, and hands over datagrams with the path they take.
    fn drive(&mut self, now: Instant, send: &mut dyn FnMut(usize, &[u8])) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::ConnectionLost { reason } => panic!("lost the connection: {reason}"),
                Event::Path(PathEvent::Established { id, .. }) => self.established.push(id),
                Event::Path(PathEvent::Abandoned { id, .. }) => panic!("{id:?} is given up"),
                _ => {}
            }
        }
        if connection.side().is_client() && !connection.is_handshaking() {
            if connection.paths().len() == 1 {
                // Not before the peer's connection IDs for it have come.
                let to = FourTuple::new(SERVER_ADDRESSES[1], None);
                let _ = connection.open_path(to, PathStatus::Available, now);
            }
            if self.stream.is_none() {
                self.stream = connection.streams().open(Dir::Uni);
            }
        }
        if let Some(stream) = self.stream.filter(|_| connection.side().is_client()) {
            let chunk = [7; 1 << 14];
            while self.bytes < BYTES {
                let most = chunk.len().min(BYTES - self.bytes);
                let Ok(taken) = connection.send_stream(stream).write(&chunk[..most]) else { break };
                self.bytes += taken;
            }
        } else {
            self.stream = self.stream.or_else(|| connection.streams().accept(Dir::Uni));
            if let Some(stream) = self.stream {
                let mut stream = connection.recv_stream(stream);
                if let Ok(mut chunks) = stream.read(true) {
                    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                        self.bytes += chunk.bytes.len();
                    }
                    let _ = chunks.finalize();
                }
            }
        }
        let mut buffer = Vec::new();
        loop {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            buffer.clear();
            let Some(sent) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut buffer) else { return };
            // The second path is that of the server's second address.
            let ends = [Some(sent.destination.ip()), sent.src_ip];
            send(usize::from(ends.contains(&Some(SERVER_ADDRESSES[1].ip()))), &buffer[..sent.size]);
        }
    }
}

/// Both ends, which support two paths; the client logs.
fn ends(now: Instant, log: &Log) -> [End; 2] {
    let transport = |log: Option<&Log>| {
        let factory = windlass_noq::Factory::named(CONTROLLER).unwrap().origin(now);
        let mut config = TransportConfig::default();
        config.initial_mtu(PAYLOAD).mtu_discovery_config(None).max_concurrent_multipath_paths(2);
        config.congestion_controller_factory(Arc::new(factory));
        if let Some(log) = log {
            config.qlog_factory(Arc::new(log.clone()));
        }
        Arc::new(config)
    };
    let identity = identity().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(identity.certificate.clone().into()).unwrap();
    let mut client_config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    client_config.transport_config(transport(Some(log)));
    let certificate = CertificateDer::from(identity.certificate.clone());
    let key = PrivatePkcs8KeyDer::from(identity.key.clone());
    let mut server_config = ServerConfig::with_single_cert(vec![certificate], key.into()).unwrap();
    server_config.transport_config(transport(None));
    let (mut client, server) = (End::new(None), End::new(Some(server_config)));
    let connected = client.endpoint.connect(now, client_config, SERVER_ADDRESSES[0], SERVER_NAME);
    client.connection = Some(connected.unwrap());
    [client, server]
}

/// The client sends over both paths until all has arrived; its qlog.
fn run() -> Vec<u8> {
    let origin = Instant::now();
    let log = Log::default();
    let mut ends = ends(origin, &log);
    let mut topology = Topology::default();
    let mut routes: Vec<RouteId> = Vec::new();
    for (index, (rate, delay)) in PATHS.into_iter().enumerate() {
        for way in ["there", "back"] {
            let link = LinkSpec::new(&format!("{way} {index}"), rate * 1e6, Span::from_millis(delay));
            let link = topology.link(link.with_limit(Limit::Packets(20)));
            routes.push(topology.route(vec![link]));
        }
    }
    let mut network = Network::new(&topology, 1).unwrap();
    let mut now = Time::ZERO;
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    while ends[1].bytes < BYTES {
        let instant = origin + Duration::from_nanos(now.0);
        while let Some(delivery) = network.poll(now) {
            let (number, route) = (delivery.packet.id as usize, delivery.packet.flow as usize);
            let (path, way) = (route / 2, route % 2);
            let tuple = match way {
                0 => FourTuple::new(CLIENT_ADDRESS, Some(SERVER_ADDRESSES[path].ip())),
                _ => FourTuple::new(SERVER_ADDRESSES[path], None),
            };
            ends[1 - way].receive(instant, tuple, &datagrams[number]);
        }
        for (way, end) in ends.iter_mut().enumerate() {
            end.drive(instant, &mut |path, datagram| {
                let route = 2 * path + way;
                let packet = Packet::new(route as u32, datagrams.len() as u64, datagram.len() as u32);
                datagrams.push(datagram.to_vec());
                network.send(now, routes[route], packet);
            });
        }
        let timers = ends.iter_mut().filter_map(|end| end.connection.as_mut()?.1.poll_timeout());
        let timers = timers.map(|at| Time(at.saturating_duration_since(origin).as_nanos() as u64));
        let next = timers.chain(network.next()).min().expect("nothing happens any more");
        now = next.max(now);
        assert!(now < Time::from_micros(60_000_000), "not within a minute");
    }
    assert_eq!(ends[0].established.len(), 1, "the second path: {:?}", ends[0].established);
    drop(ends);
    Arc::into_inner(log.0).unwrap().into_inner().unwrap()
}

/// noq's packets are counted a second time, in its lines: by path, sent, acknowledged and lost.
#[derive(Default, Debug)]
struct Counted {
    sent: BTreeSet<u64>,
    acknowledged: BTreeSet<u64>,
    lost: u64,
}

fn counted(text: &str) -> BTreeMap<u64, Counted> {
    let mut paths: BTreeMap<u64, Counted> = BTreeMap::new();
    let mut lost = 0;
    for line in text.lines().skip(1) {
        let event: serde_json::Value = serde_json::from_str(line.trim_start_matches('\u{1e}')).unwrap();
        let (data, name) = (&event["data"], event["name"].as_str().unwrap());
        let one_rtt = data["header"]["packet_type"] == "1RTT";
        let (path, number) = (data["header"]["path_id"].as_u64(), data["header"]["packet_number"].as_u64());
        match name {
            "quic:packet_sent" if one_rtt => {
                paths.entry(path.unwrap()).or_default().sent.insert(number.unwrap());
            }
            "quic:packet_lost" => lost += 1,
            // They follow the losses they are about.
            "quic:recovery_metrics_updated" => {
                paths.entry(data["path_id"].as_u64().unwrap()).or_default().lost += std::mem::take(&mut lost);
            }
            "quic:packet_received" => {
                for frame in data["frames"].as_array().unwrap().iter().filter(|frame| frame["frame_type"] == "path_ack")
                {
                    let of = paths.entry(frame["path_id"].as_u64().unwrap()).or_default();
                    for range in frame["acked_ranges"].as_array().unwrap() {
                        // Its second number is that after the last.
                        of.acknowledged.extend(range[0].as_u64().unwrap()..range[1].as_u64().unwrap());
                    }
                }
            }
            _ => {}
        }
    }
    paths
}

#[test]
fn each_path_of_noq_is_measured_by_itself() {
    let _machine = crate::shared();
    let text = run();
    if let Ok(file) = std::env::var("WINDLASS_MULTIPATH") {
        std::fs::write(file, &text).unwrap();
    }
    let counted = counted(std::str::from_utf8(&text).unwrap());
    assert!(counted.values().all(|of| of.acknowledged.is_subset(&of.sent)), "an ACK beyond what was sent");
    let (summary, found) = measure(text.as_slice(), &Options::default()).unwrap();
    let doubts = summary.doubts();
    let [rates, ranges] = &doubts[..] else { panic!("{doubts:?}") };
    assert!(rates.starts_with("its pacing rates are in byte/s"), "{rates}");
    assert!(ranges.starts_with("its acknowledged ranges are in half-open form"), "{ranges}");
    let [found] = &found[..] else { panic!("{} connections", found.len()) };
    let [(0, one), (1, other)] = &found.paths[..] else { panic!("{} paths", found.paths.len()) };
    for ((path, measures), (rate, delay)) in [(0, one), (1, other)].into_iter().zip(PATHS) {
        let of = &counted[&path];
        // Packets of the handshake have numbers of their own.
        let handshake = measures.packets_sent.unwrap() - of.sent.len() as u64;
        assert!(handshake < 10 && (path == 0 || handshake == 0), "path {path}: {handshake}");
        assert_eq!(measures.packets_lost, Some(of.lost), "path {path}");
        // Both are used, neither by more than its link carries, and each has its own RTT.
        let goodput = measures.goodput.unwrap();
        assert!((0.5 * rate..rate).contains(&goodput), "path {path}: {goodput} of {rate} Mbit/s");
        let least = measures.rtt.unwrap().min;
        // An ACK may come back over the faster path.
        let (delay, fastest) = (delay as f64, PATHS[0].1 as f64);
        assert!((delay + fastest..2.0 * delay + 5.0).contains(&least), "path {path}: {least} ms");
    }
    assert!(one.packets_lost.unwrap() > 0, "neither link was too slow");
    let whole = &found.measures;
    let both = |get: &dyn Fn(&Measures) -> Option<u64>| Some(get(one)? + get(other)?);
    assert_eq!(whole.packets_sent, both(&|of| of.packets_sent));
    assert_eq!(whole.packets_lost, both(&|of| of.packets_lost));
    assert_eq!(whole.reductions, both(&|of| of.reductions));
    assert!(whole.queueing.unwrap().max < 150.0, "the least RTT of one path is not that of the other");
}
