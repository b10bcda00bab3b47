//! The strings of JSON, one after the other, whatever frames it.

use std::io::{self, Read, Write};

/// How deep members are told apart; what lies deeper has the field of what it lies in.
const DEPTH: usize = 64;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Where a string stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// Whether it is the name of a member itself.
    pub is_key: bool,
    /// The member it is the value of, in an array that of the array; empty outside of objects.
    pub key: &'a str,
    /// The value of the member `name` before it in the same object.
    pub name: &'a str,
}

#[derive(Default)]
struct Level {
    object: bool,
    before_colon: bool,
    key: String,
    name: String,
}

/// Copies `input` to `output`, each string as `visit` has it: `None` leaves it as it is.
pub(super) fn each_string(
    input: &mut dyn Read,
    output: &mut dyn Write,
    visit: &mut dyn FnMut(Place<'_>, &str) -> Option<String>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut levels: Vec<Level> = Vec::new();
    let mut deeper = 0_usize;
    // The string that is being read, with its quotes, and whether the next byte is escaped.
    let (mut string, mut inside, mut escaped) = (Vec::new(), false, false);
    loop {
        let read = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut copied = 0;
        for (at, &byte) in chunk[..read].iter().enumerate() {
            if inside {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                // No string goes on in the next line: a record was cut.
                if byte == b'\n' {
                    (inside, escaped) = (false, false);
                    string.extend_from_slice(&chunk[copied..at]);
                    output.write_all(&string)?;
                    string.clear();
                    copied = at;
                } else if ends {
                    inside = false;
                    string.extend_from_slice(&chunk[copied..=at]);
                    copied = at + 1;
                    output.write_all(&finished(&string, &mut levels, visit))?;
                    string.clear();
                }
                continue;
            }
            match byte {
                b'"' => {
                    output.write_all(&chunk[copied..at])?;
                    (inside, copied) = (true, at);
                }
                b'{' | b'[' if levels.len() < DEPTH => {
                    let key = levels.last().map_or_else(String::new, |level| level.key.clone());
                    levels.push(Level { object: byte == b'{', before_colon: byte == b'{', key, name: String::new() });
                }
                b'{' | b'[' => deeper += 1,
                b'}' | b']' if deeper > 0 => deeper -= 1,
                b'}' | b']' => drop(levels.pop()),
                b',' | b':' => {
                    if let Some(level) = levels.last_mut() {
                        level.before_colon = byte == b',' && level.object;
                    }
                }
                // A record of a sequence begins (RFC 7464).
                0x1e => (levels, deeper) = (Vec::new(), 0),
                _ => {}
            }
        }
        if inside {
            string.extend_from_slice(&chunk[copied..read]);
        } else {
            output.write_all(&chunk[copied..read])?;
        }
    }
    output.write_all(&string)?;
    output.flush()
}

/// What is written of a string, in quotes.
fn finished(quoted: &[u8], levels: &mut [Level], visit: &mut dyn FnMut(Place<'_>, &str) -> Option<String>) -> Vec<u8> {
    let Ok(text) = serde_json::from_slice::<String>(quoted) else { return quoted.to_vec() };
    let Some(level) = levels.last_mut() else {
        let other = visit(Place { is_key: false, key: "", name: "" }, &text);
        return other.map_or_else(|| quoted.to_vec(), |other| written(&other));
    };
    let is_key = level.before_colon;
    let other = visit(Place { is_key, key: &level.key, name: &level.name }, &text);
    if is_key {
        level.key = text;
    } else if level.key == "name" {
        level.name = text;
    }
    other.map_or_else(|| quoted.to_vec(), |other| written(&other))
}

fn written(text: &str) -> Vec<u8> {
    // A text is always JSON.
    serde_json::to_vec(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `text` becomes where every string is the path to it.
    fn places(text: &str) -> String {
        let mut written = Vec::new();
        let mut at = |place: Place<'_>, text: &str| {
            (!place.is_key).then(|| format!("{}/{}:{}", place.key, place.name, text.len()))
        };
        each_string(&mut text.as_bytes(), &mut written, &mut at).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn strings_have_the_members_they_are_values_of() {
        assert_eq!(
            places(r#"{"a": ["x", {"name":"é\"", "value" : "b,:{"}], "c":1}"#),
            r#"{"a": ["a/:1", {"name":"name/:3", "value" : "value/é\":4"}], "c":1}"#
        );
        assert_eq!(
            places("\u{1e}{\"a\":[\"\n\u{1e}{\"b\":\"x\"}"),
            "\u{1e}{\"a\":[\"\n\u{1e}{\"b\":\"b/:1\"}",
            "a record that was cut"
        );
        assert_eq!(places(r#"["x"] "y"#), r#"["/:1"] "y"#);
    }

    #[test]
    fn what_is_not_replaced_is_kept_to_the_byte() {
        let text = format!("{{\"k\\u0061\":\"\\u00e9\\/\",\"long\":\"{}\"}}\n", "x".repeat(3 * CHUNK));
        let mut written = Vec::new();
        each_string(&mut text.as_bytes(), &mut written, &mut |_, _| None).unwrap();
        assert_eq!(written, text.as_bytes());
    }
}
