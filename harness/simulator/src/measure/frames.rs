//! Delays of the frames of a video, or of the objects of a media object sequence.

use std::collections::VecDeque;

use windlass_controllers::{Span, Time};

use super::Histogram;
use crate::outcome::{FrameOutcome, ObjectOutcome};
use crate::scenario::{Frames, Writes};

/// Measures each frame from when the application writes it until the receiver has its last byte and all before it, in its group if it is an object of one.
#[derive(Clone, Debug)]
pub struct FrameMeter {
    frames: Frames,
    /// Frames by their streams: one of all, or one for each group.
    streams: Vec<FrameStream>,
    /// Bytes of all streams before the last.
    before: u64,
    /// Bytes of the frames that were delivered.
    delivered_bytes: u64,
    /// When the first was written.
    began: Option<Time>,
    written: u64,
    bytes: u64,
    delays: Histogram,
    late: u64,
}

/// The frames of a stream.
#[derive(Clone, Debug, Default)]
struct FrameStream {
    /// Those the receiver does not have, oldest first: when each was written, and where in the stream it ends.
    missing: VecDeque<(Time, u64)>,
    /// Where the newest ends that it has.
    delivered: u64,
    /// The sender has reset the stream.
    dropped: bool,
}

impl FrameMeter {
    /// The meter of an application that `writes` frames; `None` if it writes none.
    #[must_use]
    pub fn new(writes: Option<Writes>) -> Option<FrameMeter> {
        let frames = writes?.frames?;
        let (streams, delays) = (Vec::new(), Histogram::new());
        Some(FrameMeter {
            frames,
            streams,
            before: 0,
            delivered_bytes: 0,
            began: None,
            written: 0,
            bytes: 0,
            delays,
            late: 0,
        })
    }

    /// The application has written a frame at `now`, and so many bytes in all.
    pub fn wrote(&mut self, now: Time, bytes: u64) {
        self.began.get_or_insert(now);
        let begins = self.frames.objects.is_some() && self.written.is_multiple_of(self.frames.key_every);
        if begins || self.streams.is_empty() {
            self.streams.push(FrameStream::default());
            self.before = self.bytes;
        }
        if let Some(stream) = self.streams.last_mut() {
            stream.missing.push_back((now, bytes - self.before));
        }
        self.written += 1;
        self.bytes = bytes;
    }

    /// The receiver has the first so many bytes at `now`.
    pub fn received(&mut self, now: Time, in_order: u64) {
        self.received_of_group(now, 0, in_order);
    }

    /// The receiver has the first so many bytes of a group at `now`.
    pub fn received_of_group(&mut self, now: Time, group: u64, in_order: u64) {
        let Some(stream) = self.streams.get_mut(group as usize) else { return };
        while let Some((written, end)) = stream.missing.front().copied().filter(|(_, end)| *end <= in_order) {
            stream.missing.pop_front();
            self.delivered_bytes += end - stream.delivered;
            stream.delivered = end;
            let delay = now.since(written);
            self.delays.add(delay.0);
            self.late += u64::from(delay > self.frames.late);
        }
    }

    /// The sender has reset the stream of a group.
    pub fn dropped(&mut self, group: u64) {
        if let Some(stream) = self.streams.get_mut(group as usize) {
            stream.dropped = true;
        }
    }

