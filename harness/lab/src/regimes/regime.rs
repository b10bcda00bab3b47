//! A regime: a value on each axis, and the scenario that they make.

use std::fmt;

/// An axis of the grid and the words for its values.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its values, as one types them.
    pub values: &'static [&'static str],
}

/// The axes, in the order of a [`Regime`]'s values.
pub const AXES: [Axis; 6] = [
    Axis { name: "rate", values: &["64k", "1M", "20M", "1G", "10G", "100G"] },
    Axis { name: "rtt", values: &["20us", "1ms", "50ms", "600ms", "2s"] },
    Axis { name: "buffer", values: &["0", "4p", "0.1", "1", "10"] },
    Axis {
        name: "flows",
        values: &["1", "2", "2@20ms", "2@1s", "10", "10@20ms", "10@1s", "100", "100@20ms", "100@1s"],
    },
    Axis {
        name: "path",
        values: &["clean", "loss0.1", "loss1", "reordering", "jitter", "ack2", "ack10", "ack64", "ack25ms"],
    },
    Axis { name: "mtu", values: &["1200", "1500", "9000"] },
];

const RATES: [f64; 6] = [64e3, 1e6, 20e6, 1e9, 10e9, 100e9];
const RTTS: [f64; 5] = [20e-6, 1e-3, 50e-3, 0.6, 2.0];
const FLOWS: [(u32, f64); 10] =
    [(1, 0.0), (2, 0.0), (2, 0.02), (2, 1.0), (10, 0.0), (10, 0.02), (10, 1.0), (100, 0.0), (100, 0.02), (100, 1.0)];
const PATHS: [Path; 9] = [
    Path::Clean,
    Path::Loss(1e-3),
    Path::Loss(1e-2),
    Path::Reordering,
    Path::Jitter,
    Path::Acks(2),
    Path::Acks(10),
    Path::Acks(64),
    Path::DelayedAcks,
];
/// Bytes of UDP payload; an IP packet has [`HEADERS`] more.
const PACKETS: [u32; 3] = [1200, 1500 - HEADERS, 9000 - HEADERS];

/// IPv4 and UDP, bytes.
const HEADERS: u32 = 28;

/// Behaviour of a path besides queueing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Path {
    /// Nothing.
    Clean,
    /// It loses this share of the packets at random.
    Loss(f64),
    /// It holds every twentieth packet back for up to a quarter of the RTT, while others pass.
    Reordering,
    /// It delays packets by up to a quarter of the RTT, in order.
    Jitter,
    /// Its receiver acknowledges so many packets at a time, at the latest after 25 ms.
    Acks(u32),
    /// Its receiver acknowledges after 25 ms.
    DelayedAcks,
}

/// `max_ack_delay` of receivers that do not say otherwise, s (`RFC 9000 §18.2`).
const MAX_ACK_DELAY: f64 = 0.025;

/// Smallest variation a probe timeout counts on, s (`RFC 9002 §6.1.2`).
const GRANULARITY: f64 = 1e-3;

/// A value on each of the [`AXES`], by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Regime(pub [u8; 6]);

impl Regime {
    /// Every regime of the grid.
    pub fn all() -> impl Iterator<Item = Regime> {
        let sizes = AXES.map(|axis| axis.values.len());
        (0..sizes.iter().product::<usize>()).map(move |mut number| {
            let mut values = [0; 6];
            for (value, size) in values.iter_mut().zip(sizes).rev() {
                *value = (number % size) as u8;
                number /= size;
            }
            Regime(values)
        })
    }

