//! The events of a connection as they stand in the file, for a list of them.

use std::io::Read;
use std::ops::Range;

use serde::Serialize;

use crate::connections::MAX_NAME;
use crate::read::encoding::truncated;
use crate::read::{Options, ReadError, Records, read};

/// Events of a connection in some times.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct EventLog {
    /// Of each when it was logged, s from the connection's first event, its name and its data, JSON whose end may be missing.
    pub rows: Vec<(f64, String, String)>,
    /// Further ones that match, for which there was no room.
    pub left_out: u64,
}

/// What events are asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct EventFilter<'a> {
    /// Times after the connection's first event, ns.
    pub times: Range<i64>,
    /// Words that the name or the data have, in whatever case.
    pub words: Vec<&'a str>,
    /// Whether packets that were sent or received count.
    pub packets: bool,
    /// Events at most.
    pub most: usize,
}

/// Reads a file again for the events of one connection: of the trace numbered `trace`, those whose connection is called `group`.
///
/// # Errors
/// As [`read`].
pub fn read_events(
    input: impl Read,
    options: &Options,
    (trace, group): (u32, &str),
    filter: &EventFilter<'_>,
) -> Result<EventLog, ReadError> {
    let words: Vec<String> = filter.words.iter().map(|word| word.to_lowercase()).collect();
    let records = if filter.packets { Records::All } else { Records::WithoutPackets };
    let options = Options { records, ..options.clone() };
    let (mut log, mut start) = (EventLog::default(), None);
    read(input, &options, &mut |found, batch| {
        if found.index != trace {
            return Ok(());
        }
        let of_this = |name| {
            let name = truncated(batch.name(name), MAX_NAME);
            name == group || name.is_empty() && found.group == group
        };
        // Of a network log events begin with the first of a packet, or of anything else.
        let first = batch.events.iter().find(|event| of_this(event.group)).map(|event| event.time);
        start = start.or(first);
        for record in &batch.records {
            let (time, of) = batch.moment_of(record);
            let since = time.saturating_sub(start.unwrap_or(time));
            if !filter.times.contains(&since) || !of_this(of) {
                continue;
            }
            let name = batch.name(record.name);
            if !words.is_empty() {
                let text = format!("{name} {}", record.data).to_lowercase();
                if !words.iter().all(|word| text.contains(word.as_str())) {
                    continue;
                }
            }
            if log.rows.len() < filter.most {
                log.rows.push((since as f64 * 1e-9, name.to_owned(), record.data.to_string()));
            } else {
                log.left_out += 1;
            }
        }
        Ok(())
    })?;
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::file;

    const TRACE: [&str; 4] = [
        r#"{"time":5,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7}}}"#,
        r#"{"time":6,"name":"quic:stream_state_updated","data":{"stream_id":4,"new":"Closed"}}"#,
        r#"{"time":7,"name":"quic:connection_closed","data":{"reason":"done"}}"#,
        r#"{"time":8,"category":"security","event":"key_updated","data":{"key_type":"client_1rtt_secret"}}"#,
    ];

    fn found(filter: &EventFilter<'_>) -> EventLog {
        read_events(file(&TRACE).as_slice(), &Options::default(), (0, ""), filter).unwrap()
    }

    const ALL: EventFilter<'_> = EventFilter { times: 0..i64::MAX, words: Vec::new(), packets: true, most: 9 };

    #[test]
    fn every_event_stands_there_with_its_data() {
        let all = found(&ALL);
        let names: Vec<&str> = all.rows.iter().map(|row| row.1.as_str()).collect();
        assert_eq!(
            names,
            ["quic:packet_sent", "quic:stream_state_updated", "quic:connection_closed", "security:key_updated"]
        );
        assert_eq!(all.rows[2], (0.002, "quic:connection_closed".to_owned(), r#"{"reason":"done"}"#.to_owned()));
        assert_eq!(found(&EventFilter { packets: false, ..ALL }).rows.len(), 3);
    }

    #[test]
    fn times_words_and_room_bound_what_is_listed() {
        assert_eq!(found(&EventFilter { times: 1_000_000..3_000_000, ..ALL }).rows.len(), 2);
        let closed = found(&EventFilter { words: vec!["STREAM", "closed"], ..ALL });
        assert_eq!(closed.rows.len(), 1);
        let few = found(&EventFilter { most: 1, ..ALL });
        assert_eq!((few.rows.len(), few.left_out), (1, 3));
        let long = format!(r#"{{"time":1,"name":"x:y","data":{{"text":"{}"}}}}"#, "ä".repeat(10_000));
        let log = read_events(file(&[&long]).as_slice(), &Options::default(), (0, ""), &ALL).unwrap();
        assert!(log.rows[0].2.len() <= 2048 && log.rows[0].2.ends_with('ä'), "{}", log.rows[0].2.len());
    }
}
