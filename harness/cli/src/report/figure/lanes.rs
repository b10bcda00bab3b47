//! Lanes of states, losses, marks and application limits over the time axis.

use plotters::prelude::*;
use windlass_qlog_analysis::metrics::LimitedBy;
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity};

use super::{FOOT, HEAD, LANE, LEFT, RIGHT, TEXT, WIDTH, duration, legend, seconds, state_colour};
use windlass_lab::plot::{COLOURS, Canvas, DrawError, INK, ink};

/// Colours of what limits a sender, in the order of their numbers; none is a state's.
const LIMITS: [RGBColor; 4] = [COLOURS[2], COLOURS[7], COLOURS[5], COLOURS[4]];

/// How long a state held, s.
pub(super) struct Span {
    pub(super) state: usize,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// The states of a trace; spans shorter than a pixel are joined with what follows.
pub(super) fn spans(series: &ConnectionSeries) -> Vec<Span> {
    let pixel = duration(series) / f64::from(WIDTH - LEFT - RIGHT);
    let points = series.points(Quantity::State);
    let ends = points.iter().skip(1).map(|point| point.time).chain([series.span.1]);
    let mut spans: Vec<Span> = Vec::new();
    for (point, end) in points.iter().zip(ends) {
        let next = Span { state: point.value as usize, from: seconds(series, point.time), to: seconds(series, end) };
        match spans.last_mut() {
            Some(last) if last.state == next.state => last.to = next.to,
            Some(last) if next.to - last.from < pixel => {
                // The longer of the two stands for both.
                if next.to - next.from > last.to - last.from {
                    last.state = next.state;
                }
                last.to = next.to;
            }
            _ => spans.push(next),
        }
    }
    spans
}

/// The lanes: those of losses, marks and application limits always, empty ones with the word why.
pub(super) fn lanes(series: &ConnectionSeries) -> Vec<(Quantity, &'static str)> {
    let all = [
        (Quantity::State, "state"),
        (Quantity::Lost, "lost"),
        (Quantity::Marked, "CE"),
        (Quantity::AppLimited, "app-lim."),
        (Quantity::LimitedBy, "limit"),
        (Quantity::Blocked, "blocked"),
    ];
    let always = |quantity| matches!(quantity, Quantity::Lost | Quantity::Marked | Quantity::AppLimited);
    all.into_iter().filter(|lane| always(lane.0) || !series.points(lane.0).is_empty()).collect()
}

/// Height of the legend of what limits the sender, pixels; 0 without that lane.
pub(super) fn legend_height(lanes: &[(Quantity, &'static str)]) -> u32 {
    if lanes.iter().any(|lane| lane.0 == Quantity::LimitedBy) { TEXT + 4 } else { 0 }
}

/// Draws the lanes, the time axis below them, and under it the legend.
pub(super) fn draw(
    area: &Canvas<'_>,
    lanes: &[(Quantity, &'static str)],
    series: &ConnectionSeries,
    states: &[Span],
) -> Result<(), DrawError> {
    let bottom = lanes.len() as f64;
    let mut axes = ChartBuilder::on(area)
        .margin_top(HEAD / 2)
        .margin_right(RIGHT)
        .margin_bottom(HEAD / 2 + legend_height(lanes))
        .set_label_area_size(LabelAreaPosition::Left, LEFT)
        .set_label_area_size(LabelAreaPosition::Bottom, FOOT)
        .build_cartesian_2d(0.0..duration(series), bottom.max(0.01)..0.0)?;
    axes.configure_mesh()
        .disable_mesh()
        .y_labels(0)
        .x_labels(10)
        .axis_style(INK)
        .label_style(ink(TEXT - 1))
        .axis_desc_style(ink(TEXT))
        .x_desc("Time, s")
        .x_label_formatter(&|time| format!("{time}"))
        .draw()?;
    if legend_height(lanes) > 0 {
        let named = LimitedBy::ALL.iter().map(|by| (format!("limited by {}", by.name()), LIMITS[*by as usize]));
        legend(area, named, (HEAD / 2 + LANE * lanes.len() as u32 + FOOT) as i32)?;
    }
    for (i, &(quantity, label)) in lanes.iter().enumerate() {
        let top = i as f64;
        let y = HEAD as i32 / 2 + (LANE as i32) * i as i32 + 1;
        area.draw_text(label, &ink(TEXT - 1), (4, y))?;
        let never = quantity == Quantity::AppLimited && limited(series).is_empty();
        if let Some(reason) = series.status(quantity).reason().or(never.then_some("none")) {
            area.draw_text(reason, &ink(TEXT - 1), (LEFT as i32 + 4, y))?;
        }
        match quantity {
            Quantity::State => axes.draw_series(states.iter().map(|span| {
                let colour = state_colour(&series.states[span.state], span.state).mix(0.75).filled();
                Rectangle::new([(span.from, top + 0.15), (span.to, top + 0.85)], colour)
            }))?,
            Quantity::LimitedBy => axes.draw_series(limits(series).into_iter().map(|(by, from, to)| {
                let colour = LIMITS[by.min(LimitedBy::ALL.len() - 1)].mix(0.75).filled();
                Rectangle::new([(from, top + 0.15), (to, top + 0.85)], colour)
            }))?,
            Quantity::AppLimited => axes.draw_series(
                limited(series)
                    .into_iter()
                    .map(|(from, to)| Rectangle::new([(from, top + 0.15), (to, top + 0.85)], INK.filled())),
            )?,
            other => {
                let colour = if other == Quantity::Lost { COLOURS[3] } else { COLOURS[6] };
                let tick = |time: f64| PathElement::new([(time, top + 0.1), (time, top + 0.9)], colour.stroke_width(1));
                axes.draw_series(ticks(series, other).into_iter().map(tick))?
            }
        };
    }
    Ok(())
}

/// When a count grew, once a pixel at most.
pub(super) fn ticks(series: &ConnectionSeries, quantity: Quantity) -> Vec<f64> {
    let pixel = duration(series) / f64::from(WIDTH - LEFT - RIGHT);
    let mut times: Vec<f64> = Vec::new();
    for point in series.points(quantity) {
        let time = seconds(series, point.time);
        if times.last().is_none_or(|last| time - last >= pixel) {
            times.push(time);
        }
    }
    times
}

/// What limited the sender, by its number, and from when to when; spans shorter than a pixel are joined.
fn limits(series: &ConnectionSeries) -> Vec<(usize, f64, f64)> {
    let pixel = duration(series) / f64::from(WIDTH - LEFT - RIGHT);
    let points = series.points(Quantity::LimitedBy);
    let ends = points.iter().skip(1).map(|point| point.time).chain([series.span.1]);
    let mut spans: Vec<(usize, f64, f64)> = Vec::new();
    for (point, end) in points.iter().zip(ends) {
        let (by, to) = (point.value as usize, seconds(series, end));
        match spans.last_mut() {
            Some(last) if last.0 == by || to - last.2 < pixel => last.2 = to,
            _ => spans.push((by, seconds(series, point.time), to)),
        }
    }
    spans
}

/// When the sender had too little to send.
fn limited(series: &ConnectionSeries) -> Vec<(f64, f64)> {
    let points = series.points(Quantity::AppLimited);
    let ends = points.iter().skip(1).map(|point| point.time).chain([series.span.1]);
    let spans = points.iter().zip(ends).filter(|(point, _)| point.value == 1);
    spans.map(|(point, end)| (seconds(series, point.time), seconds(series, end))).collect()
}
