//! The controllers, one file each.

pub mod a_tcp;
pub mod reno;
pub mod tcp_k;
pub mod tcp_p;
