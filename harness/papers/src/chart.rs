//! Figures of experiments, as data that a page draws.

use super::cell::Figure;
use super::result::{BarGroup, CellResult, Chart, ChartLine};

/// The charts of `figure`; none where there is nothing to draw.
pub(super) fn charts(figure: &Figure, cells: &[CellResult]) -> Vec<Chart> {
    let chart = |title: String, x: &str, y: &str, lines: Vec<ChartLine>| {
        let drawable = lines.iter().flat_map(|line| &line.x).any(|x| *x > 0.0);
        drawable.then(|| Chart { title, x: x.to_owned(), y: y.to_owned(), lines, groups: Vec::new() })
    };
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
                chart(title, "time, s", y, curves(kind, wanted))
            };
            values.into_iter().filter_map(part).collect()
        }
        Figure::Bars { title, of, quantities, y } => {
            let groups = bars(of, quantities, cells);
            let drawable = groups.iter().flat_map(|group| &group.bars).any(|bar| bar.1 > 0.0);
            let chart = || Chart {
                title: title.to_owned(),
                x: String::new(),
                y: y.to_owned(),
                lines: Vec::new(),
                groups: groups.clone(),
            };
            drawable.then(chart).into_iter().collect()
        }
        Figure::Across { title, x, x_label, quantity, y, by } => {
            chart(title.to_owned(), x_label, y, across(cells, x, quantity, by)).into_iter().collect()
        }
    }
}

/// A group of bars for each value of the setting `of`.
fn bars(of: &str, quantities: &[&str], cells: &[CellResult]) -> Vec<BarGroup> {
    let mut groups: Vec<BarGroup> = Vec::new();
    for cell in cells {
        let name = cell.setting(of).unwrap_or_default();
        if groups.iter().any(|group| group.name == name) {
            continue;
        }
        let bar = |id: &&str| cell.mean(id).map(|mean| ((*id).to_owned(), mean.mean, mean.half_width));
        groups.push(BarGroup { name: name.to_owned(), bars: quantities.iter().filter_map(bar).collect() });
    }
    groups
}

fn curves<'a>(kind: &str, cells: impl Iterator<Item = &'a CellResult>) -> Vec<ChartLine> {
    let mut lines = Vec::new();
    for cell in cells {
        for curve in cell.curves.iter().filter(|curve| curve.kind == kind) {
            let name = if curve.of.is_empty() { cell.cell.clone() } else { format!("{}: {}", cell.cell, curve.of) };
            let points = curve.x.iter().zip(&curve.y).filter(|(x, y)| x.is_finite() && y.is_finite());
            let (x, y) = points.map(|(x, y)| (six_digits(*x), six_digits(*y))).unzip();
            lines.push(ChartLine { name, over_time: true, x, y, half_width: Vec::new() });
        }
    }
    lines
}

fn across(cells: &[CellResult], x: &str, quantity: &str, by: &str) -> Vec<ChartLine> {
    let mut lines: Vec<ChartLine> = Vec::new();
    for cell in cells {
        let (Some(at), Some(mean)) = (cell.setting(x).and_then(|x| x.parse().ok()), cell.mean(quantity)) else {
            continue;
        };
        let name = cell.setting(by).unwrap_or_default();
        let place = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            let name = name.to_owned();
            lines.push(ChartLine { name, over_time: false, x: Vec::new(), y: Vec::new(), half_width: Vec::new() });
            lines.len() - 1
        });
        lines[place].x.push(at);
        lines[place].y.push(six_digits(mean.mean));
        lines[place].half_width.push(mean.half_width.map(six_digits));
    }
    lines
}

/// `value` to six digits, as much as a picture shows.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Curve, Mean};

    fn cell(name: &str, rate: &str, mean: f64) -> CellResult {
        let settings = vec![("scheme".to_owned(), name.to_owned()), ("rate".to_owned(), rate.to_owned())];
        let mean =
            Mean { id: "goodput".to_owned(), unit: "Mbit/s".to_owned(), mean, half_width: Some(0.25), repetitions: 3 };
        let curve = Curve { kind: "cwnd".to_owned(), of: String::new(), x: vec![0.0, 0.1 + 0.2], y: vec![1.0, 2.0] };
        CellResult {
            cell: format!("{name} {rate}"),
            settings,
            scenario: String::new(),
            seeds: vec![1],
            means: vec![mean],
            curves: vec![curve],
        }
    }

    #[test]
    fn a_figure_has_a_line_for_each_scheme_and_a_chart_for_each_value() {
        let cells = [cell("a", "10", 8.0), cell("a", "20", 17.0), cell("b", "10", 9.0)];
        let figure = Figure::Across {
            title: "t",
            x: "rate",
            x_label: "rate, Mbit/s",
            quantity: "goodput",
            y: "g",
            by: "scheme",
        };
        let [chart] = &charts(&figure, &cells)[..] else { panic!("one chart") };
        let lines: Vec<_> =
            chart.lines.iter().map(|line| (line.name.as_str(), line.x.clone(), line.y.clone())).collect();
        assert_eq!(lines, [("a", vec![10.0, 20.0], vec![8.0, 17.0]), ("b", vec![10.0], vec![9.0])]);
        assert_eq!(chart.lines[0].half_width, [Some(0.25); 2]);

        let figure = Figure::Curves { title: "t", kind: "cwnd", y: "packets", each: "rate" };
        let made = charts(&figure, &cells);
        assert_eq!(made.iter().map(|chart| chart.title.as_str()).collect::<Vec<_>>(), ["t: 10", "t: 20"]);
        assert_eq!(made[0].lines[1].x, [0.0, 0.3], "six digits");

        let figure = Figure::Bars { title: "t", of: "scheme", quantities: &["goodput", "none"], y: "Mbit/s" };
        let [chart] = &charts(&figure, &cells)[..] else { panic!("one chart") };
        assert_eq!(
            chart.groups[1],
            BarGroup { name: "b".to_owned(), bars: vec![("goodput".to_owned(), 9.0, Some(0.25))] }
        );
        assert!(charts(&Figure::Curves { title: "t", kind: "queue", y: "", each: "" }, &cells).is_empty());
    }
}
