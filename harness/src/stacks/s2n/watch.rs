//! What the sending end of a flow tells of itself.

use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{self, ConnectionInfo, ConnectionMeta};
use windlass_adapter::{Facts, Recorder};
use windlass_controllers::{Decision, Event};

use super::flow::Shared;

/// Counts packets for a flow.
pub struct Watch(pub Shared);

impl Subscriber for Watch {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_frame_sent(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::FrameSent) {
        if let events::Frame::Stream { offset, len, .. } = event.frame {
            self.0.lock().stream_sent(offset + u64::from(len));
        }
    }

    fn on_packet_sent(&mut self, _: &mut (), _: &ConnectionMeta, _: &events::PacketSent) {
        self.0.lock().meter.packets_sent += 1;
    }

    fn on_packet_lost(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::PacketLost<'_>) {
        self.0.lock().meter.packets_lost += u64::from(!event.is_mtu_probe);
    }
}

/// Measures what one of our controllers hears and decides.
pub struct Listen(pub Shared);

impl Recorder for Listen {
    fn record(&mut self, event: &Event, decision: &Decision, _: &Facts<'_>) {
        self.0.lock().heard(event, decision);
    }
}
