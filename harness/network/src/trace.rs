//! Recorded capacity: the instants at which a link may send, in the format of Mahimahi's link traces.
//!
//! A line is a time in whole milliseconds at which so many bytes may leave, 1500 in a recording; a line that is repeated is
//! another opportunity in the same millisecond. After the last line the trace begins again, its last time being its
//! length. What an opportunity has and nothing waits for is gone; a packet that it does not carry to its end goes on
//! with the next (Netravali et al., *Mahimahi: Accurate Record-and-Replay for HTTP*, USENIX ATC 2015, §3.2).

use std::fmt;
use std::sync::Arc;

use windlass_controllers::Span;

use super::discipline::Gate;
use super::out_of_range::{OutOfRange, check};

/// Opportunities that a trace may have at most.
const MOST: usize = 1 << 24;

const MS: u64 = 1_000_000;

/// When a link may send, and how much. Copies share the instants.
#[derive(Clone, PartialEq)]
pub struct Trace {
    /// Milliseconds since the start of the recording, ascending.
    at: Arc<[u32]>,
    /// Bytes that may leave at each of them.
    pub bytes: u32,
    /// Whether it begins again after its end; otherwise nothing leaves then.
    pub repeat: bool,
    /// Time of the recording at which a run begins.
    pub offset: Span,
}

/// Why a text is no trace.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is no time.
    #[error("line {line} is {text:?}; expected a time in whole milliseconds, up to {}", u32::MAX)]
    NoTime {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// A line goes back in time.
    #[error("line {line} is {at} ms, before the {before} ms of the line before it; expected times that do not descend")]
    Descends {
        /// Its number, from 1.
        line: usize,
        /// Its time, ms.
        at: u32,
        /// That of the line before it, ms.
        before: u32,
    },
    /// It has no length.
    #[error("it ends at 0 ms; expected a last line of 1 ms or more, which is the trace's length")]
    NoLength,
    /// It has too many lines.
    #[error("it has more than {MOST} lines")]
    TooLong,
}

impl fmt::Debug for TraceError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("opportunities", &self.at.len())
            .field("length", &self.length())
            .field("bytes", &self.bytes)
            .field("repeat", &self.repeat)
            .field("offset", &self.offset)
            .finish()
    }
}

impl Trace {
    /// The trace that `text` is, with 1500 bytes at each opportunity, which repeats and begins at its beginning.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut at: Vec<u32> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line_number = number + 1;
            let time = line.trim_ascii_end().parse::<u32>().ok().filter(|_| !line.starts_with('+'));
            let Some(time) = time else {
                return Err(TraceError::NoTime { line: line_number, text: line.chars().take(40).collect() });
            };
            if let Some(&before) = at.last().filter(|before| **before > time) {
                return Err(TraceError::Descends { line: line_number, at: time, before });
            }
            if at.len() == MOST {
                return Err(TraceError::TooLong);
            }
            at.push(time);
        }
        if at.last().is_none_or(|last| *last == 0) {
            return Err(TraceError::NoLength);
        }
        Ok(Trace { at: at.into(), bytes: 1500, repeat: true, offset: Span::ZERO })
    }

    /// Time until it begins again.
    #[must_use]
    pub fn length(&self) -> Span {
        Span(self.at.last().map_or(0, |last| u64::from(*last) * MS))
    }

    /// Bits per second on average over its length.
    #[must_use]
    pub fn mean_rate(&self) -> f64 {
        8.0 * f64::from(self.bytes) * self.at.len() as f64 / self.length().secs()
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        check(self.bytes > 0, "bytes of an opportunity", 0.0, "1 byte or more")?;
        let begins = self.repeat || self.offset < self.length();
        check(begins, "offset into a trace that does not repeat", self.offset.secs(), "less than the trace's length, s")
    }

    /// Number of opportunities before `time` of the recording, ns, which is that of the first one from then on.
    fn before(&self, time: u64) -> u64 {
        let (length, lines) = (self.length().0, self.at.len() as u64);
        // Instants at the length are the last of a round, not the first of the next.
        let round = time.saturating_sub(1) / length;
        let rest = time - round * length;
        round * lines + self.at.partition_point(|at| u64::from(*at) * MS < rest) as u64
    }

    /// When opportunity `number` is, in the time of a run, ns.
    fn time(&self, number: u64) -> u64 {
        let lines = self.at.len() as u64;
        let (round, line) = (number / lines, (number % lines) as usize);
        if round > 0 && !self.repeat {
            return u64::MAX;
        }
        let time = round.saturating_mul(self.length().0).saturating_add(u64::from(self.at[line]) * MS);
        time.saturating_sub(self.offset.0)
    }
}

/// A trace at work.
pub(super) struct Opportunities {
    trace: Trace,
    /// Number of the opportunity that is used next, and what is left of it, bytes.
    next: u64,
    left: u32,
}

impl Opportunities {
    pub fn new(trace: &Trace) -> Opportunities {
        let trace = trace.clone();
        Opportunities { next: trace.before(trace.offset.0), left: trace.bytes, trace }
    }

    /// The opportunity that carries the last of `bytes`, and what it has left then.
    fn last_of(&self, bytes: u32) -> (u64, u32) {
        let Some(beyond) = bytes.checked_sub(self.left).filter(|beyond| *beyond > 0) else {
            return (self.next, self.left - bytes);
        };
        let more = beyond.div_ceil(self.trace.bytes);
        let left = u64::from(more) * u64::from(self.trace.bytes) - u64::from(beyond);
        (self.next + u64::from(more), left as u32)
    }
}

impl Gate for Opportunities {
    fn start(&mut self, arrived: u64, _: u64, bytes: u32) -> u64 {
        if self.trace.time(self.next) < arrived {
            self.next = self.trace.before(arrived.saturating_add(self.trace.offset.0));
            self.left = self.trace.bytes;
        }
        self.trace.time(self.last_of(bytes).0)
    }

    fn take(&mut self, _: u64, bytes: u32) {
        (self.next, self.left) = self.last_of(bytes);
    }

    fn ready(&self, _: u64) -> u64 {
        self.trace.time(self.next + u64::from(self.left == 0))
    }

    fn capacity(&self, now: u64) -> Option<f64> {
        let trace = &self.trace;
        let until = trace.before(now.saturating_add(trace.offset.0).saturating_add(1));
        let until = if trace.repeat { until } else { until.min(trace.at.len() as u64) };
        Some((until - trace.before(trace.offset.0)) as f64 * f64::from(trace.bytes))
    }
}

#[cfg(test)]
mod tests;
