//! Every stack in virtual time and on real sockets.

mod agreement;
mod link;
mod s2n_quic;
mod sim_network;
mod stack_matrix;
mod stacks_fixed_window;
mod stacks_natives;
mod stacks_repeat;
mod wire;
