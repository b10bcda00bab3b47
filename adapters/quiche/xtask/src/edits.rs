//! Edits: short changes beside lines that must be what they were.

use serde::Deserialize;

use crate::{Error, Mismatch, Tree};

/// One edit, as the list has it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Why quiche needs the edit, for the patch's comment.
    pub why: String,
    /// The file it changes, relative to the source.
    pub file: String,
    /// The line it is anchored to, without the spaces around it; found once.
    pub line: Option<String>,
    /// Or a text it replaces wherever it is found.
    pub text: Option<String>,
    /// Number of places at which the text is found.
    pub times: Option<usize>,
    /// Lines put before the line.
    pub before: Option<String>,
    /// Lines to insert after the anchor; `None` for an edit that replaces.
    pub after: Option<String>,
    /// Lines to put in the anchor's place; `None` for an edit that inserts.
    pub instead: Option<String>,
    /// Whether it changes test code only, and is left out where it finds no place.
    #[serde(default)]
    pub in_tests: bool,
}

/// All edits, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edits {
    /// The edits; later ones see what earlier ones made.
    pub edit: Vec<Edit>,
    /// The list's name, for reports.
    #[serde(skip)]
    pub name: &'static str,
}

impl Edits {
    /// Reads the list `text` of the file `name`.
    ///
    /// # Errors
    /// It is no list of edits, or an edit has too few or too many fields.
    pub fn read(name: &'static str, text: &str) -> Result<Edits, Error> {
        let mistake = |reason: String| Error::Edits { file: name, reason };
        let edits: Edits = toml::from_str(text).map_err(|error| mistake(error.to_string()))?;
        let edits = Edits { name, ..edits };
        for (i, edit) in edits.edit.iter().enumerate() {
            let wrong = |reason: &str| mistake(format!("edit {} of {}: {reason}", i + 1, edit.file));
            let changes = [&edit.before, &edit.after, &edit.instead].iter().filter(|change| change.is_some()).count();
            match (&edit.line, &edit.text) {
                (Some(line), None) if line.trim() != line || line.is_empty() || line.contains('\n') => {
                    return Err(wrong("expected one line without spaces around it"));
                }
                (Some(_), None) if changes == 1 && edit.times.is_none() => {}
                (Some(_), None) => return Err(wrong("expected one of before, after, instead with a line")),
                (None, Some(text)) if !text.is_empty() && changes == 1 => {
                    if edit.instead.is_none() || edit.times.is_none() {
                        return Err(wrong("expected instead and times with a text"));
                    }
                }
                _ => return Err(wrong("expected a line or a text as its anchor")),
            }
        }
        Ok(edits)
    }

    /// Applies all edits to `tree`, the source of `version`. Returns how many edits of test code
    /// were left out.
    ///
    /// # Errors
    /// An edit does not find its place; then `tree` is of no use.
    pub fn apply(&self, tree: &mut Tree, version: &str) -> Result<usize, Error> {
        let mut mismatches = Vec::new();
        let mut left_out = 0;
        for (i, edit) in self.edit.iter().enumerate() {
            let found = match tree.text(&edit.file).map(|text| edit.applied(text)) {
                Some(Ok(changed)) => {
                    tree.put(&edit.file, changed.into_bytes());
                    continue;
                }
                Some(Err(found)) => Some(found),
                None => None,
            };
            if edit.in_tests && found.unwrap_or(0) == 0 {
                left_out += 1;
                continue;
            }
            let anchor = edit.line.clone().or_else(|| edit.text.clone()).unwrap_or_default();
            mismatches.push(Mismatch {
                edit: format!("edit {} of {}", i + 1, self.name),
                near: near(tree, &edit.file, &anchor),
                file: edit.file.clone(),
                anchor,
                found,
                expected: edit.times.unwrap_or(1),
                why: edit.why.clone(),
            });
        }
        if mismatches.is_empty() {
            return Ok(left_out);
        }
        Err(Error::Mismatches { version: version.to_owned(), mismatches })
    }
}

/// Where a maintainer looks first: the lines of `file` that have `anchor`, else the most similar one, and the
/// line as it is in another file.
fn near(tree: &Tree, file: &str, anchor: &str) -> Vec<String> {
    let first = anchor.lines().next().unwrap_or_default();
    let lines = |text: &'_ str| -> Vec<(usize, String)> {
        text.lines().enumerate().map(|(i, line)| (i + 1, line.trim().to_owned())).collect()
    };
    let here = tree.text(file).map(lines).unwrap_or_default();
    let mut near: Vec<_> = here
        .iter()
        .filter(|(_, line)| line.contains(first))
        .map(|(number, line)| format!("{file}:{number}: {line}"))
        .collect();
    if near.is_empty() {
        let ranked = here.iter().map(|(number, line)| (similarity(first, line), number, line));
        let best = ranked.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(similarity, ..)| *similarity > 0.4);
        near.extend(best.map(|(_, number, line)| format!("{file}:{number}: {line} (the most similar line)")));
        near.extend(tree.texts().filter(|(path, _)| *path != file).flat_map(|(path, text)| {
            let found = lines(text).into_iter().filter(|(_, line)| line == first);
            found.map(|(number, line)| format!("{path}:{number}: {line}")).take(1).collect::<Vec<_>>()
        }));
    }
    near.truncate(4);
    near
}

