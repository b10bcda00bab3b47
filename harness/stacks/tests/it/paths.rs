//! What a controller does where its connection's path changes (`RFC 9000 §9.4`) and with 0-RTT data (`RFC 9001 §4.6`):
//! quinn's and noq's own migration and resumption in virtual time.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event, EventKind};

/// One way.
const DELAY: Duration = Duration::from_millis(20);
/// One way, where all that may leave before an answer is to have left, paced.
const LONG_DELAY: Duration = Duration::from_millis(200);
const PAYLOAD: u16 = 1200;
const CONTROLLER: &str = "reno:iw=4";
/// Its first window, bytes.
const INITIAL: u64 = 4 * PAYLOAD as u64;
/// The RTT before the first sample (`RFC 9002 §6.2.2`).
const INITIAL_RTT: Duration = Duration::from_millis(333);
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// Counts of what was reported to the flows of an end.
#[derive(Default)]
pub struct Flows {
    begun: AtomicUsize,
    losses: AtomicUsize,
}

struct FlowRecorder(Arc<Flows>);

impl FlowRecorder {
    fn new(flows: &Arc<Flows>) -> FlowRecorder {
        flows.begun.fetch_add(1, Ordering::Relaxed);
        FlowRecorder(Arc::clone(flows))
    }
}

impl Recorder for FlowRecorder {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        let lost = matches!(event.kind, EventKind::PacketsLost(_));
        self.0.losses.fetch_add(usize::from(lost), Ordering::Relaxed);
    }
}

/// A datagram and where it goes.
type Outgoing = (SocketAddr, Vec<u8>);

/// One end of a connection.
pub trait End {
    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8], out: &mut Vec<Outgoing>);
    /// Runs timers that are due, reads, writes and sends.
    fn drive(&mut self, now: Instant, out: &mut Vec<Outgoing>);
    fn timeout(&mut self) -> Option<Instant>;
    /// Has so many more bytes to send.
    fn give(&mut self, bytes: usize);
    /// Bytes read.
    fn received(&self) -> usize;
    /// Congestion window, bytes; 0 without a connection.
    fn window(&self) -> u64;
    fn rtt(&self) -> Duration;
    /// Address it sends to.
    fn peer(&self) -> Option<SocketAddr>;
    fn ping(&mut self);
    /// The application says that its address changed.
    fn network_changed(&mut self, now: Instant);
    /// Whether it may send 0-RTT data, and whether the peer has accepted it.
    fn early(&self) -> [bool; 2];
}

/// Both ends' configuration, with the tickets the client has.
pub trait Stack {
    /// Ends whose controllers count in `flows`, by their numbers; the client begins to connect to `server`.
    fn ends(&self, now: Instant, server: SocketAddr, flows: &[Arc<Flows>; 2]) -> [Box<dyn End>; 2];
    /// The same client, and a server that cannot read its tickets.
    fn other_server(&self) -> Box<dyn Stack>;
}

/// Both ends and what is on the way between them.
struct Network {
    now: Instant,
    /// One way.
    delay: Duration,
    /// Bytes of each end's datagrams.
    sent: [u64; 2],
    ends: [Box<dyn End>; 2],
    flows: [Arc<Flows>; 2],
    /// Addresses of the ends.
    addresses: [SocketAddr; 2],
    /// When it arrives, where it comes from, and the datagram with its destination.
    flying: VecDeque<(Instant, SocketAddr, Outgoing)>,
}

impl Network {
    fn new(stack: &dyn Stack, addresses: [SocketAddr; 2]) -> Network {
        let now = Instant::now();
        let flows = <[Arc<Flows>; 2]>::default();
        let ends = stack.ends(now, addresses[SERVER], &flows);
        Network { now, delay: DELAY, sent: [0; 2], ends, flows, addresses, flying: VecDeque::new() }
    }

    /// Has an end do what is due.
    fn drive(&mut self, end: usize) {
        let mut out = Vec::new();
        self.ends[end].drive(self.now, &mut out);
        self.carry(end, out);
    }

    fn carry(&mut self, end: usize, out: Vec<Outgoing>) {
        self.sent[end] += out.iter().map(|(_, datagram)| datagram.len() as u64).sum::<u64>();
        let (arrives, from) = (self.now + self.delay, self.addresses[end]);
        self.flying.extend(out.into_iter().map(|outgoing| (arrives, from, outgoing)));
    }

