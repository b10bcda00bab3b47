//! Markdown as text for a terminal.

use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, TagEnd};

use super::text::{Align, aligned, wrapped};

/// `markdown` in lines of at most `width` columns; each picture is `picture`.
pub(super) fn rendered(markdown: &str, picture: &str, width: usize) -> String {
    let mut page = Page { width, picture, ..Page::default() };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.text
}

#[derive(Default)]
struct Page<'a> {
    width: usize,
    picture: &'a str,
    text: String,
    /// Words of the block being read.
    block: String,
    /// Numbers of the next items of the lists we are in; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// What to put before the block, in place of as many columns of its first line.
    mark: String,
    /// Within a picture, whose description is not shown.
    within_picture: bool,
    /// Within a block of text that is kept as it is.
    verbatim: bool,
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Page<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(_) | Event::Code(_) if self.within_picture => {}
            Event::Text(words) | Event::Code(words) => self.block.push_str(&words),
            Event::SoftBreak | Event::HardBreak => self.block.push(' '),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                self.mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
            }
            Tag::Image { .. } => self.within_picture = true,
            Tag::CodeBlock(_) => self.verbatim = true,
            Tag::Table(aligns) => {
                let align = |align: &Alignment| if *align == Alignment::Right { Align::Right } else { Align::Left };
                self.aligns = aligns.iter().map(align).collect();
                self.rows.clear();
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let heading = std::mem::take(&mut self.block);
                let line = if level as usize == 1 { "=" } else { "-" }.repeat(heading.chars().count());
                self.text.push_str(&format!("{heading}\n{line}\n\n"));
            }
            TagEnd::Paragraph => {
                self.flush();
                if self.lists.is_empty() {
                    self.text.push('\n');
                }
            }
            TagEnd::Item => self.flush(),
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.text.push('\n');
                }
            }
            TagEnd::Image => {
                self.within_picture = false;
                self.text.push_str(self.picture);
            }
            TagEnd::CodeBlock => {
                self.verbatim = false;
                for line in std::mem::take(&mut self.block).lines() {
                    self.text.push_str(&format!("    {line}\n"));
                }
                self.text.push('\n');
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.block);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// Writes the words of a paragraph or an item.
    fn flush(&mut self) {
        if self.block.trim().is_empty() || self.verbatim {
            return;
        }
        let mark = std::mem::take(&mut self.mark);
        let indent = 2 * self.lists.len();
        let lines = wrapped(&self.block, indent, self.width);
        let kept = indent - mark.chars().count().min(indent);
        self.text.push_str(&format!("{}{mark}{}", " ".repeat(kept), lines.trim_start()));
        self.block.clear();
    }

    /// Writes a table: aligned if it fits, else with the last column beneath each row.
    fn table(&mut self) {
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        let Some(head) = rows.next() else { return };
        let mut rows: Vec<Vec<String>> = rows.collect();
        let heads: Vec<(&str, Align)> = head.iter().map(String::as_str).zip(self.aligns.iter().copied()).collect();
        let lines = aligned(&heads, &rows);
        if lines.iter().all(|line| line.chars().count() <= self.width) {
            self.text.extend(lines.iter().map(|line| format!("{line}\n")));
        } else {
            let beneath: Vec<String> = rows.iter_mut().filter_map(Vec::pop).collect();
            let lines = aligned(&heads[..heads.len() - 1], &rows);
            for (i, line) in lines.iter().enumerate() {
                self.text.push_str(&format!("{line}\n"));
                if let Some(words) = i.checked_sub(1).and_then(|i| beneath.get(i)) {
                    self.text.push_str(&wrapped(words, 4, self.width));
                }
            }
        }
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_wrapped() {
        let text = rendered("# A\n\none *two* `three`\nfour\n\n- **five** six seven\n- eight\n\nnine\n", "", 16);
        assert_eq!(text, "A\n=\n\none two three\nfour\n\n- five six seven\n- eight\n\nnine\n\n");
        assert_eq!(rendered("3. a b c d\n4. e\n", "", 6), "3. a b\n  c d\n4. e\n\n");
    }

    #[test]
    fn wide_tables_have_their_last_column_beneath() {
        let table = "| a | b | c |\n|---|--:|---|\n| 1 | 22 | three four |\n";
        assert_eq!(rendered(table, "", 40), "a   b  c\n1  22  three four\n\n");
        assert_eq!(rendered(table, "", 12), "a   b\n1  22\n    three\n    four\n\n");
    }

    #[test]
    fn a_picture_takes_the_place_of_its_description() {
        assert_eq!(rendered("![what it shows](file.svg)\n", "PICTURE\n", 40), "PICTURE\n\n");
        assert_eq!(rendered("```text\na  b\n```\n", "", 40), "    a  b\n\n");
    }
}
