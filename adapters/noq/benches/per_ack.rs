//! Cost of one ACK frame that acknowledges two packets, and of the two it lets go: noq's own
//! controllers beside ours through the adapter, all through noq's trait.
//! `cargo bench -p windlass-noq --bench per_ack [-- [ROUNDS] [NAME]…]`.

use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};

windlass_adapter_testkit::quinn_like_bench!(noq_proto, windlass_noq);

fn main() {
    native::beside([
        ("noq NewReno", native::own::<NewRenoConfig>()),
        ("noq Cubic", native::own::<CubicConfig>()),
        ("noq BBRv3", native::own::<Bbr3Config>()),
    ]);
}

/// What noq spells its own way.
mod shim {
    use std::any::Any;
    use std::hint::black_box;
    use std::net::SocketAddr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Instant;

    use bytes::BytesMut;
    use noq_proto::congestion::Controller;
    use noq_proto::{Connection, DatagramEvent, Endpoint, EndpointConfig, FourTuple, RttEstimator, ServerConfig};

    use super::estimator::Capture;

    pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, true)
    }

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, FourTuple::new(peer, None), None, datagram, buffer)
    }

    pub fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<usize> {
        connection.poll_transmit(now, NonZeroUsize::MIN, buffer).map(|transmit| transmit.size)
    }

    pub fn acked(
        controller: &mut dyn Controller,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        rtt: &RttEstimator,
    ) {
        controller.on_ack(now, sent, bytes, pn, false, rtt);
    }

    pub fn lost(controller: &mut dyn Controller, now: Instant, sent: Instant, bytes: u64, pn: u64) {
        controller.on_packet_lost(bytes as u16, pn, now);
        controller.on_congestion_event(now, sent, false, false, bytes, pn);
    }

    /// Two datagrams leave, packets `pn − 1` and `pn`, in one transmission: before each, noq asks
    /// for the window, and for the metrics for its pacer.
    pub fn sent(controller: &mut dyn Controller, now: Instant, bytes: u64, pn: u64) {
        for pn in [pn - 1, pn] {
            black_box(controller.window());
            black_box(controller.metrics());
            controller.on_packet_sent(now, bytes as u16, pn);
        }
        controller.on_sent(now, 2 * bytes, pn);
    }

    impl Controller for Capture {
        fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: u64, _: bool, rtt: &RttEstimator) {
            self.set(rtt);
        }
        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}
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
