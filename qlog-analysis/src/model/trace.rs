//! The header of a trace.

/// Framing of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing {
    /// One JSON document that contains its traces.
    #[default]
    Contained,
    /// A JSON text sequence (`RFC 7464`).
    Sequence,
    /// A JSON record per line.
    Lines,
    /// A Chromium network log.
    Netlog,
}

impl Framing {
    /// Name in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Framing::Contained => "JSON",
            Framing::Sequence => "JSON-SEQ",
            Framing::Lines => "NDJSON",
            Framing::Netlog => "netlog",
        }
    }
}

/// The generations of event names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SchemaVersion {
    /// Before the drafts: upper-case names, array events.
    PreDraft,
    /// draft-00 and draft-01 of the main schema: array events.
    Draft01,
    /// draft-02 to version 0.4: `transport:` and `recovery:` names.
    #[default]
    V03,
    /// The IETF's, with a file schema: `quic:` names.
    Ietf,
    /// Chromium's network log.
    Netlog,
}

impl SchemaVersion {
    /// Name in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SchemaVersion::PreDraft => "prespec",
            SchemaVersion::Draft01 => "draft-01",
            SchemaVersion::V03 => "0.3",
            SchemaVersion::Ietf => "ietf",
            SchemaVersion::Netlog => "netlog",
        }
    }
}

/// Vantage point of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Vantage {
    /// The client.
    Client,
    /// The server.
    Server,
    /// A point on the path between them.
    Network,
    /// Not logged.
    #[default]
    Unknown,
}

impl Vantage {
    /// qlog's spelling (`client`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Vantage::Client => "client",
            Vantage::Server => "server",
            Vantage::Network => "network",
            Vantage::Unknown => "unknown",
        }
    }
}

/// What our own recorders write into a header beyond what qlog has a place for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recorded<'a> {
    /// The stack that ran the flow.
    pub stack: Option<&'a str>,
    /// The scenario it was part of.
    pub scenario: Option<&'a str>,
    /// Address of the peer; `None` if not logged.
    pub peer: Option<&'a str>,
}

impl Units {
    /// Those that are not as they should be: of what, and the unit.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let Units { rtt, time, pacing_rate, ranges } = *self;
        [("RTTs", rtt), ("times", time), ("pacing rates", pacing_rate), ("acknowledged ranges", ranges)]
            .into_iter()
            .filter_map(|(values, unit)| Some((values, unit?)))
    }
}

/// The header of a trace, and findings about all of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// Its place in the file, from 0.
    pub index: u32,
    /// Framing of the file.
    pub framing: Framing,
    /// Schema version of its names.
    pub schema_version: SchemaVersion,
    /// The version or schema the file claims.
    pub version: String,
    /// Title from the header; empty if it has none.
    pub title: String,
    /// Description, a sentence; empty if it has none.
    pub description: String,
    /// The vantage point, as the header names it.
    pub vantage: Vantage,
    /// Of a trace taken in the network: whose packets count as sent.
    pub flow: Vantage,
    /// Name of the program that logged; empty if unknown.
    pub implementation: String,
    /// The connection, where the header names it.
    pub group: String,
    /// The congestion controller, where the trace names it early.
    pub controller: String,
    /// The version of QUIC, as first logged.
    pub quic_version: String,
    /// Units of values, where the events show others than the schema's.
    pub units: Units,
    /// Faults of its clock; known when all of it was read.
    pub clock: ClockFaults,
    /// Losses of a trace with several paths whose path nothing shows; they count as those of path 0.
    pub pathless_losses: u64,
    /// Congestion windows that are logged, and the largest of them as it is written.
    pub windows: (u64, u64),
}

/// Faults of the clock of a trace's events, in the order of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClockFaults {
    /// Number of events.
    pub events: u64,
    /// Number of times the clock was set back, by a second or more; times are bridged.
    pub steps: u32,
    /// The largest such step, ns.
    pub largest: i64,
    /// Events that are earlier than one before, by less.
    pub late: u64,
    /// The largest of these lags, ns.
    pub furthest: i64,
    /// The longest wait between two events, ns, if it is so long that the clock may have been set forward; else 0.
    pub wait: i64,
}

impl ClockFaults {
    /// Those of two connections together.
    #[must_use]
    pub fn and(self, other: ClockFaults) -> ClockFaults {
        ClockFaults {
            events: self.events + other.events,
            steps: self.steps.saturating_add(other.steps),
            largest: self.largest.max(other.largest),
            late: self.late + other.late,
            furthest: self.furthest.max(other.furthest),
            wait: self.wait.max(other.wait),
        }
    }

    /// Doubts for the user, a sentence each. Disorder below a millisecond is left out while it is
    /// rare, as threads that write a trace together cause it.
    pub fn doubts(&self) -> impl Iterator<Item = String> + use<> {
        let ClockFaults { events, steps, largest, late, furthest, wait } = *self;
        let ms = |ns: i64| ns as f64 / 1e6;
        let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let step = (steps > 0).then(|| {
            let (often, by) = (times(steps.into()), largest as f64 / 1e9);
            format!("its times go back {often}, by {by:.3} s at most: the clock was set back; they are read as if it had gone on")
        });
        let disorder = (furthest >= 1_000_000 || late.saturating_mul(50) > events).then(|| {
            format!(
                "its times go back {} by {:.3} ms at most; what is measured by time may be wrong",
                times(late),
                ms(furthest)
            )
        });
        let wait = (wait > 0).then(|| {
            format!("nothing happens for {:.0} s in it: it was idle, or its clock was set forward", wait as f64 / 1e9)
        });
        [step, disorder, wait].into_iter().flatten()
    }
}

/// Units that the events of a trace show, where they are not those of the schema; `None`
/// where they are the schema's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Of RTTs and delays: `s` or `us`.
    pub rtt: Option<&'static str>,
    /// Of times of events: `s` or `us`.
    pub time: Option<&'static str>,
    /// Of pacing rates: `byte/s`.
    pub pacing_rate: Option<&'static str>,
    /// Of acknowledged ranges: that they end before their second number.
    pub ranges: Option<&'static str>,
}

impl Trace {
    /// Parts of our recorders' title, `STACK to PEER by CONTROLLER` in production,
    /// and description, `CONTROLLER on SCENARIO, seed N` in the harness.
    #[must_use]
    pub fn recorded(&self) -> Recorded<'_> {
        let mut recorded = Recorded { stack: Some(self.implementation.as_str()), ..Recorded::default() };
        if let Some((stack, (peer, _))) =
            self.title.split_once(" to ").and_then(|(stack, rest)| Some((stack, rest.split_once(" by ")?)))
            && !stack.contains(' ')
            && !peer.contains(' ')
        {
            recorded.peer = Some(peer);
            recorded.stack = recorded.stack.filter(|name| !name.is_empty()).or(Some(stack));
        }
        let seeded = self.description.rsplit_once(", seed ");
        let seeded = seeded.filter(|(_, seed)| !seed.is_empty() && seed.bytes().all(|byte| byte.is_ascii_digit()));
        recorded.scenario = seeded.and_then(|(rest, _)| rest.split_once(" on ")).map(|(_, scenario)| scenario);
        recorded.stack = recorded.stack.filter(|name| !name.is_empty());
        recorded
    }
}
