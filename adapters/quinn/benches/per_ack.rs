//! Cost of one ACK frame that acknowledges two packets, and of the two it lets go: quinn's own
//! controllers beside ours through the adapter, all through quinn's trait.
//! `cargo bench -p windlass-quinn --bench per_ack [-- [ROUNDS] [NAME]…]`.

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

windlass_adapter_testkit::quinn_like_bench!(quinn_proto, windlass_quinn);

fn main() {
    native::beside([
        ("quinn NewReno", native::own::<NewRenoConfig>()),
        ("quinn Cubic", native::own::<CubicConfig>()),
        ("quinn BBR", native::own::<BbrConfig>()),
    ]);
}

/// What quinn spells its own way.
mod shim {
    use std::any::Any;
    use std::hint::black_box;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::BytesMut;
    use quinn_proto::congestion::Controller;
    use quinn_proto::{Connection, DatagramEvent, Endpoint, EndpointConfig, RttEstimator, ServerConfig};

    use super::estimator::Capture;

    pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true, None)
    }

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, peer, None, None, datagram, buffer)
    }

    pub fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<usize> {
        connection.poll_transmit(now, 1, buffer).map(|transmit| transmit.size)
    }

    pub fn acked(controller: &mut dyn Controller, now: Instant, sent: Instant, bytes: u64, _: u64, rtt: &RttEstimator) {
        controller.on_ack(now, sent, bytes, false, rtt);
    }

    pub fn lost(controller: &mut dyn Controller, now: Instant, sent: Instant, bytes: u64, _: u64) {
        controller.on_congestion_event(now, sent, false, bytes);
    }

    /// Two datagrams leave, packets `pn − 1` and `pn`, in one transmission: before each, quinn asks
    /// for the window to hold against the bytes in flight, and again for its pacer.
    pub fn sent(controller: &mut dyn Controller, now: Instant, bytes: u64, pn: u64) {
        for _ in 0..2 {
            black_box(controller.window());
            black_box(controller.window());
        }
        controller.on_sent(now, 2 * bytes, pn);
    }

    impl Controller for Capture {
        fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
            self.set(rtt);
        }
        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
        fn on_mtu_update(&mut self, _: u16) {}
        fn window(&self) -> u64 {
            100_000
        }
        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.copy())
        }
        fn initial_window(&self) -> u64 {
            100_000
        }
        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    }
}
