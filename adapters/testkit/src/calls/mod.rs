//! A model of what stacks call a congestion controller with, driven by any bytes at all.
//!
//! [`run`] makes connections of bytes: they send, are acknowledged, lose, are marked, move, are
//! copied and dropped, their clock stands still and goes back, and a faulty stack calls
//! in any order with any number. [`Stack`] and [`Path`] are what one stack has of its own: each
//! [`Call`] becomes the stack's function, or none. What has to hold after every call:
//!
//! * the window is within the contract's bounds, and nothing decided is no number;
//! * an ACK frame's events are in the contract's order, time never goes back, counts add up;
//! * a group has as many members as there are connections, and is gone after the last.
//!
//! `quinn`, `noq`, `s2n_quic` and `path_flow` are driven here; a stack with a native build implements the
//! two traits in its own workspace.

mod choices;
#[cfg(any(feature = "noq", feature = "quinn"))]
mod estimator;
mod model;
#[cfg(feature = "noq")]
pub mod noq;
pub mod path_flow;
mod probe;
#[cfg(feature = "quinn")]
pub mod quinn;
#[cfg(feature = "s2n-quic")]
pub mod s2n_quic;
mod watch;

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use windlass_adapter::Groups;
use windlass_controllers::{Algorithm, ConfiguredController, Signals};

pub use choices::bytes_of;
pub use model::run;
pub use path_flow::instant;
pub use probe::{Probe, digests};
pub use watch::{Watch, datagram};

/// Nanoseconds before or after the start of a sequence; of both 73 years at most.
pub type At = i64;

/// Key of a group.
pub type Key = IpAddr;

/// A packet that left.
#[derive(Clone, Copy, Debug)]
pub struct Packet<K> {
    /// Time at which it was sent, ns after the start of the sequence.
    pub at: At,
    /// Size of its datagram, bytes.
    pub bytes: u64,
    /// Packet number, unique on its path.
    pub pn: u64,
    /// The stack's data for the controller, kept with the packet.
    pub kept: K,
}

/// A report of a stack to a controller, or a question.
#[derive(Clone, Copy, Debug)]
pub enum Call<K> {
    /// A frame brought an RTT sample, by this packet.
    Sampled {
        /// The newest packet it acknowledges.
        newest: Packet<K>,
        /// The sample, as the stack measured it.
        latest: Duration,
    },
    /// A frame acknowledges a packet.
    Acked {
        /// The packet.
        packet: Packet<K>,
        /// The application had nothing to send.
        app_limited: bool,
        /// Index of the RTT estimate that the stack passes.
        estimate: u8,
    },
    /// All packets that a frame acknowledges were reported.
    AcksEnd {
        /// Their bytes.
        bytes: u64,
        /// The newest of them.
        newest: Packet<K>,
        /// Bytes the stack counts in flight.
        in_flight: u64,
        /// The application has nothing to send.
        app_limited: bool,
        /// The largest packet number acknowledged yet.
        largest: Option<u64>,
    },
    /// A packet was declared lost.
    Lost {
        /// The packet.
        packet: Packet<K>,
        /// It is one of those that establish persistent congestion.
        persistent: bool,
    },
    /// All packets declared lost together were reported.
    LossesEnd {
        /// Their bytes.
        bytes: u64,
        /// The newest of them.
        newest: Packet<K>,
        /// They establish persistent congestion.
        persistent: bool,
    },
    /// A frame brought so many CE marks.
    Marked {
        /// Increase of the peer's CE count, at least 1.
        packets: u64,
        /// The newest packet it acknowledges.
        newest: Packet<K>,
    },
    /// All packets lost latest were acknowledged after all.
    Spurious,
    /// Datagrams have so many bytes from here on.
    MtuUpdated(u16),
    /// The peer holds ACKs for so long at most.
    MaxAckDelay(Duration),
    /// So many bytes are in flight no more: their keys were discarded (`RFC 9002 §6.4`).
    Discarded(u64),
    /// The stack asks everything it ever asks.
    Asked,
}

/// In which order a stack reports the parts of an ACK frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Sample, losses, marks, acknowledgements; the events are in the contract's order.
    LossesFirst,
    /// The same, but the sample comes with the acknowledgements.
    SampleLast,
    /// Spurious losses, acknowledgements, losses, marks, each the events of a frame of its own.
    AcksFirst,
}

/// A stack with our controllers, the catalogue's or another `C`.
pub trait Stack<C: ConfiguredController = Algorithm>: Sized {
    /// One path of a connection.
    type Path: Path;
    /// Signals a controller may need.
    const PROVIDES: Signals;

