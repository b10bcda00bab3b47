use super::*;
use std::io::BufReader;

type Seen = (u64, u64, String, bool, bool, bool);

fn split(text: &str, capacity: usize, limit: usize) -> (Framing, Vec<Seen>) {
    let mut records = Records::new(BufReader::with_capacity(capacity, text.as_bytes())).limit(limit);
    let framing = records.framing().unwrap();
    let mut seen = Vec::new();
    while let Some(record) = records.next().unwrap() {
        let text = String::from_utf8_lossy(record.text).into_owned();
        seen.push((record.number, record.line, text, record.separated, record.terminated, record.oversize));
    }
    (framing, seen)
}

fn seen(number: u64, line: u64, text: &str, separated: bool, terminated: bool, oversize: bool) -> Seen {
    (number, line, text.to_owned(), separated, terminated, oversize)
}

#[test]
fn a_sequence_is_split_at_its_separators() {
    for capacity in [1, 2, 3, 7, 4096] {
        let (framing, records) = split("\n\x1e{\n 1}\n\x1e\n{2}\x1e{3}\n", capacity, 100);
        assert_eq!(framing, Framing::Sequence);
        assert_eq!(
            records,
            [
                seen(1, 2, "{\n 1}", true, true, false),
                seen(2, 5, "{2}", true, false, false),
                seen(3, 5, "{3}", true, true, false)
            ]
        );
    }
}

#[test]
fn an_empty_record_is_told_but_not_an_empty_end() {
    let (_, records) = split("\x1e\x1e{1}\n\x1e\n", 10, 100);
    assert_eq!(records, [seen(1, 1, "", true, false, false), seen(2, 1, "{1}", true, true, false)]);
}

#[test]
fn lines_are_records_without_separators() {
    for capacity in [1, 2, 4096] {
        let (framing, records) = split("\u{feff}{1}\n\n\x1e{2}\n{3}", capacity, 100);
        assert_eq!(framing, Framing::Lines);
        assert_eq!(
            records,
            [
                seen(1, 1, "{1}", false, true, false),
                seen(2, 3, "{2}", true, true, false),
                seen(3, 4, "{3}", false, false, false)
            ]
        );
    }
}

#[test]
fn a_record_over_the_limit_is_cut_and_the_next_one_whole() {
    for capacity in [1, 3, 4096] {
        let (_, records) = split("\x1e123456789\n\x1e{2}\n", capacity, 4);
        assert_eq!(records, [seen(1, 1, "1234", true, false, true), seen(2, 2, "{2}", true, true, false)]);
    }
}

#[test]
fn nothing_gives_nothing() {
    for text in ["", "\n \n", "\u{feff}"] {
        assert_eq!(split(text, 8, 100), (Framing::Lines, vec![]));
    }
    assert_eq!(split("\x1e", 8, 100), (Framing::Sequence, vec![]));
}
