//! The events controllers get of a path, and the statistics and logs quiche writes of them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::network::{CLIENT, MTU, Network, SERVER, config};
use windlass_controllers::event::PacketsAcked;
use windlass_controllers::fixed_window::{FixedWindow, Params};
use windlass_controllers::{Controller, Decision, Event, EventKind, Info, Path, Signals, Table, Time, View};
use windlass_quiche::{Config, Definition, Groups, Recorder, StateVariables, Static, register_all, register_as};

const RTT: Duration = Duration::from_millis(40);

/// Records every event of a flow.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<Event>>>);

impl Recorder for Events {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push(*event);
    }
}

impl Events {
    /// A server configuration whose connections use `controller` and are recorded.
    fn server(&self, name: &str, controller: &str) -> quiche::Config {
        let events = self.clone();
        let definition = Definition::named(controller).unwrap().record_with(move |_| Box::new(events.clone()));
        register_as(name, definition).unwrap();
        let mut server = config();
        server.set_cc_algorithm_name(name).unwrap();
        server
    }

    fn list(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }
}

fn acknowledgements(events: &[Event]) -> impl Iterator<Item = &PacketsAcked> {
    events.iter().filter_map(|event| match &event.kind {
        EventKind::PacketsAcked(acked) => Some(acked),
        _ => None,
    })
}

#[test]
fn every_byte_is_acknowledged_once_and_in_flight_adds_up() {
    let recorder = Events::default();
    let mut server = recorder.server("acknowledged", "bbr");
    let bytes = 1 << 20;
    let mut network = Network::new(&mut config(), &mut server, RTT, bytes);
    assert!(network.transfer(bytes));
    network.rest(2 * RTT);
    let events = recorder.list();
    assert!(events.windows(2).all(|pair| pair[0].now <= pair[1].now), "time goes back");
    let mut delivered = 0;
    for acked in acknowledgements(&events) {
        delivered += acked.bytes;
        assert_eq!(acked.delivered, delivered);
        assert_eq!(acked.in_flight_before, acked.in_flight + acked.bytes);
        assert_eq!(acked.fresh_bytes, acked.bytes, "nothing was lost");
        assert!(acked.newest_pn.is_some() && acked.newest_in_flight.is_some() && acked.delivery.is_some());
        assert!(acked.bytes >= u64::from(acked.packets) * 20 && acked.bytes <= u64::from(acked.packets) * MTU as u64);
    }
    assert!(delivered > bytes && delivered < bytes + bytes / 10, "{delivered}");
    // Every sample is what the network takes, and up to what the client holds an ACK.
    let samples: Vec<_> = events.iter().filter_map(Event::rtt).collect();
    assert!(samples.len() > 20);
    for rtt in samples {
        let (latest, rtt_ns) = (rtt.latest.0, RTT.as_nanos() as u64);
        assert!(latest >= rtt_ns && latest <= rtt_ns + 26_000_000, "{latest}");
        assert_eq!(rtt.min.0, rtt_ns);
    }
}

#[test]
fn losses_come_before_acknowledgements_of_their_frame() {
    let recorder = Events::default();
    let mut server = recorder.server("lossy", "reno");
    let bytes = 1 << 20;
    let mut network = Network::new(&mut config(), &mut server, RTT, bytes);
    network.server.out.loses = Box::new(|nth| nth % 100 == 50);
    assert!(network.transfer(bytes));
    let lost = network.server.out.lost;
    let events = recorder.list();
    let mut reported = 0;
    for (i, event) in events.iter().enumerate() {
        let EventKind::PacketsLost(loss) = event.kind else { continue };
        reported += u64::from(loss.packets);
        assert_eq!(loss.in_flight_before, loss.in_flight + loss.bytes);
        assert!(loss.newest_pn.is_some());
        // The frame that showed the loss follows it, without a sample of its own.
        if let Some(EventKind::PacketsAcked(acked)) =
            events.get(i + 1).filter(|next| next.now == event.now).map(|next| next.kind)
        {
            assert_eq!(acked.in_flight_before, loss.in_flight);
            assert_eq!(acked.rtt, None);
            assert!(acked.newest_pn > loss.newest_pn);
        }
    }
    assert_eq!(reported, network.server.connection.stats().lost as u64);
    assert!(reported >= 8 && reported <= lost, "{reported} reported of {lost}");
    assert!(!events.iter().any(|event| matches!(event.kind, EventKind::PersistentCongestion(_))));
    let fresh: Vec<_> = acknowledgements(&events).filter(|acked| acked.fresh_bytes < acked.bytes).collect();
    assert!(!fresh.is_empty(), "packets that left before the recovery were acknowledged in it");
}

