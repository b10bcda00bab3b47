//! Whole transfers under virtual time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::network::{LastWindow, MTU, Network, config};
use windlass_controllers::fixed_window::FixedWindow;
use windlass_quiche::{Algorithm, Definition, register_all, register_as};

const RTT: Duration = Duration::from_millis(40);
const MEGABYTE: u64 = 1 << 20;

#[test]
fn quiche_reports_the_decided_window_at_every_step_of_a_lossy_transfer() {
    for name in ["reno", "cubic", "tcp-k:k=4", "tcp-p", "a-tcp"] {
        let last = LastWindow::default();
        let seen = last.clone();
        let definition = Definition::named(name).unwrap().record_with(move |_| Box::new(seen.clone()));
        let alias = format!("watched {name}");
        register_as(&alias, definition).unwrap();
        let mut server = config();
        server.set_cc_algorithm_name(&alias).unwrap();
        let bytes = 4 * MEGABYTE;
        let mut network = Network::new(&mut config(), &mut server, RTT, bytes).bottleneck(20_000_000, 50_000);
        let (mut checks, mut windows) = (0, std::collections::BTreeSet::new());
        let done = network.run(|network| {
            let ours = last.0.load(Ordering::Relaxed);
            if ours > 0 {
                assert_eq!(network.window() as u64, ours, "{name} after {checks} checks");
                windows.insert(ours);
                checks += 1;
            }
            network.received >= bytes
        });
        assert!(done, "{name}: {} of {bytes} bytes arrived", network.received);
        assert!(checks > 1000 && windows.len() > 20, "{name}: {checks} checks, {} windows", windows.len());
    }
}

#[test]
fn fixed_windows_are_what_travels() {
    for packets in [10, 20, 40, 80, 160] {
        let name = format!("fixed {packets}");
        let definition = Definition::new(FixedWindow::configured(packets)).unwrap();
        register_as(&name, definition).unwrap();
        let mut server = config();
        server.set_cc_algorithm_name(&name).unwrap();
        let mut network = Network::new(&mut config(), &mut server, RTT, u64::MAX / 2);
        let window = packets as usize * MTU;
        assert!(network.run(|network| network.received > 100_000));
        let (start, before) = (network.now, network.server.out.bytes);
        assert!(network.run(|network| {
            assert_eq!(network.window(), window);
            network.now >= start + 100 * RTT
        }));
        let span = (network.now - start).as_secs_f64();
        let rate = (network.server.out.bytes - before) as f64 / span;
        let expected = window as f64 / RTT.as_secs_f64();
        assert!((rate / expected - 1.0).abs() < 0.02, "{packets} packets: {rate} bytes/s, expected {expected}");
        assert_eq!(network.server.connection.stats().lost, 0);
    }
}

#[test]
fn bytes_in_flight_stay_within_a_fixed_window() {
    // Nothing comes back for three round trips: whatever leaves stays in flight.
    register_as("held", Definition::new(FixedWindow::configured(30)).unwrap()).unwrap();
    let mut server = config();
    server.set_cc_algorithm_name("held").unwrap();
    let mut network = Network::new(&mut config(), &mut server, RTT, u64::MAX / 2);
    assert!(network.run(|network| network.received > 1_000_000));
    network.server.out.loses = Box::new(|_| true);
    let start = network.now;
    // All sent before the first probe timeout, which is exempt from the window.
    let mut sent = 0;
    let before = network.server.connection.stats();
    assert!(network.run(|network| {
        if network.server.connection.path_stats().next().unwrap().total_pto_count == 0 {
            sent = network.server.connection.stats().sent_bytes - before.sent_bytes;
        }
        network.now > start + 3 * RTT
    }));
    let window = 30 * MTU as u64;
    assert!(sent <= window + window / 100, "{sent} bytes left into a window of {window} that acknowledged nothing");
    assert!(sent > window / 2, "{sent}");
}

#[test]
fn every_controller_that_quiche_can_run_does_and_the_others_say_why() {
    register_all();
    let (mut ran, mut refused) = (0, Vec::new());
    for entry in Algorithm::ALL {
        let name = format!("windlass/{}", entry.name);
        let mut server = config();
        let taken = server.set_cc_algorithm_name(&name);
        match windlass_quiche::check(&name) {
            Ok(()) => {
                taken.unwrap();
                let bytes = MEGABYTE;
                let mut network = Network::new(&mut config(), &mut server, RTT, bytes).bottleneck(20_000_000, 60_000);
                assert!(network.transfer(bytes), "{}: {} of {bytes} bytes arrived", entry.name, network.received);
                ran += 1;
            }
            Err(error) => {
                assert_eq!(taken, Err(quiche::Error::CongestionControl));
                let reason = error.to_string();
                assert!(reason.contains("quiche does not report"), "{reason}");
                refused.push(entry.name);
            }
        }
    }
    assert!(ran > 30, "{ran} ran; refused: {refused:?}");
    for name in ["dctcp", "enhanced-vegas", "rapid", "rovegas"] {
        assert!(refused.contains(&name), "{name} ran; refused: {refused:?}");
    }
}
