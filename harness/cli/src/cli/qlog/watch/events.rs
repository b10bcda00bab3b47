//! Events of a trace that the page asks for, read from its file.

use std::path::Path;

use windlass_qlog_analysis::read::{Options, ReadError, open, twice};
use windlass_qlog_analysis::series::{EventFilter, read_events};

/// Events that are printed at once, at most.
const MOST: usize = 1000;

/// Which events of which trace are asked for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Asked {
    pub(super) trace: usize,
    /// Times from the trace's start, s.
    from: f64,
    to: f64,
    most: usize,
    /// Whether those of packets count.
    packets: bool,
    words: String,
}

impl Asked {
    /// What the part of an address behind `?` asks for; `None` where it lacks something.
    pub(super) fn read(query: &str) -> Option<Asked> {
        let value = |name: &str| {
            let mut parts = query.split('&').filter_map(|part| part.split_once('='));
            parts.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let seconds = |name| value(name)?.parse().ok().filter(|time: &f64| time.is_finite());
        Some(Asked {
            trace: value("trace")?.parse().ok()?,
            from: seconds("from")?,
            to: seconds("to")?,
            most: value("most")?.parse().map(|most: usize| most.min(MOST)).ok()?,
            packets: value("packets")? == "true",
            words: decoded(value("words")?),
        })
    }
}

/// Text as forms write it: `+` for a space, `%` and two hexadecimal digits for a byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = escaped.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The events that are asked for of a connection of the file `at`, as JSON.
pub(super) fn found(asked: &Asked, at: &Path, connection: (u32, &str)) -> Result<String, ReadError> {
    let filter = EventFilter {
        // As the viewer has it: those at both ends count.
        times: (asked.from * 1e9).floor() as i64..((asked.to * 1e9).ceil() as i64).saturating_add(1),
        words: asked.words.split_whitespace().collect(),
        packets: asked.packets,
        most: asked.most,
    };
    let open = || open(at).map_err(ReadError::from);
    let log = twice(open, &Options::default(), |input, options| read_events(input, options, connection, &filter))?;
    // Of texts and finite numbers this cannot fail.
    Ok(serde_json::to_string(&log).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read() {
        let asked = Asked::read("trace=3&from=0.5&to=2&most=300&packets=false&words=loss%20a%2Bb+%C3%A4%zz").unwrap();
        assert_eq!((asked.trace, asked.from, asked.to, asked.most, asked.packets), (3, 0.5, 2.0, 300, false));
        assert_eq!(asked.words, "loss a+b ä%zz");
        assert_eq!(Asked::read("trace=3&from=0&to=1&most=1000000&packets=true&words=").unwrap().most, MOST);
        for wrong in [
            "",
            "trace=3",
            "trace=x&from=0&to=1&most=1&packets=true&words=",
            "trace=1&from=NaN&to=1&most=1&packets=true&words=",
        ] {
            assert_eq!(Asked::read(wrong), None, "{wrong}");
        }
    }
}
