//! Response functions as a figure.

use plotters::prelude::*;

use super::law::Law;
use super::measure::Point;
use crate::plot::{COLOURS, DrawError, INK, ink, svg as picture};

const SIZE: (u32, u32) = (760, 520);

/// Closed forms as lines, measured points as dots, open where the closed form does not
/// hold, on logarithmic axes.
///
/// # Errors
/// There is nothing to draw.
pub fn svg(curves: &[(&Law, Vec<Point>)]) -> Result<String, DrawError> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let loss = range(points().map(Point::loss));
    let window = range(points().map(|point| point.measured));
    picture(SIZE, |canvas| {
        let mut axes = ChartBuilder::on(canvas)
            .margin(6)
            .margin_right(22)
            .set_label_area_size(LabelAreaPosition::Left, 70)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(loss.clone().log_scale(), window.log_scale())?;
        axes.configure_mesh()
            .bold_line_style(INK.mix(0.25))
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(ink(12))
            .axis_desc_style(ink(12))
            .x_desc("packets lost of those sent")
            .y_desc("packets per round trip")
            .x_label_formatter(&|loss| format!("{loss:e}"))
            .y_label_formatter(&|packets| format!("{packets}"))
            .draw()?;
        for (i, (law, points)) in curves.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let line = points.iter().filter(|point| law.applies(point.loss()));
            let line = line.map(|point| (point.loss(), point.cycle.window));
            axes.draw_series(LineSeries::new(line, colour.stroke_width(1)))?
                .label(name(law))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
            axes.draw_series(points.iter().map(|point| {
                let style = if law.holds(point.loss()) { colour.filled() } else { colour.stroke_width(1) };
                Circle::new((point.loss(), point.measured), 3, style)
            }))?;
        }
        axes.configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font(ink(12))
            .border_style(TRANSPARENT)
            .draw()
    })
}

fn name(law: &Law) -> String {
    if law.flows > 1 { format!("{}, {} flows", law.controller, law.flows) } else { law.controller.to_owned() }
}

/// From half the least to twice the most.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    low / 2.0..high * 2.0
}
