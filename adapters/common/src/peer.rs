//! The peer of a flow.

use std::net::SocketAddr;

/// A peer, as far as the stack reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer<'a> {
    /// Remote address and port of the path.
    pub address: SocketAddr,
    /// The host name it was reached by, where known.
    pub name: Option<&'a str>,
}

impl<T: Into<SocketAddr>> From<T> for Peer<'static> {
    fn from(address: T) -> Self {
        Peer { address: address.into(), name: None }
    }
}
