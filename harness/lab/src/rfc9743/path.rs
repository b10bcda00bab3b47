//! Path types: those of RFC 9743 §6 and §7, each a bottleneck that can be run.

/// A path type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// What it is asked for by.
    pub name: &'static str,
    /// Sections of RFC 9743 that ask for it.
    pub section: &'static str,
    /// What it is, one line.
    pub about: &'static str,
    /// Rate of the bottleneck, of a recording its mean, Mbit/s.
    pub rate_mbps: f64,
    /// RTT of the empty path, ms.
    pub rtt_ms: f64,
    /// Room for packets that wait, BDP.
    pub buffer_bdp: f64,
    /// Size of a packet, bytes of UDP payload.
    pub packet_bytes: u32,
    /// Bytes that the wire adds to it.
    pub overhead_bytes: u32,
    /// Duration of a quick run, s.
    pub duration_s: f64,
    /// Whether it is part of a quick evaluation.
    pub quick: bool,
    /// Further keys of the dumbbell.
    keys: &'static str,
    /// Further tables; `@0.5` is half of the duration in s, `#0.5` in ms, `%0.5` half of the rate.
    tables: &'static str,
}

/// Several things in one: 20 Mbit/s, 50 ms, one BDP, tail drop.
const WIRED: Path = Path {
    name: "tail-drop",
    section: "6.1, 6.3",
    about: "20 Mbit/s, 50 ms, a tail-drop buffer of one BDP",
    rate_mbps: 20.0,
    rtt_ms: 50.0,
    buffer_bdp: 1.0,
    packet_bytes: 1200,
    overhead_bytes: 28,
    duration_s: 40.0,
    quick: true,
    keys: "",
    tables: "",
};

/// The path types, in the order of the RFC.
pub const PATHS: [Path; 20] = [
    WIRED,
    Path { name: "shallow", section: "6.1", about: "the same with 0.2 BDP", buffer_bdp: 0.2, ..WIRED },
    Path { name: "deep", section: "6.1", about: "the same with 8 BDP", buffer_bdp: 8.0, duration_s: 60.0, ..WIRED },
    Path {
        name: "tunnel",
        section: "6.2",
        about: "the same through a tunnel that adds 80 bytes and clears ECN, with a CoDel that sees one flow",
        overhead_bytes: 108,
        buffer_bdp: 4.0,
        keys: "queue = \"codel\"\n",
        tables: "[[dumbbell.fault]]\nkind = \"ecn-bleaching\"\nat_s = 0\nfor_ms = #1\n",
        ..WIRED
    },
    Path {
        name: "wired-slow",
        section: "6.3",
        about: "4 Mbit/s, 30 ms, tail drop, one BDP",
        rate_mbps: 4.0,
        rtt_ms: 30.0,
        quick: false,
        ..WIRED
    },
    Path {
        name: "wired-fast",
        section: "6.3",
        about: "200 Mbit/s, 20 ms, tail drop, one BDP",
        rate_mbps: 200.0,
        rtt_ms: 20.0,
        duration_s: 15.0,
        quick: false,
        ..WIRED
    },
    Path {
        name: "wireless",
        section: "6.4",
        about: "an LTE-like capacity of 6.5 Mbit/s on average, 40 ms, 8 BDP, 0.5 % random loss, 10 ms of jitter",
        rate_mbps: 6.5,
        rtt_ms: 40.0,
        buffer_bdp: 8.0,
        keys: "loss_percent = 0.5\njitter_ms = 10\n",
        ..WIRED
    },
    Path {
        name: "wi-fi",
        section: "6.4",
        about: "40 Mbit/s, 30 ms, two BDP, in batches every 5.5 to 8 ms, losses in bursts",
        rate_mbps: 40.0,
        rtt_ms: 30.0,
        buffer_bdp: 2.0,
        quick: false,
        keys: "batches = { every_ms = 5.5, jitter_ms = 2.5 }\nburst_loss = { to_bad_percent = 0.05, to_good_percent = 20 }\n",
        ..WIRED
    },
    Path {
        name: "codel",
        section: "7.1",
        about: "20 Mbit/s, 50 ms, CoDel",
        buffer_bdp: 4.0,
        keys: "queue = \"codel\"\n",
        ..WIRED
    },
    Path {
        name: "fq-codel",
        section: "7.1",
        about: "20 Mbit/s, 50 ms, FQ-CoDel",
        buffer_bdp: 4.0,
        keys: "queue = \"fq-codel\"\n",
        ..WIRED
    },
    Path {
        name: "pie",
        section: "7.1",
        about: "20 Mbit/s, 50 ms, PIE",
        buffer_bdp: 4.0,
        keys: "queue = \"pie\"\n",
        ..WIRED
    },
    Path {
        name: "dualpi2",
        section: "7.1",
        about: "20 Mbit/s, 50 ms, DualPI2 (L4S)",
        buffer_bdp: 4.0,
        keys: "queue = \"dualpi2\"\n",
        ..WIRED
    },
    Path {
        name: "varying-delay",
        section: "7.3",
        about: "20 Mbit/s, 50 ms and 5 ms of jitter, then 90, 40 and 70 ms",
        keys: "jitter_ms = 5\n",
        tables: "[[dumbbell.change]]\nat_s = @0.3\ndelay_ms = 65\n[[dumbbell.change]]\nat_s = @0.55\ndelay_ms = 15\n\
                 [[dumbbell.change]]\nat_s = @0.8\ndelay_ms = 45\n",
        ..WIRED
    },
    Path {
        name: "iot",
        section: "7.4",
        about: "0.1 Mbit/s, 200 ms, packets of 400 bytes: a BDP of six of them, as much buffer",
        rate_mbps: 0.1,
        rtt_ms: 200.0,
        packet_bytes: 400,
        duration_s: 200.0,
        ..WIRED
    },
    Path {
        name: "satellite",
        section: "7.5",
        about: "10 Mbit/s, 600 ms, tail drop, one BDP",
        rate_mbps: 10.0,
        rtt_ms: 600.0,
        duration_s: 160.0,
        ..WIRED
    },
    Path {
        name: "reordering",
        section: "7.7",
        about: "20 Mbit/s, 50 ms; one packet in twenty is held back for up to 12 ms",
        tables: "[[dumbbell.fault]]\nkind = \"reordering\"\nat_s = 0\nfor_ms = #1\npercent = 5\nby_ms = 12\n",
        ..WIRED
    },
    Path {
        name: "transient",
        section: "7.8",
        about: "20 Mbit/s, 50 ms; other traffic takes 80 % for a tenth of the time, later nothing passes for a second",
        tables: "[[dumbbell.fault]]\nkind = \"blackout\"\nat_s = @0.7\nfor_ms = 1000\n[[traffic]]\nname = \"onset\"\n\
                 kind = \"cbr\"\nrate_mbps = %0.8\nstart_s = @0.5\nstop_s = @0.6\n",
        ..WIRED
    },
    Path {
        name: "route-change",
        section: "7.9",
        about: "20 Mbit/s, 50 ms; a quarter of the rate and 110 ms from half time on, back for the last quarter",
        tables: "[[dumbbell.change]]\nat_s = @0.5\nrate_mbps = %0.25\ndelay_ms = 85\n[[dumbbell.change]]\nat_s = @0.75\n\
                 rate_mbps = %1\ndelay_ms = 25\n",
        ..WIRED
    },
    Path {
        name: "data-centre",
        section: "7.11",
        about: "1 Gbit/s, 0.2 ms, five BDP, marks from 20 packets on",
        rate_mbps: 1000.0,
        rtt_ms: 0.2,
        buffer_bdp: 5.0,
        duration_s: 0.8,
        keys: "queue = { kind = \"step\", threshold_packets = 20 }\n",
        ..WIRED
    },
    Path {
        name: "data-centre-drop",
        section: "7.11",
        about: "the same without marks",
        rate_mbps: 1000.0,
        rtt_ms: 0.2,
        buffer_bdp: 5.0,
        duration_s: 0.8,
        quick: false,
        ..WIRED
    },
];

