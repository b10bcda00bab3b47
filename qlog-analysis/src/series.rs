//! Time series of a connection, to be drawn: windows, delays, bytes, losses, states.
//!
//! A [`Series`] is fed the events of one connection in order. Each of its lines keeps every
//! value up to a bound; beyond it, the least and the largest of several values in a row.

mod about;
mod clocks;
mod endpoints;
mod events;
mod held;
mod lane;
mod line;
mod packets;
mod quantity;
mod requests;

pub use about::{About, LineInfo};
pub use clocks::{End, Handshake, align};
pub use endpoints::{EndpointInfo, PathInfo};
pub use events::{EventFilter, EventLog, read_events};
pub use held::{HeldEvents, LeftOut};
pub use lane::{Run, columns};
pub use line::{Line, Point, at, rate, visible};
pub use packets::{PacketInfo, PacketLog, read_packets};
pub use quantity::{LineStatus, Quantity};
pub use requests::RequestInfo;

use std::io::Read;

use endpoints::Endpoints;
use held::Events;
use lane::Lane;
use packets::Packets;
use requests::Requests;

use crate::connections::{self, Connection, Follower, MAX_NAME, connections_watched};
use crate::metrics::paths::Paths;
use crate::metrics::{FlowControlProgress, Measured, Meter, OTHER_STATE, Progress, STATES, path_name};
use crate::model::{Batch, Event, EventKind, MeasuredRtts, Metrics, Record};
use crate::read::encoding::truncated;
use crate::read::{Options, ReadError, Records, Summary};

/// Lines, lanes, requests and packets of one connection.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionSeries {
    /// The path, where it is that of one alone.
    pub path: Option<u32>,
    /// Times of its first Initial packets sent and received.
    pub handshake: Handshake,
    /// Its measures.
    pub measured: Measured,
    /// Its start and end, ns of the trace's clock.
    pub span: (i64, i64),
    /// The lines with points, in the order of [`Quantity::ALL`]: points, and how
    /// many values they stand for.
    pub lines: Vec<(Quantity, Vec<Point>, u64)>,
    /// Names of congestion states, by the index points hold.
    pub states: Vec<String>,
    /// Its HTTP/3 requests, in the order they were made.
    pub requests: Vec<RequestInfo>,
    /// Further requests, for which there was no room.
    pub requests_left_out: u64,
    /// Addresses of its two ends and their changes; none of a path alone.
    pub endpoints: Vec<EndpointInfo>,
    /// The paths that packets took; none of a path alone.
    pub used_paths: Vec<PathInfo>,
    /// Its packets, if they were asked for.
    pub packets: Option<PacketLog>,
    /// Its other events, if they were asked for; none of a path alone.
    pub events: Option<HeldEvents>,
}

impl ConnectionSeries {
    /// The points of a line; none if the quantity is not logged.
    #[must_use]
    pub fn points(&self, quantity: Quantity) -> &[Point] {
        self.lines.iter().find(|line| line.0 == quantity).map_or(&[], |line| &line.1)
    }

    /// Distinguishes lines without points: none happened, or not logged.
    #[must_use]
    pub fn status(&self, quantity: Quantity) -> LineStatus {
        let measures = &self.measured.measures;
        let counted = match quantity {
            Quantity::Lost => measures.packets_lost.is_some(),
            Quantity::Marked => measures.marks.is_some(),
            Quantity::AppLimited => measures.app_limited.is_some(),
            Quantity::Blocked => measures.blocked.is_some(),
            Quantity::LimitedBy => measures.limited.is_some(),
            _ => false,
        };
        match self.points(quantity) {
            [] if counted => LineStatus::None,
            [] => LineStatus::NotLogged,
            _ => LineStatus::Values,
        }
    }
}

/// Quantities of which one of few things holds at a time.
const LANES: [Quantity; 3] = [Quantity::State, Quantity::AppLimited, Quantity::LimitedBy];
/// Their places.
const STATE: usize = 0;
const APP_LIMITED: usize = 1;
const LIMITED_BY: usize = 2;

