//! HTTP/3 frames of a trace (`draft-ietf-quic-qlog-h3-events`).

use std::fmt::Write;

use windlass_qlog::MAX_SAFE_INTEGER;

use super::{Batch, Name, part};

/// The HTTP/3 frames that make up requests and responses (`RFC 9114 §4.1`), and those that change their priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpFrameKind {
    /// `HEADERS`.
    Headers,
    /// `DATA`.
    Data,
    /// `PRIORITY_UPDATE` of the request on this stream (`RFC 9218 §7.2`); its only field is `priority`.
    PriorityUpdate(u64),
}

impl HttpFrameKind {
    /// The frame type, as qlog spells it.
    #[must_use]
    pub const fn frame_type(self) -> &'static str {
        match self {
            HttpFrameKind::Headers => "headers",
            HttpFrameKind::Data => "data",
            HttpFrameKind::PriorityUpdate(_) => "priority_update",
        }
    }
}

/// An HTTP/3 frame that was created or parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpFrame {
    /// Its type.
    pub kind: HttpFrameKind,
    /// The stream it is on.
    pub stream: u64,
    /// Bytes of its payload; `None` if not logged.
    pub length: Option<u64>,
    /// Its header fields, a part of [`Batch::fields`]: first and number.
    pub fields: (u32, u32),
}

/// A field of a header section, names of pseudo-headers with their colon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpField {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Name,
}

impl Batch {
    /// The header fields of a frame.
    #[must_use]
    pub fn fields_of(&self, frame: &HttpFrame) -> &[HttpField] {
        part(&self.fields, frame.fields)
    }

    /// The frame as the data of a qlog event, JSON.
    #[must_use]
    pub fn http_frame_json(&self, frame: &HttpFrame) -> String {
        let text = |name: Name| serde_json::Value::from(self.name(name)).to_string();
        let number = |number: u64| {
            if number > MAX_SAFE_INTEGER { format!("\"{number}\"") } else { number.to_string() }
        };
        let mut json = format!("{{\"stream_id\":{}", number(frame.stream));
        // Writing to a text does not fail.
        if let Some(length) = frame.length {
            let _ = write!(json, ",\"length\":{}", number(length));
        }
        let _ = write!(json, ",\"frame\":{{\"frame_type\":\"{}\"", frame.kind.frame_type());
        let fields = self.fields_of(frame);
        match frame.kind {
            HttpFrameKind::Headers => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|field| format!("{{\"name\":{},\"value\":{}}}", text(field.name), text(field.value)))
                    .collect();
                let _ = write!(json, ",\"headers\":[{}]", fields.join(","));
            }
            HttpFrameKind::PriorityUpdate(stream) => {
                let value = fields.first().map_or_else(|| "\"\"".to_owned(), |field| text(field.value));
                let _ = write!(json, ",\"stream_id\":{},\"priority_field_value\":{value}", number(stream));
            }
            HttpFrameKind::Data => {}
        }
        json.push_str("}}");
        json
    }
}
