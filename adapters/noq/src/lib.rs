//! windlass congestion controllers for [noq](https://docs.rs/noq/1.4).
//!
//! A [`Factory`] is a [`noq_proto::congestion::ControllerFactory`], which `noq` 1.4
//! re-exports, so one factory serves both crates:
//!
//! ```
//! use std::sync::Arc;
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(windlass_noq::Factory::named("reno:iw=20")?));
//! # Ok::<(), windlass_noq::ChoiceError>(())
//! ```
//!
//! A controller of one's own implements [`windlass_controllers::Controller`]; [`Static`] and
//! [`Factory::new`] plug it in.
//!
//! noq makes a controller for every path of a connection; each is a flow of its own, and
//! all paths of the connections of one factory are in its group, if it has one.
//!
//! # What noq 1.4 cannot do
//!
//! * **Losses come after acknowledgements.** An ACK frame is reported as what it shows to
//!   have been lost only in appearance, then its acknowledged packets, then its losses, then
//!   its marks, so a controller sees `SpuriousLoss`, `PacketsAcked`, `PacketsLost`, `EcnCe` in
//!   that order, the RTT sample inside `PacketsAcked`. Growth by the acknowledgements of a frame precedes the
//!   response to its losses.
//! * **Bytes in flight after an acknowledgement still hold what the same frame is about to
//!   declare lost**, for the same reason.
//! * **A spurious loss is reported when the last packet thought lost within two probe timeouts
//!   is acknowledged**, without a time: its event bears that of the call before.
//! * **ECN marks are not counted**, only that an ACK frame brought some: one `EcnCe` of
//!   one packet per such frame. Outgoing packets carry ECT(0) or nothing; a controller
//!   cannot choose the codepoint or a DSCP.
//! * **The pacer sends bursts**: 2 ms worth of the rate or 10 datagrams, whichever is more,
//!   but not more than 10 ms worth. Without a decided rate it lets 1.25 windows leave in a smoothed RTT, in slow
//!   start too, as for noq's own controllers.
//! * **A restart after idle is reported when its first packet has left.** Whether the application has data is derived:
//!   an idle sender lets more than a probe timeout pass with nothing in flight, beyond what its pacer may have held.
//! * **No smoothed RTT of this frame, no RTT variation, no ACK delay.** `PacketsAcked` carries the
//!   sample measured from send times; the smoothed RTT is noq's of the frame before with
//!   the sample folded in as RFC 9002 §5.3 does, the variation is the adapter's own.
//! * **Bytes in flight when a packet was sent are counted by the adapter** from packets that ask for
//!   an ACK.
//! * Losses carry no trigger. No wake-ups, no probe trains, no one-way delays, no router
//!   feedback. A controller that needs one of them is refused when its factory is made,
//!   with the reason.
//! * **A window below two datagrams is taken for two** (`RFC 9002 §7.2`).

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
pub const STACK: &str = "noq";

/// What noq 1.4 reports to a controller, with the bookkeeping of this adapter.
pub const PROVIDES: Signals = Signals::ACKS
    .and(Signals::LOSS)
    .and(Signals::PERSISTENT_CONGESTION)
    .and(Signals::SPURIOUS_LOSS)
    .and(Signals::PACKET_NUMBERS)
    .and(Signals::RTT)
    .and(Signals::ECN)
    .and(Signals::WINDOW_AT_SEND)
    .and(Signals::DELIVERY_RATE)
    .and(Signals::PACING)
    .and(Signals::GROUPS);

windlass_adapter::factory!(STACK, PROVIDES, noq_proto::congestion, Controller);

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use noq_proto::congestion::Controller as _;
    use windlass_adapter::config::{Config, Peer};

    use super::*;

    #[test]
    fn names_what_noq_cannot_run_or_read() {
        windlass_adapter_testkit::ours::check_names("noq", PROVIDES, Factory::named);
        assert!(Factory::named("windlass/tcp-k:k=4").is_ok());
    }

    #[test]
    fn a_file_chooses_by_peer_and_its_factories_share_groups_and_recordings() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("cc.toml");
        let text = "controller = \"nice\"\n[[rule]]\nto = \"*.example.org\"\ncontroller = \"tcp-p:k=2\"\n\
                [[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"reno:iw=20\"\n[recording]\ndirectory = \"logs\"";
        std::fs::write(&file, text).unwrap();
        let config = Config::read(&file).unwrap();
        let now = Instant::now();
        let make = |peer: Peer<'_>| Factory::from_config(&config, peer).unwrap().make(now, 1200);
        let address = |last| std::net::SocketAddr::from(([192, 0, 2, last], 443));
        let named = Peer { address: address(7), name: Some("www.example.org") };
        let (first, second) = (make(named), make(named));
        assert_eq!(first.flow().controller().to_string(), "tcp-p:k=2");
        let key = config.group_key(first.flow().controller(), address(7).ip());
        assert_eq!(config.groups().with(&key, |group| group.members().len()), Some(2));
        let near = make(address(8).into());
        assert_eq!(near.metrics().congestion_window, 20 * 1200);
        // quinn cannot run it: it needs the pacing signal.
        let other = make(Peer::from(std::net::SocketAddr::from(([198, 51, 100, 1], 443))));
        assert_eq!(other.flow().controller().to_string(), "nice");
        drop((first, second, near, other));
        assert!(config.groups().is_empty());
        config.recording().unwrap().open().unwrap().wait();
        assert_eq!(std::fs::read_dir(directory.path().join("logs")).unwrap().count(), 4);
    }

    #[test]
    fn a_file_with_what_noq_cannot_run_says_where() {
        let config = Config::parse("cc.toml", "\ncontroller = \"nf-tcp\"").unwrap();
        let error = Factory::from_config(&config, ([192, 0, 2, 7], 443)).unwrap_err().to_string();
        assert!(error.starts_with("cc.toml:2:14: nf-tcp needs") && error.contains("noq does not report"), "{error}");
    }
}
