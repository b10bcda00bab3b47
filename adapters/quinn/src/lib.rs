//! windlass congestion controllers for [quinn](https://docs.rs/quinn/0.11).
//!
//! A [`Factory`] is a [`quinn_proto::congestion::ControllerFactory`], which `quinn` 0.11
//! re-exports, so one factory serves both crates:
//!
//! ```
//! use std::sync::Arc;
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(windlass_quinn::Factory::named("reno:iw=20")?));
//! # Ok::<(), windlass_quinn::ChoiceError>(())
//! ```
//!
//! A controller of one's own implements [`windlass_controllers::Controller`]; [`Static`] and
//! [`Factory::new`] plug it in.
//!
//! # What quinn 0.11 cannot do
//!
//! * **Losses come after acknowledgements.** An ACK frame is reported as its acknowledged
//!   packets, then its losses, then its marks, so a controller sees `PacketsAcked`,
//!   `PacketsLost`, `EcnCe` in that order, the RTT sample inside `PacketsAcked`. Growth by the acknowledgements
//!   of a frame precedes the response to its losses.
//! * **Bytes in flight after an acknowledgement still hold what the same frame is about to
//!   declare lost**, for the same reason.
//! * **Losses carry no packet number, packet count or trigger.** Packets are the bytes over
//!   the datagram size, rounded up.
//! * **ECN marks are not counted**, only that an ACK frame brought some: one `EcnCe` of
//!   one packet per such frame. Outgoing packets carry ECT(0) or nothing; a controller
//!   cannot choose the codepoint or a DSCP.
//! * **The pacer does not ask the controller.** It sends at 1.25 windows per smoothed RTT
//!   with bursts of 10 datagrams or more. A decided pacing rate is reported in
//!   [`metrics`](quinn_proto::congestion::Controller::metrics) for logs only.
//! * **No smoothed RTT of this frame, no RTT variation, no ACK delay.** `PacketsAcked` carries the
//!   sample measured from send times; the smoothed RTT is quinn's of the frame before with
//!   the sample folded in as RFC 9002 §5.3 does, the variation is the adapter's own.
//! * **Bytes in flight when a packet was sent are counted by the adapter** from `on_sent`, which
//!   includes bare ACKs and reports a burst of segments as one.
//! * No wake-ups, no probe trains, no one-way delays, no router feedback, no report of
//!   spurious losses. A controller that needs one of them is refused when its factory is
//!   made, with the reason.
//! * **A window below two datagrams is taken for two**: with less, a quinn server deadlocks
//!   in the handshake.
//! * **A restart after idle is reported when its first burst has left.** Whether the application has data is derived:
//!   an idle sender lets more than a probe timeout pass with nothing in flight, beyond what its pacer may have held.

mod controller;

pub use controller::Controller;
pub use windlass_adapter;
#[cfg(feature = "config")]
pub use windlass_adapter::config::{Config, ConfigError};
pub use windlass_adapter::{
    ChoiceError, Confidence, Flow, GroupStep, Groups, Limit, NamedController, Peer, Recorder, ResumeSettings,
    SavedPaths, SendRate, StateVariables,
};
#[cfg(feature = "qlog")]
pub use windlass_adapter::{LogWriter, QlogRecorder};
pub use windlass_controllers;
pub use windlass_controllers::{Algorithm, ConfiguredController, Decision, Event, EventKind, Path, Signals, Static};

/// The stack's name in errors and logs.
pub const STACK: &str = "quinn";

/// What quinn 0.11 reports to a controller, with the bookkeeping of this adapter.
pub const PROVIDES: Signals = Signals::ACKS
    .and(Signals::LOSS)
    .and(Signals::PERSISTENT_CONGESTION)
    .and(Signals::RTT)
    .and(Signals::ECN)
    .and(Signals::WINDOW_AT_SEND)
    .and(Signals::DELIVERY_RATE)
    .and(Signals::GROUPS);

