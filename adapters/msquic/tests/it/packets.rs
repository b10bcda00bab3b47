//! The packet logs hold every packet of MsQuic's connections and nothing else, by MsQuic's own
//! counts, and the windows that MsQuic's controllers and ours decide.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use windlass_adapter::LogWriter;
use windlass_controllers::{Decision, Event};
use windlass_msquic::{Definition, Recorder, StateVariables, packets, register_as};
use windlass_msquic_sys::msquic::ffi::QUIC_STATISTICS_V2;
use windlass_qlog::Records;

use crate::transfer::{Link, exclusive, transfer_exclusively};

static DIRECTORY: LazyLock<(TempDir, LogWriter)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let writer = packets::log_to_directory(directory.path()).unwrap();
    (directory, writer)
});

/// The events of a log by name.
#[derive(Default)]
struct Log(BTreeMap<String, Vec<Value>>);

impl Log {
    fn read(file: &Path) -> Log {
        let bytes = std::fs::read(file).unwrap();
        let (mut log, mut records) = (Log::default(), Records::new(&bytes[..]));
        while let Some(record) = records.next().unwrap() {
            assert!(record.terminated, "{}: record {} is cut off", file.display(), record.number);
            let mut event: Value = serde_json::from_slice(record.text).unwrap();
            if let Some(name) = event["name"].as_str().map(str::to_owned) {
                log.0.entry(name).or_default().push(event["data"].take());
            }
        }
        log
    }

    fn events(&self, name: &str) -> &[Value] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn count(&self, name: &str) -> u64 {
        self.events(name).len() as u64
    }

    /// Congestion windows in the order of the log, bytes.
    fn windows(&self) -> Vec<u64> {
        let events = self.events("quic:recovery_metrics_updated").iter();
        events.filter_map(|event| event["congestion_window"].as_u64()).collect()
    }

    fn states(&self) -> Vec<&str> {
        let events = self.events("quic:congestion_state_updated").iter();
        events.filter_map(|event| event["new"].as_str()).collect()
    }

