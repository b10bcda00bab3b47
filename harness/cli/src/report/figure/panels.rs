//! Which lines stand in which panel.

use plotters::style::RGBColor;
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity, rate, visible};

use super::seconds;
use windlass_lab::plot::{COLOURS, INK};

/// A panel: what its axis is in, and lines.
pub(super) struct Panel {
    /// Quantity shown, with unit.
    pub title: &'static str,
    /// Whether its axis begins at 0, whatever the values.
    pub zero: bool,
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

/// The panels of a trace that have any line, on `columns` pixels.
pub(super) fn panels(series: &ConnectionSeries, columns: usize) -> Vec<Panel> {
    let line = |name, quantity, scale: f64, colour, width| {
        let points = steps(series, quantity, scale, columns);
        Drawing { name, colour, width, dots: false, points }
    };
    let sampled = |name, quantity, scale: f64, colour| {
        let points = visible(series.points(quantity), series.span.0..series.span.1, columns);
        let points = points.iter().map(|point| (seconds(series, point.time), point.value as f64 * scale)).collect();
        Drawing { name, colour, width: 1, dots: true, points }
    };
    let rated = |name, quantity, colour, width| {
        let points = rates(series, quantity);
        Drawing { name, colour, width, dots: false, points }
    };
    let all = [
        Panel {
            title: "Window, kB",
            zero: true,
            lines: vec![
                line("ssthresh", Quantity::Ssthresh, 1e-3, INK, 1),
                line("bytes in flight", Quantity::InFlight, 1e-3, COLOURS[2], 1),
                line("congestion window", Quantity::Cwnd, 1e-3, COLOURS[0], 2),
            ],
        },
        Panel {
            title: "Round-trip time, ms",
            zero: false,
            lines: vec![
                sampled("latest", Quantity::LatestRtt, 1e-6, COLOURS[7]),
                line("smoothed", Quantity::SmoothedRtt, 1e-6, COLOURS[0], 2),
                line("minimum", Quantity::MinRtt, 1e-6, INK, 1),
            ],
        },
        Panel {
            title: "Rate, Mbit/s",
            zero: true,
            lines: vec![
                line("pacing rate", Quantity::PacingRate, 1e-6, COLOURS[4], 1),
                rated("throughput", Quantity::Sent, COLOURS[1], 1),
                rated("received goodput", Quantity::Received, COLOURS[5], 2),
                rated("goodput", Quantity::Delivered, COLOURS[2], 2),
            ],
        },
    ];
    let present = all.into_iter().map(|mut panel| {
        panel.lines.retain(|line| !line.points.is_empty());
        panel
    });
    present.filter(|panel| !panel.lines.is_empty()).collect()
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
