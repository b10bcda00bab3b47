//! The packet simulator: a lean QUIC-like sender per flow over the [network
//! model](windlass_network).
//!
//! Each flow hosts its controller exactly as an adapter does, in a
//! [`Flow`](windlass_adapter::Flow), and gives it every signal there is. Loss detection,
//! probe timeouts and persistent congestion are those of RFC 9002; ACKs carry exactly
//! what the receiver knows when it sends them. There is no handshake, no packet header
//! and no flow control: a flow may send from its first instant.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//! use windlass_simulator::sim;
//!
//! let text = "
//!     duration_s = 5
//!     [dumbbell]
//!     rate_mbps = 10
//!     rtt_ms = 20
//!     buffer_bdp = 1
//!     [[flow]]
//!     controller = \"reno\"
//! ";
//! let outcome = sim::run(&Scenario::read("inline", text, None).unwrap()).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! ```
//!
//! # Where speed comes from
//!
//! A data packet costs two events, its arrival and that of its ACK, and none of them is
//! an entry in a heap: FIFO links put only their heads on the [event_queue](windlass_network::EventQueue),
//! a flow only its earliest timer, and a timer that moves later is not touched until its
//! old time comes. Packets sent and packets received are rings that grow to a window and are
//! fitted to it now and again; nothing is allocated per packet. What a packet needs of its flow lies together in
//! the flow's memory: with a thousand flows a packet costs what it touches, not what it
//! computes. What comes next on a link is known, so that the processor is told to fetch
//! a flow's state before its packet is there.
//!
//! # Several threads
//!
//! With [`Scenario::threads`](crate::scenario::Scenario::threads) above 1 the network is cut where links have a
//! [delay](windlass_network::Partition), and each part runs on a thread, for as long as the least delay between two
//! parts at a time. Results and traces are equal to the bit. Flows that meet at their first link are in one part, so
//! that a dumbbell is not cut; nor is a network with faults, flows in groups, flows that resume what others saved, flows
//! that wait for others, or one with so few packets that parts would mostly wait.

mod counts;
mod data;
mod flow;
mod observer;
mod pacer;
mod part;
mod parts;
mod qlog;
mod receiver;
mod recovery;
mod reordering;
mod scoreboard;
mod sender;
mod simulation;
mod tcp;
mod timers;
mod train;

pub use recovery::{LossRun, PACKET_THRESHOLD};

pub use counts::{Arrivals, FlowCounts, LossClassification, PacketCounts};
pub use observer::{AckSeen, FlowObserver, LossSeen, PacketSeen, SendReason};
pub use qlog::QlogSettings;
pub use simulation::{SimError, Simulation, run};
