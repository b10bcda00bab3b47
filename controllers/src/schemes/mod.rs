//! The controllers, one file each.

pub mod a_tcp;
pub mod a_tcp_p;
pub mod aimd;
pub mod bic;
pub mod ctcp;
pub mod cubic;
pub mod cubic_2005;
pub mod dca_c;
pub mod dca_s;
pub mod dctcp;
pub mod enhanced_vegas;
pub mod fast;
pub mod h_tcp;
pub mod highspeed;
pub mod ledbat;
pub mod nf_tcp;
pub mod nf_tcp_prime;
pub mod prague;
pub mod quick_vegas;
pub mod red_vegas;
pub mod reno;
pub mod rovegas;
pub mod scalable;
pub mod tcp_k;
pub mod tcp_p;
pub mod vegas;