windlass_adapter::factory!(STACK, PROVIDES, quinn_proto::congestion, Controller);

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Instant;

    use quinn_proto::congestion::{Controller as _, ControllerFactory as _};
    use windlass_adapter::config::{Config, Peer};
    use windlass_adapter::{Groups, Recorder, StateVariables};
    use windlass_controllers::{Algorithm, Decision, Event, Path, Static, Time, WindowController, schemes::reno};

    use super::*;

    #[test]
    fn names_what_quinn_cannot_run_or_read() {
        windlass_adapter_testkit::ours::check_names("quinn", PROVIDES, Factory::named);
        assert!(Factory::named("windlass/tcp-k:k=4").is_ok());
    }

    #[test]
    fn every_controller_starts_with_its_own_window() {
        for entry in Algorithm::ALL.iter().filter(|entry| PROVIDES.contains((entry.default)().needs())) {
            let controller = Arc::new(Factory::named(entry.name).unwrap()).build(Instant::now(), 1200);
            assert!(controller.window() > 1200, "{}", entry.name);
            assert_eq!(controller.window(), controller.initial_window(), "{}", entry.name);
        }
    }

    #[test]
    fn a_controller_outside_the_catalogue_plugs_in() {
        let factory = Factory::new(Static::<WindowController<reno::Reno>>(reno::Params::default())).unwrap();
        assert_eq!(factory.make(Instant::now(), 1200).metrics().congestion_window, 12_000);
    }

    #[test]
    fn connections_of_one_key_share_a_group() {
        let groups = Groups::default();
        let (now, key) = (Instant::now(), "192.0.2.1");
        let first = Factory::named("reno").unwrap().group(&groups, key);
        let second = Factory::named("reno").unwrap().group(&groups, key);
        let flows = (first.make(now, 1200), first.make(now, 1200), second.make(now, 1200));
        let moved = flows.0.clone_box();
        assert_eq!(groups.with(&key, |group| group.members().len()), Some(3), "a copy is no member");
        drop(flows);
        assert_eq!(groups.with(&key, |group| group.members().len()), Some(1));
        drop(moved);
        assert!(groups.is_empty());
    }

    #[test]
    fn a_recorder_is_made_for_every_flow() {
        struct Times(mpsc::Sender<u64>);
        impl Recorder for Times {
            fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
                self.0.send(event.now.0).unwrap();
            }
        }
        let (sender, receiver) = mpsc::channel();
        let (paths, made) = mpsc::channel();
        let (paths, sender) = (std::sync::Mutex::new(paths), std::sync::Mutex::new(sender));
        let factory = Factory::named("reno").unwrap().seed(7).record_with(move |path| {
            paths.lock().unwrap().send(*path).unwrap();
            Box::new(Times(sender.lock().unwrap().clone()))
        });
        let origin = Instant::now();
        let mut flows = [factory.make(origin, 1200), factory.make(origin + std::time::Duration::from_nanos(5), 1400)];
        flows[1].on_mtu_update(1300);
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [5]);
        let made: Vec<Path> = made.try_iter().collect();
        assert_eq!(made[0], Path::new(Time(0), 1200, 7));
        assert_eq!(made[1], Path::new(Time(5), 1400, 8));
    }

    #[test]
    fn a_file_chooses_by_peer_and_its_factories_share_groups_and_recordings() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("cc.toml");
        let text = "controller = \"reno:iw=20\"\n[[rule]]\nto = \"*.example.org\"\ncontroller = \"tcp-p\"\n[recording]\ndirectory = \"logs\"";
        std::fs::write(&file, text).unwrap();
        let config = Config::read(&file).unwrap();
        let address = ([192, 0, 2, 7], 443).into();
        let peer = Peer { address, name: Some("www.example.org") };
        let now = Instant::now();
        let first = Factory::from_config(&config, peer).unwrap().make(now, 1200);
        let second = Factory::from_config(&config, peer).unwrap().make(now, 1200);
        assert_eq!(first.flow().controller().to_string(), "tcp-p");
        let key = config.group_key(first.flow().controller(), address.ip());
        assert_eq!(config.groups().with(&key, |group| group.members().len()), Some(2));
        let other = Factory::from_config(&config, address).unwrap().make(now, 1200);
        assert_eq!(other.metrics().congestion_window, 20 * 1200);
        drop((first, second, other));
        assert!(config.groups().is_empty());
        config.recording().unwrap().open().unwrap().wait();
        assert_eq!(std::fs::read_dir(directory.path().join("logs")).unwrap().count(), 3);
    }

    #[test]
    fn a_file_with_what_quinn_cannot_run_says_where() {
        let config = Config::parse("cc.toml", "\ncontroller = \"nf-tcp\"").unwrap();
        let error = Factory::from_config(&config, ([192, 0, 2, 7], 443)).unwrap_err().to_string();
        assert!(error.starts_with("cc.toml:2:14: nf-tcp needs") && error.contains("quinn does not report"), "{error}");
    }
}
