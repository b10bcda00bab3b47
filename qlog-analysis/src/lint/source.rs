//! Reading a file of any form and handing its header and events to the checker.

use std::io::{self, BufRead, Cursor, Read};

use serde_json::Value;
use windlass_qlog::{RECORD_SEPARATOR, Record, Records};

use super::check::{Checker, Framing};
use super::{Place, Rule};

mod plain;

/// Bytes qvis looks at to find out what a file is.
pub(super) const HEAD: u64 = 1024;

/// Reads `reader` to its end.
pub(super) fn read(reader: &mut dyn BufRead, checker: &mut Checker) {
    let mut head = Vec::new();
    let result = (&mut *reader).take(HEAD).read_to_end(&mut head).and_then(|_| {
        let first =
            head.iter().find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0xef | 0xbb | 0xbf)).copied();
        checker.head.clone_from(&head);
        let mut reader = Cursor::new(head).chain(reader);
        match first {
            None => {
                checker.report.add(Rule::FileEmpty, Place { record: 0, line: 1 }, || "the file is empty".to_owned());
                Ok(())
            }
            Some(RECORD_SEPARATOR) => sequence(&mut reader, checker),
            Some(_) => plain::read(reader, checker),
        }
    });
    if let Err(error) = result {
        checker.unreadable(&error);
    }
}

/// Checks a JSON text sequence.
fn sequence(reader: &mut dyn BufRead, checker: &mut Checker) -> io::Result<()> {
    checker.framing = Framing::Sequence;
    let mut records = Records::new(reader);
    while let Some(record) = records.next()? {
        one(&record, checker);
    }
    Ok(())
}

fn one(record: &Record<'_>, checker: &mut Checker) {
    let place = Place { record: record.number, line: record.line };
    checker.at(place);
    let report = &mut checker.report;
    if record.text.is_empty() {
        report.add(Rule::RecordEmpty, place, || "the record is empty".to_owned());
        return;
    }
    if record.oversize {
        report.add(Rule::RecordSize, place, || format!("the record is longer than {} bytes", record.text.len()));
        return;
    }
    if !record.terminated {
        report.add(Rule::RecordNewline, place, || "the record does not end with a newline".to_owned());
    }
    let mut values = serde_json::Deserializer::from_slice(record.text).into_iter::<Value>();
    let mut count = 0;
    loop {
        match values.next() {
            None => break,
            Some(Ok(value)) => {
                count += 1;
                if count > 1 {
                    let message = || format!("{count} objects stand in one record");
                    checker.report.add(Rule::RecordSeparator, place, message);
                }
                checker.record(value, place);
            }
            Some(Err(error)) => {
                checker.not_json(place, record.line, &error);
                break;
            }
        }
    }
}
