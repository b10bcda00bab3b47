//! A trace as a figure for paper: windows, delays, rates and lanes of events over time.

mod lanes;
mod panels;
mod shown;

use plotters::prelude::*;
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity};

use lanes::{Span, draw as draw_lanes, lanes, spans, ticks};
use panels::{Panel, panels};
use shown::{SHOWN, colour, state_colours};
use windlass_lab::plot::{Canvas, DrawError, INK, ink, svg as picture};

const WIDTH: u32 = 780;
const LEFT: u32 = 62;
const RIGHT: u32 = 14;
const HEAD: u32 = 20;
const PANEL: u32 = 132;
const LANE: u32 = 15;
const FOOT: u32 = 36;
const TEXT: u32 = 12;

/// About how wide a letter is, pixels.
const LETTER: f64 = 0.48 * TEXT as f64;

/// The figure of a connection, called `name`.
///
/// # Errors
/// The trace has nothing that could be drawn over time.
pub fn svg(name: &str, series: &ConnectionSeries) -> Result<String, DrawError> {
    let panels = panels(series, (WIDTH - LEFT - RIGHT) as usize);
    let lanes = lanes(series);
    let height = 2 * HEAD
        + panels.len() as u32 * (HEAD + PANEL)
        + lanes.len() as u32 * LANE
        + FOOT
        + lanes::legend_height(&lanes);
    let states = spans(series, Quantity::State);
    let colours = state_colours(&series.states);
    let tints = (states.as_slice(), colours.as_slice());
    picture((WIDTH, height), |canvas| {
        canvas.draw_text(name, &ink(TEXT + 1), (LEFT as i32, 4))?;
        let named = series.states.iter().zip(&colours).map(|(state, colour)| (state.replace('_', " "), *colour));
        legend(canvas, named, 5)?;
        let (_, mut rest) = canvas.split_vertically(HEAD);
        for panel in &panels {
            let (area, below) = rest.split_vertically(HEAD + PANEL);
            draw_panel(&area, panel, series, tints)?;
            rest = below;
        }
        draw_lanes(&rest, &lanes, series, tints)
    })
}

/// Seconds since the trace began.
fn seconds(series: &ConnectionSeries, time: i64) -> f64 {
    time.saturating_sub(series.span.0) as f64 / 1e9
}

/// How long the trace is, s; never nothing.
fn duration(series: &ConnectionSeries) -> f64 {
    seconds(series, series.span.1).max(1e-9)
}

/// Names and their colours in a row that ends at the right margin.
fn legend(canvas: &Canvas<'_>, entries: impl Iterator<Item = (String, RGBColor)>, y: i32) -> Result<(), DrawError> {
    let entries: Vec<_> = entries.collect();
    let wide = |name: &str| 22.0 + name.chars().count() as f64 * LETTER;
    let mut x = f64::from(WIDTH - RIGHT) - entries.iter().map(|(name, _)| wide(name)).sum::<f64>();
    for (name, colour) in entries {
        let left = x as i32;
        canvas.draw(&Rectangle::new([(left, y + 4), (left + 12, y + 8)], colour.filled()))?;
        canvas.draw_text(&name, &ink(TEXT - 1), (left + 16, y))?;
        x += wide(&name);
    }
    Ok(())
}

fn draw_panel(
    area: &Canvas<'_>,
    panel: &Panel,
    series: &ConnectionSeries,
    (states, colours): (&[Span], &[RGBColor]),
) -> Result<(), DrawError> {
    area.draw_text(panel.title, &ink(TEXT), (LEFT as i32, 3))?;
    legend(area, panel.lines.iter().map(|line| (line.name.to_owned(), line.colour)), 3)?;
    let (low, high) = range(panel);
    let mut axes = ChartBuilder::on(area)
        .margin_top(HEAD)
        .margin_right(RIGHT)
        .set_label_area_size(LabelAreaPosition::Left, LEFT)
        .build_cartesian_2d(0.0..duration(series), low..high)?;
    let tinted = states.iter().filter(|(state, ..)| series.states[*state] != SHOWN.untinted);
    axes.draw_series(
        tinted.map(|&(state, from, to)| Rectangle::new([(from, low), (to, high)], colours[state].mix(0.13).filled())),
    )?;
    axes.configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(5)
        .bold_line_style(INK.mix(0.25))
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(ink(TEXT - 1))
        .y_label_formatter(&|value| format!("{value}"))
        .draw()?;
    for line in &panel.lines {
        if line.dots {
            axes.draw_series(line.points.iter().map(|point| Circle::new(*point, 1, line.colour.filled())))?;
        } else {
            axes.draw_series(LineSeries::new(line.points.iter().copied(), line.colour.stroke_width(line.width)))?;
        }
    }
    // Losses stand on the main line of the window.
    if let Some(line) = panel.lines.last().filter(|_| panel.marked) {
        let at = |time: f64| line.points[..line.points.partition_point(|point| point.0 <= time)].last().copied();
        let marks = ticks(series, Quantity::Lost).into_iter().filter_map(|time| Some((time, at(time)?.1)));
        axes.draw_series(marks.map(|point| TriangleMarker::new(point, -3, colour("loss").filled())))?;
    }
    Ok(())
}

