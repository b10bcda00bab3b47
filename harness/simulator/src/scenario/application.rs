//! What the application of a flow writes, or the video that its receiver asks for in chunks, as clients of HTTP adaptive
//! streaming do; and their keys in a scenario file.

use std::ops::Range;

use super::fields::{MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, rate_bounds, within};

use windlass_controllers::Span;

/// The keys of [`FlowSpec::writes`](super::FlowSpec::writes), as messages name them.
pub const WRITES: &str = "application_mbps or burst_bytes";

/// The key of a flow whose application writes a video.
pub const FRAMES: &str = "frames_per_s";

/// The key of a flow whose application writes a media object sequence.
pub const OBJECTS: &str = "group_order";

/// An application that writes so much now and again, and at first when it begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Writes {
    /// Mean bytes of a write.
    pub bytes: f64,
    /// Time from one to the next.
    pub every: Span,
    /// How long it writes and how long it does not, in turn; `None` if it always writes.
    pub pauses: Option<(Span, Span)>,
    /// Each write is a frame of a video; `None` if it is not.
    pub frames: Option<Frames>,
}

/// The frames of a video.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Frames {
    /// The first of so many is a key frame.
    pub key_every: u64,
    /// So many times as large as the others.
    pub key_factor: f64,
    /// A frame that takes longer to arrive is late.
    pub late: Span,
    /// What its rate follows; `None` if it stays.
    pub encoder: Option<Encoder>,
    /// How groups of frames are delivered; `None` if all frames go on one stream.
    pub objects: Option<Objects>,
}

/// A media object sequence, as a track of Media over QUIC (draft-ietf-moq-transport): frames are objects, the
/// [`key_every`](Frames::key_every) ones from a key frame on are a group, and each group has a stream of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Objects {
    /// Which group goes first where several have something to send.
    pub order: GroupOrder,
    /// `DELIVERY_TIMEOUT`: how long after an object is produced its group's stream is reset unless all of it is acknowledged.
    /// Nothing of that group is sent any more then, what is produced later included. `None` if nothing is dropped.
    pub timeout: Option<Span>,
}

/// Order in which groups are sent (`GROUP_ORDER` of draft-ietf-moq-transport).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupOrder {
    /// The oldest first.
    Ascending,
    /// The newest first.
    Descending,
}

/// An encoder that follows the estimated send rate, from the lowest rate it has up to that of [`Writes::bytes`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Encoder {
    /// The lowest rate, with which it begins, as a share of the highest.
    pub least: f64,
    /// What of the estimate it takes for itself, 0 to 1; the rest is for headers, repetitions, and for queues to drain.
    pub share: f64,
    /// Age of the estimate that a frame is made by.
    pub lag: Span,
}

impl Writes {
    /// Time between two writes of an application with a rate.
    const OFTEN: Span = Span::from_millis(10);

    /// So many bytes each time.
    #[must_use]
    pub fn new(bytes: f64, every: Span) -> Writes {
        Writes { bytes, every, pauses: None, frames: None }
    }

    /// Of an application with a rate of `mbps`, Mbit/s.
    #[must_use]
    pub fn at_rate(mbps: f64) -> Writes {
        Writes::every(mbps, Writes::OFTEN)
    }

    /// The same, `every` so often.
    #[must_use]
    pub fn every(mbps: f64, every: Span) -> Writes {
        Writes::new(mbps * 1e6 * every.secs() / 8.0, every)
    }

    /// Bytes that `count` writes make at the highest rate.
    #[must_use]
    pub fn total(&self, count: u64) -> u64 {
        (self.bytes * self.weight(count)) as u64
    }

    /// How many writes of the mean size `count` writes are.
    fn weight(&self, count: u64) -> f64 {
        let Some(Frames { key_every, key_factor, .. }) = self.frames else { return count as f64 };
        // Between two key frames as many bytes as without any.
        let other = key_every as f64 / (key_every as f64 - 1.0 + key_factor);
        other * (count as f64 + (key_factor - 1.0) * count.div_ceil(key_every) as f64)
    }

    /// Bytes of write `number`, counted from 0, by an encoder at `bits_per_s`.
    #[must_use]
    pub fn encoded(&self, number: u64, bits_per_s: f64) -> u64 {
        (bits_per_s * self.every.secs() / 8.0 * (self.weight(number + 1) - self.weight(number))) as u64
    }

