//! Typed access to JSON values; each reports a wrong type.

use serde_json::{Map, Value};

use super::Checker;
use crate::lint::Rule;

pub(super) type Object = Map<String, Value>;

/// A whole number, as a number or in decimal as a string
/// (`draft-ietf-quic-qlog-main-schema`, "JSON Interoperability").
pub(super) fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A value as a message can show it.
pub(super) fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > 60 {
        let end = (0..=57).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

impl Checker {
    fn wrong_type(&mut self, name: &str, value: &Value, expected: &str) {
        self.add(Rule::FieldType, || format!("{name} is {}; expected {expected}", shown(value)));
    }

    /// A whole number, if it is there.
    pub(super) fn integer(&mut self, object: &Object, name: &str) -> Option<u64> {
        let value = object.get(name)?;
        let number = integer(value);
        if number.is_none() {
            self.wrong_type(name, value, "a whole number from 0 to 2^64 - 1");
        }
        number
    }

    /// A number not below zero, if it is there.
    pub(super) fn number(&mut self, object: &Object, name: &str) -> Option<f64> {
        let value = object.get(name)?;
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) if self.is_legacy() => text.parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| *number >= 0.0);
        if number.is_none() {
            self.wrong_type(name, value, "a number not below 0");
        }
        number
    }

    /// Text, if it is there.
    pub(super) fn text<'a>(&mut self, object: &'a Object, name: &str) -> Option<&'a str> {
        let value = object.get(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.wrong_type(name, value, "a text");
        }
        text
    }

    /// An object, if it is there.
    pub(super) fn object<'a>(&mut self, object: &'a Object, name: &str) -> Option<&'a Object> {
        let value = object.get(name)?;
        let object = value.as_object();
        if object.is_none() {
            self.wrong_type(name, value, "an object");
        }
        object
    }

    /// A list, if it is there.
    pub(super) fn list<'a>(&mut self, object: &'a Object, name: &str) -> Option<&'a [Value]> {
        let value = object.get(name)?;
        let list = value.as_array();
        if list.is_none() {
            self.wrong_type(name, value, "a list");
        }
        list.map(Vec::as_slice)
    }

    /// Reports a required field that is missing.
    pub(super) fn required(&mut self, object: &Object, name: &str) {
        if !object.contains_key(name) {
            self.add(Rule::FieldMissing, || format!("{name} is missing"));
        }
    }

    /// Reports a field that has its name of an earlier draft.
    pub(super) fn outdated(&mut self, object: &Object, old: &str, new: &str) {
        if object.contains_key(old) {
            self.add(Rule::FieldOld, || format!("{old} is of an earlier draft; the schema has {new}"));
        }
    }
}
