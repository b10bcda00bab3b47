//! Calls a congestion controller as s2n-quic does, without s2n-quic.

#![allow(dead_code, reason = "each user needs a part of it")]

use std::collections::VecDeque;
use std::time::Duration;

use s2n_quic::provider::congestion_controller::{CongestionController, RttEstimator, Timestamp};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::time::{Clock as _, clock::NoopClock};
pub use windlass_adapter_testkit::calls::s2n_quic::{NullPublisher, Zeros};

/// A datagram, bytes.
pub const MTU: u16 = 1200;

/// A packet in flight.
#[derive(Clone, Copy)]
pub struct Sent<I> {
    pub at: u64,
    pub bytes: usize,
    pub info: I,
}

/// A path that makes the calls a test asks for. Times are microseconds from the start.
pub struct Driver<C: CongestionController> {
    pub controller: C,
    pub now: u64,
    pub flying: VecDeque<Sent<C::PacketInfo>>,
    pub rtt: RttEstimator,
}

/// A second after the origin, so that there is time before it.
pub fn timestamp(micros: u64) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(999_999 + micros)
}

impl<C: CongestionController> Driver<C> {
    pub fn new(controller: C) -> Self {
        Driver { controller, now: 0, flying: VecDeque::new(), rtt: RttEstimator::default() }
    }

    /// Sends a packet of `bytes`; the application has more to send unless `app_limited`.
    pub fn send(&mut self, bytes: usize, app_limited: Option<bool>) {
        let info =
            self.controller.on_packet_sent(timestamp(self.now), bytes, app_limited, &self.rtt, &mut NullPublisher);
        self.flying.push_back(Sent { at: self.now, bytes, info });
    }

    /// Sends `packets` full packets.
    pub fn burst(&mut self, packets: usize) {
        for _ in 0..packets {
            self.send(MTU.into(), Some(false));
        }
    }

    /// What s2n-quic asks and does before each packet: sends full packets while it may.
    pub fn fill(&mut self) -> usize {
        let mut sent = 0;
        while !self.controller.is_congestion_limited()
            && self.controller.earliest_departure_time().is_none_or(|time| time.has_elapsed(timestamp(self.now)))
        {
            self.burst(1);
            sent += 1;
        }
        sent
    }

    /// The RTT sample of a frame whose newest packet was sent at `at`.
    pub fn sample(&mut self, at: u64) {
        let latest = Duration::from_micros(self.now - at);
        let space = PacketNumberSpace::ApplicationData;
        self.rtt.update_rtt(Duration::ZERO, latest, timestamp(self.now), true, space);
        self.controller.on_rtt_update(timestamp(at), timestamp(self.now), &self.rtt, &mut NullPublisher);
    }

    /// The oldest `packets` are declared lost.
    pub fn lose(&mut self, packets: usize, persistent: bool) {
        for i in 0..packets {
            let sent = self.flying.pop_front().unwrap();
            let (bytes, now) = (sent.bytes as u32, timestamp(self.now));
            self.controller.on_packet_lost(bytes, sent.info, persistent, i == 0, &mut Zeros, now, &mut NullPublisher);
        }
    }

    /// `marks` more packets were reported marked.
    pub fn mark(&mut self, marks: u64) {
        self.controller.on_explicit_congestion(marks, timestamp(self.now), &mut NullPublisher);
    }

    /// A frame that declares the oldest `lost` packets lost, reports `marks` and acknowledges
    /// the next `acked` packets, in s2n-quic's order.
    pub fn frame(&mut self, lost: usize, marks: u64, acked: usize) {
        let newest = self.flying[lost + acked - 1];
        self.sample(newest.at);
        self.lose(lost, false);
        if marks > 0 {
            self.mark(marks);
        }
        let bytes = self.flying.drain(..acked).map(|sent| sent.bytes).sum();
        let (at, now) = (timestamp(newest.at), timestamp(self.now));
        self.controller.on_ack(at, bytes, newest.info, &self.rtt, &mut Zeros, now, &mut NullPublisher);
    }

    /// A frame that acknowledges the oldest `packets`.
    pub fn ack(&mut self, packets: usize) {
        self.frame(0, 0, packets);
    }

    pub fn window(&self) -> u32 {
        self.controller.congestion_window()
    }
}
