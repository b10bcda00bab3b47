//! A video in chunks, as clients of HTTP adaptive streaming fetch it, and its keys in a scenario file.

use windlass_controllers::Span;

use super::fields::{MAX_TIME, Section, above_zero, at_s, rate_bounds};

/// The key of [`FlowSpec::video`](super::FlowSpec::video).
pub const VIDEO: &str = "video";

/// A video of which the receiver asks for a chunk at a time, in one of several rates, while it plays those before.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    /// Playing time of a chunk.
    pub chunk: Span,
    /// Rates to choose from, bit/s, ascending; at least one.
    pub rates: Vec<f64>,
    /// Playing time of what the receiver keeps at most, a chunk at least.
    pub buffer: Span,
}

impl Video {
    /// Bytes of a chunk in rate `number`.
    #[must_use]
    pub fn bytes(&self, number: usize) -> u64 {
        ((self.rates[number] * self.chunk.secs() / 8.0) as u64).max(1)
    }

    /// Reads the one of a flow, with packets of `packet_bytes`.
    pub(super) fn read(section: &Section<'_>, packet_bytes: u32) -> Option<Video> {
        let table = section.table(VIDEO, &format!("video of {}", section.name))?;
        let chunk = table.required_number("chunk_s", above_zero(MAX_TIME, "s"));
        let rates = table.ascending_numbers("rates_mbps", rate_bounds());
        let buffer = table.required_number("buffer_s", above_zero(MAX_TIME, "s"));
        table.finish();
        for key in ["transfer_bytes", "requests", "application_mbps", "burst_bytes", "vanishes_s"] {
            if section.has(key) {
                let message = format!("{} has a video and {key}, but its receiver says what is sent", section.name);
                section.lacks(message, Some(format!("leave out {key}, or video")));
            }
        }
        let (chunk, rates, buffer) = (chunk?, rates?, buffer?);
        if rates.value.is_empty() {
            table.problem(
                &rates.span,
                "none",
                format!("{} has no rates", table.name),
                Some("add one, Mbit/s".to_owned()),
            );
            return None;
        }
        if buffer.value < chunk.value {
            let message = format!("{}: its buffer has {} s, less than a chunk", table.name, buffer.value);
            table.problem(&buffer.span, "no chunk fits", message, Some(format!("make it {} or more", chunk.value)));
        }
        let span = |seconds: f64| Span(at_s(seconds).0.max(1));
        let rates_mbps = rates.value.iter().map(|mbps| mbps * 1e6).collect();
        let video = Video { chunk: span(chunk.value), rates: rates_mbps, buffer: span(buffer.value) };
        let least = video.bytes(0);
        if least < u64::from(packet_bytes) {
            let message = format!("{}: its smallest chunk has {least} bytes, less than a packet", table.name);
            table.problem(&rates.span, "too small", message, Some("raise chunk_s or the lowest rate".to_owned()));
        }
        Some(video)
    }
}
