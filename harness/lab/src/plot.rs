//! Figures: SVG in colours that are legible on light and dark backgrounds, and text charts for
//! terminals.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use textplots::{Chart, LabelBuilder, LabelFormat, Plot, Shape};

/// The colour of text, axes and frames.
pub const INK: RGBColor = RGBColor(128, 128, 128);

/// The colours of lines and points, in the order they are given out.
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

/// The area a figure is drawn on.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Axes of numbers on a [`Canvas`].
pub type Axes<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Why a figure cannot be drawn: it asks for something impossible, such as an empty range.
pub type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// An SVG of `size` pixels with what `draw` puts on it.
///
/// # Errors
/// `draw` asked for something that cannot be drawn.
pub fn svg(size: (u32, u32), draw: impl FnOnce(&Canvas<'_>) -> Result<(), DrawError>) -> Result<String, DrawError> {
    let mut text = String::new();
    {
        let canvas = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&canvas)?;
        canvas.present()?;
    }
    // Names come from files; these are in no XML document, escaped or not (XML 1.0 §2.2).
    let forbidden =
        |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    Ok(if text.contains(forbidden) { text.replace(forbidden, "\u{fffd}") } else { text })
}

/// The style of text of `size` pixels.
#[must_use]
pub fn ink(size: u32) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size)).color(&INK)
}

/// `lines` as one chart of Braille characters, `columns` wide and `height` dots high, with
/// axes from 0 to `end` and from 0 to `top`. A character is two dots wide; a chart has 32 to
/// 240 dots to a line.
#[must_use]
pub fn braille(lines: &[Vec<(f32, f32)>], columns: usize, height: u32, (end, top): (f32, f32)) -> String {
    let shapes: Vec<Shape<'_>> = lines.iter().map(|line| Shape::Lines(line)).collect();
    let dots = (2 * columns).clamp(32, 240) as u32;
    let mut chart = Chart::new_with_y_range(dots, height, 0.0, end, 0.0, top);
    let mut drawn = chart.x_label_format(LabelFormat::Value).y_label_format(LabelFormat::Value);
    for shape in &shapes {
        drawn = drawn.lineplot(shape);
    }
    drawn.axis();
    drawn.figures();
    drawn.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_holds_no_character_that_xml_forbids() {
        let drawn = svg((100, 50), |canvas| canvas.draw_text("a\0b\u{1b}<c>", &ink(10), (1, 1))).unwrap();
        assert!(drawn.contains("a\u{fffd}b\u{fffd}&lt;c&gt;"), "{drawn}");
    }
}
