//! The topologies and common parameters (`spec: sharma §13.1, §13.2`).

use std::fmt::Write;

use crate::Scale;

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
    pub queue: u64,
    /// Duration, s of the document.
    pub duration: f64,
    /// Number of the packet that is lost on its way into the bottleneck, as the document
    /// counts.
    pub lost: Option<u64>,
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

    /// The scenario as TOML.
    ///
    /// What leaves the bottleneck is spaced so widely that it never waits again, and so are
    /// ACKs: the links behind it are delays, with the time a packet takes to be sent over them.
    /// Data flows one round trip after the start, which ns-2 spends on the handshake.
    pub(super) fn toml(&self, scale: Scale) -> String {
        let on = |bytes: f64, mbps: f64| 8.0 * bytes / mbps / 1000.0;
        let behind = on(WIRE, ACCESS_RATE) + 2.0 * on(ACK, ACCESS_RATE) + on(ACK, self.rate);
        let mut text = format!(
            "duration_s = {}\nsample_ms = 1000\npacket_bytes = 1000\noverhead_bytes = 50\n\n\
             [dumbbell]\nrate_mbps = {}\nrtt_ms = {}\nbuffer_packets = {}\n",
            scale.time(self.duration),
            self.rate,
            2.0 * (self.delay + ACCESS) + behind,
            self.queue,
        );
        if let Some(number) = self.lost {
            // ns-2 counts the SYN, and from 1.
            let _ = writeln!(text, "drop_arrivals = [{}]", number - 2);
        }
        for flow in &self.flows {
            let _ = write!(
                text,
                "\n[[flow]]\nname = \"{}\"\ncontroller = \"{}\"\nstart_s = {}\naccess_mbps = {ACCESS_RATE}\n\
                 access_delay_ms = {}\npacing = false\nrecovery = \"tcp-sack\"\nack_burst_packets = {}\n\
                 send_jitter_us = 8\n",
                flow.name,
                flow.controller,
                scale.time(flow.start) + self.rtt(flow) / 1000.0,
                flow.access,
                // FAST's module lets three go.
                if flow.controller.starts_with("fast") { 3 } else { 2 },
            );
            if let Some(frac) = self.dupthresh_frac {
                let _ = writeln!(text, "dupthresh_frac = {frac}");
            }
        }
        text
    }
}
