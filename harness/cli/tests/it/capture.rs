//! Captures of packets, read with tshark: what two endpoints of quinn sent each other, as those endpoints counted it.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionStats, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    FinishError, ServerConfig, StreamId, TransportConfig, WriteError,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use windlass_stacks::identity::{SERVER_NAME, identity};

use crate::command::{Place, json, stderr, stdout, windlass};

const PORTS: [u16; 2] = [50_000, 4433];
const DELAY: Duration = Duration::from_millis(10);
const BYTES: usize = 300_000;
/// Every how many of the server's datagrams is lost, from the fiftieth on.
const LOST: u64 = 29;

/// Keys of connections, a line each, as `SSLKEYLOGFILE` has them.
#[derive(Clone, Default, Debug)]
struct Keys(Arc<Mutex<String>>);

impl rustls::KeyLog for Keys {
    fn log(&self, label: &str, random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.0.lock().unwrap().push_str(&format!("{label} {} {}\n", hex(random), hex(secret)));
    }
}

/// A capture in the older format (`draft-ietf-opsawg-pcap`), link type IPv4.
struct Pcap(Vec<u8>);

impl Pcap {
    fn new() -> Pcap {
        let mut bytes = Vec::new();
        for word in [0xa1b2_3c4d_u32, 4 << 16 | 2, 0, 0, 0xffff, 228] {
            bytes.extend(word.to_le_bytes());
        }
        Pcap(bytes)
    }

    fn add(&mut self, at: Duration, from: usize, payload: &[u8]) {
        let length = payload.len() as u16 + 28;
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        packet.extend([PORTS[from].to_be_bytes(), PORTS[1 - from].to_be_bytes()].concat());
        packet.extend((length - 20).to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        for word in [1_700_000_000 + at.as_secs() as u32, at.subsec_nanos(), length.into(), length.into()] {
            self.0.extend(word.to_le_bytes());
        }
        self.0.extend(packet);
    }
}

/// One of the two endpoints.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    written: usize,
    over: bool,
}

impl End {
    fn new(server: Option<ServerConfig>) -> End {
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), server.map(Arc::new), true, Some([7; 32]));
        End { endpoint, connection: None, stream: None, written: 0, over: false }
    }

    fn stats(&mut self) -> ConnectionStats {
        self.connection.as_mut().unwrap().1.stats()
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        let mut buffer = Vec::new();
        match self.endpoint.handle(now, from, None, None, BytesMut::from(datagram), &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = Some(self.endpoint.accept(incoming, now, &mut buffer, None).ok().unwrap());
            }
            _ => {}
        }
    }

    /// The server sends, the client reads; datagrams go to `send`.
    fn drive(&mut self, now: Instant, server: bool, send: &mut dyn FnMut(Vec<u8>)) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll() {
            assert!(!matches!(event, Event::ConnectionLost { .. }), "{event:?}");
        }
        if server && !connection.is_handshaking() {
            let stream = *self.stream.get_or_insert_with(|| connection.streams().open(Dir::Uni).unwrap());
            let mut stream = connection.send_stream(stream);
            while self.written < BYTES {
                match stream.write(&vec![0x5a; BYTES - self.written]) {
                    Ok(bytes) => self.written += bytes,
                    Err(WriteError::Blocked) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            if self.written == BYTES {
                let done: Result<(), FinishError> = stream.finish();
                // Once is enough.
                let _ = done;
            }
        } else if !server {
            self.stream = self.stream.or_else(|| connection.streams().accept(Dir::Uni));
            if let Some(stream) = self.stream.filter(|_| !self.over) {
                let mut stream = connection.recv_stream(stream);
                let mut chunks = stream.read(true).unwrap();
                loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => self.written += chunk.bytes.len(),
                        Ok(None) => {
                            self.over = true;
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let _ = chunks.finalize();
            }
        }
        loop {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            let mut buffer = Vec::new();
            let Some(transmit) = connection.poll_transmit(now, 1, &mut buffer) else { return };
            send(buffer[..transmit.size].to_vec());
        }
    }
}

/// What a transfer of [`BYTES`] from server to client looks like beside the server.
struct Transfer {
    pcap: Vec<u8>,
    keys: String,
    /// Statistics of the client and of the server.
    stats: [ConnectionStats; 2],
    /// The server's datagrams that did not arrive.
    lost: u64,
}

fn transfer() -> Transfer {
    let id = identity().unwrap();
    let certificate = CertificateDer::from(id.certificate.clone());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let versions: &[_] = &[&rustls::version::TLS13];
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions);
    let mut client = builder.unwrap().with_root_certificates(roots).with_no_client_auth();
    let keys = Keys::default();
    client.key_log = Arc::new(keys.clone());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    let key = PrivatePkcs8KeyDer::from(id.key.clone()).into();
    let server = builder.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(client).unwrap()));
    let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(server).unwrap()));
    let mut transport = TransportConfig::default();
    // Probes of larger datagrams are lost and not counted as such.
    transport.mtu_discovery_config(None);
    server.transport_config(Arc::new(transport));

    let addresses = PORTS.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let mut ends = [End::new(None), End::new(Some(server))];
    let start = Instant::now();
    ends[0].connection = Some(ends[0].endpoint.connect(start, client, addresses[1], SERVER_NAME).unwrap());
    let mut pcap = Pcap::new();
    // When each datagram arrives, whose it is, and its bytes.
    let mut under_way: Vec<(Duration, usize, Vec<u8>)> = Vec::new();
    let (mut sent, mut lost) = (0_u64, 0);
    let mut elapsed = Duration::ZERO;
    // A second after the last byte, nothing is unacknowledged.
    let mut end = Duration::from_secs(30);
    while elapsed < end {
        let now = start + elapsed;
        under_way.sort_by_key(|(at, ..)| *at);
        while under_way.first().is_some_and(|(at, ..)| *at <= elapsed) {
            let (_, from, datagram) = under_way.remove(0);
            if from == 0 {
                pcap.add(elapsed, 0, &datagram);
            }
            ends[1 - from].receive(now, addresses[from], &datagram);
        }
        for (from, end) in ends.iter_mut().enumerate() {
            end.drive(now, from == 1, &mut |datagram| {
                if from == 1 {
                    pcap.add(elapsed, 1, &datagram);
                    sent += 1;
                    if sent > 50 && sent.is_multiple_of(LOST) {
                        lost += 1;
                        return;
                    }
                }
                under_way.push((elapsed + DELAY, from, datagram));
            });
        }
        if ends[0].over && end > elapsed + Duration::from_secs(1) {
            end = elapsed + Duration::from_secs(1);
        }
        elapsed += Duration::from_micros(500);
    }
    assert_eq!(ends[0].written, BYTES);
    let [client, server] = &mut ends;
    let text = keys.0.lock().unwrap().clone();
    Transfer { pcap: pcap.0, keys: text, stats: [client.stats(), server.stats()], lost }
}

