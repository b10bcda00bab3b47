//! Controllers of the user's choice on a trace, beside the window of the stack that wrote it:
//! statistics, the windows over time, and pictures of them.

use std::io::Read;

use plotters::prelude::*;
use serde::Serialize;
use windlass_adapter::{NamedController, require};
use windlass_controllers::Time;
use windlass_qlog_analysis::escape;

use super::event::{StackMetrics, TraceEvent};
use super::rebuild::LossSource;
use super::rerun::Rerun;
use super::select::{Connection, ReplayError};
use super::series::{Point, Series};
use crate::plot::{COLOURS, DrawError, INK, braille, ink, svg};

/// Statistics of a congestion window over time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WindowStatistics {
    /// The controller; of the stack's own, its name, empty where the trace does not have it.
    pub controller: String,
    /// Mean of the window over time, bytes.
    pub mean_bytes: f64,
    /// Smallest window, bytes.
    pub min_bytes: u64,
    /// Largest window, bytes.
    pub max_bytes: u64,
    /// At the end of the trace, bytes.
    pub last_bytes: u64,
    /// How often it became smaller.
    pub reductions: u64,
    #[serde(skip)]
    seconds: f64,
    #[serde(skip)]
    sum: f64,
}

impl WindowStatistics {
    fn new(controller: &str) -> WindowStatistics {
        WindowStatistics { controller: controller.to_owned(), ..WindowStatistics::default() }
    }

    /// Adds `seconds` during which the window was `cwnd` bytes.
    fn add(&mut self, seconds: f64, cwnd: u64) {
        let known = self.max_bytes > 0;
        self.reductions += u64::from(known && cwnd < self.last_bytes);
        self.min_bytes = if known { self.min_bytes.min(cwnd) } else { cwnd };
        self.max_bytes = self.max_bytes.max(cwnd);
        self.last_bytes = cwnd;
        self.seconds += seconds;
        self.sum += seconds * cwnd as f64;
        self.mean_bytes = if self.seconds > 0.0 { self.sum / self.seconds } else { cwnd as f64 };
    }
}

/// What [`replay_controllers`] finds.
#[derive(Clone, Debug)]
pub struct ControllerReplay {
    /// The connection that was replayed.
    pub connection: Connection,
    /// How it was known which packets were lost.
    pub losses_from: LossSource,
    /// The stack's window; `None` where the trace does not log it.
    pub stack: Option<WindowStatistics>,
    /// The windows of the controllers, in the order they were given in.
    pub controllers: Vec<WindowStatistics>,
    /// All of them over time.
    pub series: Series,
}

struct Running {
    stack: WindowStatistics,
    logged: StackMetrics,
    flows: Vec<(Rerun, WindowStatistics)>,
    latest: Option<Time>,
    /// The latest frame while its window may still be logged: time, bytes in flight, packets
    /// lost.
    pending: Option<(Time, u64, u32)>,
    series: Series,
}

impl Running {
    fn on_event(&mut self, event: &TraceEvent<'_>) {
        if self.pending.is_some_and(|(at, ..)| at < event.now()) {
            self.add_point();
        }
        if let TraceEvent::Metrics(_, metrics) = event {
            self.logged = self.logged.updated_by(*metrics);
        }
        if let TraceEvent::Frame(frame) = event {
            let seconds = self.latest.map_or(0.0, |latest| frame.now.since(latest).secs());
            self.latest = Some(frame.now);
            if let Some(cwnd) = self.logged.cwnd {
                self.stack.add(seconds, cwnd);
            }
            for (flow, tally) in &mut self.flows {
                tally.add(seconds, flow.cwnd());
            }
        }
        for (flow, _) in &mut self.flows {
            flow.on_trace_event(event);
        }
        if let TraceEvent::Frame(frame) = event {
            if self.pending.is_some() {
                self.add_point();
            }
            self.pending = Some((frame.now, frame.in_flight, frame.lost.map_or(0, |lost| lost.packets)));
        }
    }

    /// Adds what holds since the latest frame to the series.
    fn add_point(&mut self) {
        let Some((at, in_flight, lost)) = self.pending.take() else { return };
        let (flows, stack) = (&self.flows, self.logged.cwnd);
        let cwnd = || flows.iter().map(|(flow, _)| flow.cwnd()).collect();
        self.series.add(at, lost, || Point { time_s: 0.0, stack, cwnd: cwnd(), in_flight, lost: 0 });
    }
}

