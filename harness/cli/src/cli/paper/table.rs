//! An experiment's result as text.

use std::fmt::Write;

use super::super::text::{Align, aligned};
use windlass_papers::{ExperimentResult, Mean, Scale};

/// Tables of what an experiment came to.
pub(super) fn text(result: &ExperimentResult) -> String {
    let mut text = format!("{} {} ({})\n", result.id, result.title, result.spec);
    if result.scale == Scale::Quick {
        text.push_str("QUICK: a tenth of the document's times; not to be compared with it\n");
    }
    let mut ids: Vec<(&str, &str)> = Vec::new();
    for mean in result.cells.iter().flat_map(|cell| &cell.means) {
        if !ids.iter().any(|(id, _)| *id == mean.id) {
            ids.push((&mean.id, &mean.unit));
        }
    }
    let names: Vec<String> = ids.iter().map(|(id, unit)| named(id, unit)).collect();
    let mut heads = vec![("cell", Align::Left)];
    heads.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let row = |cell: &windlass_papers::CellResult| {
        let numbers = ids.iter().map(|(id, _)| cell.mean(id).map_or_else(|| "–".to_owned(), number));
        [cell.cell.clone()].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = result.cells.iter().map(row).collect();
    lines(&mut text, &aligned(&heads, &rows));
    if !result.derived.is_empty() {
        let heads = [("follows", Align::Left), ("of", Align::Left), ("", Align::Right)];
        let rows: Vec<Vec<String>> =
            result.derived.iter().map(|d| vec![named(&d.id, &d.unit), d.of.clone(), digits(d.value)]).collect();
        lines(&mut text, &aligned(&heads, &rows));
    }
    if !result.comparisons.is_empty() {
        let heads = [
            ("compared", Align::Left),
            ("quantity", Align::Left),
            ("published", Align::Right),
            ("ours", Align::Right),
            ("", Align::Left),
            ("source", Align::Left),
        ];
        let rows: Vec<Vec<String>> = result
            .comparisons
            .iter()
            .map(|c| {
                let half = c.half_width.map_or_else(String::new, |half| format!(" ± {}", digits(half)));
                let ours = digits(c.ours) + &half;
                let outcome = match c.holds {
                    Some(true) => format!("{}: holds", c.rule),
                    Some(false) => format!("{}: BROKEN", c.rule),
                    None => String::new(),
                };
                vec![c.cell.clone(), named(&c.quantity, &c.unit), digits(c.published), ours, outcome, c.source.clone()]
            })
            .collect();
        lines(&mut text, &aligned(&heads, &rows));
    }
    for answer in &result.claims {
        let holds = match answer.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "not known",
        };
        let margin = answer.margin.map_or_else(String::new, |margin| format!(", margin {:+.0} %", 100.0 * margin));
        let _ = writeln!(text, "  {holds}{margin}: {} ({})", answer.text, answer.evidence);
    }
    for (cell, reason) in &result.skipped {
        let _ = writeln!(text, "  not on {}: {cell}: {reason}", result.stack);
    }
    text
}

pub(super) fn named(id: &str, unit: &str) -> String {
    if unit.is_empty() { id.to_owned() } else { format!("{id}, {unit}") }
}

/// A mean with its interval.
pub(super) fn number(mean: &Mean) -> String {
    let half = mean.half_width.map_or_else(String::new, |half| format!(" ± {}", digits(half)));
    digits(mean.mean) + &half
}

/// `value` with four significant digits.
pub(super) fn digits(value: f64) -> String {
    let before = if value == 0.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    let decimals = (4 - before).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

fn lines(text: &mut String, lines: &[String]) {
    text.push('\n');
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_matter() {
        assert_eq!(["0", "0.0123", "12345.6"].map(|text| digits(text.parse().unwrap())), ["0.000", "0.01230", "12346"]);
        assert_eq!(digits(-99.95), "-99.95");
    }
}
