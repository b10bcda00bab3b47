//! Lanes of states, losses, marks and application limits over the time axis.

use plotters::prelude::*;
use windlass_qlog_analysis::metrics::LimitedBy;
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity, Run, columns};

use super::{FOOT, HEAD, LANE, LEFT, RIGHT, TEXT, WIDTH, duration, legend, seconds, state_colour};
use windlass_lab::plot::{COLOURS, Canvas, DrawError, INK, ink};

/// Colours of what limits a sender, in the order of their numbers; none is a state's.
const LIMITS: [RGBColor; 4] = [COLOURS[2], COLOURS[7], COLOURS[5], COLOURS[4]];

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
        let never = quantity == Quantity::AppLimited && series.points(quantity).iter().all(|point| point.value == 0);
        if let Some(reason) = series.status(quantity).reason().or(never.then_some("none")) {
            area.draw_text(reason, &ink(TEXT - 1), (LEFT as i32 + 4, y))?;
        }
        match quantity {
            Quantity::State => axes.draw_series(states.iter().map(|&(state, from, to)| {
                let colour = state_colour(&series.states[state], state).mix(0.75).filled();
                Rectangle::new([(from, top + 0.15), (to, top + 0.85)], colour)
            }))?,
            Quantity::LimitedBy => axes.draw_series(spans(series, quantity).into_iter().map(|(by, from, to)| {
                let colour = LIMITS[by.min(LimitedBy::ALL.len() - 1)].mix(0.75).filled();
                Rectangle::new([(from, top + 0.15), (to, top + 0.85)], colour)
            }))?,
            Quantity::AppLimited => {
                let limited = spans(series, quantity).into_iter().filter(|span| span.0 == 1);
                let span = |(_, from, to)| Rectangle::new([(from, top + 0.15), (to, top + 0.85)], INK.filled());
                axes.draw_series(limited.map(span))?
            }
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