impl Path {
    /// The path type of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Path> {
        PATHS.iter().find(|path| path.name == name)
    }

    /// RTT of the empty path, s.
    #[must_use]
    pub fn rtt(&self) -> f64 {
        self.rtt_ms / 1e3
    }

    /// Time to transmit a packet, s.
    #[must_use]
    pub fn packet_time(&self) -> f64 {
        8.0 * f64::from(self.packet_bytes + self.overhead_bytes) / (self.rate_mbps * 1e6)
    }

    /// Packets that the path holds, those that wait among them.
    #[must_use]
    pub fn room(&self) -> f64 {
        self.rtt() / self.packet_time() * (1.0 + self.buffer_bdp)
    }

    /// The bottleneck of a run of `whole` s, at `scale` times its rate, as TOML.
    pub(super) fn text(&self, whole: f64, scale: f64) -> String {
        let rate = if self.name == "wireless" {
            format!("capacity = {{ file = \"builtin:lte-like\", scale = {scale:.6} }}")
        } else {
            format!("rate_mbps = {:.6}", self.rate_mbps * scale)
        };
        let mut text =
            format!("[dumbbell]\n{rate}\nrtt_ms = {}\nbuffer_bdp = {}\n{}", self.rtt_ms, self.buffer_bdp, self.keys);
        let mut rest = self.tables;
        while let Some(at) = rest.find(['@', '#', '%']) {
            let number = &rest[at + 1..];
            let number = &number[..number.find('\n').unwrap_or(number.len())];
            let part: f64 = number.parse().unwrap_or_default();
            let value = match &rest[at..=at] {
                "@" => part * whole,
                "#" => part * whole * 1e3,
                _ => part * self.rate_mbps * scale,
            };
            text.push_str(&format!("{}{value:.6}", &rest[..at]));
            rest = &rest[at + 1 + number.len()..];
        }
        text.push_str(rest);
        text
    }
}
