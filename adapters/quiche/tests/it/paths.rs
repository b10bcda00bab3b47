//! What a controller does where its connection's path changes (`RFC 9000 §9.4`) and with 0-RTT data (`RFC 9001 §4.6`), by
//! quiche's own migration and resumption in virtual time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use quiche::{Config, ConnectionId};
use windlass_controllers::{Decision, Event};
use windlass_quiche::{Definition, Recorder, StateVariables, register_as};

use crate::network::{CLIENT, MTU, Network, config};

const RTT: Duration = Duration::from_millis(40);
/// The RTT before the first sample (`RFC 9002 §6.2.2`).
const INITIAL_RTT: Duration = Duration::from_millis(333);
/// The first window, bytes.
const INITIAL: usize = 4 * MTU;

struct Nothing;

impl Recorder for Nothing {
    fn record(&mut self, _: &Event, _: &Decision, _: &StateVariables<'_>) {}
}

/// A configuration whose connections have a controller called `name`, and how many flows it began.
fn counted(name: &str) -> (Config, Arc<AtomicUsize>) {
    let begun = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&begun);
    let definition = Definition::named("reno:iw=4").unwrap().record_with(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Box::new(Nothing)
    });
    register_as(name, definition).unwrap();
    let mut config = config();
    config.set_cc_algorithm_name(name).unwrap();
    config.set_active_connection_id_limit(4);
    (config, begun)
}

/// Gives each end connection IDs for other paths.
fn spare_ids(network: &mut Network) {
    static GIVEN: AtomicU64 = AtomicU64::new(1 << 32);
    for side in [&mut network.client, &mut network.server] {
        for _ in 0..2 {
            let number = GIVEN.fetch_add(1, Ordering::Relaxed);
            let id = ConnectionId::from_vec([number.to_be_bytes(), number.to_be_bytes()].concat());
            side.connection.new_scid(&id, u128::from(number), false).unwrap();
        }
    }
    network.rest(2 * RTT);
}

/// An address of the client, `more` away from the first.
fn address(more: u8) -> SocketAddr {
    let ([a, b, c, d], port) = CLIENT;
    ([a, b, c, d + more], port + 1).into()
}

/// Runs until the server sends elsewhere.
fn moved(network: &mut Network, to: SocketAddr) {
    assert!(network.run(|network| network.server.path().peer_addr == to), "the server does not move to {to}");
}

#[test]
fn another_port_or_address_starts_a_flow_and_the_path_before_keeps_its_own() {
    for more in [0, 1] {
        let (mut server, begun) = counted(&format!("rebound {more}"));
        let mut client = config();
        client.set_active_connection_id_limit(4);
        let mut network = Network::new(&mut client, &mut server, RTT, 200_000);
        assert!(network.transfer(200_000));
        spare_ids(&mut network);
        let (before, grown) = (network.server.path().peer_addr, network.window());
        assert!(grown > 3 * INITIAL && begun.load(Ordering::Relaxed) == 1, "{grown} bytes");
        // The client does not know.
        network.seen_as = Some(address(more));
        network.ask(200_000);
        moved(&mut network, address(more));
        assert_eq!((begun.load(Ordering::Relaxed), network.window()), (2, INITIAL));
        assert!(network.server.path().rtt >= INITIAL_RTT, "{:?}", network.server.path().rtt);
        let old = network.server.connection.path_stats().find(|path| path.peer_addr == before);
        assert_eq!(old.map(|path| path.cwnd), Some(grown));
        assert!(network.transfer(400_000));
        assert!(begun.load(Ordering::Relaxed) == 2 && network.window() > 3 * INITIAL, "{} bytes", network.window());
    }
}

#[test]
fn an_end_that_migrates_starts_a_flow_as_its_peer_does() {
    let (mut client, at_client) = counted("migrates");
    let (mut server, at_server) = counted("is migrated to");
    let mut network = Network::new(&mut client, &mut server, RTT, 1000);
    network.to_upload = 200_000;
    assert!(network.run(|network| network.uploaded == 200_000));
    spare_ids(&mut network);
    let grown = network.client.path().cwnd;
    assert!(grown > 3 * INITIAL, "{grown} bytes");
    network.client.connection.migrate_source(address(1)).unwrap();
    assert_eq!((at_client.load(Ordering::Relaxed), network.client.path().cwnd), (2, INITIAL));
    let old = network.client.connection.path_stats().find(|path| !path.active).unwrap();
    assert_eq!((old.local_addr, old.cwnd), (SocketAddr::from(CLIENT), grown));
    network.ask(1000);
    moved(&mut network, address(1));
    assert_eq!(at_server.load(Ordering::Relaxed), 2);
}

#[test]
fn early_data_leaves_in_the_initial_window() {
    let (mut client, begun) = counted("early");
    let mut server = config();
    client.enable_early_data();
    server.enable_early_data();
    let session = {
        let mut network = Network::new(&mut client, &mut server, RTT, 1000);
        network.to_upload = 200_000;
        assert!(network.run(|network| network.uploaded == 200_000 && network.received == 1000));
        assert!(network.client.path().cwnd > 3 * INITIAL);
        network.client.connection.session().unwrap().to_vec()
    };
    assert_eq!(begun.load(Ordering::Relaxed), 1);
    // What the first connection's controller learned stays with it.
    let mut network = Network::new(&mut client, &mut server, RTT, 1000);
    network.client.connection.set_session(&session).unwrap();
    network.to_upload = 50_000;
    // The first brings the keys of early data.
    network.step();
    network.step();
    assert!(network.client.connection.is_in_early_data() && network.to_upload < 50_000);
    let sent = network.client.out.bytes as usize;
    assert!((INITIAL - MTU..=INITIAL).contains(&sent), "{sent} bytes before the server says anything");
    assert_eq!((begun.load(Ordering::Relaxed), network.client.path().cwnd), (2, INITIAL));
    assert!(network.run(|network| network.uploaded > 0));
    assert!(!network.client.connection.is_established(), "the data came after the handshake");
    assert!(network.run(|network| network.uploaded == 50_000));
    assert!(network.client.connection.is_resumed() && begun.load(Ordering::Relaxed) == 2);
    assert!(network.client.path().cwnd > INITIAL);
}
