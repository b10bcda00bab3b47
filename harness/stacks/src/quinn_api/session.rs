//! Sessions in virtual time: TLS whose packets the sending end's log sees, and whose 1-RTT packets go in the clear.

/// Defines `VirtualTls`, with the names of a crate with the API of `quinn-proto` in scope at the call.
macro_rules! implement_session {
    () => {
        /// TLS of one end.
        struct VirtualTls<T> {
            inner: Arc<T>,
            /// Sees what this end sends and receives.
            log: Option<Arc<Mutex<SenderLog>>>,
        }

        impl<T> VirtualTls<T> {
            fn session(&self, inner: Box<dyn Session>) -> Box<dyn Session> {
                Box::new(VirtualSession { inner, log: self.log.clone(), next: PacketType::Handshake })
            }
        }

        impl crypto::ClientConfig for VirtualTls<QuicClientConfig> {
            fn start_session(
                self: shim::Starter<'_, Self>,
                version: u32,
                server_name: &str,
                params: &TransportParameters,
            ) -> Result<Box<dyn Session>, ConnectError> {
                let inner = Arc::clone(&self.inner).start_session(version, server_name, params)?;
                Ok(self.session(inner))
            }
        }

        impl crypto::ServerConfig for VirtualTls<QuicServerConfig> {
            /// Of the client's first packet only: those of the session are for the others.
            fn initial_keys(
                &self,
                version: u32,
                dst_cid: shim::ConnectionIdArg<'_>,
            ) -> Result<Keys, UnsupportedVersion> {
                let keys = crypto::ServerConfig::initial_keys(&*self.inner, version, dst_cid)?;
                Ok(virtual_keys(keys, self.log.as_ref(), PacketType::Initial))
            }

            fn retry_tag(&self, version: u32, orig_dst_cid: shim::ConnectionIdArg<'_>, packet: &[u8]) -> [u8; 16] {
                crypto::ServerConfig::retry_tag(&*self.inner, version, orig_dst_cid, packet)
            }

            fn start_session(
                self: shim::Starter<'_, Self>,
                version: u32,
                params: &TransportParameters,
            ) -> Box<dyn Session> {
                let inner = crypto::ServerConfig::start_session(shim::starter(&self.inner), version, params);
                self.session(inner)
            }
        }

        struct VirtualSession {
            inner: Box<dyn Session>,
            log: Option<Arc<Mutex<SenderLog>>>,
            /// What the handshake's next keys are for: first the handshake, then 1-RTT packets.
            next: PacketType,
        }

        impl Session for VirtualSession {
            fn initial_keys(&self, dst_cid: shim::ConnectionIdArg<'_>, side: Side) -> Keys {
                virtual_keys(self.inner.initial_keys(dst_cid, side), self.log.as_ref(), PacketType::Initial)
            }

            fn handshake_data(&self) -> Option<Box<dyn Any>> {
                self.inner.handshake_data()
            }

            fn peer_identity(&self) -> Option<Box<dyn Any>> {
                self.inner.peer_identity()
            }

            fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
                let (header, packet) = self.inner.early_crypto()?;
                Some((header, VirtualKey::boxed(packet, self.log.as_ref(), PacketType::ZeroRtt)))
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
                Some(virtual_keys(keys, self.log.as_ref(), kind))
            }

            fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
                let keys = self.inner.next_1rtt_keys()?;
                Some(virtual_pair(keys, self.log.as_ref(), PacketType::OneRtt))
            }

            fn is_valid_retry(&self, orig_dst_cid: shim::ConnectionIdArg<'_>, header: &[u8], payload: &[u8]) -> bool {
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

        fn virtual_keys(keys: Keys, log: Option<&Arc<Mutex<SenderLog>>>, kind: PacketType) -> Keys {
            Keys { header: keys.header, packet: virtual_pair(keys.packet, log, kind) }
        }

        fn virtual_pair(
            keys: KeyPair<Box<dyn PacketKey>>,
            log: Option<&Arc<Mutex<SenderLog>>>,
            kind: PacketType,
        ) -> KeyPair<Box<dyn PacketKey>> {
            let [local, remote] = [keys.local, keys.remote].map(|key| VirtualKey::boxed(key, log, kind));
            KeyPair { local, remote }
        }

        /// A key; [`implement_packet_key`] implements `PacketKey`.
        pub struct VirtualKey {
            pub inner: Box<dyn PacketKey>,
            pub observer: Option<KeyObserver>,
            /// Packets have a checksum instead of the tag of `inner`.
            pub is_clear: bool,
            /// Of `inner`; the stacks ask for it several times a packet.
            pub tag_len: usize,
        }

        impl VirtualKey {
            fn boxed(
                inner: Box<dyn PacketKey>,
                log: Option<&Arc<Mutex<SenderLog>>>,
                kind: PacketType,
            ) -> Box<dyn PacketKey> {
                let tag_len = inner.tag_len();
                let is_clear = kind == PacketType::OneRtt && tag_len == checksum::LENGTH;
                let observer = log.map(|log| KeyObserver::new(log, kind));
                Box::new(VirtualKey { inner, observer, is_clear, tag_len })
            }
        }
    };
}

/// Implements `PacketKey` for `VirtualKey`, with the names in scope at the call; noq's functions have an argument more than quinn's,
/// the path.
macro_rules! implement_packet_key {
    ($($path:ident: $Path:ty)?) => {
        impl PacketKey for VirtualKey {
            fn encrypt(&self, $($path: $Path,)? packet: u64, buf: &mut [u8], header_len: usize) {
                if let Some(observer) = &self.observer {
                    observer.sealing(packet, buf, header_len, self.tag_len);
                }
                if self.is_clear {
                    checksum::seal(packet, buf, header_len);
                } else {
                    self.inner.encrypt($($path,)? packet, buf, header_len);
                }
            }

            fn decrypt(
                &self,
                $($path: $Path,)?
                packet: u64,
                header: &[u8],
                payload: &mut BytesMut,
            ) -> Result<(), CryptoError> {
                let bytes = header.len() + payload.len();
                if self.is_clear {
                    let length = checksum::open(packet, header, payload).ok_or(CryptoError)?;
                    payload.truncate(length);
                } else {
                    self.inner.decrypt($($path,)? packet, header, payload)?;
                }
                if let Some(observer) = &self.observer {
                    observer.opened(packet, bytes, payload);
                }
                Ok(())
            }

            fn tag_len(&self) -> usize {
                self.tag_len
            }

            fn confidentiality_limit(&self) -> u64 {
                self.inner.confidentiality_limit()
            }

            fn integrity_limit(&self) -> u64 {
                self.inner.integrity_limit()
            }
        }
    };
}

pub(crate) use {implement_packet_key, implement_session};
