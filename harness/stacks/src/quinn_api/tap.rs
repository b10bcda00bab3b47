//! Listening to a connection in the clear.
//!
//! The stack's cryptography is a trait. A tap stands between a connection and its TLS session and hands every packet,
//! with its number, its space and its frames, to a [`PacketObserver`] just before it is encrypted and just after it is
//! decrypted. Packets, sizes and timing are those of the session inside.

use std::sync::{Arc, Mutex};

use windlass_qlog::PacketType;

use crate::driver::sender_log::{PacketObserver, SenderLog, lock};

/// Where the packets of a connection go in the clear.
#[derive(Clone)]
pub struct PacketTap {
    log: Arc<Mutex<SenderLog>>,
    /// What the next keys of the handshake are for.
    next: PacketType,
}

impl PacketTap {
    /// A tap for one connection.
    pub fn new(log: &Arc<Mutex<SenderLog>>) -> PacketTap {
        PacketTap { log: Arc::clone(log), next: PacketType::Handshake }
    }

    /// What the handshake's next keys are for: first the handshake, then 1-RTT packets.
    pub fn next(&mut self) -> PacketType {
        std::mem::replace(&mut self.next, PacketType::OneRtt)
    }

    /// For the keys of packets of `kind`.
    pub fn keys(&self, kind: PacketType) -> KeyObserver {
        KeyObserver { log: Arc::clone(&self.log), kind }
    }
}

/// Hands on what one key encrypts and decrypts.
pub struct KeyObserver {
    log: Arc<Mutex<SenderLog>>,
    kind: PacketType,
}

impl KeyObserver {
    /// Packet `number` in `buf`, with `tag_len` bytes left for its tag, is about to be encrypted.
    pub fn sealing(&self, number: u64, buf: &[u8], header_len: usize, tag_len: usize) {
        let end = buf.len().saturating_sub(tag_len);
        let payload = buf.get(header_len..end).unwrap_or_default();
        lock(&self.log).sent(self.kind, number, buf.len(), payload);
    }

    /// Packet `number` of `bytes` was decrypted to `payload`.
    pub fn opened(&self, number: u64, bytes: usize, payload: &[u8]) {
        lock(&self.log).received(self.kind, number, bytes, payload);
    }
}
