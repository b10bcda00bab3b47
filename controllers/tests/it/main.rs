//! What holds of every controller, through the crate's public interface.

mod cases;
mod catalogue;
mod digests;
mod equivalences;
mod flows;
mod fuzz;
mod loss_based;
mod rfc9002;
mod script;
mod sender;
mod spurious;
mod tcp_p_replay;
mod vectors;
