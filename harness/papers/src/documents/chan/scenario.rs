//! The topologies and traffic (`spec: chan §14.1, §8`).
//!
//! Packets are 1000 bytes on the wire, RoVegas' option included (A11), ACKs 40 or, with
//! the option, 48.

use std::fmt::Write;

use crate::Scale;

/// Size of a data packet and of an ACK on the wire, bytes.
const WIRE: f64 = 1000.0;
pub(super) const ACK: f64 = 40.0;
/// Rate of access links, Mbit/s, and their delay, ms.
const ACCESS: f64 = 10.0;
const ACCESS_DELAY: f64 = 1.0;
/// Mean length of a burst, ms (`§8.5`), of exponential and of Pareto sources.
const BURST: f64 = 8.0;
const LONG_BURST: f64 = 10.0;
/// How Vegas and its kin repair losses.
const VEGAS: &str = "tcp-vegas";
/// Rate of T-RED's bottleneck, Mbit/s.
const SLOWEST: f64 = 1.6;
/// Rate of T-RED's wireless link, Mbit/s.
const WIRELESS: f64 = 2.0;

/// A network as TOML, piece by piece.
#[derive(Clone, Debug)]
pub(super) struct Text {
    text: String,
    scale: Scale,
    access: f64,
}

impl Text {
    /// A run of `duration` s of the document, with access links of `access` Mbit/s.
    fn with_access(duration: f64, access: f64, scale: Scale) -> Text {
        let mut text = format!(
            "duration_s = {}\nsample_ms = 1000\npacket_bytes = 1000\noverhead_bytes = 0\nack_bytes = {ACK}\n",
            scale.time(duration)
        );
        // Behind the last router nothing waits: delays, with the time to send over the link.
        let behind = |bytes: f64| ACCESS_DELAY + 8.0 * bytes / access / 1000.0;
        let _ = write!(text, "\n[[link]]\nname = \"out\"\ndelay_ms = {}\n", behind(WIRE));
        // An ACK passes two of them.
        let _ = write!(text, "\n[[link]]\nname = \"in\"\ndelay_ms = {}\n", 2.0 * behind(ACK) - ACCESS_DELAY);
        Text { text, scale, access }
    }

    /// With access links of 10 Mbit/s.
    pub(super) fn new(duration: f64, scale: Scale) -> Text {
        Text::with_access(duration, ACCESS, scale)
    }

    /// With access links of 1 Gbit/s.
    pub(super) fn fast(duration: f64, scale: Scale) -> Text {
        Text::with_access(duration, 1000.0, scale)
    }

    /// A link between routers, Mbit/s and ms; `queue` packets, or no limit.
    pub(super) fn link(mut self, name: &str, rate: f64, delay: f64, queue: Option<u64>) -> Text {
        let _ = write!(self.text, "\n[[link]]\nname = \"{name}\"\nrate_mbps = {rate}\ndelay_ms = {delay}\n");
        if let Some(queue) = queue {
            let _ = writeln!(self.text, "buffer_packets = {queue}");
        }
        self
    }

    /// The link listed last takes `delay` ms from `at` s on: packets go another way.
    pub(super) fn rerouted(mut self, at: f64, delay: f64) -> Text {
        let at = self.scale.time(at);
        let _ = write!(self.text, "\n[[link.change]]\nat_s = {at}\ndelay_ms = {delay}\n");
        self
    }

    /// T-RED: routers that mark what waits when they drop, and a lossy link to D1 behind them, in
    /// percent of data packets and of ACKs.
    pub(super) fn wireless(duration: f64, (data, acks): (f64, f64), scale: Scale) -> Text {
        let mut text = Text::with_access(duration, ACCESS, scale);
        text = text.link("forth", SLOWEST, 20.0, Some(16));
        text.text.push_str("ci_marking = true\n");
        text = text.link("back", SLOWEST, 20.0, Some(16)).link("air", WIRELESS, 1.0, Some(16));
        let _ = writeln!(text.text, "loss_percent = {data}");
        text = text.link("air-back", WIRELESS, 1.0, Some(16));
        let _ = writeln!(text.text, "loss_percent = {acks}");
        // From R1 to the sender.
        let delay = ACCESS_DELAY + 8.0 * ACK / ACCESS / 1000.0;
        let _ = write!(text.text, "\n[[link]]\nname = \"home\"\ndelay_ms = {delay}\n");
        text
    }

    /// The flow of T-RED, which repairs losses as TCP does (`spec: chan §8.4`). It sends at most as
    /// long after an ACK as the bottleneck takes for a packet: without that, the delays of access
    /// links, which the text does not give, decide whether the flow or a load that is as fast as the link
    /// finds room in a full queue.
    pub(super) fn mobile(mut self, controller: &str) -> Text {
        let recovery = if controller.starts_with("reno") { "tcp-reno" } else { VEGAS };
        let _ = write!(
            self.text,
            "\n[[flow]]\nname = \"tcp\"\ncontroller = \"{controller}\"\nroute = [\"forth\", \"air\"]\n\
             return_route = [\"air-back\", \"back\", \"home\"]\naccess_mbps = {ACCESS}\naccess_delay_ms = {ACCESS_DELAY}\n\
             access_buffer_packets = 16\npacing = false\nsend_jitter_us = {}\nrecovery = \"{recovery}\"\n",
            8.0 * WIRE / SLOWEST,
        );
        self
    }

