//! A bar on standard error; nothing where that is no terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Steps a run is counted in where all are taken for equal.
pub(super) const STEPS: u64 = 100;

/// How many runs are done, and how far the others are.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Of so many steps.
    pub(super) fn new(steps: u64) -> Progress {
        let style = ProgressStyle::with_template("{wide_bar:.blue} {percent}% {elapsed} (left {eta})  {msg:40!}");
        let bar = ProgressBar::new(steps);
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// A run of `all` steps that had done `steps` has done `part` of its work; what it has done now.
    pub(super) fn advance(&self, all: u64, steps: u64, part: f64) -> u64 {
        let now = ((part * all as f64) as u64).clamp(steps, all);
        if now > steps {
            self.0.inc(now - steps);
        }
        now
    }

    /// A run of `all` steps that had done `steps` is over; `what` says which.
    pub(super) fn done(&self, all: u64, steps: u64, what: String) {
        self.0.inc(all - steps);
        self.0.set_message(what);
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
