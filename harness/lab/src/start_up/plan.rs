//! What is run.

use std::fmt;

use crate::grid::Cell;

/// Rate of the link unless others are named, Mbit/s.
pub const RATE_MBPS: f64 = 50.0;
/// Buffers, BDP.
pub const BUFFERS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
/// RTTs of the empty path, ms.
pub const RTTS_MS: [u32; 3] = [20, 100, 600];
/// Sizes of transfers, bytes.
pub const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Bytes of a packet, and on the wire.
const PACKET: (f64, f64) = (1200.0, 1228.0);

/// What is added to a controller whose flows resume.
const RESUME: &str = "+resume";

/// How a flow starts up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheme {
    /// The controller as a user types it, or a stack's own.
    pub controller: String,
    /// Its flows resume a path of which an earlier flow saved what it carries.
    pub resumes: bool,
}

impl Scheme {
    /// Those of CUBIC that are compared unless others are named.
    pub const DEFAULT: [&'static str; 6] = [
        "cubic:slow_start=standard",
        "cubic:slow_start=standard,lss=50",
        "cubic",
        "cubic:slow_start=search",
        "cubic:slow_start=rapid",
        "cubic+resume",
    ];

    /// Reads a controller, or one with `+resume` behind it.
    #[must_use]
    pub fn read(text: &str) -> Scheme {
        let controller = text.strip_suffix(RESUME);
        Scheme { controller: controller.unwrap_or(text).to_owned(), resumes: controller.is_some() }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.controller, if self.resumes { RESUME } else { "" })
    }
}

/// What a bottleneck is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// A buffer in front of a link whose rate stays.
    Steady,
    /// A token bucket as large as the buffer would be; what exceeds it is dropped, nothing waits.
    Policer,
    /// A steady link that sends what has come together every 5 to 7 ms, as Wi-Fi does.
    Batches,
    /// A link whose rate wanders and that stands still for half a second of ten, as a cellular one's: the simulator's
    /// `builtin:lte-like`, with as much on average.
    Cellular,
}

impl Link {
    /// All of them.
    pub const ALL: [Link; 4] = [Link::Steady, Link::Policer, Link::Batches, Link::Cellular];

    /// As a user types it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Link::Steady => "steady",
            Link::Policer => "policer",
            Link::Batches => "batches",
            Link::Cellular => "cellular",
        }
    }
}

/// Mean of `builtin:lte-like`, Mbit/s: 5418 packets of 1500 bytes in 10 s.
const LTE_LIKE_MBPS: f64 = 5418.0 * 1500.0 * 8.0 / 10e6;
/// What a policer stands in front of, Mbit/s.
const POLICED_MBPS: f64 = 1000.0;

/// A bottleneck.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// What it is.
    pub link: Link,
    /// Its rate, Mbit/s, a policer's and a cellular link's on average.
    pub rate_mbps: f64,
    /// RTT of the empty path, ms.
    pub rtt_ms: u32,
    /// Buffer, BDP.
    pub buffer_bdp: f64,
}

impl Place {
    /// Every place with one of these links, RTTs, buffers and rates. Links other than [`Link::Steady`] have 100 ms and 1
    /// BDP.
    #[must_use]
    pub fn all(links: &[Link], rtts_ms: &[u32], buffers: &[f64], rates_mbps: &[f64]) -> Vec<Place> {
        let mut places = Vec::new();
        for (&link, &rtt_ms) in links.iter().flat_map(|link| rtts_ms.iter().map(move |rtt| (link, rtt))) {
            for (&buffer_bdp, &rate_mbps) in
                buffers.iter().flat_map(|buffer| rates_mbps.iter().map(move |rate| (buffer, rate)))
            {
                let place = Place { link, rate_mbps, rtt_ms, buffer_bdp };
                if link == Link::Steady || place.is_usual() {
                    places.push(place);
                }
            }
        }
        places
    }

    fn is_usual(&self) -> bool {
        self.rtt_ms == 100 && self.buffer_bdp == 1.0
    }

    /// The keys of its link.
    fn keys(&self) -> String {
        let (rate, buffer) =
            (format!("rate_mbps = {}\n", self.rate_mbps), format!("buffer_bdp = {}\n", self.buffer_bdp));
        match self.link {
            Link::Steady => rate + &buffer,
            Link::Policer => {
                let burst = self.rate_mbps * 1e6 / 8.0 * self.rtt() * self.buffer_bdp;
                format!(
                    "rate_mbps = {POLICED_MBPS}\n\
                     queue = {{ kind = \"policer\", rate_mbps = {}, burst_bytes = {burst} }}\n",
                    self.rate_mbps
                )
            }
            Link::Batches => rate + &buffer + "batches = { every_ms = 5, jitter_ms = 2 }\n",
            Link::Cellular => {
                let scale = self.rate_mbps / LTE_LIKE_MBPS;
                format!("capacity = {{ file = \"builtin:lte-like\", scale = {scale} }}\n{buffer}")
            }
        }
    }

