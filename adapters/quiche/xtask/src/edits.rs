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
    /// How often the text is found.
    pub times: Option<usize>,
    /// Lines put before the line.
    pub before: Option<String>,
    /// Lines to insert after the anchor; `None` for an edit that replaces.
    pub after: Option<String>,
    /// Lines to put in the anchor's place; `None` for an edit that inserts.
    pub instead: Option<String>,
}

/// All edits, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edits {
    /// The edits; later ones see what earlier ones made.
    pub edit: Vec<Edit>,
}

impl Edits {
    /// Reads the list `text` of the file `name`.
    ///
    /// # Errors
    /// It is no list of edits, or an edit has too few or too many fields.
    pub fn read(name: &'static str, text: &str) -> Result<Edits, Error> {
        let mistake = |reason: String| Error::Edits { file: name, reason };
        let edits: Edits = toml::from_str(text).map_err(|error| mistake(error.to_string()))?;
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

    /// Applies all edits to `tree`, the source of `version`.
    ///
    /// # Errors
    /// An edit does not find its place; then `tree` is of no use.
    pub fn apply(&self, tree: &mut Tree, version: &str) -> Result<(), Error> {
        let mut mismatches = Vec::new();
        for edit in &self.edit {
            let mismatch = |found| Mismatch {
                file: edit.file.clone(),
                anchor: edit.line.clone().or_else(|| edit.text.clone()).unwrap_or_default(),
                found,
                expected: edit.times.unwrap_or(1),
                why: edit.why.clone(),
            };
            let Some(text) = tree.text(&edit.file) else {
                mismatches.push(mismatch(None));
                continue;
            };
            match edit.applied(text) {
                Ok(changed) => tree.put(&edit.file, changed.into_bytes()),
                Err(found) => mismatches.push(mismatch(Some(found))),
            }
        }
        if mismatches.is_empty() { Ok(()) } else { Err(Error::Mismatches { version: version.to_owned(), mismatches }) }
    }
}

impl Edit {
    /// `source` after the edit; how often its place was found if not as often as it should.
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
mod tests;
