//! Reports of flows: their state to the network they are on, packets and controllers to their meters.

use std::time::Duration;

use s2n_quic::provider::congestion_controller::Timestamp;
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{self, ConnectionInfo, ConnectionMeta};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event};

use super::clock::Clock;
use super::flow::{SentDatagram, Shared};
use super::native::ControllerObserver;

/// Counts packets for a flow.
pub struct PacketCounter {
    flow: Shared,
    /// Whether the network has to know what is in a datagram.
    reports_datagrams: bool,
    /// The datagram being written carries stream data.
    data: bool,
}

impl PacketCounter {
    /// Counts for `flow`; with `reports_datagrams` it also queues each datagram.
    pub fn new(flow: &Shared, reports_datagrams: bool) -> PacketCounter {
        PacketCounter { flow: flow.clone(), reports_datagrams, data: false }
    }
}

impl Subscriber for PacketCounter {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_frame_sent(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::FrameSent) {
        if let events::Frame::Stream { id, offset, len, .. } = event.frame {
            self.data = true;
            self.flow.lock().stream_sent(id, offset + u64::from(len));
        }
    }

    fn on_packet_sent(&mut self, _: &mut (), _: &ConnectionMeta, _: &events::PacketSent) {
        self.flow.lock().meter.packets_sent += 1;
    }

    fn on_datagram_sent(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::DatagramSent) {
        let data = std::mem::take(&mut self.data);
        if self.reports_datagrams {
            self.flow.lock().sent_datagrams.push_back(SentDatagram { bytes: event.len.into(), data });
        }
    }

    fn on_packet_lost(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::PacketLost<'_>) {
        self.flow.lock().meter.packets_lost += u64::from(!event.is_mtu_probe);
    }
}

/// Measures the events and decisions of one of our controllers.
pub struct FlowRecorder(Shared);

impl FlowRecorder {
    /// A recorder of a controller of `flow`.
    pub fn new(flow: &Shared) -> FlowRecorder {
        flow.lock().recorders += 1;
        FlowRecorder(flow.clone())
    }
}

impl Drop for FlowRecorder {
    fn drop(&mut self) {
        self.0.lock().recorders -= 1;
    }
}

impl Recorder for FlowRecorder {
    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().on_event(event, decision);
    }
}

/// Measures a controller of s2n-quic's own.
#[derive(Clone)]
pub struct FlowObserver {
    pub flow: Shared,
    pub clock: Clock,
}

impl ControllerObserver for FlowObserver {
    fn on_window(&self, at: Timestamp, bytes: u64, reduced: bool) {
        self.flow.lock().window(self.clock.time(at), bytes, reduced);
    }

    fn on_rtt_sample(&self, at: Timestamp, rtt: Duration) {
        self.flow.lock().on_rtt_sample(self.clock.time(at), rtt);
    }
}
