//! Real stacks on real UDP sockets, through a userspace link that is the network model in
//! real time. `docs/wire.md` says how, and what can be expected of two real clocks.

mod clock;
mod link;
mod program;
mod relay;
mod run;
mod socket;
mod transfer;

pub use clock::Clock;
pub use link::{Carried, Link, LinkError, Transit};
pub use program::{Counts, Ends, Program, Receiver, Sender};
pub use run::{Report, run};
pub use socket::{Inbox, Open, bind};
