//! What driving a real stack takes whatever the stack: its datagrams on the network model,
//! a sender log of what its sending end does, and its own controllers watched like ours.

pub mod log;
pub mod native;
pub mod outstanding;
pub mod sender_log;
pub mod wire;
