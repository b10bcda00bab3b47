//! Texts that come again and again, kept once.

use std::collections::HashMap;

/// A text of a batch; 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Name(u32);

/// The texts of a batch.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Names {
    texts: Vec<Box<str>>,
    known: HashMap<Box<str>, Name>,
}

impl Names {
    /// The name of a text, which is kept if it is new.
    pub fn add(&mut self, text: &str) -> Name {
        if text.is_empty() {
            return Name(0);
        }
        if let Some(&name) = self.known.get(text) {
            return name;
        }
        self.texts.push(text.into());
        let name = Name(self.texts.len() as u32);
        self.known.insert(text.into(), name);
        name
    }

    /// The text of a name.
    #[must_use]
    pub fn get(&self, name: Name) -> &str {
        (name.0 as usize).checked_sub(1).and_then(|index| self.texts.get(index)).map_or("", |text| text)
    }
}
