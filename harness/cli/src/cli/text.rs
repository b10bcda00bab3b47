//! Text for terminals: wrapped paragraphs and aligned tables.

use windlass_qlog_analysis::escape;

/// Columns to write for: those of the terminal between 60 and 120, else 100.
pub(super) fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(100).clamp(60, 120)
}

/// `text` in lines of at most `width` columns, each after `indent` spaces.
pub(super) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            lines.push('\n');
            column = 0;
        }
        if column == 0 {
            lines.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines.push('\n');
    lines
}

/// How a column of an aligned table is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// To the left, for words.
    Left,
    /// To the right, for numbers.
    Right,
}

/// Rows as aligned columns, two spaces apart, under their headings. Each cell is one line, whatever file it comes from.
pub(super) fn aligned(heads: &[(&str, Align)], rows: &[Vec<String>]) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| escape::line(cell)).collect()).collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(i, (head, _))| rows.iter().map(|row| length(&row[i])).chain([length(head)]).max().unwrap_or(0))
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for ((cell, width), (_, align)) in cells.zip(&widths).zip(heads) {
            let space = " ".repeat(width - length(cell));
            match align {
                Align::Left => line.extend([cell, &space, "  "]),
                Align::Right => line.extend([&space, cell, "  "]),
            }
        }
        line.trim_end().to_owned()
    };
    let head = line(&mut heads.iter().map(|(head, _)| *head));
    let body = rows.iter().map(|row| line(&mut row.iter().map(AsRef::as_ref)));
    [head].into_iter().chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_words() {
        assert_eq!(wrapped("one two three four", 2, 10), "  one two\n  three\n  four\n");
        assert_eq!(wrapped("a-word-that-is-too-long", 2, 10), "  a-word-that-is-too-long\n");
    }

    #[test]
    fn a_cell_of_a_file_moves_no_cursor() {
        let rows = vec![vec!["a\u{1b}[2J\nb\u{202e}".into()]];
        assert_eq!(aligned(&[("name", Align::Left)], &rows)[1], "a\\u001b[2J\\nb\\u202e");
    }

    #[test]
    fn aligns_columns() {
        let rows = vec![vec!["a".into(), "1.0".into()], vec!["bcd".into(), "22.5".into()]];
        let lines = aligned(&[("name", Align::Left), ("n", Align::Right)], &rows);
        assert_eq!(lines, ["name     n", "a      1.0", "bcd   22.5"]);
    }
}