    /// Runs until `until` is true, at most for `limit`. Returns whether it was true.
    fn run_for(&mut self, limit: Duration, until: &dyn Fn(&Network) -> bool) -> bool {
        let end = self.now + limit;
        loop {
            while self.flying.front().is_some_and(|(at, ..)| *at <= self.now) {
                let Some((_, from, (to, datagram))) = self.flying.pop_front() else { break };
                // An address that was left is not in use any more.
                if let Some(end) = self.addresses.iter().position(|address| *address == to) {
                    let mut out = Vec::new();
                    self.ends[end].receive(self.now, from, &datagram, &mut out);
                    self.carry(end, out);
                }
            }
            self.drive(CLIENT);
            self.drive(SERVER);
            if until(self) {
                return true;
            }
            let timers = self.ends.iter_mut().filter_map(|end| end.timeout());
            let Some(next) = timers.chain(self.flying.front().map(|(at, ..)| *at)).min() else { return false };
            if next > end {
                return false;
            }
            self.now = self.now.max(next);
        }
    }

    fn run(&mut self, until: impl Fn(&Network) -> bool) {
        assert!(self.run_for(Duration::from_secs(60), &until), "not within a minute");
    }

    /// Has `from` send so many bytes, and waits until they have arrived and been acknowledged.
    fn transfer(&mut self, from: usize, bytes: usize) {
        let whole = self.ends[1 - from].received() + bytes;
        self.ends[from].give(bytes);
        self.run(|network| network.ends[1 - from].received() == whole);
        self.run_for(Duration::from_millis(500), &|_| false);
    }

    /// The client's address changes; a PING shows it to the server.
    fn rebind(&mut self, address: SocketAddr) {
        self.addresses[CLIENT] = address;
        self.ends[CLIENT].ping();
        self.run(|network| network.ends[SERVER].peer() == Some(address));
    }

    fn begun(&self, end: usize) -> usize {
        self.flows[end].begun.load(Ordering::Relaxed)
    }

    fn losses(&self, end: usize) -> usize {
        self.flows[end].losses.load(Ordering::Relaxed)
    }

    fn window(&self, end: usize) -> u64 {
        self.ends[end].window()
    }
}

fn v4(host: u8, port: u16) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, host), port).into()
}

fn v6(host: u16, port: u16) -> SocketAddr {
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host), port).into()
}

const SERVER_HOST: u8 = 1;

/// Whether a window is the first one. quinn stops a byte early, so that the adapter adds one.
fn is_initial(window: u64) -> bool {
    (INITIAL..=INITIAL + 1).contains(&window)
}

/// A server that has sent 200 kB, and its window then.
fn grown(stack: &dyn Stack, addresses: [SocketAddr; 2]) -> (Network, u64) {
    let mut network = Network::new(stack, addresses);
    network.transfer(SERVER, 200_000);
    let window = network.window(SERVER);
    assert!(window > 3 * INITIAL && network.begun(SERVER) == 1, "{window} bytes");
    (network, window)
}

fn a_rebinding_keeps_the_flow(stack: &dyn Stack) {
    let (mut network, window) = grown(stack, [v4(7, 4000), v4(SERVER_HOST, 443)]);
    network.rebind(v4(7, 4001));
    assert_eq!((network.begun(SERVER), network.window(SERVER)), (1, window));
    assert!(network.ends[SERVER].rtt() < 3 * DELAY, "{:?}", network.ends[SERVER].rtt());
    network.transfer(SERVER, 100_000);
    assert_eq!(network.begun(SERVER), 1);
}

fn another_address_starts_a_flow(stack: &dyn Stack) {
    let moves = [
        ([v4(7, 4000), v4(SERVER_HOST, 443)], v4(8, 4000)),
        // Of IPv6 a port alone is another path, too.
        ([v6(7, 4000), v6(1, 443)], v6(7, 4001)),
    ];
    for (addresses, new) in moves {
        let (mut network, _) = grown(stack, addresses);
        network.rebind(new);
        assert!(network.begun(SERVER) == 2 && is_initial(network.window(SERVER)), "{new}: {}", network.window(SERVER));
        assert!(network.ends[SERVER].rtt() >= INITIAL_RTT, "{:?}", network.ends[SERVER].rtt());
        network.transfer(SERVER, 200_000);
        assert!(network.begun(SERVER) == 2 && network.window(SERVER) > 2 * INITIAL);
        assert!(network.ends[SERVER].rtt() < 3 * DELAY, "{:?}", network.ends[SERVER].rtt());
    }
}

