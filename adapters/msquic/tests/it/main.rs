//! Controllers of the catalogue in connections of the real MsQuic, linked statically.

mod loopback;
#[cfg(feature = "packet-qlog")]
mod packets;
mod transfer;