/// What the axis of a panel spans: all values, from 0, unless that costs most of the panel's height. Only a broken trace
/// has values below 0.
fn range(panel: &Panel) -> (f64, f64) {
    let values = || panel.lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if low < 0.0 {
        let room = 0.06 * (high - low);
        return (low - room, high + room);
    }
    if panel.zero || low <= 0.3 * high {
        return (0.0, (1.06 * high).max(1e-9));
    }
    let room = (0.08 * (high - low)).max(1e-9 * high);
    (low - room, high + room)
}

/// Whether a trace has anything to draw over time.
#[must_use]
pub fn drawable(series: &ConnectionSeries) -> bool {
    let over_time = |line: &(Quantity, Vec<_>, u64)| !matches!(line.0, Quantity::State | Quantity::AppLimited);
    series.span.1 > series.span.0 && series.lines.iter().any(over_time)
}

#[cfg(test)]
mod tests {
    use windlass_qlog_analysis::read::Options;
    use windlass_qlog_analysis::series::read_series;

    use super::panels::Drawing;
    use super::*;

    fn series(events: &str) -> ConnectionSeries {
        let header = "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\"trace\":{}}\n";
        read_series(format!("{header}{events}").as_bytes(), &Options::default(), 1000).unwrap().1.remove(0)
    }

    fn event(time: u32, name: &str, data: &str) -> String {
        format!("\x1e{{\"time\":{time},\"name\":\"quic:{name}\",\"data\":{{{data}}}}}\n")
    }

    #[test]
    fn a_figure_has_panels_lanes_units_and_a_legend() {
        let events = [
            event(0, "congestion_state_updated", r#""new":"slow_start""#),
            event(0, "recovery_metrics_updated", r#""congestion_window":12000,"latest_rtt":40,"smoothed_rtt":41"#),
            event(500, "packet_lost", r#""header":{"packet_type":"1RTT","packet_number":1}"#),
            event(500, "congestion_state_updated", r#""new":"recovery""#),
            event(1000, "recovery_metrics_updated", r#""congestion_window":6000"#),
        ];
        let series = series(&events.concat());
        assert!(drawable(&series));
        let svg = svg("the trace", &series).unwrap();
        for text in [
            "the trace",
            "Window, kB",
            "congestion window",
            "Round-trip time, ms",
            "smoothed",
            "Time, s",
            "slow start",
            "recovery",
            "lost",
            "CE",
            "not logged",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(
            !svg.contains("Rate, Mbit/s") && !svg.contains("slow start threshold"),
            "nothing that the trace does not have"
        );
    }

    #[test]
    fn a_trace_without_time_is_not_drawable() {
        assert!(!drawable(&series(&event(0, "recovery_metrics_updated", r#""congestion_window":12000"#))));
        let states = [
            event(0, "congestion_state_updated", r#""new":"a""#),
            event(9, "congestion_state_updated", r#""new":"b""#),
        ];
        assert!(!drawable(&series(&states.concat())));
    }

    #[test]
    fn every_value_lies_on_its_axis() {
        let panel = |values: &[f64]| Panel {
            title: "Round-trip time, ms",
            zero: false,
            marked: false,
            lines: vec![Drawing {
                name: "latest",
                colour: INK,
                width: 1,
                dots: true,
                points: values.iter().map(|&value| (0.0, value)).collect(),
            }],
        };
        for values in [&[40.0, 45.0][..], &[0.0], &[1.0, 90.0], &[-5.8e12], &[-1.0, 2.0]] {
            let (low, high) = range(&panel(values));
            assert!(
                low < high && values.iter().all(|value| (low..=high).contains(value)),
                "{values:?}: {low} to {high}"
            );
        }
    }
}