/// The value of a lane where the trace does not log it.
pub const UNKNOWN: i64 = -1;

/// Collects the lines of one connection.
#[derive(Clone, Debug)]
pub struct Series {
    meter: Meter,
    before: Progress,
    measured_rtts: MeasuredRtts,
    first: Option<i64>,
    last: i64,
    lines: [Line; Quantity::ALL.len()],
    /// Those of [`LANES`].
    lanes: [Lane; LANES.len()],
    /// Bytes in flight counted from packets, for traces that do not log them.
    counted_flight: Line,
    sampled_rtt: Line,
    states: Vec<String>,
    /// Metrics log whether the sender has too little to send.
    app_limited_logged: bool,
    requests: Requests,
    endpoints: Endpoints,
    packets: Option<Packets>,
    events: Option<Events>,
    handshake: Handshake,
    paths: Paths,
    /// The only path that is followed, if one is.
    only: Option<u32>,
    /// The series of each path, once there are several.
    of_paths: Vec<Series>,
}

/// Reads a file and follows every connection, with at most `most` points a line.
///
/// # Errors
/// As [`crate::read::read`].
pub fn read_series(
    input: impl Read,
    options: &Options,
    most: usize,
) -> Result<(Summary, Vec<ConnectionSeries>), ReadError> {
    read_series_watched(input, options, most, None, &mut |_| Ok(()))
}

/// As [`read_series`], and keeps at most `packets` packets of each connection with their acknowledgement or loss. Where
/// `options` keep events as they stand in the file, those of one connection without its packets are kept, too, as far as their
/// texts take `most` bytes.
///
/// # Errors
/// As [`crate::read::read`].
pub fn read_series_and_packets(
    input: impl Read,
    options: &Options,
    most: usize,
    packets: usize,
) -> Result<(Summary, Vec<ConnectionSeries>), ReadError> {
    read_series_watched(input, options, most, Some(packets), &mut |_| Ok(()))
}

