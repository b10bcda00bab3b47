//! The topologies and common parameters (`spec: sharma §13.1, §13.2`).

use crate::{Scale, Template};

/// Rate of the bottleneck, Mbit/s.
pub(super) const RATE: f64 = 622.0;
/// Delay of an access link, ms.
pub(super) const ACCESS: f64 = 1.0;
/// Rate of an access link, Mbit/s.
const ACCESS_RATE: f64 = 1000.0;
/// Size of a data packet and of an ACK on the wire, bytes.
pub(super) const WIRE: f64 = 1050.0;
const ACK: f64 = 40.0;
/// The name of the bottleneck in a dumbbell.
pub(super) const BOTTLENECK: &str = "bottleneck";

/// A bottleneck between a link to each sender and one to each receiver.
#[derive(Clone, Debug)]
pub(super) struct Dumbbell {
    /// Rate of the bottleneck, Mbit/s.
    pub rate: f64,
    /// Delay of the bottleneck, ms.
    pub delay: f64,
    /// Length of its queue, packets.
    pub queue: u32,
    /// Duration, s of the document.
    pub duration: f64,
    /// Number of the packet that is lost on its way into the bottleneck, as the document
    /// counts.
    pub lost: Option<u32>,
    /// A loss takes a window's so-manieth part of later packets, as ns-2 had it.
    pub dupthresh_frac: Option<u32>,
    /// The flows over the bottleneck.
    pub flows: Vec<Flow>,
}

#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub name: &'static str,
    pub controller: String,
    /// When its connection is opened, s of the document.
    pub start: f64,
    /// Delay of its sender's link, ms.
    pub access: f64,
}

impl Dumbbell {
    /// T1 with one flow of `controller` from 0 s on; its queue is a fifth of the nominal
    /// bandwidth-delay product.
    pub(super) fn single(controller: &str) -> Dumbbell {
        let flow = Flow { name: "flow", controller: controller.to_owned(), start: 0.0, access: ACCESS };
        Dumbbell {
            rate: RATE,
            delay: 48.0,
            queue: 1555,
            duration: 500.0,
            lost: None,
            dupthresh_frac: None,
            flows: vec![flow],
        }
    }

    /// Round-trip propagation time of a flow, ms.
    pub(super) fn rtt(&self, flow: &Flow) -> f64 {
        2.0 * (flow.access + self.delay + ACCESS)
    }

    /// Bandwidth-delay product as the document reckons: packets of 1000 bytes, and the
    /// round trip of the labels, ms.
    pub(super) fn nominal_bdp(&self, rtt: f64) -> f64 {
        (self.rate * rtt / 8.0).floor()
    }

    /// The scenario: `dumbbell.toml` with these values.
    pub(super) fn scenario(&self, scale: Scale) -> String {
        let on = |bytes: f64, mbps: f64| 8.0 * bytes / mbps / 1000.0;
        let behind = on(WIRE, ACCESS_RATE) + 2.0 * on(ACK, ACCESS_RATE) + on(ACK, self.rate);
        let mut template = Template::new(include_str!("dumbbell.toml"))
            .set("duration_s", self.duration)
            .set("dumbbell.rate_mbps", self.rate)
            .set("dumbbell.rtt_ms", 2.0 * (self.delay + ACCESS) + behind)
            .set("dumbbell.buffer_packets", self.queue);
        if let Some(number) = self.lost {
            // ns-2 counts the SYN, and from 1.
            template = template.set("dumbbell.drop_arrivals", vec![number - 2]);
        }
        let pattern = template.take("flow", "flow");
        let flow = |flow: &Flow| {
            let part = pattern.clone().with("name", flow.name).with("controller", flow.controller.as_str());
            // Data flows one round trip after the start, which ns-2 spends on the handshake.
            let part = part.with("start_s", scale.time(flow.start) + self.rtt(flow) / 1000.0);
            // FAST's module lets three go.
            let burst = if flow.controller.starts_with("fast") { 3 } else { 2 };
            let part = part.with("ack_burst_packets", burst).with("access_delay_ms", flow.access);
            part.with_any("dupthresh_frac", self.dupthresh_frac)
        };
        template.at(scale).and_each("flow", self.flows.iter().map(flow)).to_string()
    }
}