    /// A Pareto source of `peak` and `mean` Mbit/s over `link` (`§8.5`); none of no rate.
    pub(super) fn long_bursts(mut self, link: &str, (peak, mean): (f64, f64)) -> Text {
        if mean > 0.0 {
            let _ = write!(
                self.text,
                "\n[[traffic]]\nname = \"load\"\nkind = \"pareto-on-off\"\nrate_mbps = {peak}\nmean_rate_mbps = {mean}\n\
                 on_ms = {LONG_BURST}\nshape = 1.5\npacket_bytes = 1000\nroute = [\"{link}\"]\n"
            );
        }
        self
    }

    /// The link listed last does not report queueing times.
    pub(super) fn silent(mut self) -> Text {
        self.text.push_str("instrumented = false\n");
        self
    }

    /// A line of `hops` links forth, `f1` first, and back, `b1` last.
    pub(super) fn line(mut self, hops: usize, rate: f64, delay: f64, reports: impl Fn(&str) -> bool) -> Text {
        for hop in 1..=hops {
            for name in [format!("f{hop}"), format!("b{hop}")] {
                self = self.link(&name, rate, delay, Some(50));
                if !reports(&name) {
                    self = self.silent();
                }
            }
        }
        self
    }

    /// A flow over links forth and back, from `start` to `stop` s.
    pub(super) fn flow(
        mut self,
        name: &str,
        controller: &str,
        (forth, back): (&[&str], &[&str]),
        (start, stop): (f64, Option<f64>),
    ) -> Text {
        let quoted = |links: Vec<&str>| links.iter().map(|link| format!("\"{link}\"")).collect::<Vec<_>>().join(", ");
        let forth = quoted(forth.iter().copied().chain(["out"]).collect());
        let back = quoted(["in"].into_iter().chain(back.iter().copied()).collect());
        let _ = write!(
            self.text,
            "\n[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\nroute = [{forth}]\nreturn_route = [{back}]\n\
             access_mbps = {}\naccess_delay_ms = {ACCESS_DELAY}\npacing = false\nrecovery = \"{}\"\nstart_s = {}\n",
            self.access,
            if controller.starts_with("reno") { "tcp-newreno" } else { VEGAS },
            self.scale.time(start),
        );
        if let Some(stop) = stop {
            let _ = writeln!(self.text, "stop_s = {}", self.scale.time(stop));
        }
        if controller.starts_with("rovegas") {
            // 1000 bytes with the option.
            self.text.push_str("packet_bytes = 992\n");
        }
        self
    }

    /// The flow listed last has room for `packets` before its link, and a random time of at most
    /// `jitter` µs before it sends: what keeps flows that are alike from moving in step.
    pub(super) fn spread(mut self, packets: u32, jitter: f64) -> Text {
        let _ = write!(self.text, "access_buffer_packets = {packets}\nsend_jitter_us = {jitter}\n");
        self
    }

    /// A random addition to the start of the flow listed last, s.
    pub(super) fn jitter(mut self, seconds: f64) -> Text {
        let _ = writeln!(self.text, "start_jitter_s = {seconds}");
        self
    }

    /// An exponential source of `peak` and `mean` Mbit/s over `link` from `start` s on; none
    /// of no rate.
    pub(super) fn bursts(mut self, name: &str, link: &str, (peak, mean): (f64, f64), start: f64) -> Text {
        if mean > 0.0 {
            let start = self.scale.time(start);
            let _ = write!(
                self.text,
                "\n[[traffic]]\nname = \"{name}\"\nkind = \"exponential-on-off\"\nrate_mbps = {peak}\nmean_rate_mbps = {mean}\n\
                 on_ms = {BURST}\npacket_bytes = 1000\nroute = [\"{link}\"]\nstart_s = {start}\n"
            );
        }
        self
    }

    /// A constant rate over `link`, Mbit/s, from and to, s.
    pub(super) fn constant(mut self, link: &str, rate: f64, from: f64, to: f64) -> Text {
        let (from, to) = (self.scale.time(from), self.scale.time(to));
        let _ = write!(
            self.text,
            "\n[[traffic]]\nname = \"constant\"\nkind = \"cbr\"\nrate_mbps = {rate}\npacket_bytes = 1000\nroute = [\"{link}\"]\n\
             start_s = {from}\nstop_s = {to}\n"
        );
        self
    }

    pub(super) fn done(self) -> String {
        self.text
    }
}
