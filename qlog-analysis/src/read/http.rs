//! HTTP/3 frames.

use crate::json::{Cursor, Malformed};
use crate::model::{Batch, HttpField, HttpFrame, HttpFrameKind};

/// Header fields of one frame that are kept.
const FIELDS: usize = 256;

/// Reads the data of an event about an HTTP/3 frame; its place in the table, `None` if it is not part of
/// a request or response and no priority of one.
pub(super) fn frame(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<Option<u32>, Malformed> {
    let first = batch.fields.len();
    let (mut kind, mut stream, mut length) = (None, None, None);
    let (mut prioritized, mut push, mut priority) = (None, false, None);
    value.object(|key, value| {
        match key {
            b"stream_id" => stream = value.whole()?,
            b"length" | b"byte_length" => length = value.whole()?.or(length),
            b"raw" if value.peek() == Some(b'{') => length = length.or(raw_length(value)?),
            b"frame" if value.peek() == Some(b'{') => value.object(|key, value| {
                match key {
                    b"frame_type" => kind = kind_of(value.word()?.unwrap_or_default()),
                    b"headers" if value.peek() == Some(b'[') => headers(value, batch)?,
                    b"raw" if value.peek() == Some(b'{') => length = length.or(raw_length(value)?),
                    b"length" | b"byte_length" => length = length.or(value.whole()?),
                    // As drafts spell it, and as earlier ones did.
                    b"stream_id" | b"prioritized_element_id" => prioritized = value.whole()?,
                    b"target_stream_type" => push = value.word()? == Some(b"push"),
                    b"priority_field_value" => priority = value.string()?.map(|text| batch.names.add(&text)),
                    _ => value.skip()?,
                }
                Ok(())
            })?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    if let Some(HttpFrameKind::PriorityUpdate(_)) = kind {
        batch.fields.truncate(first);
        // One of a push is about no request.
        kind = prioritized.filter(|_| !push && priority.is_some()).map(HttpFrameKind::PriorityUpdate);
        let name = batch.names.add("priority");
        batch.fields.extend(priority.map(|value| HttpField { name, value }));
    }
    let (Some(kind), Some(stream)) = (kind, stream) else {
        batch.fields.truncate(first);
        return Ok(None);
    };
    let fields = (first as u32, (batch.fields.len() - first) as u32);
    batch.http.push(HttpFrame { kind, stream, length, fields });
    Ok(Some(batch.http.len() as u32 - 1))
}

fn kind_of(word: &[u8]) -> Option<HttpFrameKind> {
    match word {
        b"headers" => Some(HttpFrameKind::Headers),
        b"data" => Some(HttpFrameKind::Data),
        b"priority_update" => Some(HttpFrameKind::PriorityUpdate(0)),
        _ => None,
    }
}

/// The payload in `raw`.
fn raw_length(value: &mut Cursor<'_>) -> Result<Option<u64>, Malformed> {
    let (mut payload, mut whole) = (None, None);
    value.object(|key, value| {
        match key {
            b"payload_length" => payload = value.whole()?,
            b"length" => whole = value.whole()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(payload.or(whole))
}

fn headers(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<(), Malformed> {
    let first = batch.fields.len();
    value.array(|value| {
        if value.peek() != Some(b'{') {
            return value.skip();
        }
        let (mut name, mut text) = (None, None);
        value.object(|key, value| {
            match key {
                b"name" => name = value.string()?,
                b"value" => text = value.string()?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        if let Some(name) = name.filter(|_| batch.fields.len() - first < FIELDS) {
            let field = HttpField { name: batch.names.add(&name), value: batch.names.add(&text.unwrap_or_default()) };
            batch.fields.push(field);
        }
        Ok(())
    })
}