    /// The highest rate, bit/s.
    #[must_use]
    pub fn bits_per_s(&self) -> f64 {
        self.bytes * 8.0 / self.every.secs()
    }

    /// Bytes of the smallest write.
    #[must_use]
    pub fn least(&self) -> u64 {
        // The second frame is none of the key ones, unless all are.
        let number = self.frames.map_or(0, |frames| frames.key_every.min(2) - 1);
        match self.frames.and_then(|frames| frames.encoder) {
            Some(encoder) => self.encoded(number, encoder.least * self.bits_per_s()),
            None => self.total(number + 1) - self.total(number),
        }
    }

    /// When write `number` comes, counted from 0, after the first one.
    #[must_use]
    pub fn at(&self, number: u64) -> Span {
        let Some((on, off)) = self.pauses else { return Span(number.saturating_mul(self.every.0)) };
        let (round, write) = (number / self.in_a_row(on), number % self.in_a_row(on));
        Span(round.saturating_mul(on.0 + off.0).saturating_add(write * self.every.0))
    }

    /// Writes until so long after the first one, which counts.
    #[must_use]
    pub fn count(&self, since: Span) -> u64 {
        let Some((on, off)) = self.pauses else { return since.0 / self.every.0 + 1 };
        let (round, rest) = (since.0 / (on.0 + off.0), since.0 % (on.0 + off.0));
        round * self.in_a_row(on) + (rest / self.every.0 + 1).min(self.in_a_row(on))
    }

    /// Writes between two pauses.
    fn in_a_row(&self, on: Span) -> u64 {
        on.0.div_ceil(self.every.0).max(1)
    }
}

/// How the application of a flow writes.
pub(super) fn writes(section: &Section<'_>) -> Option<Writes> {
    let rate = section.number("application_mbps", rate_bounds());
    let bytes = section.whole("burst_bytes", 1, 1 << 50, "bytes");
    let every = section.number("burst_every_s", above_zero(MAX_TIME, "s"));
    let name = &section.name;
    if let (Some(found), Some(_)) = (&rate, bytes.as_ref().map(|_| ()).or(every.as_ref().map(|_| ()))) {
        let message = format!("{name} has application_mbps and bursts");
        section.problem(&found.span, "one or the other", message, Some("leave out one of them".to_owned()));
    }
    let mut writes = match (bytes, every) {
        (Some(bytes), Some(every)) => Some(Writes::new(bytes.value as f64, Span(at_s(every.value).0.max(1)))),
        (Some(found), None) => {
            let message = format!("{name} has burst_bytes, but not how often they come");
            section.problem(&found.span, "how often?", message, Some("add burst_every_s".to_owned()));
            None
        }
        (None, Some(found)) => {
            let message = format!("{name} has burst_every_s, but not how much a burst is");
            section.problem(&found.span, "how much?", message, Some("add burst_bytes".to_owned()));
            None
        }
        (None, None) => rate.as_ref().map(|found| Writes::at_rate(found.value)),
    };
    let time = |key| section.number(key, above_zero(MAX_TIME, "s"));
    let (on, off) = (time("on_s"), time("off_s"));
    match (&on, &off, &rate) {
        (Some(on), Some(off), Some(_)) => {
            let pauses = (Span(at_s(on.value).0.max(1)), Span(at_s(off.value).0));
            writes = writes.map(|writes| Writes { pauses: Some(pauses), ..writes });
        }
        (Some(on), None, _) => needs(section, &on.span, "on_s", "off_s"),
        (None, Some(off), _) => needs(section, &off.span, "off_s", "on_s"),
        (Some(on), Some(_), None) => needs(section, &on.span, "on_s", "application_mbps"),
        (None, None, _) => {}
    }
    let fps = section.number("frames_per_s", within(0.1, 1000.0, "frames/s"));
    let frames = frames(section, fps.is_some(), rate.as_ref().map(|found| found.value));
    match (fps, rate) {
        (Some(fps), Some(rate)) => {
            let every = Span((1e9 / fps.value).round() as u64);
            writes.map(|writes| Writes { frames, pauses: writes.pauses, ..Writes::every(rate.value, every) })
        }
        (Some(fps), None) => {
            needs(section, &fps.span, "frames_per_s", "application_mbps");
            writes
        }
        (None, _) => writes,
    }
}

