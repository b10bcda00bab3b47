//! Text of files for terminals and tables.
//!
//! Whoever wrote a trace chose its title, names and connections. Written to a terminal as they are, they
//! could move its cursor, set its title or turn the line around. What is escaped here is escaped
//! as JSON does (`\u001b`), so that JSON stays the same value.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};
use std::io;

/// Whether a terminal or an editor shows `c` as something else than a character in its place:
/// C0, DEL, C1; line and paragraph separators; marks, embeddings, overrides and isolates of
/// bidirectional text; characters of no width; tags; and annotations.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn escape<'a>(text: &'a str, unsafe_here: impl Fn(char) -> bool) -> Cow<'a, str> {
    if !text.contains(&unsafe_here) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !unsafe_here(c) => escaped.push(c),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(escaped)
}

/// A text of a file as one line: what is unsafe is escaped, newlines and tabs too.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// What a program prints, lines and all: everything unsafe but newlines is escaped. The net below
/// [`line()`], for whole outputs.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && is_unsafe(c))
}

/// A cell of a table that spreadsheets open: as [`line()`], after an apostrophe where a spreadsheet
/// would take it for a formula. Numbers stay as they are.
#[must_use]
pub fn cell(text: &str) -> Cow<'_, str> {
    // A dash alone is what standard input is called.
    let formula = text.trim_start().starts_with(['=', '+', '-', '@'])
        && text.trim() != "-"
        && text.trim().parse::<f64>().is_err();
    match line(text) {
        text if formula => Cow::Owned(format!("'{text}")),
        text => text,
    }
}

/// A text that came from a file. It prints as one line ([`line()`]); a format string cannot get at
/// it otherwise.
#[derive(Clone, Copy)]
pub struct Foreign<T>(pub T);

impl<T: Display> Display for Foreign<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&line(&self.0.to_string()))
    }
}

/// A writer whose text is escaped as [`lines()`] does; bytes that are no text become U+FFFD.
pub struct Printed<W> {
    to: W,
    /// The beginning of a character whose end is not written yet.
    begun: Vec<u8>,
}

impl<W: io::Write> Printed<W> {
    /// A writer to `to`.
    pub fn new(to: W) -> Self {
        Printed { to, begun: Vec::new() }
    }

    /// The writer, with all that was written.
    ///
    /// # Errors
    /// The writer's.
    pub fn into_inner(mut self) -> io::Result<W> {
        let rest = String::from_utf8_lossy(&self.begun).into_owned();
        self.to.write_all(lines(&rest).as_bytes())?;
        Ok(self.to)
    }
}

impl<W: io::Write> io::Write for Printed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let text = String::from_utf8_lossy(&self.begun[..whole]).into_owned();
        self.begun.drain(..whole);
        self.to.write_all(lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that a terminal would act on.
    const HOSTILE: [&str; 10] = [
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\u{9b}31m",
        "\u{7f}\u{8}",
        "\u{202e}gol",
        "\u{2066}\u{2069}",
        "\u{2028}",
        "\u{feff}\u{200b}",
        "\u{e0041}",
        "\r\n\t",
    ];

    #[test]
    fn nothing_that_a_terminal_acts_on_gets_through() {
        for text in HOSTILE {
            let escaped = line(text);
            assert!(!escaped.contains(is_unsafe), "{escaped:?}");
            assert!(!lines(text).contains(|c| c != '\n' && is_unsafe(c)));
            assert!(!Foreign(text).to_string().contains(is_unsafe));
            assert!(!cell(text).contains(is_unsafe));
            let back: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
            assert_eq!(back, text, "JSON says the same");
        }
        assert_eq!(line("\x1b[31m"), "\\u001b[31m");
        assert_eq!(lines("a\nb\r"), "a\nb\\r");
        for text in ["", "Ärger – 東京 é", "👍", "C:\\n"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(format!("{:>6}|{:<4}|", Foreign("ab"), Foreign("\n")), "    ab|\\n  |");
    }

    #[test]
    fn a_writer_escapes_characters_that_come_in_pieces() {
        let text = "a\u{202e}é\u{1b}[1m👍\n";
        for size in 1..text.len() {
            let mut printed = Printed::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                io::Write::write_all(&mut printed, piece).unwrap();
            }
            assert_eq!(String::from_utf8(printed.into_inner().unwrap()).unwrap(), lines(text));
        }
        let mut printed = Printed::new(Vec::new());
        io::Write::write_all(&mut printed, b"a\xff\xe2").unwrap();
        assert_eq!(printed.into_inner().unwrap(), "a\u{fffd}\u{fffd}".as_bytes());
    }

    #[test]
    fn a_cell_is_no_formula() {
        for text in ["=1+1", "+1+1", "-cmd|' /C calc'!A0", "@SUM(A1)", " =1", "\t=1", "-a"] {
            assert!(cell(text).starts_with('\''), "{text:?}");
        }
        for text in ["", "-1.5", "+3", "1e9", "a=b", "–", "-", "-inf"] {
            assert_eq!(cell(text), text);
        }
    }
}
