//! What `quinn-proto` and `noq-proto` spell alike, each in its own types.

/// Implements [`QuinnApi`](super::QuinnApi) for a stack. Where it is called, `proto` and `asynchronous` name the two
/// crates of the stack, and `shim` is the module with what they spell otherwise.
macro_rules! implement_quinn_api {
    ($stack:ident) => {
        use std::any::Any;
        use std::io;
        use std::net::SocketAddr;
        use std::sync::{Arc, Mutex, OnceLock};
        use std::time::{Duration, Instant};

        use bytes::{Bytes, BytesMut};
        use windlass_adapter::{ChoiceError, Groups, NamedController, Recorder, SavedPaths};
        use windlass_controllers::{Path, Signals};
        use windlass_network::Codepoint;
        use windlass_qlog::PacketType;
        use windlass_simulator::scenario::FlowSpec;

        use proto::congestion::{Controller, ControllerFactory, NewRenoConfig};
        use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
        use proto::crypto::{
            self, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session, UnsupportedVersion,
        };
        use proto::transport_parameters::TransportParameters;
        use proto::{
            AckFrequencyConfig, ClientConfig, ConnectError, ConnectionError, ConnectionHandle, ConnectionId,
            ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, IdleTimeout,
            MtuDiscoveryConfig, ReadError, ReadableError, ServerConfig, Side, StreamId, Transmit, TransportConfig,
            TransportError, VarInt,
        };

        use crate::driver::native::NativeDecision;
        use crate::driver::sender_log::SenderLog;
        use crate::identity::SERVER_NAME;
        use crate::quinn_api::{
            ConnectionEvent, KeyObserver, Natives, QuinnApi, Sending, Sent, TlsConfigs, Transport, Way, checksum,
            implement_session, tls_configs,
        };
        use crate::wire::{self, Counts};

        /// TLS configuration of both ends.
        pub struct Tls {
            client: Arc<QuicClientConfig>,
            server: Arc<QuicServerConfig>,
        }

        impl Tls {
            fn make() -> Result<Tls, Box<dyn std::error::Error>> {
                let TlsConfigs { client, server } = tls_configs()?;
                Ok(Tls {
                    client: Arc::new(QuicClientConfig::try_from(client)?),
                    server: Arc::new(QuicServerConfig::try_from(server)?),
                })
            }
        }

        impl QuinnApi for $stack {
            const NAME: &'static str = shim::STACK;
            const LIVE_NAME: &'static str = shim::LIVE_NAME;
            const PROVIDES: Signals = shim::PROVIDES;
            const NATIVES: &'static [&'static str] = shim::NATIVES;
            type Endpoint = Endpoint;
            type Handle = ConnectionHandle;
            type Connection = proto::Connection;
            type ClientConfig = ClientConfig;
            type StreamId = StreamId;
            type Controller = dyn Controller;
            type Factory = dyn ControllerFactory + Send + Sync;
            type Tls = Tls;
            type LiveSender = LiveSender;
            type LiveReceiver = LiveReceiver;

            fn tls() -> Result<&'static Tls, String> {
                static TLS: OnceLock<Result<Tls, String>> = OnceLock::new();
                TLS.get_or_init(|| Tls::make().map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
            }

            fn client(
                seed: [u8; 32],
                tls: &Tls,
                transport: &Transport,
                sending: Option<Sending<$stack>>,
            ) -> (Endpoint, ClientConfig) {
                let (log, factory) = logged(sending, transport);
                let mut config = ClientConfig::new(Arc::new(VirtualTls { inner: Arc::clone(&tls.client), log }));
                config.transport_config(Arc::new(with_controller(transport, factory)));
                config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[0xd5; 8])));
                (shim::endpoint(endpoint_config(seed, transport), None), config)
            }

            fn server(seed: [u8; 32], tls: &Tls, transport: &Transport, sending: Option<Sending<$stack>>) -> Endpoint {
                let (log, factory) = logged(sending, transport);
                let mut config =
                    ServerConfig::with_crypto(Arc::new(VirtualTls { inner: Arc::clone(&tls.server), log }));
                config.transport_config(Arc::new(with_controller(transport, factory)));
                shim::endpoint(endpoint_config(seed, transport), Some(Arc::new(config)))
            }

            fn live_ends(
                tls: &Tls,
                transport: &Transport,
                factory: Arc<Self::Factory>,
            ) -> io::Result<(LiveSender, LiveReceiver)> {
                let mut config = ClientConfig::new(Arc::clone(&tls.client) as _);
                config.transport_config(Arc::new(with_controller(transport, factory)));
                let (endpoint, address) = bind(transport.largest, None)?;
                let sender = LiveSender { endpoint, address, config, connection: None };
                let mut server = ServerConfig::with_crypto(Arc::clone(&tls.server) as _);
                server.transport_config(Arc::new(with_controller(transport, receiving(transport))));
                let (endpoint, address) = bind(transport.largest, Some(server))?;
                Ok((sender, LiveReceiver { endpoint, address, connection: None }))
            }

            fn connect(
                endpoint: &mut Endpoint,
                now: Instant,
                config: ClientConfig,
                peer: SocketAddr,
            ) -> Result<(ConnectionHandle, proto::Connection), String> {
                endpoint.connect(now, config, peer, SERVER_NAME).map_err(|error| error.to_string())
            }

            fn handle(
                endpoint: &mut Endpoint,
                connection: &mut Option<(ConnectionHandle, proto::Connection)>,
                now: Instant,
                peer: SocketAddr,
                ecn: Codepoint,
                payload: BytesMut,
                buffer: &mut Vec<u8>,
            ) -> Result<Option<Sent>, String> {
                match shim::handle(endpoint, now, peer, to_stack(ecn), payload, buffer) {
                    Some(DatagramEvent::ConnectionEvent(_, event)) => {
                        if let Some((_, connection)) = connection {
                            connection.handle_event(event);
                        }
                    }
                    // A late copy of what began the connection begins no other.
                    Some(DatagramEvent::NewConnection(incoming)) if connection.is_some() => endpoint.ignore(incoming),
                    Some(DatagramEvent::NewConnection(incoming)) => {
                        match endpoint.accept(incoming, now, buffer, None) {
                            Ok(accepted) => *connection = Some(accepted),
                            // What is not authentic begins no connection (`RFC 9001 §5.2`).
                            Err(error) if error.cause.to_string().contains("authentication failed") => {}
                            Err(error) => return Err(error.cause.to_string()),
                        }
                    }
                    Some(DatagramEvent::Response(transmit)) => {
                        return Ok(Some(sent(&transmit)));
                    }
                    None => {}
                }
                Ok(None)
            }

            fn transmit(
                endpoint: &mut Endpoint,
                (handle, connection): &mut (ConnectionHandle, proto::Connection),
                now: Instant,
                buffer: &mut Vec<u8>,
            ) -> Option<Sent> {
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                    }
                }
                shim::transmit(connection, now, buffer).map(|transmit| sent(&transmit))
            }

            fn timeout(connection: &mut proto::Connection) -> Option<Instant> {
                connection.poll_timeout()
            }

            fn handle_timeout(connection: &mut proto::Connection, now: Instant) {
                connection.handle_timeout(now);
            }

            fn poll(connection: &mut proto::Connection) -> Option<ConnectionEvent> {
                Some(match connection.poll()? {
                    Event::ConnectionLost { reason } => ConnectionEvent::Lost {
                        timed_out: reason == ConnectionError::TimedOut,
                        reason: reason.to_string(),
                    },
                    _ => ConnectionEvent::Other,
                })
            }

            fn close(connection: &mut proto::Connection, now: Instant) {
                connection.close(now, VarInt::from_u32(0), Bytes::new());
            }

            fn open(connection: &mut proto::Connection, way: Way) -> Option<StreamId> {
                connection.streams().open(direction(way))
            }

            fn accept(connection: &mut proto::Connection, way: Way) -> Option<StreamId> {
                connection.streams().accept(direction(way))
            }

            fn write(connection: &mut proto::Connection, stream: StreamId, chunk: &mut Bytes) -> bool {
                shim::write(connection.send_stream(stream), chunk)
            }

            fn set_priority(connection: &mut proto::Connection, stream: StreamId, priority: i32) -> Result<(), String> {
                connection.send_stream(stream).set_priority(priority).map_err(|error| error.to_string())
            }

            fn reset(connection: &mut proto::Connection, stream: StreamId) -> Result<(), String> {
                connection.send_stream(stream).reset(VarInt::from_u32(0)).map_err(|error| error.to_string())
            }

            fn finish(connection: &mut proto::Connection, stream: StreamId) -> Result<(), String> {
                connection.send_stream(stream).finish().map_err(|error| error.to_string())
            }

            fn read(
                connection: &mut proto::Connection,
                stream: StreamId,
                take: &mut dyn FnMut(u64, Bytes),
            ) -> Result<bool, String> {
                let mut stream = connection.recv_stream(stream);
                let mut chunks = match stream.read(false) {
                    Ok(chunks) => chunks,
                    // Read to its end already.
                    Err(ReadableError::ClosedStream) => return Ok(false),
                    Err(error) => return Err(error.to_string()),
                };
                let ended = loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => take(chunk.offset, chunk.bytes),
                        Ok(None) => break true,
                        Err(ReadError::Blocked | ReadError::Reset(_)) => break false,
                    }
                };
                let _ = chunks.finalize();
                Ok(ended)
            }

            fn window(connection: &proto::Connection) -> u64 {
                shim::window(connection)
            }

            fn rtt(connection: &proto::Connection) -> Duration {
                shim::rtt(connection)
            }

            fn packets(connection: &mut proto::Connection) -> (u64, u64) {
                shim::packets(connection)
            }

            fn catalogue(
                spec: &FlowSpec,
                origin: Instant,
                seed: u64,
                groups: &Groups<NamedController, String>,
                saved_paths: &SavedPaths<String>,
                recorder: impl Fn(&Path) -> Box<dyn Recorder> + Send + Sync + 'static,
            ) -> Result<Arc<Self::Factory>, ChoiceError> {
                let factory = match spec.unnamed() {
                    Some(controller) => shim::Factory::new(controller),
                    None => shim::Factory::named(&spec.controller),
                };
                let factory = factory?.origin(origin).seed(seed).record_with(recorder);
                let factory = match &spec.resume {
                    Some(resume) => factory.resume(saved_paths, resume.path.clone()),
                    None => factory,
                };
                Ok(Arc::new(match &spec.group {
                    Some(group) => factory.group(groups, group.clone()),
                    None => factory,
                }))
            }

            fn native(name: &str, payload: u16) -> Option<Arc<Self::Factory>> {
                shim::native(name, payload)
            }

            fn observed(natives: Natives<$stack>) -> Arc<Self::Factory> {
                Arc::new(natives)
            }

            fn build(factory: Arc<Self::Factory>, now: Instant, payload: u16) -> Box<dyn Controller> {
                factory.build(now, payload)
            }

            fn copy(native: &dyn Controller) -> Box<dyn Controller> {
                native.clone_box()
            }

            fn native_window(native: &dyn Controller) -> u64 {
                native.window()
            }

            fn note(decision: &NativeDecision, native: &dyn Controller) {
                shim::note(decision, native);
            }
        }

        impl ControllerFactory for Natives<$stack> {
            fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
                Box::new(Natives::build(&self, now, current_mtu))
            }
        }

        fn sent(transmit: &Transmit) -> Sent {
            Sent { ecn: from_stack(transmit.ecn), bytes: transmit.size, to: transmit.destination }
        }

        fn from_stack(ecn: Option<EcnCodepoint>) -> Codepoint {
            match ecn {
                None => Codepoint::NotEct,
                Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
                Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
                Some(EcnCodepoint::Ce) => Codepoint::Ce,
            }
        }

        fn to_stack(ecn: Codepoint) -> Option<EcnCodepoint> {
            match ecn {
                Codepoint::NotEct => None,
                Codepoint::Ect0 => Some(EcnCodepoint::Ect0),
                Codepoint::Ect1 => Some(EcnCodepoint::Ect1),
                Codepoint::Ce => Some(EcnCodepoint::Ce),
            }
        }

        /// The transport configuration of both ends of a flow.
        fn transport_config(flow: &Transport) -> TransportConfig {
            let discovery = flow.discover.map(|largest| {
                let mut config = MtuDiscoveryConfig::default();
                config.upper_bound(largest);
                config
            });
            let idle_timeout: Option<IdleTimeout> = flow.idle_timeout.and_then(|timeout| timeout.try_into().ok());
            let window = flow.receive_window.map_or(VarInt::MAX, VarInt::from_u32);
            let mut transport = TransportConfig::default();
            transport
                .initial_mtu(flow.payload)
                .min_mtu(flow.payload)
                .mtu_discovery_config(discovery)
                .max_idle_timeout(idle_timeout)
                .receive_window(window)
                .stream_receive_window(window)
                .send_window(u64::MAX)
                .datagram_receive_buffer_size(None)
                .enable_segmentation_offload(flow.segmentation);
            if let Some(streams) = flow.streams {
                transport.max_concurrent_uni_streams(VarInt::from_u32(streams));
            }
            if let Some((threshold, max_delay)) = flow.ack_frequency {
                let mut config = AckFrequencyConfig::default();
                config
                    .ack_eliciting_threshold(VarInt::from_u32(threshold))
                    .max_ack_delay(Some(max_delay))
                    .reordering_threshold(VarInt::from_u32(1));
                transport.ack_frequency_config(Some(config));
            }
            transport
        }

        fn with_controller(flow: &Transport, factory: Arc<dyn ControllerFactory + Send + Sync>) -> TransportConfig {
            let mut transport = transport_config(flow);
            transport.congestion_controller_factory(factory);
            transport
        }

        /// The controller of the receiving end. It has nothing to do, but a server whose window is smaller than two
        /// datagrams deadlocks in the handshake, and the stack's default window does not grow with the datagram size.
        fn receiving(flow: &Transport) -> Arc<dyn ControllerFactory + Send + Sync> {
            let mut controller = NewRenoConfig::default();
            controller.initial_window(10 * u64::from(flow.payload));
            Arc::new(controller)
        }

        /// TLS, the tap where the end sends, and the factory of its controller.
        /// Where an end logs, if it sends, and its factory of controllers.
        fn logged(
            sending: Option<Sending<$stack>>,
            flow: &Transport,
        ) -> (Option<Arc<Mutex<SenderLog>>>, Arc<dyn ControllerFactory + Send + Sync>) {
            match sending {
                Some(Sending { log, factory }) => (Some(log), factory),
                None => (None, receiving(flow)),
            }
        }

        fn direction(way: Way) -> Dir {
            match way {
                Way::One => Dir::Uni,
                Way::Both => Dir::Bi,
            }
        }

        fn endpoint_config(seed: [u8; 32], flow: &Transport) -> Arc<EndpointConfig> {
            let mut config = EndpointConfig::default();
            config.rng_seed(Some(seed));
            shim::connection_ids(&mut config, || Box::new(Counted(0)));
            // In its range: a payload is checked before a flow is made.
            let _ = config.max_udp_payload_size(flow.largest.max(1472));
            Arc::new(config)
        }

        /// Connection IDs that are the same in every run.
        struct Counted(u64);

        impl ConnectionIdGenerator for Counted {
            fn generate_cid(&mut self) -> ConnectionId {
                self.0 += 1;
                ConnectionId::new(&self.0.to_be_bytes())
            }
            fn cid_len(&self) -> usize {
                8
            }
            fn cid_lifetime(&self) -> Option<Duration> {
                None
            }
        }

        implement_session!();

        /// An endpoint for datagrams of up to `largest` bytes, and where it is bound.
        fn bind(largest: u16, server: Option<ServerConfig>) -> io::Result<(asynchronous::Endpoint, SocketAddr)> {
            let mut config = EndpointConfig::default();
            // In its range: a payload is checked before a flow is made.
            let _ = config.max_udp_payload_size(largest.max(1472));
            let socket = wire::bind()?;
            let address = socket.local_addr()?;
            let runtime = Arc::new(asynchronous::TokioRuntime);
            Ok((asynchronous::Endpoint::new(config, server, socket, runtime)?, address))
        }

        /// The program that connects and sends.
        pub struct LiveSender {
            endpoint: asynchronous::Endpoint,
            address: SocketAddr,
            config: ClientConfig,
            connection: Option<(asynchronous::Connection, asynchronous::SendStream)>,
        }

        impl LiveSender {
            fn stream(&mut self) -> Result<&mut asynchronous::SendStream, String> {
                self.connection.as_mut().map(|(_, stream)| stream).ok_or_else(|| "not connected".to_owned())
            }
        }

        impl wire::Sender for LiveSender {
            fn address(&self) -> SocketAddr {
                self.address
            }

            async fn connect(&mut self, peer: SocketAddr) -> Result<(), String> {
                let connecting = self.endpoint.connect_with(self.config.clone(), peer, SERVER_NAME);
                let connection =
                    connecting.map_err(|error| error.to_string())?.await.map_err(|error| error.to_string())?;
                let stream = connection.open_uni().await.map_err(|error| error.to_string())?;
                self.connection = Some((connection, stream));
                Ok(())
            }

            async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
                self.stream()?.write_chunk(bytes).await.map_err(|error| error.to_string())
            }

            async fn finish(&mut self) -> Result<(), String> {
                self.stream()?.finish().map_err(|error| error.to_string())
            }

            fn close(&mut self) {
                self.endpoint.close(VarInt::from_u32(0), b"");
            }

            fn counts(&self) -> Counts {
                let connection = self.connection.as_ref();
                let (sent, lost) = connection.map_or((0, 0), |(connection, _)| shim::live_packets(connection));
                Counts { sent, lost }
            }
        }

        /// The program that accepts and receives.
        pub struct LiveReceiver {
            endpoint: asynchronous::Endpoint,
            address: SocketAddr,
            connection: Option<(asynchronous::Connection, asynchronous::RecvStream)>,
        }

        impl wire::Receiver for LiveReceiver {
            fn address(&self) -> SocketAddr {
                self.address
            }

            async fn accept(&mut self) -> Result<(), String> {
                let incoming = self.endpoint.accept().await.ok_or_else(|| "its endpoint is closed".to_owned())?;
                let connection = incoming.await.map_err(|error| error.to_string())?;
                let stream = connection.accept_uni().await.map_err(|error| error.to_string())?;
                self.connection = Some((connection, stream));
                Ok(())
            }

            async fn read(&mut self) -> Result<Option<Bytes>, String> {
                let Some((_, stream)) = &mut self.connection else { return Err("not connected".to_owned()) };
                shim::read(stream).await.map_err(|error| error.to_string())
            }
        }
    };
}

pub(crate) use implement_quinn_api;
