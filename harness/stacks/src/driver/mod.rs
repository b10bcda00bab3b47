//! What every driver of a real stack needs: its datagrams on the network model,
//! a sender log of what its sending end does, and observers of its own controllers.

pub mod datagrams;
pub mod liveness;
pub mod log;
pub mod native;
pub mod outstanding;
pub mod sender_log;
pub mod stream_acks;