    /// Numbers of acknowledged packets, ascending.
    fn acknowledged(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        for packet in self.events("quic:packet_received") {
            let frames = packet["frames"].as_array().into_iter().flatten();
            for range in frames.filter_map(|frame| frame["acked_ranges"].as_array()).flatten() {
                let (low, high) = (range[0].as_u64().unwrap(), range[range.as_array().unwrap().len() - 1].as_u64());
                numbers.extend(low..=high.unwrap());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The statistics of a transfer's client, and the logs of its client and its server.
fn logged(algorithm: u16, link: Link) -> (QUIC_STATISTICS_V2, Log, Log) {
    let (directory, writer) = &*DIRECTORY;
    let files = || -> Vec<_> {
        writer.wait();
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let guard = exclusive();
    let before = files();
    let statistics = transfer_exclusively(64, Some(algorithm), link, &guard);
    // Once the registration is closed, so is everything.
    let new: Vec<_> = files().into_iter().filter(|file| !before.contains(file)).collect();
    let of = |end: &str| {
        let file = new.iter().filter(|file| file.to_string_lossy().contains(end)).collect::<Vec<_>>();
        assert_eq!(file.len(), 1, "{new:?}");
        Log::read(file[0])
    };
    (statistics, of("-client-"), of("-server-"))
}

/// Compares the logs of a transfer with each other and with MsQuic's statistics of the client.
fn compare(statistics: &QUIC_STATISTICS_V2, client: &Log, server: &Log) {
    let sent = client.count("quic:packet_sent");
    assert_eq!(sent, statistics.SendTotalPackets, "packets sent, and MsQuic's count of them");
    let lost = client.count("quic:packet_lost");
    // MsQuic counts, but does not trace, packets of the handshake that are never acknowledged.
    let counted = statistics.SendSuspectedLostPackets;
    assert!((lost..=lost + 2).contains(&counted), "{lost} packets lost, {counted} by MsQuic's count");
    let received = client.count("quic:packet_received");
    let counted = statistics.RecvTotalPackets - statistics.RecvDroppedPackets - statistics.RecvDuplicatePackets;
    assert!(received.abs_diff(counted) <= 8, "{received} packets received, {counted} by MsQuic's count");

    let there = delivered("from the client", client, server);
    let back = delivered("from the server", server, client);
    // The link drops nothing on the way back, but a machine with other work may overflow the
    // buffer of a socket.
    assert!(back.missing * 20 <= back.delivered, "{back:?}");
    let acknowledged = client.acknowledged();
    let unsent = acknowledged.iter().find(|number| !there.numbers.contains_key(number));
    assert_eq!(unsent, None, "acknowledged, but not received");
    // The last packets close the connection and are not acknowledged.
    assert!(acknowledged.len() as u64 + lost + 16 >= sent, "{} of {sent} acknowledged", acknowledged.len());
}

/// Packets that one end sent and the other received.
#[derive(Debug)]
struct Delivered {
    /// Bytes by packet number. MsQuic counts packets of all spaces together.
    numbers: BTreeMap<u64, u64>,
    delivered: u64,
    missing: u64,
}

/// Checks that every packet received was sent, with as many bytes, and that none was sent twice.
fn delivered(direction: &str, sender: &Log, receiver: &Log) -> Delivered {
    let packets = |log: &Log, name| -> BTreeMap<u64, u64> {
        let number = |packet: &Value| packet["header"]["packet_number"].as_u64().unwrap();
        let bytes = |packet: &Value| packet["raw"]["length"].as_u64().unwrap();
        let packets: BTreeMap<_, _> = log.events(name).iter().map(|packet| (number(packet), bytes(packet))).collect();
        assert_eq!(packets.len() as u64, log.count(name), "{direction}: a number twice in {name}");
        packets
    };
    let (sent, received) = (packets(sender, "quic:packet_sent"), packets(receiver, "quic:packet_received"));
    for (number, bytes) in &received {
        assert_eq!(sent.get(number), Some(bytes), "{direction}: bytes of packet {number} as sent and as received");
    }
    let delivered = received.len() as u64;
    Delivered { missing: sent.len() as u64 - delivered, delivered, numbers: received }
}

#[test]
fn logs_of_msquics_own_controllers_are_complete() {
    for (algorithm, name, states) in [
        (0, "Cubic", &["slow_start", "recovery", "congestion_avoidance"][..]),
        (1, "BBR", &["startup", "drain", "probe_bw"]),
    ] {
        let (statistics, client, server) = logged(algorithm, Link { drop_every: 150, ..Link::default() });
        compare(&statistics, &client, &server);
        assert!(client.count("quic:packet_lost") > 0, "{name}");
        let parameters = client.events("quic:recovery_parameters_set");
        assert_eq!(parameters.len(), 1);
        assert_eq!(parameters[0]["congestion_controller"], name);
        let seen = client.states();
        let first = states[0];
        assert_eq!(seen[0], first, "{name}: {seen:?}");
        assert!(seen.iter().all(|state| states.contains(state) || *state == "probe_rtt"), "{name}: {seen:?}");
        let windows = client.windows();
        let last = u64::from(statistics.SendCongestionWindow);
        assert!(windows.contains(&last), "{name}: MsQuic's window {last} is not among {} logged", windows.len());
    }
}

#[derive(Clone, Default)]
struct Windows(Arc<Mutex<Vec<u64>>>);

impl Recorder for Windows {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push(decision.cwnd);
    }
}

#[test]
fn windows_of_our_controllers_are_those_decided() {
    for controller in ["cubic", "a-tcp", "bbr"] {
        let recorded = Windows::default();
        let recorder = recorded.clone();
        let definition = Definition::named(controller).unwrap().record_with(move |_| Box::new(recorder.clone()));
        let id = register_as(&format!("{controller}, recorded"), definition).unwrap();
        let (statistics, client, server) = logged(id, Link { drop_every: 150, ..Link::default() });
        compare(&statistics, &client, &server);
        let mut decided = recorded.0.lock().unwrap().clone();
        decided.dedup();
        // A frame may bring losses and acknowledgements, and two decisions before MsQuic uses one.
        let mut decided = decided.into_iter();
        let windows = client.windows();
        for (at, window) in windows.iter().enumerate().skip(1) {
            assert!(decided.any(|decided| decided == *window), "{controller}: {window}, the {at}th, was not decided");
        }
        assert!(windows.len() > 10, "{controller}: {windows:?}");
        assert_eq!(client.events("quic:recovery_parameters_set")[0]["congestion_controller"], controller);
    }
}
