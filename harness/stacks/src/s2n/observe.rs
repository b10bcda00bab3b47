//! What flows report: their state to the network they are on, packets and controllers to their meters.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s2n_quic::provider::congestion_controller::Timestamp;
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::event::events::{self, ConnectionInfo, ConnectionMeta};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event};

use super::clock::Clock;
use super::flow::{SentDatagram, Shared};
use super::native::ControllerObserver;
use crate::driver::sender_log::lock;

/// Something a flow did that the network has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// Its ends were made: the addresses of the sending and the receiving one.
    Made([SocketAddr; 2]),
    /// The connection ended.
    Over,
}

/// Reports what one flow does to the network it is on.
#[derive(Clone, Debug)]
pub struct Notifier {
    number: usize,
    notices: Notices,
}

/// The notices of all flows that were not read yet, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<Mutex<Vec<(usize, Notice)>>>);

impl Notices {
    /// The notifier of flow `number`.
    pub fn of(&self, number: usize) -> Notifier {
        Notifier { number, notices: self.clone() }
    }

    /// Moves what there is into `items`.
    pub fn read(&self, items: &mut Vec<(usize, Notice)>) {
        items.append(&mut lock(&self.0));
    }
}

impl Notifier {
    /// Takes note of the ends' addresses.
    pub fn made(&self, ends: [SocketAddr; 2]) {
        lock(&self.notices.0).push((self.number, Notice::Made(ends)));
    }

    /// Takes note that the connection ended.
    pub fn over(&self) {
        lock(&self.notices.0).push((self.number, Notice::Over));
    }
}

/// Counts packets for a flow.
pub struct PacketCounter {
    flow: Shared,
    /// Whether the network has to know what is in a datagram.
    tells_datagrams: bool,
    /// The datagram being written carries stream data.
    data: bool,
}

impl PacketCounter {
    /// For `flow`, telling each datagram where `tells_datagrams`.
    pub fn new(flow: &Shared, tells_datagrams: bool) -> PacketCounter {
        PacketCounter { flow: flow.clone(), tells_datagrams, data: false }
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
        if self.tells_datagrams {
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
