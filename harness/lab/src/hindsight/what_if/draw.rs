//! Windows over time as pictures.

use plotters::prelude::*;
use textplots::{Chart, LabelBuilder, LabelFormat, Plot, Shape};

use super::WhatIf;
use crate::plot::{Broken, COLOURS, INK, ink, svg};

const SIZE: (u32, u32) = (900, 420);

/// Points of a line at most.
const POINTS: usize = 4000;

/// One window over time: a label, and points of seconds and kilobytes.
type Line = (String, Vec<(f64, f64)>);

impl WhatIf {
    /// The stack's window first, where it is told.
    fn lines(&self) -> Vec<Line> {
        let points = self.series.points();
        let step = points.len().div_ceil(POINTS).max(1);
        let line = |get: &dyn Fn(&super::Point) -> Option<u64>| {
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

    /// What the stack's own window is called.
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
    pub fn svg(&self) -> Result<String, Broken> {
        let lines = self.lines();
        let (end, top) = extent(&lines);
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
        let (end, top) = extent(&lines);
        // Two dots to a column, and room for the numbers beside them.
        let dots = (2 * width.saturating_sub(10)).clamp(32, 240) as u32;
        let mut text = String::new();
        for (label, points) in lines {
            let points: Vec<(f32, f32)> = points.into_iter().map(|(x, y)| (x as f32, y as f32)).collect();
            let shape = Shape::Lines(&points);
            let mut chart = Chart::new_with_y_range(dots, 24, 0.0, end as f32, 0.0, top as f32);
            let drawn = chart.x_label_format(LabelFormat::Value).y_label_format(LabelFormat::Value).lineplot(&shape);
            drawn.axis();
            drawn.figures();
            text.push_str(&format!("{label}: window, kB, over time, s\n{drawn}\n"));
        }
        text
    }
}

/// The last time and the largest window.
fn extent(lines: &[Line]) -> (f64, f64) {
    let points = lines.iter().flat_map(|(_, points)| points);
    points.fold((1e-3, 1.0), |(end, top), point| (f64::max(end, point.0), f64::max(top, point.1)))
}