/// As [`read_series`], and calls `watch` after every block of events; [`so_far`] gives the series up
/// to there. Where `packets` says so, at most so many packets of each connection are kept, too.
///
/// # Errors
/// As [`crate::read::read`], and those of `watch`.
pub fn read_series_watched(
    mut input: impl Read,
    options: &Options,
    most: usize,
    packets: Option<usize>,
    watch: &mut dyn FnMut(&connections::Progress<'_, Series>) -> Result<(), ReadError>,
) -> Result<(Summary, Vec<ConnectionSeries>), ReadError> {
    series_from(&mut input, options, most, packets, watch)
}

fn series_from(
    input: &mut dyn Read,
    options: &Options,
    most: usize,
    packets: Option<usize>,
    watch: &mut dyn FnMut(&connections::Progress<'_, Series>) -> Result<(), ReadError>,
) -> Result<(Summary, Vec<ConnectionSeries>), ReadError> {
    let new = || {
        let series = packets.map_or_else(|| Series::new(most), |packets| Series::with_packets(most, packets));
        Series { events: (options.records != Records::None).then(|| Events::new(most)), ..series }
    };
    let (summary, found) = connections_watched(input, options, new, watch)?;
    Ok((summary, found.into_iter().flat_map(Series::finish).collect()))
}

/// The series of a file that is being read, as if it ended here, without packets.
#[must_use]
pub fn so_far(progress: &connections::Progress<'_, Series>) -> Vec<ConnectionSeries> {
    let lines = |mut connection: Connection<Series>| {
        (connection.follower.packets, connection.follower.events) = (None, None);
        Series::finish(connection)
    };
    progress.connections().into_iter().flat_map(lines).collect()
}

impl Follower for Series {
    fn event(&mut self, batch: &Batch, event: &Event) {
        Series::event(self, batch, event);
    }

    fn record(&mut self, batch: &Batch, record: &Record, time: i64) {
        if let Some(events) = self.events.as_mut().filter(|_| !record.of_packet) {
            events.record(truncated(batch.name(record.name), MAX_NAME), time, &record.data);
        }
    }

    fn share_memory(&mut self, followers: usize) {
        self.meter.share_memory(followers);
        self.requests.share_memory(followers);
        self.endpoints.share_memory(followers);
        self.of_paths.iter_mut().for_each(|series| series.share_memory(followers * 2));
        if let Some(packets) = &mut self.packets {
            packets.share_memory(followers);
        }
        if let Some(events) = &mut self.events {
            events.share_memory(followers);
        }
    }
}

impl Series {
    /// Nothing followed yet; lines will have at most `most` points.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Series {
            meter: Meter::new(),
            before: Progress::default(),
            measured_rtts: MeasuredRtts::default(),
            first: None,
            last: 0,
            lines: std::array::from_fn(|_| Line::new(most)),
            lanes: std::array::from_fn(|_| Lane::new(most)),
            counted_flight: Line::new(most),
            sampled_rtt: Line::new(most),
            states: Vec::new(),
            app_limited_logged: false,
            requests: Requests::new(),
            endpoints: Endpoints::new(),
            packets: None,
            events: None,
            handshake: Handshake::default(),
            paths: Paths::default(),
            only: None,
            of_paths: Vec::new(),
        }
    }

    /// As [`Series::new`], and follows at most `packets` packets too.
    #[must_use]
    pub fn with_packets(most: usize, packets: usize) -> Self {
        Series { packets: Some(Packets::new(packets, i64::MIN..i64::MAX)), ..Series::new(most) }
    }

    /// Reads the connection's next event.
    pub fn event(&mut self, batch: &Batch, event: &Event) {
        let path = self.paths.on_event(batch, event);
        let parted = self.of_paths.len();
        if let Some(path) = path {
            self.part_paths(path);
        }
        for (index, series) in self.of_paths.iter_mut().enumerate() {
            // The meter of one that is new has taken note of the event's path already.
            if index < parted {
                series.meter.event(batch, event);
            } else {
                series.meter.measure(batch, event, path);
            }
            series.draw(batch, event, path);
        }
        self.meter.event(batch, event);
        self.draw(batch, event, path);
    }

    /// Follows each path on its own as soon as `path` is not the only one.
    fn part_paths(&mut self, path: u32) {
        let known = self.paths.known();
        if known.len() < 2 || known.len() == self.of_paths.len() {
            return;
        }
        if self.of_paths.is_empty() {
            let meter = self.meter.limited_to(known[0]);
            let only = Some(known[0]);
            let (requests, endpoints) = (Requests::new(), Endpoints::new());
            self.of_paths.push(Series {
                only,
                meter,
                packets: None,
                events: None,
                requests,
                endpoints,
                ..self.clone()
            });
            if self.paths.simultaneous() {
                // Those of several paths are no one line.
                for quantity in [Quantity::SmoothedRtt, Quantity::MinRtt] {
                    self.lines[quantity as usize].clear();
                }
            }
        }
        let meter = Meter::of_path(path, &self.paths);
        let most = self.counted_flight.most();
        self.of_paths.push(Series { only: Some(path), meter, first: self.first, ..Series::new(most) });
    }

    /// Draws what the meter has measured of an event.
    fn draw(&mut self, batch: &Batch, event: &Event, path: Option<u32>) {
        let now = event.time;
        self.first.get_or_insert(now);
        self.last = self.last.max(now);
        if self.only.is_none() {
            self.requests.event(batch, event);
            self.endpoints.event(batch, event, path);
            self.handshake.on_event(batch, event);
        }
        if let Some(packets) = &mut self.packets {
            packets.event(batch, event);
        }
        if self.meter.progress().rtt.is_some() {
            self.measured_rtts.sampled();
        }
        match event.kind {
            EventKind::MetricsUpdated(index) if self.only.is_none() || self.only == path => {
                let metrics = self.measured_rtts.of(&batch.metrics[index as usize]);
                self.metrics(now, &metrics);
            }
            EventKind::CongestionState(index) if self.only.is_none() => {
                let name = batch.name(batch.states[index as usize].new);
                // The meter's bound, so that neither the search nor what is drawn grows without one.
                let name = if self.states.len() < STATES || self.states.iter().any(|state| state == name) {
                    name
                } else {
                    OTHER_STATE
                };
                let known = self.states.iter().position(|state| state == name);
                let index = known.unwrap_or_else(|| {
                    self.states.push(name.to_owned());
                    self.states.len() - 1
                });
                self.lanes[STATE].add(now, index as i64);
                if !self.app_limited_logged
                    && let Some(limited) = self.meter.progress().app_limited
                {
                    self.lanes[APP_LIMITED].add(now, i64::from(limited));
                }
            }
            _ => {}
        }
        self.progress(now);
    }

    fn add(&mut self, quantity: Quantity, now: i64, value: u64) {
        self.lines[quantity as usize].add(now, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn metrics(&mut self, now: i64, metrics: &Metrics) {
        let time = |time: Option<i64>| time.filter(|&time| time > 0).map(|time| time as u64);
        let [cwnd, in_flight] = self.meter.in_use();
        let of_one = |rtt| time(rtt).filter(|_| !self.paths.simultaneous() || self.only.is_some());
        let logged = [
            (Quantity::Cwnd, metrics.cwnd.and(cwnd)),
            (Quantity::Ssthresh, metrics.ssthresh),
            (Quantity::InFlight, metrics.bytes_in_flight.and(in_flight)),
            (Quantity::LatestRtt, time(metrics.latest_rtt)),
            (Quantity::SmoothedRtt, of_one(metrics.smoothed_rtt)),
            (Quantity::MinRtt, of_one(metrics.min_rtt)),
            (Quantity::PacingRate, metrics.pacing_rate),
        ];
        for (quantity, value) in logged {
            if let Some(value) = value {
                self.add(quantity, now, value);
            }
        }
        if let Some(limited) = metrics.app_limited {
            if !self.app_limited_logged {
                // Metrics replace what states said of it.
                self.app_limited_logged = true;
                self.lanes[APP_LIMITED] = Lane::new(self.counted_flight.most());
            }
            self.lanes[APP_LIMITED].add(now, i64::from(limited));
        }
        // Logged values replace counted ones.
        if metrics.bytes_in_flight.is_some() {
            self.counted_flight.clear();
        }
    }

    /// Adds points of the meter's totals after the event.
    fn progress(&mut self, now: i64) {
        let progress = self.meter.progress();
        let Progress { sent, acknowledged, received, lost, marks, in_flight, rtt, blocked, .. } = progress;
        let before = self.before;
        let replaced = before.inferred && !progress.inferred && before.lost > 0;
        if replaced {
            // Logged losses replace inferred ones.
            self.lines[Quantity::Lost as usize].clear();
        }
        let counts = [
            (Quantity::Sent, sent, before.sent),
            (Quantity::Delivered, acknowledged, before.acknowledged),
            (Quantity::Received, received, before.received),
            (Quantity::Lost, lost, if replaced { 0 } else { before.lost }),
            (Quantity::Marked, marks, before.marks),
            (Quantity::Blocked, blocked, before.blocked),
        ];
        for (quantity, count, before) in counts {
            if count != before {
                self.add(quantity, now, count);
            }
        }
        if in_flight != before.in_flight && self.lines[Quantity::InFlight as usize].is_empty() {
            self.counted_flight.add(now, i64::try_from(in_flight).unwrap_or(i64::MAX));
        }
        match rtt {
            // What is logged is what acknowledgements show: those need not take room.
            _ if self.meter.rtts_agree() => self.sampled_rtt.clear(),
            Some(rtt) => self.sampled_rtt.add(now, rtt),
            None => {}
        }
        if progress.flow_control != before.flow_control {
            self.flow_control(now, &progress.flow_control, &before.flow_control);
        }
        for (since, by) in self.meter.limited().into_iter().flatten() {
            self.lanes[LIMITED_BY].add(since, by.map_or(UNKNOWN, |by| by as i64));
        }
        self.before = progress;
    }

    fn flow_control(
        &mut self,
        now: i64,
        [sent, received]: &[FlowControlProgress; 2],
        before: &[FlowControlProgress; 2],
    ) {
        let used = |used: u64| (used > 0).then_some(used);
        let lines = [
            (Quantity::MaxData, sent.limit, before[0].limit),
            (Quantity::DataSent, used(sent.used), used(before[0].used)),
            (Quantity::MaxStreamData, sent.stream_limit, before[0].stream_limit),
            (Quantity::StreamDataSent, used(sent.stream_used), used(before[0].stream_used)),
            (Quantity::LocalMaxData, received.limit, before[1].limit),
            (Quantity::DataReceived, used(received.used), used(before[1].used)),
        ];
        for (quantity, value, before) in lines {
            if let Some(value) = value.filter(|_| value != before) {
                self.add(quantity, now, value);
            }
        }
    }

    /// The series of the connection, and those of its paths where there are several.
    fn finish(mut connection: Connection<Series>) -> Vec<ConnectionSeries> {
        let (trace, group) = (connection.trace.clone(), connection.group.clone());
        let of_path = |series: Series| {
            let name = series.only.map_or_else(String::new, path_name);
            let group = format!("{group}{}{name}", if group.is_empty() { "" } else { " " });
            Series::lines(Connection { trace: trace.clone(), group, follower: series })
        };
        let paths: Vec<_> = std::mem::take(&mut connection.follower.of_paths).into_iter().map(of_path).collect();
        std::iter::once(Series::lines(connection)).chain(paths).collect()
    }

    fn lines(Connection { trace, group, mut follower }: Connection<Series>) -> ConnectionSeries {
        if let Some((since, by)) = follower.meter.limited_now() {
            follower.lanes[LIMITED_BY].add(since, by as i64);
        }
        let (path, handshake) = (follower.only, follower.handshake);
        let Series { meter, first, last, mut lines, lanes, counted_flight, sampled_rtt, states, .. } = follower;
        let (requests, packets, events) = (follower.requests, follower.packets, follower.events);
        let start = first.unwrap_or(0);
        let (endpoints, used_paths) = follower.endpoints.finish(start);
        let (requests, requests_left_out) = requests.finish(start);
        if lines[Quantity::InFlight as usize].is_empty() {
            lines[Quantity::InFlight as usize] = counted_flight;
        }
        if lines[Quantity::LatestRtt as usize].is_empty() || meter.rtts_differ() {
            lines[Quantity::LatestRtt as usize] = sampled_rtt;
        }
        let mut lines: Vec<_> = Quantity::ALL
            .into_iter()
            .zip(lines)
            .filter(|(_, line)| !line.is_empty())
            .map(|(quantity, line)| {
                let (points, values) = line.finish();
                (quantity, points, values)
            })
            .collect();
        lines.extend(LANES.into_iter().zip(lanes).filter(|(_, lane)| !lane.is_empty()).map(|(quantity, lane)| {
            let (points, values) = lane.finish();
            (quantity, points, values)
        }));
        lines.sort_by_key(|line| line.0);
        ConnectionSeries {
            path,
            handshake,
            measured: Connection { trace, group, follower: meter }.into(),
            span: (start, last),
            lines,
            states,
            requests,
            requests_left_out,
            endpoints,
            used_paths,
            packets: packets.map(Packets::finish),
            events: events.map(|events| events.finish(start)),
        }
    }
}

#[cfg(test)]
mod tests;
