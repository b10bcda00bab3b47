//! [Golden traces](windlass_simulator::golden) as pictures, in a file or in a terminal.

use std::ops::Range;

use plotters::prelude::*;

use crate::plot::{Axes, COLOURS, Canvas, DrawError, INK, braille, ink, svg};
use windlass_simulator::golden::Trace;
use windlass_simulator::scenario::Scenario;

const SIZE: (u32, u32) = (760, 420);
/// Height of the part with the windows, pixels; the queue gets the rest.
const WINDOWS: u32 = 280;

/// A trace with what its picture shows of the scenario.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    trace: &'a Trace,
    /// Size of a packet, bytes.
    packet: f64,
    /// The time in which other traffic competes, s; `None` without any.
    competition: Option<Range<f64>>,
}

impl<'a> Picture<'a> {
    /// The picture of `trace`, which was recorded on `scenario`.
    #[must_use]
    pub fn new(trace: &'a Trace, scenario: &Scenario) -> Picture<'a> {
        let flows = scenario.flows.iter().map(|flow| (flow.start.0, flow.stop.0));
        let traffic = scenario.topology.traffic.iter().map(|traffic| (traffic.start.0, traffic.stop.0));
        let seconds = |ns: u64| ns as f64 / 1e9;
        let competition = flows
            .chain(traffic)
            .find(|(_, stop)| *stop < scenario.duration.0)
            .map(|(start, stop)| seconds(start)..seconds(stop));
        let packet = scenario.flows.first().map_or(1.0, |flow| f64::from(flow.packet_bytes));
        Picture { trace, packet, competition }
    }

    fn packets(&self, bytes: &[Option<u64>]) -> Vec<(f64, f64)> {
        let point = |(time, bytes): (&u64, &Option<u64>)| Some((*time as f64 / 1e3, (*bytes)? as f64 / self.packet));
        self.trace.time_ms.iter().zip(bytes).filter_map(point).collect()
    }

    fn queue(&self) -> Vec<(f64, f64)> {
        self.trace.time_ms.iter().zip(&self.trace.queue).map(|(t, q)| (*t as f64 / 1e3, *q as f64)).collect()
    }

    fn end(&self) -> f64 {
        self.trace.time_ms.last().map_or(1.0, |time| *time as f64 / 1e3)
    }

    /// An SVG: windows and thresholds above, the queue below, the time with
    /// competing traffic shaded.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn svg(&self) -> Result<String, DrawError> {
        svg(SIZE, |canvas| {
            let (above, below) = canvas.split_vertically(WINDOWS);
            self.draw_windows(&above)?;
            self.draw_queue(&below)
        })
    }

    fn draw_windows(&self, canvas: &Canvas<'_>) -> Result<(), DrawError> {
        let flows = &self.trace.flows;
        let windows: Vec<_> = flows.iter().map(|flow| self.packets(&flow.cwnd)).collect();
        let top = 1.08 * highest(windows.iter().flatten());
        let mut axes = self.axes(canvas, top, "packets", "")?;
        for (i, (flow, window)) in flows.iter().zip(windows).enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let label = if flows.len() == 1 { "cwnd".to_owned() } else { format!("cwnd of {}", flow.name) };
            let threshold = self.packets(&flow.ssthresh).into_iter().filter(|(_, packets)| *packets <= top);
            axes.draw_series(threshold.map(|point| Circle::new(point, 1, colour.mix(0.45).filled())))?;
            axes.draw_series(LineSeries::new(window, colour.stroke_width(2)))?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        axes.draw_series([Circle::new((-1.0, -1.0), 1, INK)])?
            .label("ssthresh")
            .legend(|(x, y)| Circle::new((x + 8, y), 1, INK.filled()));
        axes.configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font(ink(12))
            .border_style(TRANSPARENT)
            .draw()
    }

    fn draw_queue(&self, canvas: &Canvas<'_>) -> Result<(), DrawError> {
        let queue = self.queue();
        let mut axes = self.axes(canvas, 1.08 * highest(&queue), "queue", "s")?;
        axes.draw_series(LineSeries::new(queue, INK.stroke_width(1)))?;
        Ok(())
    }

    fn axes<'c, 'd>(&self, canvas: &'c Canvas<'d>, top: f64, y: &str, x: &str) -> Result<Axes<'c, 'd>, DrawError> {
        let mut axes = ChartBuilder::on(canvas)
            .margin(6)
            .margin_right(22)
            .set_label_area_size(LabelAreaPosition::Left, 62)
            .set_label_area_size(LabelAreaPosition::Bottom, if x.is_empty() { 20 } else { 36 })
            .build_cartesian_2d(0.0..self.end(), 0.0..top)?;
        axes.configure_mesh()
            .disable_mesh()
            .axis_style(INK)
            .label_style(ink(12))
            .axis_desc_style(ink(12))
            .y_desc(y)
            .x_desc(x)
            .x_label_formatter(&|seconds| format!("{seconds}"))
            .y_label_formatter(&|packets| format!("{packets}"))
            .y_labels(5)
            .draw()?;
        if let Some(competition) = &self.competition {
            let corners = [(competition.start, 0.0), (competition.end, top)];
            axes.draw_series([Rectangle::new(corners, INK.mix(0.15).filled())])?;
        }
        Ok(axes)
    }

    /// Braille for a terminal `width` columns wide.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let flows = &self.trace.flows;
        let windows: Vec<_> = flows.iter().map(|flow| points(self.packets(&flow.cwnd))).collect();
        let mut text = String::from("Congestion window, packets, over time, s\n");
        text.push_str(&self.chart(&windows, width, 48));
        text.push_str("Packets waiting in the queue\n");
        text.push_str(&self.chart(&[points(self.queue())], width, 20));
        text
    }

    /// A chart that is `height` dots high, in a terminal `width` columns wide.
    fn chart(&self, lines: &[Vec<(f32, f32)>], width: usize, height: u32) -> String {
        let top = lines.iter().flatten().fold(1.0f32, |top, point| top.max(point.1));
        // Room for the numbers beside the chart.
        braille(lines, width.saturating_sub(8), height, (self.end() as f32, top))
    }
}

fn points(line: Vec<(f64, f64)>) -> Vec<(f32, f32)> {
    line.into_iter().map(|(x, y)| (x as f32, y as f32)).collect()
}

fn highest<'a>(points: impl IntoIterator<Item = &'a (f64, f64)>) -> f64 {
    points.into_iter().fold(1.0, |top, point| top.max(point.1))
}
