//! What holds of every controller, through the crate's public interface.

mod catalogue;
mod digests;
mod equivalences;
mod fuzz;
mod loss_based;
mod rfc9002;
mod script;
mod sender;
mod shared;
mod spurious;
mod tcp_p_replay;
mod vectors;
