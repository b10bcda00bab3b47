//! Which lines stand in which panel.

use plotters::style::RGBColor;
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity, rate, visible};

use super::seconds;
use super::shown::{Line, SHOWN};

/// A panel: what its axis is in, and lines.
pub(super) struct Panel {
    /// Quantity shown, with unit.
    pub title: &'static str,
    /// Whether its axis begins at 0, whatever the values.
    pub zero: bool,
    /// Whether losses stand on its main line.
    pub marked: bool,
    /// Its lines, the main one last.
    pub lines: Vec<Drawing>,
}

/// A line as it is drawn.
pub(super) struct Drawing {
    /// The name the legend shows.
    pub name: &'static str,
    /// Colour of the line and its legend.
    pub colour: RGBColor,
    /// Width of the line, pixels.
    pub width: u32,
    /// Whether its points are samples, a dot each, instead of values that hold.
    pub dots: bool,
    /// Points: s since the trace began, and the value in the unit of the panel.
    pub points: Vec<(f64, f64)>,
}

/// Most bins that a rate is averaged over.
const BINS: i64 = 200;

/// The panels of a trace that have any line and a place on paper, on `columns` pixels.
pub(super) fn panels(series: &ConnectionSeries, columns: usize) -> Vec<Panel> {
    let drawn = |line: &'static Line| {
        let (quantity, label) = (line.quantity()?, line.label()?);
        let points = match &line.rate {
            Some(_) => rates(series, quantity),
            None if line.sampled() => samples(series, quantity, label.scale, columns),
            None => steps(series, quantity, label.scale, columns),
        };
        let name = line.rate.as_ref().unwrap_or(&label.label);
        let (colour, width, dots) = (line.colour(), line.width(), line.sampled());
        (!points.is_empty()).then_some(Drawing { name, colour, width, dots, points })
    };
    let all = SHOWN.panels.iter().filter(|panel| panel.paper).map(|panel| Panel {
        title: &panel.title,
        zero: panel.zero(),
        marked: panel.marked,
        lines: panel.lines.iter().filter_map(drawn).collect(),
    });
    all.filter(|panel| !panel.lines.is_empty()).collect()
}

/// A quantity of which each value is a sample.
fn samples(series: &ConnectionSeries, quantity: Quantity, scale: f64, columns: usize) -> Vec<(f64, f64)> {
    let points = visible(series.points(quantity), series.span.0..series.span.1, columns);
    points.iter().map(|point| (seconds(series, point.time), point.value as f64 * scale)).collect()
}

/// A quantity whose values hold until the next, as corners, to the end of the trace.
fn steps(series: &ConnectionSeries, quantity: Quantity, scale: f64, columns: usize) -> Vec<(f64, f64)> {
    let points = visible(series.points(quantity), series.span.0..series.span.1, columns);
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len() + 1);
    for point in &points {
        let (time, value) = (seconds(series, point.time), point.value as f64 * scale);
        corners.extend(corners.last().map(|before| (time, before.1)));
        corners.push((time, value));
    }
    corners.extend(corners.last().map(|last| (seconds(series, series.span.1), last.1)));
    corners
}

/// A count of bytes as Mbit/s, over a round trip or more.
fn rates(series: &ConnectionSeries, quantity: Quantity) -> Vec<(f64, f64)> {
    let points = series.points(quantity);
    if points.is_empty() {
        return Vec::new();
    }
    let round_trip = series.measured.measures.rtt.map_or(10.0, |rtt| rtt.min) * 1e6;
    let width = (series.span.1.saturating_sub(series.span.0) / BINS).max(round_trip as i64);
    let rates = rate(points, series.span.0..series.span.1, width);
    rates.into_iter().map(|(time, bytes)| (seconds(series, time), bytes * 8e-6)).collect()
}
