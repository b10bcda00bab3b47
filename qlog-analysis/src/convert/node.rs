//! JSON as it stands: the order of fields and the digits of numbers are kept.

use std::borrow::Cow;

use crate::json::{Cursor, Decimal, Malformed};

/// A value. Keys are what stands between their quotes; a scalar is its text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Node<'a> {
    Object(Vec<(Cow<'a, [u8]>, Node<'a>)>),
    Array(Vec<Node<'a>>),
    Scalar(Cow<'a, [u8]>),
}

impl<'a> Node<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        match cursor.peek() {
            Some(b'{') => {
                let mut fields = Vec::new();
                cursor.object(|key, value| {
                    fields.push((Cow::Borrowed(key), Node::read(value)?));
                    Ok(())
                })?;
                Ok(Node::Object(fields))
            }
            Some(b'[') => {
                let mut elements = Vec::new();
                cursor.array(|value| {
                    elements.push(Node::read(value)?);
                    Ok(())
                })?;
                Ok(Node::Array(elements))
            }
            _ => Ok(Node::Scalar(Cow::Borrowed(cursor.raw()?))),
        }
    }

    /// A text that holds all of one value.
    pub(super) fn of(text: &'a [u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(text);
        let node = Node::read(&mut cursor)?;
        cursor.end()?;
        Ok(node)
    }

    pub(super) const fn empty() -> Self {
        Node::Object(Vec::new())
    }

    /// A text, which is escaped as it needs to be.
    pub(super) fn word(text: &str) -> Self {
        Node::Scalar(Cow::Owned(serde_json::Value::from(text).to_string().into_bytes()))
    }

    /// A number, which is a string beyond what JSON keeps exact.
    pub(super) fn number(value: u64) -> Self {
        let text = if value > windlass_qlog::MAX_SAFE_INTEGER { format!("\"{value}\"") } else { value.to_string() };
        Node::Scalar(Cow::Owned(text.into_bytes()))
    }

    pub(super) fn into_owned(self) -> Node<'static> {
        let own = |text: Cow<'a, [u8]>| Cow::Owned(text.into_owned());
        match self {
            Node::Object(fields) => {
                Node::Object(fields.into_iter().map(|(key, value)| (own(key), value.into_owned())).collect())
            }
            Node::Array(elements) => Node::Array(elements.into_iter().map(Node::into_owned).collect()),
            Node::Scalar(text) => Node::Scalar(own(text)),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Node::Object(fields) => {
                out.push(b'{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    field(key, value, out);
                }
                out.push(b'}');
            }
            Node::Array(elements) => {
                out.push(b'[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    element.write(out);
                }
                out.push(b']');
            }
            Node::Scalar(text) => out.extend_from_slice(text),
        }
    }

    pub(super) fn fields(&self) -> &[(Cow<'a, [u8]>, Node<'a>)] {
        if let Node::Object(fields) = self { fields } else { &[] }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.fields().iter().find(|(name, _)| **name == *key.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Node<'a>> {
        let Node::Object(fields) = self else { return None };
        fields.iter_mut().find(|(name, _)| **name == *key.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Node<'a>> {
        let Node::Object(fields) = self else { return None };
        let at = fields.iter().position(|(name, _)| **name == *key.as_bytes())?;
        Some(fields.remove(at).1)
    }

    /// Sets a field where it stands, or at the end.
    pub(super) fn set(&mut self, key: &'static str, value: Node<'a>) {
        let Node::Object(fields) = self else { return };
        match fields.iter_mut().find(|(name, _)| **name == *key.as_bytes()) {
            Some((_, there)) => *there = value,
            None => fields.push((Cow::Borrowed(key.as_bytes()), value)),
        }
    }

    /// Sets a field before all others.
    pub(super) fn set_first(&mut self, key: &'static str, value: Node<'a>) {
        self.take(key);
        if let Node::Object(fields) = self {
            fields.insert(0, (Cow::Borrowed(key.as_bytes()), value));
        }
    }

    /// Gives a field another name and value, where it stands.
    pub(super) fn replace(&mut self, old: &str, new: &'static str, value: Node<'a>) {
        let Node::Object(fields) = self else { return };
        if let Some(there) = fields.iter_mut().find(|(name, _)| **name == *old.as_bytes()) {
            *there = (Cow::Borrowed(new.as_bytes()), value);
        }
    }

    /// Gives a field another name; one that already has it goes first.
    pub(super) fn rename(&mut self, old: &str, new: &'static str) {
        if self.has(new) {
            self.take(old);
            return;
        }
        let Node::Object(fields) = self else { return };
        if let Some((name, _)) = fields.iter_mut().find(|(name, _)| **name == *old.as_bytes()) {
            *name = Cow::Borrowed(new.as_bytes());
        }
    }

    /// The text between the quotes, as written.
    pub(super) fn text(&self) -> Option<&[u8]> {
        let Node::Scalar(text) = self else { return None };
        text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""))
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.text() == Some(word.as_bytes())
    }

    /// A number, also one that is written as a text.
    pub(super) fn decimal(&self) -> Option<Decimal<'_>> {
        let Node::Scalar(text) = self else { return None };
        Decimal::read(self.text().unwrap_or(text))
    }

    pub(super) fn whole(&self) -> Option<u64> {
        self.decimal().and_then(|decimal| decimal.whole())
    }
}

/// Writes one field of an object.
pub(super) fn field(key: &[u8], value: &Node<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(key);
    out.extend_from_slice(b"\":");
    value.write(out);
}

/// Nanoseconds as milliseconds, with as many of six decimals as they need.
pub(super) fn millis(ns: i64, out: &mut Vec<u8>) {
    let (whole, part) = (ns.unsigned_abs() / 1_000_000, ns.unsigned_abs() % 1_000_000);
    let mut text = format!("{}{whole}", if ns < 0 { "-" } else { "" });
    if part > 0 {
        text.push_str(&format!(".{part:06}"));
        text.truncate(text.trim_end_matches('0').len());
    }
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_as_it_stood() {
        let text = br#"{"b":1.50,"a":[1e3,"x\"y",{"z":null}],"b":{}}"#;
        let mut out = Vec::new();
        Node::of(text).unwrap().write(&mut out);
        assert_eq!(out, text);
    }

    #[test]
    fn milliseconds_keep_every_nanosecond() {
        for (ns, expected) in
            [(0, "0"), (1, "0.000001"), (-1_500_000, "-1.5"), (12_000_000, "12"), (26_903_473, "26.903473")]
        {
            let mut out = Vec::new();
            millis(ns, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