/// Runs `controllers`, each with the name the user gave it, on the connection called `asked`, or
/// without a name on the one that sends most. `open` is called twice or more and opens the trace. With
/// `estimates`, controllers that need one-way delays or queueing times run on guesses of them.
///
/// # Errors
/// The trace cannot be read, has no such connection, or lacks what events are made of or
/// what a controller needs.
pub fn replay_controllers<R: Read>(
    open: &dyn Fn() -> Result<R, ReplayError>,
    asked: Option<&str>,
    controllers: &[(String, NamedController)],
    estimates: bool,
) -> Result<ControllerReplay, ReplayError> {
    let connection = Connection::choose(open, asked)?;
    let stack = connection.contents.provides(estimates);
    let path = connection.path();
    let mut flows = Vec::new();
    for (name, algorithm) in controllers {
        require(algorithm, name, stack.name, stack.provides)?;
        flows.push((Rerun::new(*algorithm, &path), WindowStatistics::new(name)));
    }
    let own = WindowStatistics::new(&connection.trace.controller);
    let logged = StackMetrics::default();
    let mut running = Running { stack: own, logged, flows, latest: None, pending: None, series: Series::default() };
    let losses_from = connection.for_each_event(open()?, &mut |event| running.on_event(event))?;
    running.add_point();
    let Running { stack, flows, series, .. } = running;
    Ok(ControllerReplay {
        stack: (connection.contents.windows > 0).then_some(stack),
        connection,
        losses_from,
        controllers: flows.into_iter().map(|(_, tally)| tally).collect(),
        series,
    })
}

const SIZE: (u32, u32) = (900, 420);

/// Points of a line at most.
const POINTS: usize = 4000;

/// One window over time: a label, and points of seconds and kilobytes.
type Line = (String, Vec<(f64, f64)>);

impl ControllerReplay {
    /// All windows as lines, the stack's first where the trace logs it.
    fn lines(&self) -> Vec<Line> {
        let points = self.series.points();
        let step = points.len().div_ceil(POINTS).max(1);
        let line = |get: &dyn Fn(&Point) -> Option<u64>| {
            let kept = points.iter().enumerate().filter(|(index, point)| index % step == 0 || point.lost > 0);
            kept.filter_map(|(_, point)| Some((point.time_s, get(point)? as f64 / 1e3))).collect()
        };
        let mut lines: Vec<Line> = Vec::new();
        if self.stack.is_some() {
            lines.push((self.stack_label(), line(&|point| point.stack)));
        }
        for (index, controller) in self.controllers.iter().enumerate() {
            lines.push((controller.controller.clone(), line(&|point| point.cwnd.get(index).copied())));
        }
        lines
    }

    /// The label of the stack's own window.
    #[must_use]
    pub fn stack_label(&self) -> String {
        match self.connection.trace.controller.as_str() {
            "" => "the stack".to_owned(),
            controller => format!("the stack ({controller})"),
        }
    }

    /// An SVG of all windows over time, losses marked at the bottom.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn svg(&self) -> Result<String, DrawError> {
        let lines = self.lines();
        let (end, top) = bounds(&lines);
        svg(SIZE, |canvas| {
            let mut axes = ChartBuilder::on(canvas)
                .margin(8)
                .margin_right(22)
                .set_label_area_size(LabelAreaPosition::Left, 66)
                .set_label_area_size(LabelAreaPosition::Bottom, 38)
                .caption("What controllers would have decided; the network does not react", ink(13))
                .build_cartesian_2d(0.0..end, 0.0..1.08 * top)?;
            axes.configure_mesh()
                .disable_mesh()
                .axis_style(INK)
                .label_style(ink(12))
                .axis_desc_style(ink(12))
                .y_desc("window, kB")
                .x_desc("s")
                .draw()?;
            for (index, (label, points)) in lines.into_iter().enumerate() {
                let (colour, width) = if self.stack.is_some() && index == 0 {
                    (INK, 3)
                } else {
                    (COLOURS[(index - usize::from(self.stack.is_some())) % COLOURS.len()], 2)
                };
                axes.draw_series(LineSeries::new(points, colour.stroke_width(width)))?
                    .label(label)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(width)));
            }
            let lost = self.series.points().iter().filter(|point| point.lost > 0);
            axes.draw_series(lost.map(|point| Circle::new((point.time_s, 0.0), 2, RED.filled())))?
                .label("losses")
                .legend(|(x, y)| Circle::new((x + 8, y), 2, RED.filled()));
            axes.configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .label_font(ink(12))
                .border_style(TRANSPARENT)
                .draw()
        })
    }

    /// Braille for a terminal `width` columns wide: a chart a window, all to one scale.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let lines = self.lines();
        let (end, top) = bounds(&lines);
        let mut text = String::new();
        for (label, points) in lines {
            let points: Vec<(f32, f32)> = points.into_iter().map(|(x, y)| (x as f32, y as f32)).collect();
            let drawn = braille(&[points], width.saturating_sub(10), 24, (end as f32, top as f32));
            text.push_str(&format!("{}: window, kB, over time, s\n{drawn}\n", escape::line(&label)));
        }
        text
    }
}

/// The last time and the largest window.
fn bounds(lines: &[Line]) -> (f64, f64) {
    let points = lines.iter().flat_map(|(_, points)| points);
    points.fold((1e-3, 1.0), |(end, top), point| (f64::max(end, point.0), f64::max(top, point.1)))
}