/// The events of a transfer with three seconds of `trouble`, half a megabyte before and after it.
fn troubled(name: &str, trouble: impl FnOnce(&mut Network)) -> Vec<Event> {
    let recorder = Events::default();
    let mut server = recorder.server(name, "reno");
    let mut network = Network::new(&mut config(), &mut server, RTT, u64::MAX / 2);
    assert!(network.run(|network| network.received > 500_000));
    trouble(&mut network);
    let start = network.now;
    assert!(network.run(|network| network.now > start + Duration::from_secs(3)));
    network.server.out.loses = Box::new(|_| false);
    network.client.out.loses = Box::new(|_| false);
    let received = network.received;
    assert!(network.run(|network| network.received > received + 500_000));
    recorder.list()
}

#[test]
fn a_path_that_swallows_everything_for_seconds_is_persistent_congestion() {
    let events = troubled("swallowed", |network| network.server.out.loses = Box::new(|_| true));
    let count = events.iter().filter(|event| matches!(event.kind, EventKind::PersistentCongestion(_))).count();
    assert_eq!(count, 1, "{:?}", events.iter().filter(|event| event.kind.is_loss()).collect::<Vec<_>>());
}

#[test]
fn losses_with_an_acknowledgement_between_are_no_persistent_congestion() {
    // Every second datagram arrives, and no acknowledgement comes back.
    let events = troubled("every second", |network| {
        network.server.out.loses = Box::new(|nth| nth % 2 == 0);
        network.client.out.loses = Box::new(|_| true);
    });
    let lost = |event: &&Event| matches!(event.kind, EventKind::PacketsLost(lost) if lost.packets > 3);
    assert!(events.iter().any(|event| lost(&event)), "many were lost together");
    assert!(!events.iter().any(|event| matches!(event.kind, EventKind::PersistentCongestion(_))));
}

trait IsLoss {
    fn is_loss(&self) -> bool;
}

impl IsLoss for EventKind {
    fn is_loss(&self) -> bool {
        matches!(self, EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_) | EventKind::SpuriousLoss(_))
    }
}

#[test]
fn a_packet_that_comes_late_makes_its_loss_spurious() {
    let recorder = Events::default();
    let mut server = recorder.server("late", "reno");
    let bytes = 1 << 20;
    let mut network = Network::new(&mut config(), &mut server, RTT, bytes);
    // quiche takes packets for repeated that come 128 numbers late.
    network.server.out.holds = Box::new(|nth| if nth == 200 { RTT / 8 } else { Duration::ZERO });
    assert!(network.transfer(bytes));
    network.rest(2 * RTT);
    let events = recorder.list();
    let losses: Vec<_> = events.iter().filter(|event| event.kind.is_loss()).collect();
    let [lost, spurious] = losses[..] else { panic!("{losses:?}") };
    let (EventKind::PacketsLost(loss), EventKind::SpuriousLoss(found)) = (lost.kind, spurious.kind) else {
        panic!("{losses:?}")
    };
    assert_eq!((loss.packets, loss.newest_sent_at), (1, found.newest_sent_at));
    assert!(spurious.now > lost.now);
}

