//! Who uses the path: the flows of a run.

use super::path::Path;
use crate::grid::Cell;

/// A controller that is deployed, beside which flows run (`RFC 9743 §5.2.1`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Rival {
    /// RFC 5681, RFC 9002.
    Reno,
    /// RFC 9438.
    Cubic,
    /// draft-ietf-ccwg-bbr, deployed without being a standard.
    Bbr,
}

impl Rival {
    /// Its name in the catalogue.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rival::Reno => "reno",
            Rival::Cubic => "cubic",
            Rival::Bbr => "bbr",
        }
    }
}

/// The standards whose harm bounds that of others.
pub const STANDARDS: [&str; 2] = ["reno", "cubic"];

/// The flows of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mix {
    /// One flow.
    Alone,
    /// [`SEVERAL`] flows that start in turn.
    Several,
    /// [`OVERLOAD_FLOWS`] flows on a bottleneck that holds a packet for every second of them.
    Overload,
    /// One flow, and from half time on nothing passes.
    Outage,
    /// The same until then.
    BeforeOutage,
    /// A flow, and short ones of the same controller.
    ShortOwn,
    /// A flow beside another's.
    Beside(Rival),
    /// A flow beside a video.
    Video,
    /// A flow, and short ones of CUBIC.
    ShortOthers,
    /// A CUBIC flow, and short ones of the controller.
    LongOther,
    /// Two flows, the first with an honest receiver, or one that conceals losses, or one that divides ACKs.
    Receiver(&'static str),
}

/// Flows that share a path and start in turn.
pub const SEVERAL: u32 = 4;
/// Flows of an overload.
pub const OVERLOAD_FLOWS: u32 = 40;
/// Short flows, and packets of each.
const SHORTS: (u32, u32) = (10, 30);
/// Part of the link that a video takes, and its frames per second where they fill packets.
const VIDEO: (f64, f64) = (0.08, 25.0);
/// Sending rate of the interface of a flow whose receiver deceives it, of the link's.
const INTERFACE: f64 = 5.0;
/// A sender with so many times the packets under way that the path holds has run away.
const RUNAWAY: f64 = 50.0;

impl Mix {
    /// Its run by `controller` on `stack`, as the grid names it; `longer` than a quick one by that factor.
    #[must_use]
    pub fn cell(self, path: &Path, controller: &str, stack: &str, seed: u64, longer: f64) -> Cell {
        let (scenario, packets) = self.scenario(path, longer);
        Cell {
            name: format!("{controller} on {stack}, {}, {self:?}", path.name),
            file: String::new(),
            scenario,
            controller: controller.to_owned(),
            stack: stack.to_owned(),
            seed,
            reads: format!("rfc9743/1 {}", path.name),
            work: 100 + packets as u64,
        }
    }

    /// The scenario as TOML, and how many packets its link carries.
    pub(super) fn scenario(self, path: &Path, longer: f64) -> (String, f64) {
        let whole = path.duration_s * longer;
        let duration = if self == Mix::BeforeOutage { 0.5 * whole } else { whole };
        let scale = if self == Mix::Overload { (f64::from(OVERLOAD_FLOWS) / 2.0 / path.room()).min(1.0) } else { 1.0 };
        let most = (RUNAWAY * path.room() + 1000.0) as u64;
        let mut text = format!(
            "duration_s = {duration:.6}\nsample_ms = {:.6}\npacket_bytes = {}\noverhead_bytes = {}\nmax_packets_under_way = {most}\n",
            1e3 * whole / 400.0,
            path.packet_bytes,
            path.overhead_bytes
        );
        text.push_str(&path.text(whole, scale));
        if self == Mix::Outage {
            let (at, long) = (0.5 * whole, 500.0 * whole);
            text.push_str(&format!("[[dumbbell.fault]]\nkind = \"blackout\"\nat_s = {at:.6}\nfor_ms = {long:.6}\n"));
        }
        // Starts vary by up to two round trips, so that seeds differ.
        let jitter = 2.0 * path.rtt();
        let flow = |name: &str, controller: &str, more: &str| {
            format!("[[flow]]\nname = \"{name}\"\ncontroller = \"{controller}\"\nstart_jitter_s = {jitter:.6}\n{more}")
        };
        let own = |more: &str| flow("own", "under-test", more);
        let count = |count: u32, apart: f64| format!("count = {count}\nstagger_s = {:.6}\n", apart * whole);
        let shorts = |controller: &str| {
            let bytes = SHORTS.1 * path.packet_bytes;
            let more = format!("{}start_s = {:.6}\ntransfer_bytes = {bytes}\n", count(SHORTS.0, 0.04), 0.5 * whole);
            flow("short", controller, &more)
        };
        text.push_str(&match self {
            Mix::Alone | Mix::Outage | Mix::BeforeOutage => own(""),
            Mix::Several => own(&count(SEVERAL, 0.08)),
            Mix::Overload => own(&count(OVERLOAD_FLOWS, 0.001)),
            Mix::ShortOwn => own("") + &shorts("under-test"),
            Mix::ShortOthers => own("") + &shorts("cubic"),
            Mix::LongOther => flow("other", "cubic", "") + &shorts("under-test"),
            Mix::Beside(rival) => own("") + &flow("other", rival.name(), ""),
            Mix::Video => {
                let rate = VIDEO.0 * path.rate_mbps;
                let frames = (rate * 1e6 / 8.0 / f64::from(path.packet_bytes) / 1.2).min(VIDEO.1);
                let late = 150.0 + path.rtt_ms / 2.0;
                let more =
                    format!("application_mbps = {rate:.6}\nframes_per_s = {frames:.6}\nframe_late_ms = {late}\n");
                own("") + &flow("video", "reno", &more)
            }
            Mix::Receiver(word) => {
                let (rate, room) = (INTERFACE * path.rate_mbps, path.room() as u64);
                let more = format!("receiver = \"{word}\"\naccess_mbps = {rate}\naccess_buffer_packets = {room}\n");
                own(&more) + &flow("other", "under-test", "")
            }
        });
        (text, duration / path.packet_time() * scale)
    }
}
