//! Listening to a connection in the clear.
//!
//! The stack's cryptography is a trait. A [`Tap`] stands between a connection and its TLS
//! session and hands every packet, with its number, its space and its frames, to a
//! [`Listener`] just before it is encrypted and just after it is decrypted. Packets,
//! sizes and timing are those of the session inside.

use std::any::Any;
use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use windlass_qlog::PacketType;

use super::dialect::{ConnectionIdArg, Starter, packet_key};
use super::proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{ConnectError, Side, TransportError};
use crate::driver::journal::{Listener, lock};

/// A connecting end's cryptography with a listener.
pub struct Tap<C, L> {
    inner: Arc<C>,
    listener: Arc<Mutex<L>>,
}

impl<C, L> Tap<C, L> {
    /// `inner`, heard by `listener`. For one connection only.
    pub fn new(inner: Arc<C>, listener: Arc<Mutex<L>>) -> Self {
        Tap { inner, listener }
    }
}

impl<C: crypto::ClientConfig + 'static, L: Listener> crypto::ClientConfig for Tap<C, L> {
    fn start_session(
        self: Starter<'_, Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let inner = Arc::clone(&self.inner).start_session(version, server_name, params)?;
        Ok(Box::new(Tapped { inner, listener: Arc::clone(&self.listener), next: PacketType::Handshake }))
    }
}

struct Tapped<L> {
    inner: Box<dyn Session>,
    listener: Arc<Mutex<L>>,
    /// What the next keys of the handshake are for.
    next: PacketType,
}

impl<L: Listener> Tapped<L> {
    fn key(&self, inner: Box<dyn PacketKey>, kind: PacketType) -> Box<dyn PacketKey> {
        Box::new(Key { inner, listener: Arc::clone(&self.listener), kind })
    }

    fn pair(&self, keys: KeyPair<Box<dyn PacketKey>>, kind: PacketType) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair { local: self.key(keys.local, kind), remote: self.key(keys.remote, kind) }
    }
}

impl<L: Listener> Session for Tapped<L> {
    fn initial_keys(&self, dst_cid: ConnectionIdArg<'_>, side: Side) -> Keys {
        let keys = self.inner.initial_keys(dst_cid, side);
        Keys { header: keys.header, packet: self.pair(keys.packet, PacketType::Initial) }
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let (header, packet) = self.inner.early_crypto()?;
        Some((header, self.key(packet, PacketType::ZeroRtt)))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.inner.write_handshake(buf)?;
        let kind = std::mem::replace(&mut self.next, PacketType::OneRtt);
        Some(Keys { header: keys.header, packet: self.pair(keys.packet, kind) })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.inner.next_1rtt_keys()?;
        Some(self.pair(keys, PacketType::OneRtt))
    }

    fn is_valid_retry(&self, orig_dst_cid: ConnectionIdArg<'_>, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

struct Key<L> {
    inner: Box<dyn PacketKey>,
    listener: Arc<Mutex<L>>,
    kind: PacketType,
}

impl<L: Listener> Key<L> {
    fn sealing(&self, packet: u64, buf: &[u8], header_len: usize) {
        let end = buf.len().saturating_sub(self.inner.tag_len());
        let payload = buf.get(header_len..end).unwrap_or_default();
        lock(&self.listener).sent(self.kind, packet, buf.len(), payload);
    }

    fn opened(&self, packet: u64, bytes: usize, payload: &[u8]) {
        lock(&self.listener).received(self.kind, packet, bytes, payload);
    }
}

packet_key!(Key);
