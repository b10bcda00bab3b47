//! The topologies (`spec: cho §14.1, §14.2`) and traffic (`§14.3`).

use std::fmt::Write;

use crate::Scale;

/// Name of the bottleneck link.
pub(super) const BOTTLENECK: &str = "bottleneck";
/// Shortest retransmission timeout of Linux, ms.
const LINUX_RTO: u32 = 200;
/// ACKs of TCP on the wire, bytes.
const ACK: f64 = 40.0;

/// A dumbbell of the document (`spec: cho §14`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bed {
    /// Rate of the bottleneck, Mbit/s.
    pub rate: f64,
    /// One-way delay of the bottleneck, ms.
    pub delay: f64,
    /// Queue of the bottleneck, packets.
    pub queue: u64,
    /// Whether that is RED which marks (N2).
    pub red: bool,
    /// Packets lost at random, percent.
    pub loss: f64,
    /// Rate of the links at either end, Mbit/s; 0 for none.
    pub access: f64,
    /// One-way delay of each access link, ms.
    pub access_delay: f64,
    /// Application bytes of a packet.
    pub payload: u32,
    /// Bytes of headers a packet.
    pub headers: u32,
    /// Whether the receiver delays ACKs.
    pub delayed: bool,
    /// How flows repair losses, as scenario files call it.
    pub recovery: &'static str,
    /// Shortest retransmission timeout of TCP, ms.
    pub min_rto: u32,
}

/// N2 with drop-tail (chapter II).
pub(super) const N2: Bed = Bed {
    rate: 5.0,
    delay: 30.0,
    queue: 36,
    red: false,
    loss: 0.0,
    access: 10.0,
    access_delay: 3.0,
    payload: 1000,
    headers: 40,
    delayed: false,
    recovery: "tcp-reno",
    min_rto: 1000,
};

/// TB-100 of chapter III: 1538 bytes on the wire, 1460 of them data.
pub(super) const TB_100_III: Bed = Bed {
    rate: 100.0,
    delay: 25.0,
    queue: 100,
    access: 1000.0,
    access_delay: 0.0,
    payload: 1460,
    headers: 78,
    delayed: true,
    recovery: "tcp-newreno",
    min_rto: LINUX_RTO,
    ..N2
};
/// TB-100 of chapters IV and V: SACK, and timestamps, which take 12 bytes.
pub(super) const TB_100: Bed = Bed { payload: 1448, headers: 90, recovery: "tcp-sack", ..TB_100_III };
/// TB-10 of chapter III.
pub(super) const TB_10_III: Bed = Bed { rate: 10.0, ..TB_100_III };
/// TB-10 of chapter IV.
pub(super) const TB_10: Bed = Bed { rate: 10.0, ..TB_100 };
/// TB-G: 440 Mbit/s of data (E-3).
pub(super) const TB_G: Bed = Bed { rate: 467.35, queue: 600, ..TB_100 };
/// NS6 (E-4).
pub(super) const NS6: Bed = Bed {
    rate: 622.0,
    delay: 23.0,
    queue: 747,
    access: 1000.0,
    access_delay: 1.0,
    payload: 1000,
    headers: 40,
    min_rto: 1000,
    ..TB_100
};

#[derive(Clone, Debug)]
pub(super) struct Flows {
    /// What results call them; several are numbered.
    pub name: &'static str,
    pub controller: String,
    pub count: u32,
    /// Whether they are one group.
    pub group: bool,
    /// Start, s of the document.
    pub start: f64,
    pub stop: Option<f64>,
    /// Largest random addition to the start, s; not scaled.
    pub jitter: f64,
    /// Whether packet 64 of each is lost at its sender (E-9).
    pub early_loss: bool,
    /// Whether its packets are ECN-capable.
    pub ecn: bool,
    /// Rate of their own links, if not the bed's, Mbit/s.
    pub access: Option<f64>,
}

impl Flows {
    /// One flow from the beginning to the end.
    pub(super) fn new(name: &'static str, controller: &str) -> Flows {
        Flows {
            name,
            controller: controller.to_owned(),
            count: 1,
            group: false,
            start: 0.0,
            stop: None,
            jitter: 0.0,
            early_loss: false,
            ecn: false,
            access: None,
        }
    }

    /// The same, of which there are `count`.
    pub(super) fn times(self, count: u32) -> Flows {
        Flows { count, ..self }
    }

    /// The same from `start` to `stop`, s.
    pub(super) fn during(self, start: f64, stop: Option<f64>) -> Flows {
        Flows { start, stop, ..self }
    }
}

/// Traffic besides the flows under test.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    None,
    /// 3 Mbit/s for half of each period, s, silent first.
    OnOff(f64),
    /// Web sessions over the bottleneck.
    Web,
    /// A constant rate, Mbit/s, from and to, s.
    Constant(f64, f64, f64),
}

