//! Response functions: how much a controller sends at a given rate of loss, as its
//! document's closed form has it and as the simulator measures it; and as a figure.

mod law;

use plotters::prelude::*;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

use crate::plot::{COLOURS, DrawError, INK, ink, svg as picture};

pub use law::{Cycle, LAWS, Law};

/// A point of a response function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Packets per loss: one of so many is lost.
    pub distance: u64,
    /// Mean packets per round trip as measured.
    pub measured: f64,
    /// The cycle by the closed form.
    pub cycle: Cycle,
}

impl Point {
    /// The share of packets lost, 0 to 1.
    #[must_use]
    pub fn loss(&self) -> f64 {
        1.0 / self.distance as f64
    }
}

const RTT_S: f64 = 0.1;
const PACKET_BYTES: f64 = 1200.0;
/// Share of the time series that is left out at its beginning.
const SETTLING: f64 = 1.0 / 3.0;
const SAMPLES: f64 = 600.0;

/// Runs the controller of `law` on a path without a bottleneck that loses one packet of
/// every `distance`, at equal distances as the closed forms assume, beginning at the window
/// the closed form gives and for so many of its cycles.
///
/// # Panics
/// Never: the scenario is a valid one.
#[must_use]
pub fn measure(law: &Law, distance: u64) -> Point {
    let loss = 1.0 / distance as f64;
    let cycle = (law.cycle)(loss);
    let cycles = cycles(distance);
    let duration = cycles as f64 * distance as f64 / cycle.window * RTT_S;
    let separator = if law.controller.contains(':') { ',' } else { ':' };
    let threshold = cycle.with_recovery / f64::from(law.flows);
    let controller = format!("{}{separator}ssthresh={threshold}", law.controller);
    let drops: Vec<String> = (1..=2 * cycles).map(|cycle| (cycle * distance).to_string()).collect();
    let group = if law.flows > 1 { "group = \"all\"" } else { "" };
    let text = format!(
        "duration_s = {duration}\nsample_ms = {}\npacket_bytes = {PACKET_BYTES}\noverhead_bytes = 0\n\
         [dumbbell]\nrate_mbps = 1e8\nrtt_ms = {}\ndrop_arrivals = [{}]\n\
         [[flow]]\ncontroller = \"under-test\"\ncount = {}\n{group}\n",
        1000.0 * duration / SAMPLES,
        1000.0 * RTT_S,
        drops.join(", "),
        law.flows,
    );
    let scenario = Scenario::read("response", &text, Some(&controller)).unwrap_or_else(|error| panic!("{error}"));
    let outcome = sim::run(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let rate = |series: &[f64]| {
        let settled = &series[(SETTLING * series.len() as f64) as usize..];
        settled.iter().sum::<f64>() / settled.len() as f64
    };
    let mbps: f64 = outcome.flows.iter().map(|flow| rate(&flow.series.goodput_mbps)).sum();
    let measured = mbps * 1e6 / (8.0 * PACKET_BYTES) * RTT_S;
    Point { distance, measured, cycle }
}

/// How many losses a run sees: fewer where each takes long.
fn cycles(distance: u64) -> u64 {
    (6_000_000 / distance).clamp(8, 30)
}

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
