//! Figures of experiments.

use plotters::prelude::*;

use super::cell::Figure;
use super::result::{CellResult, Drawn};
use crate::plot::{COLOURS, INK, ink, svg};

const SIZE: (u32, u32) = (760, 380);

/// A line of a figure, with half-widths of intervals where there are any.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    bars: Vec<(f64, f64, f64)>,
    /// Whether its points are few enough to be seen.
    dots: bool,
}

/// The pictures of `figure`; none where there is nothing to draw.
pub(super) fn draw(figure: &Figure, cells: &[CellResult]) -> Vec<Drawn> {
    match *figure {
        Figure::Curves { title, kind, y, each } => {
            let of = |cell: &CellResult| {
                let values = each.split_whitespace().filter_map(|name| cell.setting(name));
                values.collect::<Vec<_>>().join(" ")
            };
            let mut values: Vec<String> = Vec::new();
            for value in cells.iter().map(of) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            let part = |value: String| {
                let wanted = cells.iter().filter(|cell| of(cell) == value);
                let title = if value.is_empty() { title.to_owned() } else { format!("{title}: {value}") };
                picture(title, "time, s", y, curves(kind, wanted))
            };
            values.into_iter().filter_map(part).collect()
        }
        Figure::Across { title, x, x_label, quantity, y, by } => {
            picture(title.to_owned(), x_label, y, across(cells, x, quantity, by)).into_iter().collect()
        }
    }
}

fn curves<'a>(kind: &str, cells: impl Iterator<Item = &'a CellResult>) -> Vec<Line> {
    let mut lines = Vec::new();
    for cell in cells {
        for curve in cell.curves.iter().filter(|curve| curve.kind == kind) {
            let name = if curve.of.is_empty() { cell.cell.clone() } else { format!("{}: {}", cell.cell, curve.of) };
            let points = curve.x.iter().copied().zip(curve.y.iter().copied()).collect();
            lines.push(Line { name, points, bars: Vec::new(), dots: false });
        }
    }
    lines
}

fn across(cells: &[CellResult], x: &str, quantity: &str, by: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for cell in cells {
        let (Some(at), Some(mean)) = (cell.setting(x).and_then(|x| x.parse().ok()), cell.mean(quantity)) else {
            continue;
        };
        let name = cell.setting(by).unwrap_or_default();
        let place = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            lines.push(Line { name: name.to_owned(), points: Vec::new(), bars: Vec::new(), dots: true });
            lines.len() - 1
        });
        lines[place].points.push((at, mean.mean));
        lines[place].bars.extend(mean.half_width.map(|half| (at, mean.mean - half, mean.mean + half)));
    }
    lines
}

fn picture(title: String, x: &str, y: &str, lines: Vec<Line>) -> Option<Drawn> {
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    let (right, top) = points().fold((0.0f64, 0.0f64), |(right, top), (x, y)| (right.max(x), top.max(y)));
    let bottom = points().fold(0.0f64, |low, (_, y)| low.min(y));
    if right <= 0.0 {
        return None;
    }
    let span = (top - bottom).max(1e-9);
    let text = svg(SIZE, |canvas| {
        let mut axes = ChartBuilder::on(canvas)
            .margin(6)
            .margin_right(22)
            .set_label_area_size(LabelAreaPosition::Left, 66)
            .set_label_area_size(LabelAreaPosition::Bottom, 38)
            .build_cartesian_2d(0.0..right, bottom - 0.04 * span.min(-bottom * 25.0)..top + 0.08 * span)?;
        axes.configure_mesh()
            .disable_x_mesh()
            .bold_line_style(INK.mix(0.25))
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(ink(12))
            .axis_desc_style(ink(12))
            .x_desc(x)
            .y_desc(y)
            .x_label_formatter(&|value| format!("{value}"))
            .y_label_formatter(&|value| format!("{}", (value * 1e6).round() / 1e6))
            .draw()?;
        for (i, line) in lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            axes.draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(1)))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
            let dots = line.points.iter().filter(|_| line.dots);
            axes.draw_series(dots.map(|point| Circle::new(*point, 3, colour.filled())))?;
            axes.draw_series(
                line.bars.iter().map(|(x, low, high)| PathElement::new([(*x, *low), (*x, *high)], colour)),
            )?;
        }
        axes.configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .label_font(ink(11))
            .border_style(TRANSPARENT)
            .draw()
    });
    // Drawing into memory fails only where an axis has no extent, which is seen to above.
    text.ok().map(|svg| Drawn { title, svg })
}