    /// What a user typed: `rate=20M,rtt=50ms`; axes that are not named are `None`.
    ///
    /// # Errors
    /// An axis or a value does not exist; the text says what was expected.
    pub fn parse(text: &str) -> Result<[Option<u8>; 6], String> {
        let mut values = [None; 6];
        for part in text.split(',').map(str::trim) {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("{part:?} is not axis=value"))?;
            let axis = AXES
                .iter()
                .position(|axis| axis.name == name)
                .ok_or_else(|| format!("unknown axis {name:?}; expected {}", AXES.map(|axis| axis.name).join(", ")))?;
            let known = AXES[axis].values;
            let number = known.iter().position(|known| *known == value);
            let number = number.ok_or_else(|| format!("{name} cannot be {value:?}; expected {}", known.join(", ")))?;
            values[axis] = Some(number as u8);
        }
        Ok(values)
    }

    /// Whether it has the values of `wanted` that are given.
    #[must_use]
    pub fn fits(&self, wanted: &[Option<u8>; 6]) -> bool {
        self.0.iter().zip(wanted).all(|(value, wanted)| wanted.is_none_or(|wanted| wanted == *value))
    }

    /// Its value on an axis, as one types it.
    #[must_use]
    pub fn word(&self, axis: usize) -> &'static str {
        AXES[axis].values[usize::from(self.0[axis])]
    }

    /// Rate of the bottleneck, bit/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        RATES[usize::from(self.0[0])]
    }

    /// RTT of the empty path without transmission times, s.
    #[must_use]
    pub fn rtt(&self) -> f64 {
        RTTS[usize::from(self.0[1])]
    }

    /// Number of flows.
    #[must_use]
    pub fn flows(&self) -> u32 {
        FLOWS[usize::from(self.0[3])].0
    }

    /// Time from the start of one flow to the next one's, s.
    #[must_use]
    pub fn stagger(&self) -> f64 {
        FLOWS[usize::from(self.0[3])].1
    }

    /// Start of the last flow, s.
    #[must_use]
    pub fn last_start(&self) -> f64 {
        f64::from(self.flows() - 1) * self.stagger()
    }

    /// Behaviour of the path besides queueing.
    #[must_use]
    pub fn path(&self) -> Path {
        PATHS[usize::from(self.0[4])]
    }

    /// Packets on the wire, bytes.
    #[must_use]
    pub fn wire_bytes(&self) -> u32 {
        PACKETS[usize::from(self.0[5])] + HEADERS
    }

    /// Share of the rate that is left for payload.
    #[must_use]
    pub fn payload(&self) -> f64 {
        1.0 - f64::from(HEADERS) / f64::from(self.wire_bytes())
    }

    /// Time the link needs for a packet, s.
    #[must_use]
    pub fn packet_time(&self) -> f64 {
        8.0 * f64::from(self.wire_bytes()) / self.rate()
    }

    /// Bandwidth-delay product of the path, packets.
    #[must_use]
    pub fn bdp(&self) -> f64 {
        self.rtt() / self.packet_time()
    }

    /// Packets that may wait at the bottleneck; the packet in transmission does not count.
    #[must_use]
    pub fn buffer(&self) -> u64 {
        let of_bdp = |part: f64| (part * self.bdp()).round().max(1.0) as u64;
        match self.0[2] {
            0 => 0,
            1 => 4,
            2 => of_bdp(0.1),
            3 => of_bdp(1.0),
            _ => of_bdp(10.0),
        }
    }

    /// Packets that are on the path and in the buffer at most, and the one being sent.
    #[must_use]
    pub fn room(&self) -> f64 {
        self.bdp() + self.buffer() as f64 + 1.0
    }

    /// How long an acknowledgement is held back where the link is busy, s: until the packets for it have come, or, where
    /// half of a flow's window has not as many, for the whole time.
    #[must_use]
    pub fn ack_delay(&self) -> f64 {
        let flows = f64::from(self.flows());
        match self.path() {
            Path::DelayedAcks => MAX_ACK_DELAY,
            Path::Acks(every) if self.room() / flows / 2.0 < f64::from(every) => MAX_ACK_DELAY,
            Path::Acks(every) => (f64::from(every) * self.packet_time() * flows).min(MAX_ACK_DELAY),
            _ => 0.0,
        }
    }

    /// Whether the receiver may hold an acknowledgement for longer than the path takes, so that a round of a small window
    /// lasts as long and a larger one leaves in bursts.
    #[must_use]
    pub fn holds_acks(&self) -> bool {
        matches!(self.path(), Path::Acks(_) | Path::DelayedAcks) && MAX_ACK_DELAY > self.rtt()
    }

    /// A round trip with the queue full, s.
    #[must_use]
    pub fn longest_round(&self) -> f64 {
        self.packet_time() * (self.pipe() + self.buffer() as f64)
    }

    /// A probe timeout with the queue full, without backoff, s: what a flow waits that has lost all of a window
    /// (`RFC 9002 §6.2.1`).
    #[must_use]
    pub fn probe_timeout(&self) -> f64 {
        self.longest_round() + GRANULARITY + MAX_ACK_DELAY
    }

    /// Packets of the path that an acknowledgement takes to come at the latest: BDP, the time it is held back, jitter, and
    /// the one packet the link is at.
    #[must_use]
    pub fn pipe(&self) -> f64 {
        let jitter = if self.path() == Path::Jitter { JITTER * self.rtt() } else { 0.0 };
        (self.rtt() + jitter + self.ack_delay()) / self.packet_time() + 1.0
    }

    /// Its scenario for the controller under test, of so many seconds.
    #[must_use]
    pub fn scenario(&self, duration_s: f64) -> String {
        let (flows, held) = (self.flows(), 1e3 * JITTER * self.rtt());
        let link = match self.path() {
            Path::Loss(share) => format!("loss_percent = {}\n", 100.0 * share),
            Path::Jitter => format!("jitter_ms = {held}\n"),
            _ => String::new(),
        };
        let fault = match self.path() {
            Path::Reordering => format!(
                "[[dumbbell.fault]]\nkind = \"reordering\"\nat_s = 0\nfor_ms = {}\npercent = {}\nby_ms = {held}\n",
                1e3 * duration_s,
                100.0 * REORDERED,
            ),
            _ => String::new(),
        };
        let delayed = |every: u32| {
            format!("ack = \"delayed\"\nack_every_packets = {every}\nmax_ack_delay_ms = {}\n", 1e3 * MAX_ACK_DELAY)
        };
        let acks = match self.path() {
            Path::Acks(every) => delayed(every),
            Path::DelayedAcks => delayed(10_000),
            _ => String::new(),
        };
        let stagger = if self.stagger() > 0.0 { format!("stagger_s = {}\n", self.stagger()) } else { String::new() };
        format!(
            "name = \"regime\"\ndescription = \"{self}\"\nduration_s = {duration_s}\nsample_ms = {}\npacket_bytes = {}\n\
            [dumbbell]\nrate_mbps = {}\nrtt_ms = {}\nbuffer_packets = {}\n{link}{fault}\
            [[flow]]\ncontroller = \"under-test\"\ncount = {flows}\n{stagger}{acks}",
            1e3 * duration_s / SAMPLES,
            self.wire_bytes() - HEADERS,
            self.rate() / 1e6,
            1e3 * self.rtt(),
            self.buffer(),
        )
    }
}

/// Longest random delay, of the RTT.
const JITTER: f64 = 0.25;

/// Share of packets that are held back where they are reordered.
const REORDERED: f64 = 0.05;

/// Points of a run's series.
const SAMPLES: f64 = 200.0;

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, axis) in AXES.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{}={}", axis.name, self.word(number))?;
        }
        Ok(())
    }
}