/// Share of pairs of neighbouring characters that two lines have in common (Dice's coefficient), 0 to 1.
fn similarity(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let mut pairs: Vec<_> = text.chars().zip(text.chars().skip(1)).collect();
        pairs.sort_unstable();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    2.0 * common as f64 / (a.len() + b.len()).max(1) as f64
}

impl Edit {
    /// `source` after the edit. The error is the number of places found, if that is not the expected one.
    fn applied(&self, source: &str) -> Result<String, usize> {
        if let (Some(text), Some(instead)) = (&self.text, &self.instead) {
            let found = source.matches(text.as_str()).count();
            return if Some(found) == self.times { Ok(source.replace(text, instead)) } else { Err(found) };
        }
        let line = self.line.as_deref().unwrap_or_default();
        let found = source.lines().filter(|candidate| candidate.trim() == line).count();
        if found != 1 {
            return Err(found);
        }
        let mut changed = String::with_capacity(source.len());
        for candidate in source.split_inclusive('\n') {
            if candidate.trim() != line {
                changed.push_str(candidate);
                continue;
            }
            let indent = &candidate[..candidate.len() - candidate.trim_start().len()];
            let mut put = |lines: &Option<String>| {
                for line in lines.iter().flat_map(|lines| lines.lines()) {
                    changed.push_str(indent);
                    changed.push_str(line);
                    changed.push('\n');
                }
            };
            put(&self.before);
            put(&self.instead);
            if self.instead.is_none() {
                put(&Some(line.to_owned()));
            }
            put(&self.after);
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn a() {\n    b();\n    c();\n}\nlet t = now(); // now()\n";

    fn edited(list: &str) -> Result<String, Error> {
        let mut tree = Tree::default();
        tree.put("f", SOURCE.as_bytes().to_vec());
        Edits::read("edits.toml", list)?.apply(&mut tree, "1")?;
        Ok(tree.text("f").unwrap().to_owned())
    }

    #[test]
    fn lines_go_beside_their_anchor_and_are_indented_as_it_is() {
        let list = "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nbefore = \"x();\\ny();\"\n\
                [[edit]]\nwhy = ''\nfile = 'f'\nline = 'c();'\nafter = 'z();'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\nline = 'fn a() {'\ninstead = 'fn d() {'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\ntext = 'now()'\ntimes = 2\ninstead = 'then()'\n";
        let expected = "fn d() {\n    x();\n    y();\n    b();\n    c();\n    z();\n}\nlet t = then(); // then()\n";
        assert_eq!(edited(list).unwrap(), expected);
    }

    #[test]
    fn every_edit_without_its_place_is_reported() {
        let list = "[[edit]]\nwhy = 'Why.'\nfile = 'f'\nline = 'gone();'\nafter = 'z();'\n\
                [[edit]]\nwhy = ''\nfile = 'f'\ntext = 'now()'\ntimes = 3\ninstead = 'then()'\n\
                [[edit]]\nwhy = ''\nfile = 'g'\nline = 'b();'\nafter = 'z();'\n";
        let message = edited(list).unwrap_err().to_string();
        assert!(message.contains("f has \"gone();\" 0 times, expected 1. Why."), "{message}");
        assert!(message.contains("f has \"now()\" 2 times, expected 3."), "{message}");
        assert!(message.contains("g is missing; expected \"b();\" in it."), "{message}");
        assert!(message.contains("nothing was written"), "{message}");
    }

    #[test]
    fn a_line_that_is_there_twice_is_no_anchor() {
        let mut tree = Tree::default();
        tree.put("f", b"b();\n b();\n".to_vec());
        let edits =
            Edits::read("edits.toml", "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z();'\n").unwrap();
        let Err(Error::Mismatches { mismatches, .. }) = edits.apply(&mut tree, "1") else { panic!("applied") };
        assert_eq!(mismatches[0].found, Some(2));
    }

    #[test]
    fn an_edit_with_too_few_or_too_many_fields_is_refused() {
        for list in [
            "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\n",
            "[[edit]]\nwhy = ''\nfile = 'f'\nline = ' b();'\nafter = 'z'\n",
            "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z'\nbefore = 'y'\n",
            "[[edit]]\nwhy = ''\nfile = 'f'\nafter = 'z'\n",
            "[[edit]]\nwhy = ''\nfile = 'f'\ntext = 'b'\ninstead = 'c'\n",
            "[[edit]]\nwhy = ''\nfile = 'f'\nline = 'b();'\nafter = 'z'\nelse = 1\n",
        ] {
            assert!(matches!(edited(list), Err(Error::Edits { .. })), "{list}");
        }
    }
}