    /// Outcome of the frames that were written until `end`. One that did not arrive is late once it is as old, unless it was
    /// dropped.
    #[must_use]
    pub fn outcome(&self, end: Time) -> FrameOutcome {
        let Some(began) = self.began else { return FrameOutcome::default() };
        let streams = |dropped: bool| self.streams.iter().filter(move |stream| stream.dropped == dropped);
        let pending = streams(false).flat_map(|stream| &stream.missing);
        let old = pending.clone().filter(|(written, _)| end.since(*written) > self.frames.late).count() as u64;
        let pending = pending.count() as u64;
        let ms = |share| self.delays.quantile(share).map(|ns| ns / 1e6);
        let time = end.since(began);
        let mbps = |bytes: u64| (time > Span::ZERO).then(|| bytes as f64 * 8e3 / time.0 as f64);
        FrameOutcome {
            written: self.written,
            delivered: self.delays.totals().0,
            late: self.late + old,
            delay_median_ms: ms(0.5),
            delay_p95_ms: ms(0.95),
            delay_p99_ms: ms(0.99),
            encoded_mbps: self.frames.encoder.and_then(|_| mbps(self.bytes)),
            objects: self.frames.objects.map(|_| ObjectOutcome {
                groups: self.streams.len() as u64,
                groups_dropped: streams(true).count() as u64,
                dropped: streams(true).map(|stream| stream.missing.len() as u64).sum(),
                pending,
                goodput_mbps: mbps(self.delivered_bytes),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{GroupOrder, Objects};

    #[test]
    fn a_frame_is_late_when_it_came_late_or_did_not_come_in_time() {
        // 10 frames a second of 1000 bytes.
        let frames =
            Frames { key_every: 1, key_factor: 1.0, late: Span::from_millis(150), encoder: None, objects: None };
        let writes = Writes { frames: Some(frames), ..Writes::new(1000.0, Span::from_millis(100)) };
        let mut meter = FrameMeter::new(Some(writes)).unwrap();
        let at = |ms: u64| Time::from_micros(1000 * (7000 + ms));
        meter.wrote(at(0), 1000);
        meter.received(at(20), 999);
        meter.received(at(30), 1500);
        meter.wrote(at(100), 2000);
        meter.wrote(at(200), 3000);
        // The second has taken 160 ms, the third 60.
        meter.received(at(260), 3000);
        meter.wrote(at(300), 4000);
        meter.wrote(at(400), 5000);
        let outcome = meter.outcome(at(470));
        // The fourth is 170 ms old, the fifth 70.
        assert_eq!((outcome.written, outcome.delivered, outcome.late), (5, 3, 2));
        assert!((outcome.delay_median_ms.unwrap() - 60.0).abs() < 0.6);
        assert!((outcome.delay_p99_ms.unwrap() - 160.0).abs() < 1.3);
        assert_eq!(outcome.encoded_mbps, None, "its rate is what the scenario says");
        assert!(FrameMeter::new(Some(Writes::new(1.0, Span(1)))).is_none() && FrameMeter::new(None).is_none());
    }

    #[test]
    fn objects_are_delivered_by_group_and_those_of_a_reset_one_dropped() {
        // Groups of two objects of 1000 bytes.
        let objects = Some(Objects { order: GroupOrder::Descending, timeout: Some(Span::from_millis(300)) });
        let frames = Frames { key_every: 2, key_factor: 1.0, late: Span::from_millis(150), encoder: None, objects };
        let writes = Writes { frames: Some(frames), ..Writes::new(1000.0, Span::from_millis(100)) };
        let mut meter = FrameMeter::new(Some(writes)).unwrap();
        let at = |ms: u64| Time::from_micros(1000 * (7000 + ms));
        for number in 0..5 {
            meter.wrote(at(100 * number), 1000 * (number + 1));
        }
        // The newer group comes first; of the older one a part, which is in time.
        meter.received_of_group(at(310), 1, 2000);
        meter.received_of_group(at(320), 0, 1999);
        meter.dropped(0);
        let outcome = meter.outcome(at(400));
        // 110, 10 and 320 ms.
        assert_eq!((outcome.written, outcome.delivered, outcome.late), (5, 3, 1));
        assert!((outcome.delay_median_ms.unwrap() - 110.0).abs() < 1.0, "{outcome:?}");
        let goodput_mbps = Some(3000.0 * 8.0 / 400e3);
        let expected = ObjectOutcome { groups: 3, groups_dropped: 1, dropped: 1, pending: 1, goodput_mbps };
        assert_eq!(outcome.objects, Some(expected));
    }
}
