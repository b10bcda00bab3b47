//! A server of three documents on the loopback interface: a page, what is new since a version, and events of a trace.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::events::{Asked, found};
use crate::report::live::LiveTrace;

/// Bytes of a request that are read.
const REQUEST: u64 = 1 << 14;

/// How long a browser may take for a request or an answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests answered at the same time; further ones are turned away.
const AT_ONCE: usize = 16;

/// What the page gets.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Rises with every change.
    pub(super) version: u64,
    pub(super) traces: Vec<LiveTrace>,
    /// What is waited for while there is no trace.
    pub(super) waiting: Option<String>,
}

/// The answer to `state?after=VERSION`.
#[derive(Serialize)]
struct Answer<'a> {
    windlass: &'static str,
    version: u64,
    waiting: Option<&'a str>,
    /// The ids of all traces there are.
    present: Vec<usize>,
    traces: Vec<&'a LiveTrace>,
}

impl State {
    /// What is new after `version`, as JSON.
    fn after(&self, version: u64) -> String {
        let answer = Answer {
            windlass: env!("CARGO_PKG_VERSION"),
            version: self.version,
            waiting: self.waiting.as_deref(),
            present: self.traces.iter().map(|trace| trace.id).collect(),
            traces: self.traces.iter().filter(|trace| trace.version > version).collect(),
        };
        // Texts and finite numbers only: this cannot fail.
        serde_json::to_string(&answer).unwrap_or_default()
    }
}

/// Answers requests for `page` and for `state` on a port of the loopback interface, any free one
/// if it is 0, until the process ends. Where it can be reached.
pub(super) fn serve(port: u16, page: String, state: Arc<Mutex<State>>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let address = listener.local_addr()?;
    let page: Arc<str> = page.into();
    thread::Builder::new().name("watch".to_owned()).spawn(move || {
        let busy = Arc::new(());
        for stream in listener.incoming().flatten() {
            if Arc::strong_count(&busy) > AT_ONCE {
                continue;
            }
            let (page, state, busy) = (Arc::clone(&page), Arc::clone(&state), Arc::clone(&busy));
            // A request that finds no thread is not answered; the browser asks again.
            let _ = thread::Builder::new().spawn(move || {
                let _ = answer(stream, address, &page, &state);
                drop(busy);
            });
        }
    })?;
    Ok(address)
}

fn answer(mut stream: TcpStream, address: SocketAddr, page: &str, state: &Mutex<State>) -> io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut reader = BufReader::new((&stream).take(REQUEST));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut host = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = Some(value.trim().to_owned());
        }
    }
    let (status, kind, body) = match request(&first, host.as_deref(), address.port()) {
        Ok(Wanted::Page) => ("200 OK", "text/html; charset=utf-8", page.to_owned()),
        Ok(Wanted::State(version)) => {
            let state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            ("200 OK", "application/json", state.after(version))
        }
        Ok(Wanted::Events(asked)) => {
            let state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let of = state.traces.iter().find(|trace| trace.id == asked.trace);
            let of = of.map(|trace| (trace.at.clone(), trace.about.trace, trace.about.group.clone()));
            drop(state);
            match of.map(|(at, trace, group)| found(&asked, &at, (trace, &group))) {
                Some(Ok(json)) => ("200 OK", "application/json", json),
                Some(Err(error)) => ("500 Internal Server Error", "text/plain; charset=utf-8", error.to_string()),
                None => ("404 Not Found", "text/plain; charset=utf-8", "no such trace".to_owned()),
            }
        }
        Err(status) => (status, "text/plain; charset=utf-8", format!("{status}\n")),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body.as_bytes())
}

/// Resource a request asks for.
#[derive(Clone, PartialEq, Debug)]
enum Wanted {
    Page,
    /// Changes after this version.
    State(u64),
    Events(Asked),
}

/// What the first line of a request wants, or the status that refuses it. A `Host` that is not
/// this machine's comes from a page of a stranger, whose name leads here.
fn request(first: &str, host: Option<&str>, port: u16) -> Result<Wanted, &'static str> {
    let mut words = first.split_whitespace();
    let (Some(method), Some(target), Some(protocol)) = (words.next(), words.next(), words.next()) else {
        return Err("400 Bad Request");
    };
    if !protocol.starts_with("HTTP/1.") {
        return Err("400 Bad Request");
    }
    let ours = |host: &str| [format!("127.0.0.1:{port}"), format!("localhost:{port}")].iter().any(|own| own == host);
    if !host.is_some_and(ours) {
        return Err("403 Forbidden");
    }
    if method != "GET" {
        return Err("405 Method Not Allowed");
    }
    match target.split_once('?').unwrap_or((target, "")) {
        ("/", _) => Ok(Wanted::Page),
        ("/state", query) => {
            let version = query.strip_prefix("after=").and_then(|version| version.parse().ok());
            version.map(Wanted::State).ok_or("400 Bad Request")
        }
        ("/events", query) => Asked::read(query).map(Wanted::Events).ok_or("400 Bad Request"),
        _ => Err("404 Not Found"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_pages_are_answered() {
        let host = Some("127.0.0.1:80");
        assert_eq!(request("GET / HTTP/1.1\r\n", host, 80), Ok(Wanted::Page));
        assert_eq!(request("GET /state?after=7 HTTP/1.1\r\n", Some("localhost:80"), 80), Ok(Wanted::State(7)));
        assert_eq!(request("GET / HTTP/1.1\r\n", Some("example.org"), 80), Err("403 Forbidden"));
        assert_eq!(request("GET / HTTP/1.1\r\n", None, 80), Err("403 Forbidden"));
        assert_eq!(request("POST / HTTP/1.1\r\n", host, 80), Err("405 Method Not Allowed"));
        assert_eq!(request("GET /../secret HTTP/1.1\r\n", host, 80), Err("404 Not Found"));
        assert_eq!(request("GET /state?after=x HTTP/1.1\r\n", host, 80), Err("400 Bad Request"));
        assert_eq!(request("GET /events?trace=x HTTP/1.1\r\n", host, 80), Err("400 Bad Request"));
        assert_eq!(request("\r\n", host, 80), Err("400 Bad Request"));
    }

    #[test]
    fn the_state_tells_what_is_new() {
        let trace = "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\"trace\":{\"title\":\"</script>\"}}\n\
            \x1e{\"time\":0,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"congestion_window\":12000}}\n";
        let options = windlass_qlog_analysis::read::Options::default();
        let (_, series) = windlass_qlog_analysis::series::read_series(trace.as_bytes(), &options, 100).unwrap();
        let one = |id: usize, version| {
            LiveTrace::new((id, version), format!("t{id}"), ("a.sqlog", "a.sqlog".as_ref()), &series[0], 0)
        };
        let state = State { version: 5, traces: vec![one(0, 3), one(1, 5)], waiting: None };
        let answer: serde_json::Value = serde_json::from_str(&state.after(3)).unwrap();
        assert_eq!(answer["present"], serde_json::json!([0, 1]));
        assert_eq!((&answer["version"], answer["traces"].as_array().unwrap().len()), (&5.into(), 1));
        assert_eq!(answer["traces"][0]["about"]["name"], "t1");
        assert_eq!(answer["traces"][0]["about"]["lines"][0]["name"], "congestion_window");
    }
}
