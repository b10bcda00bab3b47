//! The HTTP/3 requests of a connection (`RFC 9114 §4.1`) and when each was sent, answered and over, in
//! bounded memory.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{Batch, Event, EventKind, HttpFrame, HttpFrameKind, Packet};
use crate::read::encoding::truncated;

/// Requests of a connection that are kept.
const MOST: usize = 4096;

/// Bytes of a method, authority, path or status that are kept, and of an updated priority.
const TEXT: usize = 512;
const PRIORITY: usize = 64;

/// Updates of the priority of one request that are kept, and requests not yet made of which some are.
const UPDATES: usize = 8;
const EARLY: usize = 64;

/// A request and its response. Times are seconds from the connection's first event.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RequestInfo {
    /// Its stream.
    pub stream: u64,
    /// `:method`; empty if not logged.
    pub method: String,
    /// `:authority`; empty if not logged.
    pub authority: String,
    /// `:path`; empty if not logged.
    pub path: String,
    /// `priority` (`RFC 9218 §5`); `None` if the request says none, or its header section is not logged.
    pub priority: Option<String>,
    /// `PRIORITY_UPDATE` frames (`RFC 9218 §7.2`): when each was sent or received, s, and the priority from then on.
    pub priority_updates: Vec<(f64, String)>,
    /// `:status` of the final response; `None` before it.
    pub status: Option<String>,
    /// When its header section was created, at a server parsed.
    pub start_s: f64,
    /// When the last of the request went out, at a server came in; `None` if not logged.
    pub sent_s: Option<f64>,
    /// When the final response's header section was parsed, at a server created.
    pub response_s: Option<f64>,
    /// When the last of the response came in, at a server went out; `None` before any of it.
    pub end_s: Option<f64>,
    /// Whether the response's end of stream was seen.
    pub complete: bool,
    /// Bytes of the request's `DATA` frames; `None` if there are none, or their lengths are not logged.
    pub request_bytes: Option<u64>,
    /// Bytes of the response's `DATA` frames; `None` if there are none, or their lengths are not logged.
    pub response_bytes: Option<u64>,
}

/// A request while it is followed; times of the trace's clock, ns.
#[derive(Clone, Debug)]
struct Request {
    info: RequestInfo,
    /// Whether this end made it.
    ours: bool,
    start: i64,
    sent: Option<i64>,
    response: Option<i64>,
    end: Option<i64>,
}