fn an_end_that_moves_itself_keeps_its_flow(stack: &dyn Stack) {
    let mut network = Network::new(stack, [v4(7, 4000), v4(SERVER_HOST, 443)]);
    network.transfer(CLIENT, 200_000);
    let window = network.window(CLIENT);
    assert!(window > 3 * INITIAL, "{window} bytes");
    let new = v4(8, 4000);
    network.addresses[CLIENT] = new;
    let now = network.now;
    network.ends[CLIENT].network_changed(now);
    network.run(|network| network.ends[SERVER].peer() == Some(new));
    assert_eq!((network.begun(CLIENT), network.window(CLIENT)), (1, window));
    // The end it moves to starts its own anew.
    assert_eq!(network.begun(SERVER), 2);
    network.transfer(CLIENT, 100_000);
    assert!(network.begun(CLIENT) == 1 && network.window(CLIENT) >= window);
}

fn early_data_leaves_in_the_initial_window(stack: &dyn Stack) {
    const BYTES: usize = 50_000;
    let addresses = [v4(7, 4000), v4(SERVER_HOST, 443)];
    // The first connection brings a ticket; what its controller learned stays with it.
    let mut first = Network::new(stack, addresses);
    assert_eq!(first.ends[CLIENT].early(), [false; 2]);
    first.transfer(CLIENT, 200_000);
    assert!(first.window(CLIENT) > 3 * INITIAL);
    let other = stack.other_server();
    for (stack, accepted) in [(stack, true), (&*other, false)] {
        let mut network = Network::new(stack, addresses);
        assert!(network.ends[CLIENT].early()[0], "no ticket");
        network.delay = LONG_DELAY;
        network.ends[CLIENT].give(BYTES);
        // Until just before the server's first packet is there.
        network.run_for(2 * LONG_DELAY - Duration::from_millis(1), &|_| false);
        // The last datagram may begin within the window and end beyond it.
        let (sent, payload) = (network.sent[CLIENT], u64::from(PAYLOAD));
        assert!((INITIAL - payload..=INITIAL + payload).contains(&sent), "{sent} bytes before an answer");
        assert_eq!(network.ends[SERVER].received() > 0, accepted);
        assert!(network.begun(CLIENT) == 1 && is_initial(network.window(CLIENT)), "{}", network.window(CLIENT));
        network.run(|network| network.ends[SERVER].received() == BYTES);
        assert_eq!(network.ends[CLIENT].early()[1], accepted);
        // Data that was not accepted is sent again, and was not lost.
        assert_eq!((network.begun(CLIENT), network.losses(CLIENT)), (1, 0), "accepted: {accepted}");
        assert!(network.window(CLIENT) > INITIAL);
    }
}

