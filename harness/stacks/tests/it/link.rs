//! The userspace link by itself, between programs that know nothing of it. Nothing is said
//! about how long anything takes, only about how long it takes at least.

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use windlass_simulator::scenario::Scenario;
use windlass_stacks::wire::{Carried, Link};

const RTT: Duration = Duration::from_millis(20);
const READ_TIMEOUT: Duration = Duration::from_secs(20);

const NETWORK: &str = "duration_s = 60\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 50\nrtt_ms = 20\nbuffer_packets = 100\n\
    [dumbbell.back]\nrate_mbps = 50\nbuffer_packets = 100\n[[flow]]\ncontroller = \"reno\"";

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
    socket
}

/// Runs a link before `server` while `body` uses its address.
fn through(server: SocketAddr, body: impl FnOnce(SocketAddr)) -> Carried {
    let scenario = Scenario::read("link", NETWORK, None).unwrap();
    let over = AtomicBool::new(false);
    let link = Link::new(&scenario, "127.0.0.1:0".parse().unwrap(), server).unwrap();
    let address = link.address().unwrap();
    thread::scope(|scope| {
        let link = scope.spawn(|| link.run(&|_| over.load(Ordering::Relaxed)));
        body(address);
        over.store(true, Ordering::Relaxed);
        link.join().unwrap()
    })
}

#[test]
fn datagrams_arrive_whole_after_the_delay_of_the_scenario() {
    const EACH: u8 = 20;
    let server = socket();
    let there = server.local_addr().unwrap();
    let echo = thread::spawn(move || {
        let (mut buffer, mut seen) = ([0; 2000], BTreeSet::new());
        for _ in 0..2 * EACH {
            let (bytes, from) = server.recv_from(&mut buffer).unwrap();
            seen.insert(from);
            server.send_to(&buffer[..bytes], from).unwrap();
        }
        seen
    });
    let carried = through(there, |address| {
        for first in [0, 100] {
            let client = socket();
            let start = Instant::now();
            for number in first..first + EACH {
                client.send_to(&[number; 1200], address).unwrap();
            }
            let mut buffer = [0; 2000];
            for number in first..first + EACH {
                let (bytes, from) = client.recv_from(&mut buffer).unwrap();
                assert_eq!(from, address);
                assert_eq!(&buffer[..bytes], [number; 1200]);
                assert!(start.elapsed() >= RTT, "{:?}", start.elapsed());
            }
        }
    });
    // Each client has an address of its own at the server; the link carried both.
    let seen = echo.join().unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!((carried.clients, carried.refused), (2, 0));
    let forwarded: Vec<u64> = carried.queues.iter().map(|queue| queue.packets_forwarded).collect();
    assert_eq!(forwarded, [2 * u64::from(EACH); 2]);
    let took = carried.transit_ms.forth.unwrap() + carried.transit_ms.back.unwrap();
    assert!(took >= 20.0, "{took} ms");
}

/// A machine that lets it sleep past its end makes its series no longer.
#[test]
fn it_ends_with_the_scenario_however_late_it_is() {
    let text = NETWORK.replace("duration_s = 60\nsample_ms = 1000", "duration_s = 0.2\nsample_ms = 10");
    let scenario = Scenario::read("link", &text, None).unwrap();
    let server = socket();
    let link = Link::new(&scenario, "127.0.0.1:0".parse().unwrap(), server.local_addr().unwrap()).unwrap();
    let (client, address) = (socket(), link.address().unwrap());
    let carried = link.run(&|now| {
        client.send_to(&[0; 1200], address).unwrap();
        thread::sleep(Duration::from_millis(300));
        assert!(now.0 < 200_000_000, "{now:?}");
        false
    });
    assert_eq!(carried.clients, 1);
    assert_eq!((carried.duration_s, carried.queues[0].series.time_s.len()), (0.2, 20));
}

#[test]
fn what_cannot_be_is_said() {
    let listen: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let scenario = Scenario::read("link", NETWORK, None).unwrap();
    let taken = socket().local_addr().unwrap();
    let holder = UdpSocket::bind(taken).unwrap();
    let error = Link::new(&scenario, taken, listen).err().unwrap().to_string();
    assert!(error.starts_with(&format!("cannot listen on {taken}: ")), "{error}");
    drop(holder);
    let empty = Scenario { flows: Vec::new(), ..scenario };
    let error = Link::new(&empty, listen, listen).err().unwrap().to_string();
    assert!(error.contains("has no [[flow]]"), "{error}");
}
