//! Figures as SVG, in colours that can be read on light and on dark paper.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// Text, axes and frames.
pub const INK: RGBColor = RGBColor(128, 128, 128);

/// Lines and points, one after the other.
pub const COLOURS: [RGBColor; 8] = [
    RGBColor(31, 119, 180),
    RGBColor(230, 110, 20),
    RGBColor(44, 150, 60),
    RGBColor(205, 50, 60),
    RGBColor(140, 100, 190),
    RGBColor(140, 90, 75),
    RGBColor(215, 110, 185),
    RGBColor(110, 140, 30),
];

/// Where a figure is drawn on.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Axes of numbers.
pub type Axes<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// What can go wrong while drawing into a string: nothing but what a drawing asks for.
pub type Broken = DrawingAreaErrorKind<std::io::Error>;

/// An SVG of `size` pixels with what `draw` puts on it.
///
/// # Errors
/// `draw` asked for something that cannot be drawn.
pub fn svg(size: (u32, u32), draw: impl FnOnce(&Canvas<'_>) -> Result<(), Broken>) -> Result<String, Broken> {
    let mut text = String::new();
    {
        let canvas = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&canvas)?;
        canvas.present()?;
    }
    Ok(text)
}

/// Text of `size` pixels.
#[must_use]
pub fn ink(size: u32) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size)).color(&INK)
}
