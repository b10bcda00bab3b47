//! The topologies (`spec: arumaithurai §12`) and queues (`§4.2`).
//!
//! Packets are 1000 bytes on the wire, the unit of buffers and thresholds.

use std::fmt::Write;

use crate::Scale;

/// Reno of the document (`§1`: `ssthresh0 = 100`), which is not ECN-capable.
pub(super) const RENO: &str = "reno:iw=1,ssthresh=100,timeout_window=1,timeout_reduces_again=on,grow_on_exit=false";
/// Delay of an access link, ms; they are ten times as fast as the bottleneck.
const ACCESS: f64 = 1.0;

/// How a queue of so many packets is managed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queue {
    /// Thresholds of low-priority packets, and the lower one of the others; the upper one is
    /// the buffer.
    TwoClass { buffer: u64, low: (u64, u64), min: u64 },
    /// Drop-tail of so many packets.
    DropTail(u64),
}

impl Queue {
    /// Table 5.3 as it is printed, ten times the product (A29).
    pub(super) const PRINTED: Queue = Queue::TwoClass { buffer: 125_000, low: (1250, 62_500), min: 113_300 };

    /// The document's rule for any capacity, Mbit/s and ms; its tables follow it.
    pub(super) fn scaled(rate: f64, rtt: f64) -> Queue {
        let buffer = rate * rtt / 8.0;
        let share = |part: f64| (part * buffer).floor() as u64;
        Queue::TwoClass { buffer: buffer.floor() as u64, low: (share(0.01), share(0.5)), min: share(0.9067) }
    }

    fn toml(&self) -> String {
        match *self {
            Queue::DropTail(buffer) => format!("buffer_packets = {buffer}\n"),
            Queue::TwoClass { buffer, low: (low_min, low_max), min } => format!(
                "buffer_packets = {buffer}\nqueue = {{ kind = \"two-class-red\", min_th_packets = {min}, max_th_packets = {buffer}, \
                 low_min_th_packets = {low_min}, low_max_th_packets = {low_max} }}\n"
            ),
        }
    }
}

/// A network as TOML, piece by piece.
#[derive(Clone, Debug)]
pub(super) struct Text {
    text: String,
    scale: Scale,
    access: f64,
    is_line: bool,
}

fn head(duration: f64, scale: Scale) -> String {
    let duration = scale.time(duration);
    format!("duration_s = {duration}\nsample_ms = 1000\npacket_bytes = 960\noverhead_bytes = 40\nack_bytes = 1\n")
}

impl Text {
    /// A dumbbell of `rate` Mbit/s and `rtt` ms.
    pub(super) fn dumbbell(duration: f64, rate: f64, rtt: f64, queue: Queue, scale: Scale) -> Text {
        let mut text = head(duration, scale);
        let rtt = rtt - 2.0 * ACCESS;
        let _ = write!(text, "\n[dumbbell]\nrate_mbps = {rate}\nrtt_ms = {rtt}\n{}", queue.toml());
        Text { text, scale, access: 10.0 * rate, is_line: false }
    }

    /// Three bottlenecks in line, called `l1` to `l3`; a path over one of them has a round trip of
    /// `rtt` ms.
    pub(super) fn line(duration: f64, rate: f64, rtt: f64, queue: Queue, scale: Scale) -> Text {
        let mut text = head(duration, scale);
        let delay = rtt / 2.0 - ACCESS;
        for hop in 1..=3 {
            let queue = queue.toml();
            let _ = write!(text, "\n[[link]]\nname = \"l{hop}\"\nrate_mbps = {rate}\ndelay_ms = {delay}\n{queue}");
        }
        Text { text, scale, access: 10.0 * rate, is_line: true }
    }

    /// A flow from `start` s on. Further keys are for the caller.
    pub(super) fn flow(mut self, name: &str, controller: &str, start: f64) -> Text {
        let start = self.scale.time(start);
        let _ = write!(
            self.text,
            "\n[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\nstart_s = {start}\npacing = false\n\
             recovery = \"tcp-sack\"\naccess_mbps = {}\n",
            self.access
        );
        if !self.is_line {
            let _ = writeln!(self.text, "access_delay_ms = {ACCESS}");
        }
        if controller.starts_with("reno") {
            self.text.push_str("ecn = false\n");
        }
        self
    }

    /// A key of what is listed last.
    pub(super) fn key(mut self, key: &str, value: impl std::fmt::Display) -> Text {
        let _ = writeln!(self.text, "{key} = {value}");
        self
    }

    /// Adds TOML text as it is.
    pub(super) fn and(mut self, text: &str) -> Text {
        self.text.push_str(text);
        self
    }

    pub(super) fn done(self) -> String {
        self.text
    }
}
