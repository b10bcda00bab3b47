//! Where a flow is along its curve and what it knows of the path's capacity: all that an
//! unfounded response has to give back (`RFC 9438 §4.9.2`).

use super::{Stage, pause};
use crate::{Span, Time};

/// Where along the curve.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Course {
    /// In a stage of congestion avoidance.
    Stage(Stage),
    /// Before one.
    Before,
    /// Before one that starts on its plateau: no congestion event or a timeout went before.
    Flat,
}

/// What a congestion response changes, `T` being the scheme's own part of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Track<T> {
    course: Course,
    /// `W_max`, packets; 0 while there is none.
    pub w_max: f64,
    /// What else the scheme remembers of capacity.
    pub more: T,
}

impl<T> Track<T> {
    /// Whether the next stage starts on its plateau.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        matches!(self.course, Course::Flat)
    }

    /// The stage under way, if there is one.
    #[must_use]
    #[inline]
    pub fn stage(&self) -> Option<&Stage> {
        if let Course::Stage(stage) = &self.course { Some(stage) } else { None }
    }

    /// As [`stage`](Self::stage), to go on with.
    #[inline]
    pub fn stage_mut(&mut self) -> Option<&mut Stage> {
        if let Course::Stage(stage) = &mut self.course { Some(stage) } else { None }
    }

    /// A stage begins at `now` with a window of `cwnd` packets; `c` is in packets/s³
    /// (`RFC 9438 §4.2, §4.8, §4.10`; `spec: sharma §6 rule 1.1, A-8`).
    #[cold]
    pub fn begin(&mut self, c: f64, now: Time, cwnd: f64) {
        let w_max = if self.is_flat() { 0.0 } else { self.w_max };
        self.course = Course::Stage(Stage::begin(c, now, cwnd, w_max));
    }

    /// A timeout: what comes after starts on its plateau.
    pub fn flatten(&mut self) {
        self.course = Course::Flat;
    }
}

/// A track, and what it was before the latest response.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Tracks<T> {
    /// The track.
    pub now: Track<T>,
    before: Track<T>,
}

impl<T: Copy> Tracks<T> {
    /// Nothing is known of capacity.
    #[must_use]
    pub const fn new(more: T) -> Tracks<T> {
        let track = Track { course: Course::Flat, w_max: 0.0, more };
        Tracks { now: track, before: track }
    }

    /// A congestion response ends the stage; gives the track to change.
    pub fn respond(&mut self) -> &mut Track<T> {
        self.before = self.now;
        self.now.course = Course::Before;
        &mut self.now
    }

    /// The latest response was unfounded.
    pub fn undo(&mut self) {
        self.now = self.before;
    }

    /// The `span` before `now` does not count; nor will it if the latest response is taken
    /// back (`RFC 9438 §4.2, §5.8`; `spec: sharma §6 rule 4`).
    pub fn pause(&mut self, now: Time, span: Span) {
        pause(self.now.stage_mut(), now, span);
        pause(self.before.stage_mut(), now, span);
    }

    /// A stage that was under way is over, with the window it was about.
    pub fn end(&mut self) {
        if self.now.stage().is_some() {
            self.now.course = Course::Before;
        }
    }

    /// The datagram size changed: packets are multiplied by `ratio`. The next ACK begins a
    /// stage at the resized window; below the plateau that is the same curve, beyond it
    /// the probing starts over.
    pub fn resized(&mut self, ratio: f64) {
        self.now.w_max *= ratio;
        self.end();
    }
}
