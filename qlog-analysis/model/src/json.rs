//! JSON into a reusable buffer, nothing allocated per record.

use serde::Serialize;

use crate::number::{MAX_SAFE_INTEGER, push_millis, push_u64};

/// A growing JSON text. A comma is put before a key or element wherever one is due.
#[derive(Debug, Default)]
pub(crate) struct Json {
    pub bytes: Vec<u8>,
}

impl Json {
    #[inline]
    pub fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn comma(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':')) {
            self.bytes.push(b',');
        }
    }

    /// `name` must need no escaping.
    #[inline]
    pub fn key(&mut self, name: &str) {
        self.comma();
        self.bytes.push(b'"');
        self.raw(name);
        self.raw("\":");
    }

    #[inline]
    pub fn open(&mut self, bracket: u8) {
        self.comma();
        self.bytes.push(bracket);
    }

    #[inline]
    pub fn close(&mut self, bracket: u8) {
        self.bytes.push(bracket);
    }

    /// An integer; as a string where a JSON parser might round it.
    #[inline]
    pub fn integer(&mut self, name: &str, value: u64) {
        self.key(name);
        self.element(value);
    }

    /// Like [`Json::integer`], in an array or after a key.
    #[inline]
    pub fn element(&mut self, value: u64) {
        self.comma();
        if value > MAX_SAFE_INTEGER {
            self.bytes.push(b'"');
            push_u64(&mut self.bytes, value);
            self.bytes.push(b'"');
        } else {
            push_u64(&mut self.bytes, value);
        }
    }

    /// Nanoseconds as milliseconds.
    #[inline]
    pub fn millis(&mut self, name: &str, ns: u64) {
        self.key(name);
        push_millis(&mut self.bytes, ns);
    }

    /// A finite number; anything else becomes `null`.
    pub fn float(&mut self, name: &str, value: f64) {
        self.value(name, &value);
    }

    /// Text that may need escaping.
    pub fn text(&mut self, name: &str, value: &str) {
        self.value(name, value);
    }

    /// Text that needs no escaping.
    #[inline]
    pub fn word(&mut self, name: &str, value: &str) {
        self.key(name);
        self.bytes.push(b'"');
        self.raw(value);
        self.bytes.push(b'"');
    }

    #[inline]
    pub fn flag(&mut self, name: &str, value: bool) {
        self.key(name);
        self.raw(if value { "true" } else { "false" });
    }

    /// Anything serde can write; `null` if it cannot be.
    pub fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.key(name);
        let start = self.bytes.len();
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            self.bytes.truncate(start);
            self.raw("null");
        }
    }
}