impl Bed {
    /// Packets the bottleneck sends in a millisecond.
    pub(super) fn packets_per_ms(&self) -> f64 {
        1000.0 * self.rate / (8.0 * self.wire())
    }

    /// Size of a packet on the wire, bytes.
    fn wire(&self) -> f64 {
        f64::from(self.payload + self.headers)
    }

    /// The scenario as TOML.
    ///
    /// What has passed the bottleneck never waits again and ACKs never wait, so the links
    /// behind it are delays, with the time a packet takes to be sent over them.
    pub(super) fn toml(&self, duration: f64, flows: &[Flows], load: Load, scale: Scale) -> String {
        let on = |bytes: f64, mbps: f64| if mbps > 0.0 { 8.0 * bytes / mbps / 1000.0 } else { 0.0 };
        let forth = self.delay + self.access_delay + on(self.wire(), self.access);
        let back = self.delay + self.access_delay + 2.0 * on(ACK, self.access) + on(ACK, self.rate);
        let mut text = format!(
            "duration_s = {}\nsample_ms = 1000\npacket_bytes = {}\noverhead_bytes = {}\nack_bytes = 1\n\n\
             [[link]]\nname = \"{BOTTLENECK}\"\nrate_mbps = {}\ndelay_ms = {forth}\nbuffer_packets = {}\nloss_percent = {}\n",
            scale.time(duration),
            self.payload,
            self.headers,
            self.rate,
            self.queue,
            self.loss,
        );
        if self.red {
            // ns-2's own choice for this link (`spec: cho §14.1`).
            text.push_str(
                "queue = { kind = \"red\", min_th_packets = 5, max_th_packets = 15, max_p = 0.1, weight = 0.001663, \
                 mean_packet_bytes = 1040, gentle = true, wait = true, on_hit = \"mark\" }\n",
            );
        }
        let _ = write!(text, "\n[[link]]\nname = \"back\"\ndelay_ms = {back}\n");
        for flows in flows {
            self.flow(&mut text, flows, scale);
        }
        let route = format!("route = [\"{BOTTLENECK}\"]");
        match load {
            Load::None => {}
            Load::OnOff(period) => {
                let half = scale.time(period) / 2.0;
                let _ = write!(
                    text,
                    "\n[[traffic]]\nname = \"load\"\nkind = \"cbr\"\nrate_mbps = 3\ngap_jitter = 0.5\noff_s = {half}\non_s = {half}\n\
                     packet_bytes = 1000\n{route}\n"
                );
            }
            Load::Constant(rate, from, to) => {
                let (from, to) = (scale.time(from), scale.time(to));
                let _ = write!(
                    text,
                    "\n[[traffic]]\nname = \"load\"\nkind = \"cbr\"\nrate_mbps = {rate}\npacket_bytes = 1000\nstart_s = {from}\n\
                     stop_s = {to}\n{route}\n"
                );
            }
            Load::Web => {
                let _ = write!(
                    text,
                    "\n[[web]]\nname = \"web\"\ncontroller = \"{WEB}\"\npacing = false\naccess_delay_ms = {}\n{route}\n\
                     return_route = [\"back\"]\n",
                    self.access_delay,
                );
                self.repairs(&mut text);
            }
        }
        text
    }

    fn repairs(&self, text: &mut String) {
        let _ = writeln!(text, "recovery = \"{}\"", self.recovery);
        if self.recovery != "quic" {
            let _ = writeln!(text, "min_rto_ms = {}", self.min_rto);
        }
    }

    fn flow(&self, text: &mut String, flows: &Flows, scale: Scale) {
        let _ = write!(
            text,
            "\n[[flow]]\nname = \"{}\"\ncontroller = \"{}\"\ncount = {}\nstart_s = {}\nstart_jitter_s = {}\npacing = false\n\
             route = [\"{BOTTLENECK}\"]\nreturn_route = [\"back\"]\naccess_delay_ms = {}\n",
            flows.name,
            flows.controller,
            flows.count,
            scale.time(flows.start),
            flows.jitter,
            self.access_delay,
        );
        let access = flows.access.unwrap_or(self.access);
        if access > 0.0 {
            let _ = writeln!(text, "access_mbps = {access}");
        }
        if let Some(stop) = flows.stop {
            let _ = writeln!(text, "stop_s = {}", scale.time(stop));
        }
        if flows.group {
            let _ = writeln!(text, "group = \"{}\"", flows.name);
        }
        if flows.early_loss {
            text.push_str("drop_packets = [64]\n");
        }
        if flows.ecn {
            text.push_str("ecn = true\n");
        }
        self.repairs(text);
        if self.delayed {
            text.push_str("ack = \"delayed\"\nmax_ack_delay_ms = 40\n");
        }
    }
}

/// Reno of chapter II, with its cap of 200 packets.
pub(super) const RENO_II: &str =
    "reno:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks,ssthresh=200,max_window=200";
const WEB: &str = RENO_II;
/// NewReno and SACK of the test bed.
pub(super) const STANDARD: &str = "reno:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks";
