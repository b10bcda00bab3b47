//! MsQuic over UDP sockets, through the harness' link.

#[cfg(feature = "packet-qlog")]
mod identify;
#[cfg(feature = "packet-qlog")]
mod packets;
mod wire;