/// Implements [`Stack`] for a crate with the API of `quinn-proto`; `$shim` is what it spells in its own way.
macro_rules! implement_stack {
    ($module:ident, $proto:ident, $adapter:ident, $shim:ident) => {
        mod $module {
            use std::net::SocketAddr;
            use std::sync::Arc;
            use std::time::{Duration, Instant};

            use bytes::BytesMut;
            use rustls::RootCertStore;
            use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
            use windlass_stacks::identity::{SERVER_NAME, identity};
            use $proto::{
                ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
                ServerConfig, StreamId, TransportConfig,
            };

            use super::{CLIENT, CONTROLLER, FlowRecorder, Flows, Outgoing, PAYLOAD, SERVER, $shim as shim};

            struct Configs {
                client: ClientConfig,
                server: ServerConfig,
            }

            pub fn stack() -> Box<dyn super::Stack> {
                let mut roots = RootCertStore::empty();
                roots.add(identity().unwrap().certificate.clone().into()).unwrap();
                let client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
                Box::new(Configs { client, server: server() })
            }

            fn server() -> ServerConfig {
                let identity = identity().unwrap();
                let certificate = CertificateDer::from(identity.certificate.clone());
                let key = PrivatePkcs8KeyDer::from(identity.key.clone());
                ServerConfig::with_single_cert(vec![certificate], key.into()).unwrap()
            }

            fn transport(now: Instant, flows: &Arc<Flows>) -> Arc<TransportConfig> {
                let flows = Arc::clone(flows);
                let factory = $adapter::Factory::named(CONTROLLER).unwrap().origin(now);
                let factory = factory.record_with(move |_| Box::new(FlowRecorder::new(&flows)));
                let mut config = TransportConfig::default();
                config.initial_mtu(PAYLOAD).mtu_discovery_config(None).max_idle_timeout(None);
                config.congestion_controller_factory(Arc::new(factory));
                Arc::new(config)
            }

            fn endpoint(server: Option<ServerConfig>) -> Endpoint {
                let mut config = EndpointConfig::default();
                config.rng_seed(Some([u8::from(server.is_some()); 32]));
                shim::endpoint(Arc::new(config), server.map(Arc::new))
            }

            impl super::Stack for Configs {
                fn ends(&self, now: Instant, to: SocketAddr, flows: &[Arc<Flows>; 2]) -> [Box<dyn super::End>; 2] {
                    let (mut client, mut server) = (self.client.clone(), self.server.clone());
                    client.transport_config(transport(now, &flows[CLIENT]));
                    server.transport_config(transport(now, &flows[SERVER]));
                    let mut connecting = endpoint(None);
                    let connection = connecting.connect(now, client, to, SERVER_NAME).unwrap();
                    [End::boxed(connecting, Some(connection)), End::boxed(endpoint(Some(server)), None)]
                }

                fn other_server(&self) -> Box<dyn super::Stack> {
                    Box::new(Configs { client: self.client.clone(), server: server() })
                }
            }

            struct End {
                endpoint: Endpoint,
                connection: Option<(ConnectionHandle, Connection)>,
                /// The stream it sends on.
                stream: Option<StreamId>,
                given: usize,
                written: usize,
                received: usize,
                receiving: Vec<StreamId>,
                /// It began with 0-RTT data allowed.
                early: bool,
            }

            impl End {
                fn boxed(
                    endpoint: Endpoint,
                    connection: Option<(ConnectionHandle, Connection)>,
                ) -> Box<dyn super::End> {
                    let early = connection.as_ref().is_some_and(|(_, connection)| connection.has_0rtt());
                    let (stream, receiving) = (None, Vec::new());
                    Box::new(End { endpoint, connection, stream, given: 0, written: 0, received: 0, receiving, early })
                }

                fn connection(&self) -> Option<&Connection> {
                    self.connection.as_ref().map(|(_, connection)| connection)
                }
            }

            impl super::End for End {
                fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8], out: &mut Vec<Outgoing>) {
                    let mut buffer = Vec::new();
                    let datagram = BytesMut::from(datagram);
                    match shim::handle(&mut self.endpoint, now, from, datagram, &mut buffer) {
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            self.connection.as_mut().unwrap().1.handle_event(event);
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                            self.connection = Some(accepted.map_err(|error| error.cause).unwrap());
                        }
                        Some(DatagramEvent::Response(transmit)) => {
                            out.push((transmit.destination, buffer[..transmit.size].to_vec()));
                        }
                        None => {}
                    }
                }

                fn drive(&mut self, now: Instant, out: &mut Vec<Outgoing>) {
                    let Some((handle, connection)) = &mut self.connection else { return };
                    if connection.poll_timeout().is_some_and(|at| at <= now) {
                        connection.handle_timeout(now);
                    }
                    while let Some(event) = connection.poll() {
                        match event {
                            Event::ConnectionLost { reason } => panic!("lost the connection: {reason}"),
                            // Streams that began with data that was not accepted are no more.
                            Event::Connected if self.early && !connection.accepted_0rtt() => {
                                (self.stream, self.written) = (None, 0);
                            }
                            _ => {}
                        }
                    }
                    if self.stream.is_none() && self.given > 0 {
                        self.stream = connection.streams().open(Dir::Uni);
                    }
                    if let Some(stream) = self.stream {
                        while self.written < self.given {
                            let bytes = vec![7; self.given - self.written];
                            let Ok(taken) = connection.send_stream(stream).write(&bytes) else { break };
                            self.written += taken;
                        }
                    }
                    while let Some(stream) = connection.streams().accept(Dir::Uni) {
                        self.receiving.push(stream);
                    }
                    for stream in &self.receiving {
                        let mut stream = connection.recv_stream(*stream);
                        let Ok(mut chunks) = stream.read(true) else { continue };
                        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                            self.received += chunk.bytes.len();
                        }
                        let _ = chunks.finalize();
                    }
                    let mut buffer = Vec::new();
                    loop {
                        while let Some(event) = connection.poll_endpoint_events() {
                            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                                connection.handle_event(event);
                            }
                        }
                        buffer.clear();
                        let Some(transmit) = shim::transmit(connection, now, &mut buffer) else { return };
                        out.push((transmit.destination, buffer[..transmit.size].to_vec()));
                    }
                }

                fn timeout(&mut self) -> Option<Instant> {
                    self.connection.as_mut()?.1.poll_timeout()
                }

                fn give(&mut self, bytes: usize) {
                    self.given += bytes;
                }

                fn received(&self) -> usize {
                    self.received
                }

                fn window(&self) -> u64 {
                    self.connection().map_or(0, shim::window)
                }

                fn rtt(&self) -> Duration {
                    shim::rtt(self.connection().unwrap())
                }

                fn peer(&self) -> Option<SocketAddr> {
                    self.connection().map(shim::peer)
                }

                fn ping(&mut self) {
                    self.connection.as_mut().unwrap().1.ping();
                }

                fn network_changed(&mut self, now: Instant) {
                    shim::network_changed(&mut self.connection.as_mut().unwrap().1, now);
                }

                fn early(&self) -> [bool; 2] {
                    let connection = self.connection().unwrap();
                    [connection.has_0rtt(), connection.accepted_0rtt()]
                }
            }

            #[test]
            fn a_rebinding_keeps_the_flow() {
                let _machine = crate::shared();
                super::a_rebinding_keeps_the_flow(&*stack());
            }

            #[test]
            fn another_address_starts_a_flow() {
                let _machine = crate::shared();
                super::another_address_starts_a_flow(&*stack());
            }

            #[test]
            fn an_end_that_moves_itself_keeps_its_flow() {
                let _machine = crate::shared();
                super::an_end_that_moves_itself_keeps_its_flow(&*stack());
            }

            #[test]
            fn early_data_leaves_in_the_initial_window() {
                let _machine = crate::shared();
                super::early_data_leaves_in_the_initial_window(&*stack());
            }
        }
    };
}

