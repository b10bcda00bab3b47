//! What is drawn over time, and whether a trace logs it.

/// Quantity of a line in the figure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Quantity {
    /// Congestion window, bytes.
    Cwnd,
    /// Slow start threshold, bytes.
    Ssthresh,
    /// Bytes in flight: logged, else counted.
    InFlight,
    /// RTT samples, ns: logged, else taken from acknowledgements.
    LatestRtt,
    /// Smoothed RTT, ns.
    SmoothedRtt,
    /// Minimum RTT, ns.
    MinRtt,
    /// Pacing rate, bit/s.
    PacingRate,
    /// Bytes of packets sent so far.
    Sent,
    /// Stream data acknowledged so far, each byte once.
    Delivered,
    /// Stream data received so far, each byte once.
    Received,
    /// Packets declared lost so far: logged, else inferred.
    Lost,
    /// CE marks reported so far.
    Marked,
    /// Congestion states: an index into [`ConnectionSeries::states`](super::ConnectionSeries::states).
    State,
    /// Whether the sender has too little to send: 0 or 1.
    AppLimited,
    /// What keeps the sender from sending: an index into [`LimitedBy::ALL`](crate::metrics::LimitedBy::ALL), or
    /// [`UNKNOWN`](super::UNKNOWN).
    LimitedBy,
    /// `DATA_BLOCKED`, `STREAM_DATA_BLOCKED` and kin so far, of both ends.
    Blocked,
    /// The connection's limit that the other end granted, bytes.
    MaxData,
    /// Bytes of all streams sent, which count against it.
    DataSent,
    /// The limit that the other end granted the stream with most data sent, bytes.
    MaxStreamData,
    /// Bytes of that stream.
    StreamDataSent,
    /// The connection's limit that this end granted, bytes.
    LocalMaxData,
    /// Bytes of all streams received, which count against it.
    DataReceived,
}

/// Whether a quantity is known of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineStatus {
    /// There are values.
    Values,
    /// The trace logs such things, and there were none.
    None,
    /// The trace does not log it.
    NotLogged,
}

impl LineStatus {
    /// Reason why a line has no points; `None` if it has some.
    #[must_use]
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            LineStatus::Values => None,
            LineStatus::None => Some("none"),
            LineStatus::NotLogged => Some("not logged"),
        }
    }
}

impl Quantity {
    /// All quantities, in the order of the figure.
    pub const ALL: [Quantity; 22] = [
        Quantity::Cwnd,
        Quantity::Ssthresh,
        Quantity::InFlight,
        Quantity::LatestRtt,
        Quantity::SmoothedRtt,
        Quantity::MinRtt,
        Quantity::PacingRate,
        Quantity::Sent,
        Quantity::Delivered,
        Quantity::Received,
        Quantity::Lost,
        Quantity::Marked,
        Quantity::State,
        Quantity::AppLimited,
        Quantity::LimitedBy,
        Quantity::Blocked,
        Quantity::MaxData,
        Quantity::DataSent,
        Quantity::MaxStreamData,
        Quantity::StreamDataSent,
        Quantity::LocalMaxData,
        Quantity::DataReceived,
    ];

    /// Its name, as qlog spells it where it has a name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Cwnd => "congestion_window",
            Quantity::Ssthresh => "ssthresh",
            Quantity::InFlight => "bytes_in_flight",
            Quantity::LatestRtt => "latest_rtt",
            Quantity::SmoothedRtt => "smoothed_rtt",
            Quantity::MinRtt => "min_rtt",
            Quantity::PacingRate => "pacing_rate",
            Quantity::Sent => "sent",
            Quantity::Delivered => "delivered",
            Quantity::Received => "received",
            Quantity::Lost => "lost",
            Quantity::Marked => "marked",
            Quantity::State => "state",
            Quantity::AppLimited => "app_limited",
            Quantity::LimitedBy => "limited_by",
            Quantity::Blocked => "blocked",
            Quantity::MaxData => "max_data",
            Quantity::DataSent => "data_sent",
            Quantity::MaxStreamData => "max_stream_data",
            Quantity::StreamDataSent => "stream_data_sent",
            Quantity::LocalMaxData => "local_max_data",
            Quantity::DataReceived => "data_received",
        }
    }
}
