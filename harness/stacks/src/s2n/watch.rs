//! What the sending end of a flow tells of itself.

use std::time::Duration;

use s2n_quic::provider::congestion_controller::Timestamp;
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{self, ConnectionInfo, ConnectionMeta};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event};

use super::clock::Clock;
use super::flow::{Handed, Shared};
use super::native::Witness;

/// Counts packets for a flow.
pub struct Watch {
    flow: Shared,
    /// Whether the network has to know what is in a datagram.
    tells_datagrams: bool,
    /// The datagram being written carries stream data.
    data: bool,
}

impl Watch {
    /// For `flow`, telling each datagram where `tells_datagrams`.
    pub fn new(flow: &Shared, tells_datagrams: bool) -> Watch {
        Watch { flow: flow.clone(), tells_datagrams, data: false }
    }
}

impl Subscriber for Watch {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_frame_sent(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::FrameSent) {
        if let events::Frame::Stream { offset, len, .. } = event.frame {
            self.data = true;
            self.flow.lock().stream_sent(offset + u64::from(len));
        }
    }

    fn on_packet_sent(&mut self, _: &mut (), _: &ConnectionMeta, _: &events::PacketSent) {
        self.flow.lock().meter.packets_sent += 1;
    }

    fn on_datagram_sent(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::DatagramSent) {
        let data = std::mem::take(&mut self.data);
        if self.tells_datagrams {
            self.flow.lock().handed.push_back(Handed { bytes: event.len.into(), data });
        }
    }

    fn on_packet_lost(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::PacketLost<'_>) {
        self.flow.lock().meter.packets_lost += u64::from(!event.is_mtu_probe);
    }
}

/// Measures what one of our controllers hears and decides.
pub struct FlowRecorder(pub Shared);

impl Recorder for FlowRecorder {
    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().heard(event, decision);
    }
}

/// Measures a controller of s2n-quic's own.
#[derive(Clone)]
pub struct Native {
    pub flow: Shared,
    pub clock: Clock,
}

impl Witness for Native {
    fn window(&self, at: Timestamp, bytes: u64, answered: bool) {
        self.flow.lock().window(self.clock.time(at), bytes, answered);
    }

    fn sampled(&self, rtt: Duration) {
        self.flow.lock().sampled(rtt);
    }
}