    /// A stack whose connections use `controller` and are watched by `watch`, and which puts those
    /// of one key into one of `groups`, if there are any. The controller needs no more than
    /// [`PROVIDES`](Self::PROVIDES).
    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self;

    /// A connection to the peer of `key` that starts `now` with datagrams of `mtu` bytes.
    fn connect(&mut self, now: At, mtu: u16, key: Key) -> Self::Path;
}

/// One path of a connection, as its stack sees the controller.
pub trait Path: Sized {
    /// What the stack keeps with each packet for the controller.
    type Kept: Copy + Debug;
    /// Order of the stack's reports of an ACK frame.
    const ORDER: Order;
    /// Whether the adapter establishes persistent congestion itself, whatever the stack says.
    const ESTABLISHES_PERSISTENT_CONGESTION: bool = false;

    /// `bytes` leave in packet `pn`. `app_limited`: the application has nothing more to send; `None` if the stack
    /// does not know.
    fn sent(&mut self, now: At, bytes: u64, pn: u64, app_limited: Option<bool>) -> Self::Kept;

    /// Passes a call on; the stack may have no such call.
    fn call(&mut self, now: At, call: &Call<Self::Kept>);

    /// As the stack copies a path that moves; `None` if it does not.
    fn copy(&self) -> Option<Self>;

    /// The window, bytes.
    fn window(&self) -> u64;

    /// What [`window`](Self::window) is at least where datagrams have `mtu` bytes and the controller's
    /// own windows have `least` datagrams at least.
    fn least_window(mtu: u16, least: u64) -> u64;

    /// Bytes in flight, where the adapter counts them for the stack.
    fn in_flight(&self) -> Option<u64> {
        None
    }

    /// What else the stack reads of the decision, as text.
    fn answers(&self) -> String {
        String::new()
    }

    /// Whether its flow has started, and so joined its group if it has one.
    fn has_started(&self) -> bool {
        true
    }
}

/// `sequences` sequences of calls of a seed for each controller of the catalogue: the first half of a
/// correct stack, the other of a faulty one. WINDLASS_SEQUENCES overrides the number.
///
/// # Panics
/// Where one does not hold what it has to, or the number is none.
pub fn run_seeded<S: Stack>(sequences: u64) {
    let sequences = match std::env::var("WINDLASS_SEQUENCES") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("WINDLASS_SEQUENCES is {text:?}; expected a whole number")),
        Err(_) => sequences,
    };
    assert!(sequences > 0, "no sequence would be run");
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let controller @ 0..CONTROLLERS = next.fetch_add(1, Ordering::Relaxed) {
                    (0..sequences).for_each(|seed| run::<S>(&sequence(controller, seed, 2 * seed >= sequences)));
                }
            });
        }
    });
}

const CONTROLLERS: usize = Algorithm::ALL.len();

/// The sequence of a seed for one controller, of a stack gone `wrong` or not: half of all have 32 bytes, a quarter 64, up
/// to 1024, so that each length gets about as many calls.
fn sequence(controller: usize, seed: u64, wrong: bool) -> Vec<u8> {
    let mut bytes = bytes_of(seed << 8 | controller as u64, 32 << seed.trailing_ones().min(5));
    bytes[0] = controller as u8;
    bytes[2] = bytes[2] & !1 | u8::from(wrong);
    bytes
}

/// The controller that two bytes choose for a stack with these signals: one of the catalogue, as it is,
/// with its document's parameters or with its fallback, whatever of it can run; and how many datagrams
/// its windows have at least.
fn chosen(controller: u8, variant: u8, provides: Signals) -> (Algorithm, String, u64) {
    let entry = &Algorithm::ALL[usize::from(controller) % Algorithm::ALL.len()];
    let (plain, paper) = (entry.name.to_owned(), format!("{}:profile=paper", entry.name));
    let fallback = format!("{}:fallback=on", entry.name);
    // RFC 9002 §7.2; documents' own profiles go to one datagram.
    let texts = if variant % 4 == 3 { [(paper, 1), (plain, 2)] } else { [(plain, 2), (fallback, 2)] };
    let readable = texts.into_iter().filter_map(|(text, least)| Some((Algorithm::read(&text).ok()?, text, least)));
    let mut runs = readable.filter(|(algorithm, ..)| provides.contains(algorithm.needs()));
    runs.next().unwrap_or_else(|| (Algorithm::named("reno").expect("it is in the catalogue"), "reno".to_owned(), 2))
}