/// Adds that `key`, at `found`, says nothing without `other`.
fn needs(section: &Section<'_>, found: &Range<usize>, key: &str, other: &str) {
    let message = format!("{} has {key}, but no {other}", section.name);
    section.problem(found, "of what?", message, Some(format!("add {other}")));
}

/// What its frames are, of which there are some if `given`, at `most` Mbit/s.
fn frames(section: &Section<'_>, given: bool, most: Option<f64>) -> Option<Frames> {
    let key_every = section.whole("key_frame_every", 1, 1_000_000, "frames");
    let key_factor = section.number("key_frame_factor", within(1.0, 1000.0, ""));
    let late = section.number("frame_late_ms", above_zero(MAX_DELAY, "ms"));
    let least = section.number("encoder_least_mbps", rate_bounds());
    let share = section.number("encoder_share", above_zero(1.0, ""));
    let lag = section.number("encoder_lag_ms", within(0.0, MAX_DELAY, "ms"));
    let objects = objects(section, given && key_every.is_none());
    if let (Some(found), None) = (&key_factor, &key_every) {
        needs(section, &found.span, "key_frame_factor", "key_frame_every");
    }
    for (key, found) in [("encoder_share", &share), ("encoder_lag_ms", &lag)] {
        if let (Some(found), None) = (found, &least) {
            needs(section, &found.span, key, "encoder_least_mbps");
        }
    }
    if let (Some(found), Some(most)) =
        (&least, most.filter(|most| least.as_ref().is_some_and(|least| least.value > *most)))
    {
        let message =
            format!("{} has an encoder from {} Mbit/s on, but application_mbps is {most}", section.name, found.value);
        section.problem(&found.span, "more than the most", message, Some(format!("make it {most} or less")));
    }
    if !given {
        let spans = [
            ("key_frame_every", key_every.map(|found| found.span)),
            ("frame_late_ms", late.map(|found| found.span)),
            ("encoder_least_mbps", least.map(|found| found.span)),
        ];
        for (key, span) in spans {
            if let Some(span) = span {
                needs(section, &span, key, "frames_per_s");
            }
        }
        if objects.is_some() {
            section.lacks(format!("{} has {OBJECTS}, but no {FRAMES}", section.name), Some(format!("add {FRAMES}")));
        }
        return None;
    }
    let encoder = least.zip(most).map(|(least, most)| Encoder {
        least: least.value / most,
        share: share.map_or(ENCODER_SHARE, |found| found.value),
        lag: lag.map_or(ENCODER_LAG, |found| ms(found.value)),
    });
    Some(Frames {
        key_factor: key_factor.map_or(if key_every.is_some() { KEY_FACTOR } else { 1.0 }, |found| found.value),
        key_every: key_every.map_or(1, |found| found.value),
        late: late.map_or(LATE, |found| ms(found.value)),
        encoder,
        objects,
    })
}

/// How groups of objects are delivered, whose length is to be given if `has_no_length`.
fn objects(section: &Section<'_>, has_no_length: bool) -> Option<Objects> {
    let order = section.has(OBJECTS).then(|| section.word(OBJECTS, &["ascending", "descending"]));
    let timeout = section.number("delivery_timeout_ms", above_zero(MAX_DELAY, "ms"));
    let Some(order) = order else {
        if let Some(found) = timeout {
            needs(section, &found.span, "delivery_timeout_ms", OBJECTS);
        }
        return None;
    };
    if has_no_length {
        let message = format!("{} has {OBJECTS}, but no key_frame_every", section.name);
        section.lacks(message, Some("add key_frame_every, the objects of a group".to_owned()));
    }
    for key in ["transfer_bytes", "requests", "arrivals"] {
        if section.has(key) {
            let message = format!("{} has {OBJECTS} and {key}, but each of its groups has a stream", section.name);
            section.lacks(message, Some(format!("leave out {key}, or {OBJECTS}")));
        }
    }
    Some(Objects {
        order: if order == "descending" { GroupOrder::Descending } else { GroupOrder::Ascending },
        timeout: timeout.map(|found| ms(found.value)),
    })
}

/// A delay that most applications do not suffer from (ITU-T G.114).
const LATE: Span = Span::from_millis(150);
/// A key frame's size beside that of the others, as video encoders' defaults have it, roughly.
const KEY_FACTOR: f64 = 5.0;
/// What an encoder takes of the estimate, and how old that is, unless the file says so.
const ENCODER_SHARE: f64 = 0.85;
const ENCODER_LAG: Span = Span::from_millis(200);

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