implement_stack!(quinn_paths, quinn_proto, windlass_quinn, quinn_shim);
implement_stack!(noq_paths, noq_proto, windlass_noq, noq_shim);

mod quinn_shim {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use bytes::BytesMut;
    use quinn_proto::{Connection, DatagramEvent, Endpoint, EndpointConfig, ServerConfig, Transmit};

    pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true, None)
    }

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        from: SocketAddr,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, from, None, None, datagram, buffer)
    }

    pub fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, 1, buffer)
    }

    pub fn window(connection: &Connection) -> u64 {
        connection.congestion_state().window()
    }

    pub fn rtt(connection: &Connection) -> Duration {
        connection.rtt()
    }

    pub fn peer(connection: &Connection) -> SocketAddr {
        connection.remote_address()
    }

    pub fn network_changed(connection: &mut Connection, _: Instant) {
        connection.local_address_changed();
    }
}

mod noq_shim {
    use std::net::SocketAddr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use bytes::BytesMut;
    use noq_proto::{Connection, DatagramEvent, Endpoint, EndpointConfig, FourTuple, PathId, ServerConfig, Transmit};

    pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true)
    }

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        from: SocketAddr,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, FourTuple::new(from, None), None, datagram, buffer)
    }

    pub fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
    }

    pub fn window(connection: &Connection) -> u64 {
        connection.congestion_state(PathId::ZERO).map_or(0, |controller| controller.window())
    }

    pub fn rtt(connection: &Connection) -> Duration {
        connection.rtt(PathId::ZERO).unwrap_or_default()
    }

    pub fn peer(connection: &Connection) -> SocketAddr {
        connection.network_path(PathId::ZERO).unwrap().remote()
    }

    pub fn network_changed(connection: &mut Connection, now: Instant) {
        connection.handle_network_change(None, now);
    }
}
