//! Lanes of states, losses, marks and application limits over the time axis.

use plotters::prelude::*;
use windlass_qlog_analysis::metrics::LimitedBy;
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity, Run, columns};

use super::shown::{Lane, SHOWN};
use super::{FOOT, HEAD, LANE, LEFT, RIGHT, TEXT, WIDTH, duration, legend, seconds};
use windlass_lab::plot::{Canvas, DrawError, INK, ink};

/// What holds in a lane: its number, and from when to when, s.
pub(super) type Span = (usize, f64, f64);

/// What a lane has, pixel by pixel; nothing where the trace does not tell.
pub(super) fn spans(series: &ConnectionSeries, quantity: Quantity) -> Vec<Span> {
    let drawn = columns(series.points(quantity), series.span.0..series.span.1, (WIDTH - LEFT - RIGHT) as usize);
    let span = |run: Run| {
        let number = usize::try_from(run.value).ok()?;
        Some((number, seconds(series, run.from), seconds(series, run.to)))
    };
    drawn.into_iter().filter_map(span).collect()
}

/// The lanes: some always, empty ones with the word why.
pub(super) fn lanes(series: &ConnectionSeries) -> Vec<(Quantity, &'static Lane)> {
    let all = SHOWN.lanes.iter().filter_map(|lane| Some((lane.quantity()?, lane)));
    all.filter(|(quantity, lane)| lane.always || !series.points(*quantity).is_empty()).collect()
}

/// The lane of what limits the sender, if it is there.
fn limits(lanes: &[(Quantity, &'static Lane)]) -> Option<&'static Lane> {
    lanes.iter().find(|(quantity, _)| *quantity == Quantity::LimitedBy).map(|&(_, lane)| lane)
}

/// Height of the legend of what limits the sender, pixels; 0 without that lane.
pub(super) fn legend_height(lanes: &[(Quantity, &'static Lane)]) -> u32 {
    if limits(lanes).is_some() { TEXT + 4 } else { 0 }
}

/// Draws the lanes, the time axis below them, and under it the legend.
pub(super) fn draw(
    area: &Canvas<'_>,
    lanes: &[(Quantity, &'static Lane)],
    series: &ConnectionSeries,
    (states, colours): (&[Span], &[RGBColor]),
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
    if let Some(lane) = limits(lanes) {
        let colour = |by: LimitedBy| lane.colour_of(by as usize).unwrap_or(INK);
        let named = LimitedBy::ALL.iter().map(|by| (format!("limited by {}", by.name()), colour(*by)));
        legend(area, named, (HEAD / 2 + LANE * lanes.len() as u32 + FOOT) as i32)?;
    }
    for (i, &(quantity, lane)) in lanes.iter().enumerate() {
        let top = i as f64;
        let y = HEAD as i32 / 2 + (LANE as i32) * i as i32 + 1;
        area.draw_text(&lane.name, &ink(TEXT - 2), (4, y))?;
        let never = quantity == Quantity::AppLimited && series.points(quantity).iter().all(|point| point.value == 0);
        if let Some(reason) = series.status(quantity).reason().or(never.then_some("none")) {
            area.draw_text(reason, &ink(TEXT - 1), (LEFT as i32 + 4, y))?;
        }
        let held = |from, to, colour: RGBColor| {
            Rectangle::new([(from, top + 0.15), (to, top + 0.85)], colour.mix(0.75).filled())
        };
        match quantity {
            Quantity::State => {
                axes.draw_series(states.iter().map(|&(state, from, to)| held(from, to, colours[state])))?
            }
            Quantity::AppLimited | Quantity::LimitedBy => {
                let known = spans(series, quantity).into_iter();
                axes.draw_series(known.filter_map(|(value, from, to)| Some(held(from, to, lane.colour_of(value)?))))?
            }
            other => {
                let stroke = lane.colour().stroke_width(1);
                let tick = |time: f64| PathElement::new([(time, top + 0.1), (time, top + 0.9)], stroke);
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