/// Whether tshark is there; says so where it is not.
fn tshark() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: there is no tshark");
    }
    there
}

#[test]
fn a_capture_is_read_as_its_sender_saw_it() {
    if !tshark() {
        return;
    }
    let place = Place::new();
    let Transfer { pcap, keys, stats: [client, server], lost } = transfer();
    let capture = place.path("transfer.pcap");
    std::fs::write(&capture, pcap).unwrap();
    let keys = place.file("keys.txt", &keys);
    let done = windlass(&["qlog", "metrics", "--format", "json", "--keys", &keys, &capture]);
    assert!(done.status.success() && stderr(&done).is_empty(), "{}", stderr(&done));
    let measures = &json(stdout(&done).lines().next().unwrap())["measures"];
    let measure = |name: &str| measures[name].as_f64().unwrap_or(f64::NAN);
    assert_eq!(measure("packets_sent"), server.path.sent_packets as f64);
    // Beside the server, what the client sent has come.
    assert_eq!(measure("packets_received"), client.path.sent_packets as f64);
    // What did not arrive is lost, and a capture shows that by its ACK frames.
    assert!(lost >= 5, "{lost}");
    assert_eq!(measure("packets_lost"), lost as f64);
    let acknowledged = measure("goodput") * 1e6 / 8.0 * measure("duration");
    assert!((acknowledged - BYTES as f64).abs() < 1.0, "{acknowledged}");
    assert!((measures["rtt"]["min"].as_f64().unwrap() - 20.0).abs() < 1.0, "{measures}");
    let converted = windlass(&["qlog", "convert", "--to", "ietf", "--keys", &keys, &capture]);
    assert!(converted.status.success(), "{}", stderr(&converted));
    let events: Vec<_> = stdout(&converted).split('\u{1e}').skip(2).map(json).collect();
    assert_eq!(events.iter().filter(|one| one["name"] == "quic:parameters_set").count(), 2);
    let file = place.path("transfer.sqlog");
    std::fs::write(&file, &converted.stdout).unwrap();
    let lint = windlass(&["qlog", "lint", &file]);
    assert!(lint.status.success(), "{}", stdout(&lint));
}

#[test]
fn a_capture_without_keys_says_what_is_not_known() {
    if !tshark() {
        return;
    }
    let place = Place::new();
    let Transfer { pcap, .. } = transfer();
    let capture = place.path("transfer.pcap");
    std::fs::write(&capture, &pcap).unwrap();
    let done = windlass(&["qlog", "info", &capture]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(stderr(&done).contains("are not decrypted") && stderr(&done).contains("--keys FILE"), "{}", stderr(&done));
    // One that was cut while it was written gives what came before.
    let cut = place.path("cut.pcap");
    std::fs::write(&cut, &pcap[..pcap.len() - 10]).unwrap();
    let done = windlass(&["qlog", "info", &cut]);
    assert!(done.status.success() && stderr(&done).contains("cut short"), "{}", stderr(&done));
    let empty = place.path("empty.pcap");
    std::fs::write(&empty, &pcap[..24]).unwrap();
    let done = windlass(&["qlog", "info", &empty]);
    assert_eq!(done.status.code(), Some(1));
    assert!(stderr(&done).contains("no QUIC among its 0 datagrams"), "{}", stderr(&done));
    let absent = windlass(&["qlog", "info", "--keys", &place.path("none"), &capture]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(stderr(&absent).contains("cannot read --keys"), "{}", stderr(&absent));
}
