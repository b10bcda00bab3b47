//! What a file says of a trace as a whole.

/// How a file is put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// One JSON document that contains its traces.
    #[default]
    Contained,
    /// A JSON text sequence.
    Sequence,
    /// A record a line.
    Lines,
    /// A Chromium network log.
    Netlog,
}

impl Form {
    /// As qlog spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Form::Contained => "JSON",
            Form::Sequence => "JSON-SEQ",
            Form::Lines => "NDJSON",
            Form::Netlog => "netlog",
        }
    }
}

/// The generations of event names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Era {
    /// Before the drafts: upper-case names, array events.
    Ancient,
    /// draft-00 and draft-01 of the main schema: array events.
    Arrays,
    /// draft-02 to version 0.4: `transport:` and `recovery:` names.
    #[default]
    Named,
    /// The IETF's, with a file schema: `quic:` names.
    Ietf,
    /// Chromium's own.
    Netlog,
}

/// Where a trace was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Vantage {
    /// At the client.
    Client,
    /// At the server.
    Server,
    /// In between.
    Network,
    /// The file does not tell.
    #[default]
    Unknown,
}

impl Vantage {
    /// As qlog spells it.
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

/// What is said of a trace as a whole.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// Its place in the file, from 0.
    pub index: u32,
    /// How the file is put together.
    pub form: Form,
    /// Which generation of names it uses.
    pub era: Era,
    /// The version or schema the file claims.
    pub version: String,
    /// What it is called.
    pub title: String,
    /// Where it was taken.
    pub vantage: Vantage,
    /// Of a trace taken in the network: whose packets count as sent.
    pub flow: Vantage,
    /// The name of what logged.
    pub implementation: String,
    /// The connection, where the header names it.
    pub group: String,
    /// The congestion controller, where the trace names it early.
    pub controller: String,
    /// What the reader took the RTTs to be in, where it was not milliseconds as it should be.
    pub rtt_unit: Option<&'static str>,
}
