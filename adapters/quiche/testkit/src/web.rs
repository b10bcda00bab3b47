//! HTTP requests for files, uploads, and their answers.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use boring::sha::Sha256;
use quiche::Connection;
use quiche::h3::{self, Header, NameValue};

use windlass_adapter_testkit::files;

/// Bytes read from a file at a time.
const CHUNK: usize = 65_536;

/// Request line of a client.
pub enum Request {
    /// GET or HEAD of a file.
    File {
        /// Its path, without the slash at the beginning.
        path: Vec<u8>,
        /// Whether only its headers are wanted.
        head: bool,
    },
    /// POST or PUT of a body.
    Upload,
}

impl Request {
    /// Reads the headers of a request.
    ///
    /// # Errors
    /// The status to refuse the request with.
    pub fn read(headers: &[Header]) -> Result<Request, u16> {
        let field = |name: &[u8]| headers.iter().find(|header| header.name() == name).map(NameValue::value);
        let path = field(b":path").and_then(|path| path.strip_prefix(b"/")).ok_or(400_u16)?;
        match field(b":method") {
            Some(method @ (b"GET" | b"HEAD")) => {
                let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
                let path = if path.is_empty() { b"index.html" } else { path };
                Ok(Request::File { path: decoded(path).ok_or(400_u16)?, head: method == b"HEAD" })
            }
            Some(b"POST" | b"PUT") => Ok(Request::Upload),
            _ => Err(405),
        }
    }
}

/// Undoes percent-encoding (`RFC 3986 §2.1`).
fn decoded(path: &[u8]) -> Option<Vec<u8>> {
    let mut rest = path.iter();
    let mut bytes = Vec::new();
    while let Some(&byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit = || char::from(*rest.next()?).to_digit(16);
            u8::try_from(16 * digit()? + digit()?).ok()?
        } else {
            byte
        });
    }
    Some(bytes)
}

/// A response under way, sent as flow control permits.
pub struct Answer {
    /// The headers, until they are sent.
    headers: Option<Vec<Header>>,
    /// Bytes that quiche had no room for yet.
    waiting: Vec<u8>,
    file: Option<File>,
}

impl Answer {
    fn new(status: u16, kind: &str, length: u64, waiting: Vec<u8>, file: Option<File>) -> Answer {
        let headers = vec![
            Header::new(b":status", status.to_string().as_bytes()),
            Header::new(b"server", b"windlass-quiche"),
            Header::new(b"content-type", kind.as_bytes()),
            Header::new(b"content-length", length.to_string().as_bytes()),
            // Each request is a measurement: none may come from the browser's cache.
            Header::new(b"cache-control", b"no-store"),
        ];
        Answer { headers: Some(headers), waiting, file }
    }

    /// The file `path` names inside `root`, or only its headers.
    #[must_use]
    pub fn file(root: &Path, path: &[u8], head: bool) -> Answer {
        let found = files::open(root, path);
        let sized = found.and_then(|file| Ok((file.metadata().map_err(|error| error.to_string())?.len(), file)));
        match sized {
            Ok((length, file)) => Answer::new(200, kind(path), length, Vec::new(), (!head).then_some(file)),
            Err(reason) => Answer::refusal(404, &reason),
        }
    }

    /// The answer to an upload: its length and SHA-256 as JSON.
    #[must_use]
    pub fn received(bytes: u64, hash: Sha256) -> Answer {
        let hash: String = hash.finish().iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("{{\"bytes\":{bytes},\"sha256\":\"{hash}\"}}\n");
        Answer::new(200, "application/json", text.len() as u64, text.into_bytes(), None)
    }

    /// An error status with its reason as text.
    #[must_use]
    pub fn refusal(status: u16, reason: &str) -> Answer {
        let text = format!("{reason}\n").into_bytes();
        Answer::new(status, "text/plain; charset=utf-8", text.len() as u64, text, None)
    }

    /// Its headers and its body, a text or a file, for programs that write them otherwise than
    /// [`write`](Self::write).
    #[must_use]
    pub fn into_parts(self) -> (Vec<Header>, Vec<u8>, Option<File>) {
        (self.headers.unwrap_or_default(), self.waiting, self.file)
    }

    /// Writes as much as quiche has room for; returns whether there is more.
    pub fn write(&mut self, http: &mut h3::Connection, connection: &mut Connection, stream: u64) -> bool {
        if let Some(headers) = &self.headers {
            match http.send_response(connection, stream, headers, false) {
                Ok(()) => self.headers = None,
                Err(h3::Error::StreamBlocked | h3::Error::Done) => return true,
                Err(_) => return false,
            }
        }
        loop {
            if self.waiting.is_empty()
                && let Some(file) = &mut self.file
            {
                self.waiting.resize(CHUNK, 0);
                match file.read(&mut self.waiting) {
                    Ok(read) => {
                        self.waiting.truncate(read);
                        if read == 0 {
                            self.file = None;
                        }
                    }
                    Err(_) => {
                        // A reset, so that the client does not take a part for the whole.
                        let _ = connection.stream_shutdown(stream, quiche::Shutdown::Write, 0x102);
                        return false;
                    }
                }
            }
            let end = self.file.is_none();
            match http.send_body(connection, stream, &self.waiting, end) {
                Ok(taken) => {
                    self.waiting.drain(..taken);
                    if self.waiting.is_empty() && end {
                        return false;
                    }
                }
                Err(h3::Error::StreamBlocked | h3::Error::Done) => return true,
                Err(_) => return false,
            }
        }
    }
}

/// The media type of a file, by the end of its name.
fn kind(path: &[u8]) -> &'static str {
    match path.rsplit(|byte| *byte == b'.').next() {
        Some(b"html") => "text/html; charset=utf-8",
        Some(b"js" | b"mjs") => "text/javascript",
        Some(b"css") => "text/css",
        Some(b"json") => "application/json",
        Some(b"svg") => "image/svg+xml",
        Some(b"txt" | b"md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