/// Collects the requests of one connection.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    rows: Vec<Request>,
    by_stream: BTreeMap<u64, usize>,
    /// Updates by the stream they are of, times of the trace's clock; some come before their request.
    updates: BTreeMap<u64, Vec<(i64, String)>>,
    most: usize,
    left_out: u64,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests { rows: Vec::new(), by_stream: BTreeMap::new(), updates: BTreeMap::new(), most: MOST, left_out: 0 }
    }

    /// Takes as much less memory as is fit for one of `followers`.
    pub(super) fn share_memory(&mut self, followers: usize) {
        self.most = (MOST / followers.max(1)).max(16);
    }

    pub(super) fn event(&mut self, batch: &Batch, event: &Event) {
        match event.kind {
            EventKind::HttpFrameCreated(index) => self.frame(event.time, true, batch, &batch.http[index as usize]),
            EventKind::HttpFrameParsed(index) => self.frame(event.time, false, batch, &batch.http[index as usize]),
            EventKind::PacketSent(index) => self.packet(event.time, true, batch, &batch.packets[index as usize]),
            EventKind::PacketReceived(index) => self.packet(event.time, false, batch, &batch.packets[index as usize]),
            _ => {}
        }
    }

    fn frame(&mut self, now: i64, created: bool, batch: &Batch, frame: &HttpFrame) {
        let field = |name: &str| {
            let found = batch.fields_of(frame).iter().find(|field| batch.name(field.name) == name);
            found.map(|field| truncated(batch.name(field.value), TEXT).to_owned())
        };
        if let HttpFrameKind::PriorityUpdate(stream) = frame.kind {
            self.prioritize(now, stream, field("priority").unwrap_or_default());
            return;
        }
        let Some(&index) = self.by_stream.get(&frame.stream) else {
            if let Some(method) = field(":method") {
                let texts = [method, field(":authority").unwrap_or_default(), field(":path").unwrap_or_default()];
                self.begin(now, created, frame.stream, texts, field("priority"));
            }
            return;
        };
        let request = &mut self.rows[index];
        let of_request = created == request.ours;
        let end = if of_request { &mut request.sent } else { &mut request.end };
        *end = (*end).max(Some(now));
        match frame.kind {
            HttpFrameKind::Headers if !of_request => {
                // What precedes the final response has a status of three digits that begins with 1.
                if let Some(status) = field(":status").filter(|status| !status.starts_with('1') || status.len() != 3)
                    && request.response.is_none()
                {
                    request.response = Some(now);
                    request.info.status = Some(status);
                }
            }
            HttpFrameKind::Headers | HttpFrameKind::PriorityUpdate(_) => {}
            HttpFrameKind::Data => {
                let info = &mut request.info;
                let bytes = if of_request { &mut info.request_bytes } else { &mut info.response_bytes };
                if let Some(length) = frame.length {
                    *bytes = Some(bytes.unwrap_or(0).saturating_add(length));
                }
            }
        }
    }

    fn prioritize(&mut self, now: i64, stream: u64, value: String) {
        let known = self.by_stream.contains_key(&stream) || self.updates.contains_key(&stream);
        if known || self.updates.len() < EARLY.min(self.most) + self.rows.len() {
            let updates = self.updates.entry(stream).or_default();
            if updates.len() < UPDATES {
                updates.push((now, truncated(&value, PRIORITY).to_owned()));
            }
        }
    }

    fn begin(
        &mut self,
        now: i64,
        ours: bool,
        stream: u64,
        [method, authority, path]: [String; 3],
        priority: Option<String>,
    ) {
        if self.rows.len() >= self.most {
            self.left_out += 1;
            return;
        }
        let info = RequestInfo {
            stream,
            method,
            authority,
            path,
            priority,
            priority_updates: Vec::new(),
            status: None,
            start_s: 0.0,
            sent_s: None,
            response_s: None,
            end_s: None,
            complete: false,
            request_bytes: None,
            response_bytes: None,
        };
        self.by_stream.insert(stream, self.rows.len());
        self.rows.push(Request { info, ours, start: now, sent: None, response: None, end: None });
    }

    /// Data of a request's stream, and its end.
    fn packet(&mut self, now: i64, sent: bool, batch: &Batch, packet: &Packet) {
        if self.rows.is_empty() {
            return;
        }
        for frame in batch.streams_of(packet) {
            let Some(&index) = self.by_stream.get(&frame.id) else { continue };
            let request = &mut self.rows[index];
            let of_request = sent == request.ours;
            let end = if of_request { &mut request.sent } else { &mut request.end };
            *end = (*end).max(Some(now));
            request.info.complete |= frame.fin && !of_request;
        }
    }

    /// The requests in the order they were made, times from `start`, and how many there was no room for.
    pub(super) fn finish(self, start: i64) -> (Vec<RequestInfo>, u64) {
        let seconds = |time: i64| time.saturating_sub(start) as f64 / 1e9;
        let mut updates = self.updates;
        let rows = self.rows.into_iter().map(|Request { info, start, sent, response, end, .. }| RequestInfo {
            priority_updates: updates
                .remove(&info.stream)
                .unwrap_or_default()
                .into_iter()
                .map(|(time, value)| (seconds(time), value))
                .collect(),
            start_s: seconds(start),
            sent_s: sent.map(seconds),
            response_s: response.map(seconds),
            end_s: end.map(seconds),
            ..info
        });
        (rows.collect(), self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::file;
    use crate::read::Options;
    use crate::series::{ConnectionSeries, read_series};

    fn series(records: &[&str]) -> ConnectionSeries {
        let (_, mut found) = read_series(file(records).as_slice(), &Options::default(), 100).unwrap();
        found.remove(0)
    }

    fn batch_of(records: &[String]) -> Batch {
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let mut found = Batch::default();
        crate::read::read(file(&records).as_slice(), &Options::default(), &mut |_, batch| {
            found = batch;
            Ok(())
        })
        .unwrap();
        found
    }

    const REQUEST: &str = r#"{"time":5,"name":"http3:frame_created","data":{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a"},{"name":"priority","value":"u=1, i"}]}}}"#;

    fn packet(time: u32, event: &str, length: u32, fin: bool) -> String {
        format!(
            r#"{{"time":{time},"name":"quic:{event}","data":{{"header":{{"packet_type":"1RTT","packet_number":{time}}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":0,"length":{length},"fin":{fin}}}]}}}}"#
        )
    }

    fn response(time: u32, status: &str) -> String {
        format!(
            r#"{{"time":{time},"name":"h3:frame_parsed","data":{{"stream_id":0,"frame":{{"frame_type":"headers","headers":[{{"name":":status","value":"{status}"}}]}}}}}}"#
        )
    }

    #[test]
    fn a_request_is_sent_answered_and_over() {
        let data = |time: u32, bytes: u32| {
            format!(
                r#"{{"time":{time},"name":"http:frame_parsed","data":{{"stream_id":"0","byte_length":"{bytes}","frame":{{"frame_type":"data"}}}}}}"#
            )
        };
        let records = [
            r#"{"time":2,"name":"x:y","data":{}}"#.to_owned(),
            REQUEST.to_owned(),
            packet(6, "packet_sent", 40, true),
            packet(30, "packet_received", 100, false),
            response(31, "103"),
            response(40, "200"),
            data(41, 700),
            data(44, 50),
            packet(60, "packet_received", 650, true),
        ];
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let series = series(&records);
        let [request] = &series.requests[..] else { panic!("{:?}", series.requests) };
        assert_eq!((request.method.as_str(), request.path.as_str(), request.authority.as_str()), ("GET", "/a", ""));
        assert_eq!((request.status.as_deref(), request.complete), (Some("200"), true));
        assert_eq!(request.priority.as_deref(), Some("u=1, i"));
        assert_eq!((request.start_s, request.sent_s, request.response_s), (0.003, Some(0.004), Some(0.038)));
        assert_eq!((request.end_s, request.request_bytes, request.response_bytes), (Some(0.058), None, Some(750)));
    }

    #[test]
    fn a_server_parses_requests_and_creates_responses() {
        let turned: Vec<String> = [REQUEST, &response(9, "404")]
            .map(|record| {
                if record.contains("parsed") {
                    record.replace("parsed", "created")
                } else {
                    record.replace("created", "parsed")
                }
            })
            .to_vec();
        let records = [turned[0].clone(), turned[1].clone(), packet(10, "packet_sent", 10, true)];
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let [request] = &series(&records).requests[..] else { panic!() };
        assert_eq!(
            (request.status.as_deref(), request.response_s, request.end_s),
            (Some("404"), Some(0.004), Some(0.005))
        );
        assert!(request.complete && request.sent_s.is_none());
    }

    #[test]
    fn priorities_are_updated_before_the_request_and_after() {
        let update = |time: u32, of: &str, value: &str| {
            format!(
                r#"{{"time":{time},"name":"http3:frame_created","data":{{"stream_id":2,"frame":{{"frame_type":"priority_update",{of},"priority_field_value":"{value}"}}}}}}"#
            )
        };
        let records = [
            update(2, r#""stream_id":0"#, "u=5"),
            REQUEST.to_owned(),
            // As earlier drafts have it; a push of that number is another thing.
            update(30, r#""target_stream_type":"request","prioritized_element_id":0"#, "u=0, i"),
            update(31, r#""target_stream_type":"push","prioritized_element_id":0"#, "u=6"),
            update(32, r#""push_id":0"#, "u=7"),
        ];
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let series = series(&records);
        let [request] = &series.requests[..] else { panic!("{:?}", series.requests) };
        assert_eq!(request.priority_updates, [(0.0, "u=5".to_owned()), (0.028, "u=0, i".to_owned())]);
        assert_eq!(request.priority.as_deref(), Some("u=1, i"));
        let many: Vec<String> = (0..1000).map(|i| update(i, &format!("\"stream_id\":{}", i / 2), "u=1")).collect();
        let mut requests = Requests::new();
        let batch = batch_of(&many);
        batch.events.iter().for_each(|event| requests.event(&batch, event));
        assert_eq!(requests.updates.len(), EARLY, "of requests that are not made");
    }

    #[test]
    fn only_so_many_requests_are_kept_and_the_others_counted() {
        let request = |stream: usize| REQUEST.replace("\"stream_id\":0", &format!("\"stream_id\":{stream}"));
        let records: Vec<String> = (0..MOST + 3).map(|i| request(4 * i)).collect();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let series = series(&records);
        assert_eq!((series.requests.len(), series.requests_left_out), (MOST, 3));
    }
}
