//! MsQuic over UDP sockets, through the harness' link.

mod faults;
#[cfg(feature = "packet-qlog")]
mod packets;
mod wire;
