//! How much of an experiment is run.

use serde::{Deserialize, Serialize};

/// How much of an experiment is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// With the document's own times.
    Full,
    /// With a tenth of them: to see that it works, not to compare with the document.
    Quick,
}

impl Extent {
    /// One of the document's times, s.
    #[must_use]
    pub fn time(self, seconds: f64) -> f64 {
        match self {
            Extent::Full => seconds,
            Extent::Quick => seconds / 10.0,
        }
    }

    /// Its name in directories and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Extent::Full => "full",
            Extent::Quick => "quick",
        }
    }
}