    /// What it is but for its rate: `RTT 20 ms, buffer 1 BDP`.
    #[must_use]
    pub fn path(&self) -> String {
        let buffer = if self.link == Link::Policer { "bucket" } else { "buffer" };
        let link = if self.link == Link::Steady { String::new() } else { format!("{}, ", self.link.name()) };
        format!("{link}RTT {} ms, {buffer} {} BDP", self.rtt_ms, self.buffer_bdp)
    }

    /// The RTT, s.
    #[must_use]
    pub fn rtt(&self) -> f64 {
        f64::from(self.rtt_ms) / 1e3
    }

    /// Bytes of payload that fill the empty path, packet headers of QUIC's among them.
    #[must_use]
    pub fn bdp_bytes(&self) -> f64 {
        self.rate_mbps * 1e6 / 8.0 * self.rtt() * PACKET.0 / PACKET.1
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s, {}", self.rate_mbps, self.path())
    }
}

/// What is asked of a scheme at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// Bytes of a transfer; `None` of a flow that only fills the path.
    pub transfer: Option<u64>,
    /// Another flow, CUBIC with HyStart++, was there before.
    pub rival: bool,
}

/// Round trips in which a flow fills the path, or does not.
const ROUNDS: f64 = 30.0;
/// Round trips that a rival has before, and the time in any case, s: its own start-up is over.
const AHEAD: (f64, f64) = (30.0, 2.0);
/// Time that a transfer has beside what it needs at half the rate, in round trips and s.
const TRANSFER_SLACK: (f64, f64) = (60.0, 10.0);

impl Question {
    /// How long a flow alone takes to fill the path, and what it loses.
    pub const FILL: Question = Question { transfer: None, rival: false };

    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Question> {
        let of = |rival| {
            let sizes = [None].into_iter().chain(SIZES.map(Some));
            sizes.map(move |transfer| Question { transfer, rival })
        };
        [false, true].into_iter().flat_map(of).collect()
    }

    /// When the flow that is asked about starts, s.
    #[must_use]
    pub fn start(&self, place: &Place) -> f64 {
        if self.rival { AHEAD.0 * place.rtt() + AHEAD.1 } else { 0.0 }
    }

    /// How long it may last, s.
    fn lasts(&self, place: &Place) -> f64 {
        match self.transfer {
            None => ROUNDS * place.rtt(),
            Some(bytes) => {
                8.0 * bytes as f64 / (place.rate_mbps * 0.5e6) + TRANSFER_SLACK.0 * place.rtt() + TRANSFER_SLACK.1
            }
        }
    }

    /// The scenario for `scheme`, whose flow is the first.
    #[must_use]
    pub fn scenario(&self, place: &Place, scheme: &Scheme) -> String {
        let start = self.start(place);
        let mut text = format!(
            "duration_s = {}\nsample_ms = {}\n[dumbbell]\n{}rtt_ms = {}\n\
             [[flow]]\nname = \"asked\"\ncontroller = \"under-test\"\nstart_s = {start}\n",
            start + self.lasts(place),
            f64::from(place.rtt_ms) / 10.0,
            place.keys(),
            place.rtt_ms,
        );
        if let Some(bytes) = self.transfer {
            text.push_str(&format!("transfer_bytes = {bytes}\n"));
        }
        if scheme.resumes {
            let cwnd = place.bdp_bytes() as u64;
            text.push_str(&format!("resume = \"known\"\nsaved_cwnd_bytes = {cwnd}\nsaved_rtt_ms = {}\n", place.rtt_ms));
        }
        if self.rival {
            text.push_str("[[flow]]\nname = \"rival\"\ncontroller = \"cubic\"\n");
        }
        text
    }

    /// Its run for `scheme` on `stack`, the `turn`th of equal ones, as the grid names it.
    #[must_use]
    pub fn cell(&self, place: &Place, scheme: &Scheme, stack: &str, turn: u64) -> Cell {
        let scenario = self.scenario(place, scheme);
        let seconds = self.start(place) + self.transfer.map_or(self.lasts(place), |bytes| bytes as f64 / 5e6);
        Cell {
            name: format!("{scheme} on {stack}, {place}"),
            scenario,
            file: String::new(),
            controller: scheme.controller.clone(),
            stack: stack.to_owned(),
            seed: turn,
            reads: "start-up/1".to_owned(),
            work: 100 + (seconds * 5000.0) as u64,
        }
    }
}
