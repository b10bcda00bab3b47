//! What driving a real stack takes whatever the stack: its datagrams on the network model,
//! a journal of what its sending end does, and its own controllers watched like ours.

pub mod journal;
pub mod ledger;
pub mod log;
pub mod native;
pub mod wire;
