//! A bar on standard error; nothing where that is no terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Steps a run is counted in.
const STEPS: u64 = 100;

/// How many runs are done, and how far the others are.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Of so many runs.
    pub(super) fn new(runs: usize) -> Progress {
        let style = ProgressStyle::with_template("{wide_bar:.blue} {percent}% {elapsed} (left {eta})  {msg:40!}");
        let bar = ProgressBar::new(runs as u64 * STEPS);
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// A run that had done `steps` has done `part` of its work; what it has done now.
    pub(super) fn advance(&self, steps: u64, part: f64) -> u64 {
        let now = ((part * STEPS as f64) as u64).clamp(steps, STEPS);
        if now > steps {
            self.0.inc(now - steps);
        }
        now
    }

    /// A run that had done `steps` is over; `what` says which.
    pub(super) fn done(&self, steps: u64, what: String) {
        self.0.inc(STEPS - steps);
        self.0.set_message(what);
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