/// In round trips of eight packets, so that 128 of them last longer than any reordering.
#[test]
fn a_packet_is_waited_for_no_longer_than_reordering_lasts() {
    for (held, spurious) in [(2 * RTT, 1), (12 * RTT, 0)] {
        let recorder = Events::default();
        let mut server = recorder.server(&format!("held {held:?}"), "reno:max_window=8");
        let bytes = 1 << 20;
        let mut network = Network::new(&mut config(), &mut server, RTT, bytes);
        network.server.out.holds = Box::new(move |nth| if nth == 200 { held } else { Duration::ZERO });
        assert!(network.transfer(bytes));
        network.rest(2 * RTT);
        let events = recorder.list();
        let count = |is: fn(&EventKind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
        assert_eq!(count(|kind| matches!(kind, EventKind::PacketsLost(_))), 1, "held for {held:?}");
        assert_eq!(count(|kind| matches!(kind, EventKind::SpuriousLoss(_))), spurious, "held for {held:?}");
    }
}

#[test]
fn an_idle_time_is_reported_when_it_ends_and_an_application_without_data_is_not_congestion() {
    let recorder = Events::default();
    let mut server = recorder.server("paused", "reno:iw=40");
    let mut network = Network::new(&mut config(), &mut server, RTT, 10_000);
    assert!(network.transfer(10_000));
    network.rest(Duration::from_secs(5));
    network.server.connection.send_ack_eliciting().unwrap();
    network.rest(Duration::from_secs(1));
    let events = recorder.list();
    let idle: Vec<_> = events
        .iter()
        .filter_map(|event| if let EventKind::IdleRestart(idle) = event.kind { Some(idle) } else { None })
        .collect();
    assert!(idle.iter().any(|idle| idle.is_long() && idle.idle.0 > 4_000_000_000), "{idle:?}");
    assert!(acknowledgements(&events).all(|acked| acked.in_flight < 40 * MTU as u64));
    assert_eq!(network.window(), 40 * MTU, "a window that was never full does not grow");
}

#[test]
fn quiches_statistics_and_qlog_have_the_decision() {
    register_all();
    let mut server = config();
    server.set_cc_algorithm_name("windlass/cubic").unwrap();
    let bytes = 4 << 20;
    let mut network = Network::new(&mut config(), &mut server, RTT, bytes).bottleneck(20_000_000, 50_000);
    let log = tempfile::NamedTempFile::new().unwrap();
    let writer = std::io::BufWriter::new(log.reopen().unwrap());
    network.server.connection.set_qlog(Box::new(writer), "server".to_owned(), "a transfer".to_owned());
    assert!(network.transfer(bytes));
    let stats = network.server.connection.path_stats().next().unwrap();
    let delivered = stats.delivery_rate as f64 * 8.0;
    assert!((10e6..25e6).contains(&delivered), "{delivered} bit/s over a link of 20 Mbit/s");
    drop(network);
    let text = std::fs::read_to_string(log.path()).unwrap();
    let records: Vec<serde_json::Value> =
        text.split('\u{1e}').filter_map(|record| serde_json::from_str(record).ok()).collect();
    let of = |name: &'static str, field: &'static str| -> Vec<serde_json::Value> {
        let named = records.iter().filter(move |record| record["name"].as_str().is_some_and(|n| n.ends_with(name)));
        named.filter_map(|record| record["data"].get(field).cloned()).collect()
    };
    let rates: Vec<f64> = of("metrics_updated", "pacing_rate").iter().filter_map(serde_json::Value::as_f64).collect();
    assert!(rates.iter().any(|rate| (1e6..1e9).contains(rate)), "{rates:?}");
    assert!(of("metrics_updated", "ssthresh").iter().any(|value| value.as_u64().is_some_and(|bytes| bytes < 1 << 20)));
    assert!(of("metrics_updated", "congestion_window").len() > 10);
    let states = of("congestion_state_updated", "new");
    for state in ["slow_start", "recovery", "congestion_avoidance"] {
        assert!(states.iter().any(|logged| logged == state), "{state} is not among {states:?}");
    }
}

/// Decides as [`FixedWindow`], and panics at the 20th ACK frame.
#[derive(Debug)]
struct Panicking;

impl Controller for Panicking {
    const INFO: Info = Info { name: "panicking", summary: "panics", source: "none", fallback: None };
    type Params = Params;
    type State = (u32, u32);
    type Group = ();

    fn needs(_: &Params) -> Signals {
        Signals::ACKS
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> (u32, u32) {
        (FixedWindow::start(params, path), 0)
    }

    fn step(params: &Params, (mtu, acks): &mut (u32, u32), group: Table<'_, ()>, event: &Event) {
        *acks += u32::from(matches!(event.kind, EventKind::PacketsAcked(_)));
        assert!(*acks < 20, "on purpose");
        FixedWindow::step(params, mtu, group, event);
    }

    fn decide(params: &Params, (mtu, _): &(u32, u32), group: View<'_, ()>) -> Decision {
        FixedWindow::decide(params, mtu, group)
    }
}

#[test]
fn a_controller_that_panics_leaves_its_path_a_small_window() {
    register_as("panicking", Definition::new(Static::<Panicking>(Params::default())).unwrap()).unwrap();
    let mut server = config();
    server.set_cc_algorithm_name("panicking").unwrap();
    let bytes = 1 << 20;
    let mut network = Network::new(&mut config(), &mut server, RTT, bytes);
    let mut windows = std::collections::BTreeSet::new();
    assert!(network.run(|network| {
        windows.insert(network.window());
        network.received >= bytes
    }));
    assert_eq!(windows, [2 * MTU, 10 * MTU].into());
}

#[test]
fn connections_to_one_address_form_a_group_that_empties_itself() {
    let groups = Groups::default();
    let definition = Definition::named("tcp-p").unwrap().group(&groups, |peer: SocketAddr| peer.ip());
    register_as("grouped", definition).unwrap();
    let mut server = config();
    server.set_cc_algorithm_name("grouped").unwrap();
    let peer = SocketAddr::from(CLIENT).ip();
    let bytes = 200_000;
    let mut first = Network::new(&mut config(), &mut server, RTT, bytes);
    let mut second = Network::new(&mut config(), &mut server, RTT, bytes);
    assert_eq!(groups.with(&peer, |group| group.members().len()), Some(2));
    assert!(first.transfer(bytes));
    assert!(second.transfer(bytes));
    drop(first);
    assert_eq!(groups.with(&peer, |group| group.members().len()), Some(1));
    drop(second);
    assert!(groups.is_empty());
}

#[test]
fn a_file_chooses_by_the_peers_address_and_records() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!(
        "controller = \"reno\"\n[[rule]]\nto = \"192.0.2.7\"\ncontroller = \"reno\"\nparameters = {{ iw = 33 }}\n\
         [recording]\ndirectory = {:?}\n",
        directory.path()
    );
    let file = Config::parse("cc.toml", &text).unwrap();
    register_as("by the file", Definition::from_config(&file).unwrap()).unwrap();
    let mut to_client = config();
    to_client.set_cc_algorithm_name("by the file").unwrap();
    let mut to_server = config();
    to_server.set_cc_algorithm_name("by the file").unwrap();
    let mut network = Network::new(&mut to_server, &mut to_client, RTT, 10_000);
    assert_eq!(network.window(), 33 * MTU);
    assert_eq!(network.client.connection.path_stats().next().unwrap().cwnd, 10 * MTU, "{SERVER:?} has no rule");
    assert!(network.transfer(10_000));
    drop(network);
    file.recording().unwrap().open().unwrap().wait();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    let rule =
        Config::parse("cc.toml", "controller = \"reno\"\n[[rule]]\nto = \"example.org\"\ncontroller = \"cubic\"\n");
    let refused = Definition::from_config(&rule.unwrap()).unwrap_err().to_string();
    assert!(refused.contains("quiche tells a congestion controller only the address"), "{refused}");
}

#[test]
fn times_count_from_the_origin() {
    let recorder = Events::default();
    let shared = recorder.clone();
    let origin = std::time::Instant::now() - Duration::from_secs(100);
    let definition = Definition::named("reno").unwrap().origin(origin).record_with(move |new| {
        assert!(new.path.now >= Time(100_000_000_000));
        assert_eq!((new.text, new.peer), ("reno", CLIENT.into()));
        Box::new(shared.clone())
    });
    register_as("from an origin", definition).unwrap();
    let mut server = config();
    server.set_cc_algorithm_name("from an origin").unwrap();
    let mut network = Network::new(&mut config(), &mut server, RTT, 1000);
    assert!(network.transfer(1000));
    assert!(recorder.list()[0].now >= Time(100_000_000_000));
}
