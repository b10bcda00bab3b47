//! A trace for strangers, whose names the page that is shared does not hold.

use std::io::{self, Write};

use serde::Serialize;
use windlass_qlog_analysis::pseudonyms::Pseudonyms;
use windlass_qlog_analysis::read::Input;

use crate::Failure;
use crate::output::Output;
use crate::trace::Source;

/// Bytes of a message.
const PART: usize = 1 << 20;

/// The name of the trace, before its text, which is in messages of the kind `part`.
#[derive(Serialize)]
struct Shared {
    kind: &'static str,
    name: String,
}

#[derive(Serialize)]
struct Part {
    kind: &'static str,
    bytes: usize,
}

/// Writes the trace called `name`, with pseudonyms unless its names are to stay.
pub(crate) fn share(
    source: &mut impl Source,
    name: &str,
    keep_names: bool,
    output: &mut Output<impl Write>,
) -> Result<(), Failure> {
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let mut names = Pseudonyms::default();
    if !keep_names {
        names = Pseudonyms::of(Input::new(source.open(output)?)?)?;
    }
    output.message(&Shared { kind: "shared", name: names.text(plain) })?;
    let mut input = source.open(output)?;
    let mut parts = Parts { output, waiting: Vec::new() };
    let mut input = Input::new(&mut input)?;
    if keep_names {
        io::copy(&mut input, &mut parts)?;
    } else {
        names.rewrite(input, &mut parts)?;
    }
    Ok(parts.write_part()?)
}

/// A stream, cut into messages.
struct Parts<'a, W: Write> {
    output: &'a mut Output<W>,
    waiting: Vec<u8>,
}

impl<W: Write> Parts<'_, W> {
    fn write_part(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.output.header(&Part { kind: "part", bytes: self.waiting.len() })?;
        self.output.bytes(&self.waiting)?;
        self.waiting.clear();
        self.output.flush()
    }
}

impl<W: Write> Write for Parts<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PART {
            self.write_part()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages;

    #[test]
    fn a_trace_is_written_in_parts_under_another_name() {
        let id = "9a8b7c6d5e4f";
        let trace = format!("{{\"group_id\":\"{id}\",\"x\":\"{}\"}}", "long ".repeat(1 << 19));
        let written = |keep_names| {
            let mut written = Vec::new();
            let name = format!("{id}.sqlog.gz");
            share(&mut trace.as_bytes(), &name, keep_names, &mut Output::new(&mut written)).unwrap();
            let mut messages = messages(&written);
            let name = messages.remove(0).0["name"].as_str().unwrap().to_owned();
            assert!(messages.len() > 1, "in parts");
            (name, messages.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<u8>>())
        };
        assert_eq!(written(true), (format!("{id}.sqlog"), trace.clone().into_bytes()));
        let other = "000000000001";
        assert_eq!(written(false), (format!("{other}.sqlog"), trace.replace(id, other).into_bytes()));
    }
}
