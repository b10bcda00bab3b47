//! Figures of experiments.

use plotters::prelude::*;

use super::cell::Figure;
use super::quantity::Mean;
use super::result::{CellResult, RenderedFigure};
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
pub(super) fn draw(figure: &Figure, cells: &[CellResult]) -> Vec<RenderedFigure> {
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
        Figure::Bars { title, of, quantities, y } => bars(title, of, quantities, y, cells).into_iter().collect(),
        Figure::Across { title, x, x_label, quantity, y, by } => {
            picture(title.to_owned(), x_label, y, across(cells, x, quantity, by)).into_iter().collect()
        }
    }
}

/// A group of bars for each value of the setting `of`, named above it, with intervals.
fn bars(title: &str, of: &str, quantities: &[&str], y: &str, cells: &[CellResult]) -> Option<RenderedFigure> {
    let mut groups: Vec<(&str, &CellResult)> = Vec::new();
    for cell in cells {
        let value = cell.setting(of).unwrap_or_default();
        if groups.iter().all(|(other, _)| *other != value) {
            groups.push((value, cell));
        }
    }
    let all = groups.iter().flat_map(|(_, cell)| quantities.iter().filter_map(|id| cell.mean(id)));
    let top = all.map(|mean| mean.mean + mean.half_width.unwrap_or(0.0)).fold(0.0, f64::max);
    if top <= 0.0 {
        return None;
    }
    let width = 0.8 / quantities.len().max(1) as f64;
    let text = svg(SIZE, |canvas| {
        let mut axes = ChartBuilder::on(canvas)
            .margin(6)
            .margin_right(22)
            .set_label_area_size(LabelAreaPosition::Left, 66)
            .set_label_area_size(LabelAreaPosition::Bottom, 16)
            .build_cartesian_2d(0.0..groups.len() as f64, 0.0..1.2 * top)?;
        axes.configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .bold_line_style(INK.mix(0.25))
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(ink(12))
            .axis_desc_style(ink(12))
            .y_desc(y)
            .y_label_formatter(&|value| format!("{}", (value * 1e6).round() / 1e6))
            .draw()?;
        for (j, id) in quantities.iter().enumerate() {
            let colour = COLOURS[j % COLOURS.len()];
            let found = groups.iter().enumerate().filter_map(|(i, (_, cell))| {
                let left = i as f64 + 0.1 + j as f64 * width;
                cell.mean(id).map(|mean| (left, mean))
            });
            let found: Vec<_> = found.collect();
            let bar = |(left, mean): &(f64, &Mean)| {
                Rectangle::new([(*left, 0.0), (left + 0.9 * width, mean.mean)], colour.filled())
            };
            axes.draw_series(found.iter().map(bar))?
                .label(*id)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(4)));
            let interval = |(left, mean): &(f64, &Mean)| {
                let middle = left + 0.45 * width;
                let half = mean.half_width?;
                Some(PathElement::new([(middle, mean.mean - half), (middle, mean.mean + half)], INK))
            };
            axes.draw_series(found.iter().filter_map(interval))?;
        }
        let names = groups.iter().enumerate();
        axes.draw_series(
            names.map(|(i, (name, _))| Text::new((*name).to_owned(), (i as f64 + 0.1, 1.08 * top), ink(12))),
        )?;
        axes.configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font(ink(11))
            .border_style(TRANSPARENT)
            .draw()
    });
    text.ok().map(|svg| RenderedFigure { title: title.to_owned(), svg })
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

/// Where a legend hides least of `lines`, drawn from 0 to `right` and from `low` to `high`.
fn roomiest(lines: &[Line], right: f64, (low, high): (f64, f64)) -> SeriesLabelPosition {
    use SeriesLabelPosition::{LowerLeft, LowerMiddle, LowerRight, UpperLeft, UpperMiddle, UpperRight};
    // Shares of the plot, which a letter and a line of text take about so much of.
    let letters = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let wide = (0.08 + 0.009 * letters as f64).min(0.95);
    let tall = (0.03 + 0.045 * lines.len() as f64).min(0.95);
    let hidden = |left: f64, bottom: f64| {
        let inside = |(x, y): (f64, f64)| {
            let (x, y) = (x / right, (y - low) / (high - low));
            (left..=left + wide).contains(&x) && (bottom..=bottom + tall).contains(&y)
        };
        let between = |ends: &[(f64, f64)]| {
            let (from, to) = (ends[0], ends[1]);
            (0..=10)
                .map(|i| f64::from(i) / 10.0)
                .any(|part| inside((from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))))
        };
        lines.iter().map(|line| line.points.windows(2).filter(|ends| between(ends)).count()).sum::<usize>()
    };
    let (middle, end, up) = (0.5 - wide / 2.0, 1.0 - wide, 1.0 - tall);
    let places = [
        (LowerRight, end, 0.0),
        (UpperRight, end, up),
        (UpperLeft, 0.0, up),
        (LowerLeft, 0.0, 0.0),
        (UpperMiddle, middle, up),
        (LowerMiddle, middle, 0.0),
    ];
    let found = places.into_iter().min_by_key(|(_, left, bottom)| hidden(*left, *bottom));
    found.map_or(LowerRight, |(place, ..)| place)
}

fn picture(title: String, x: &str, y: &str, lines: Vec<Line>) -> Option<RenderedFigure> {
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    let (right, top) = points().fold((0.0f64, 0.0f64), |(right, top), (x, y)| (right.max(x), top.max(y)));
    let bottom = points().fold(0.0f64, |low, (_, y)| low.min(y));
    if right <= 0.0 {
        return None;
    }
    let span = (top - bottom).max(1e-9);
    let (low, high) = (bottom - 0.04 * span.min(-bottom * 25.0), top + 0.08 * span);
    let text = svg(SIZE, |canvas| {
        let mut axes = ChartBuilder::on(canvas)
            .margin(6)
            .margin_right(22)
            .set_label_area_size(LabelAreaPosition::Left, 66)
            .set_label_area_size(LabelAreaPosition::Bottom, 38)
            .build_cartesian_2d(0.0..right, low..high)?;
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
            .position(roomiest(&lines, right, (low, high)))
            .label_font(ink(11))
            .border_style(TRANSPARENT)
            .draw()
    });
    // Drawing into memory fails only where an axis has no extent, which is seen to above.
    text.ok().map(|svg| RenderedFigure { title, svg })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_goes_where_it_hides_nothing() {
        let line = |points: &[(f64, f64)]| Line {
            name: "a line".to_owned(),
            points: points.to_vec(),
            bars: Vec::new(),
            dots: false,
        };
        let along = |y: f64| (0..=100).map(|x| (f64::from(x), y)).collect::<Vec<_>>();
        let place = |lines: &[Line]| roomiest(lines, 100.0, (0.0, 10.0));
        assert!(matches!(place(&[line(&along(9.5))]), SeriesLabelPosition::LowerRight));
        assert!(matches!(place(&[line(&along(0.2))]), SeriesLabelPosition::UpperRight));
        // Two points far apart are a line too.
        let falling = [line(&along(0.2)), line(&[(60.0, 9.8), (100.0, 9.8)])];
        assert!(matches!(place(&falling), SeriesLabelPosition::UpperLeft));
    }
}
