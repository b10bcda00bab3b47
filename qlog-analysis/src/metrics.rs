//! Measures of a connection, taken from its trace in one pass.
//!
//! A [`Meter`] is fed the events of one connection in order and gives a [`Measures`]. Its
//! memory is bounded, whatever the trace's length and content. `docs/metrics.md` defines each measure.

mod credit;
mod delivered;
mod fairness;
mod limited;
mod measures;
mod meter;
pub(crate) mod paths;
mod rates;
mod space;
mod statistics;

pub use fairness::{Shares, shares};
pub use limited::{LimitedBy, LimitedTimes};
pub use measures::{Level, LossSource, Measures};
pub use meter::{FlowControlProgress, Meter, Progress};
pub(crate) use meter::{OTHER_STATE, STATES};
pub use paths::path_name;
pub use rates::Rates;
pub use statistics::Quantiles;

use std::io::Read;

use crate::connections::{Connection, Follower, connections};
use crate::model::{Batch, Event, Trace};
use crate::read::{Options, ReadError, Summary};

/// One connection of a file, measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// The trace's header.
    pub trace: Trace,
    /// Its connection, where the events name one; otherwise the trace's.
    pub group: String,
    /// Measures of the connection.
    pub measures: Measures,
    /// Bytes delivered per time bin.
    pub rates: Rates,
    /// The same of each path, where there are several: its number and measures.
    pub paths: Vec<(u32, Measures)>,
}

/// Measures every connection of every trace in a file.
///
/// # Errors
/// As [`crate::read::read`].
pub fn measure(mut input: impl Read, options: &Options) -> Result<(Summary, Vec<Measured>), ReadError> {
    measure_from(&mut input, options)
}

fn measure_from(input: &mut dyn Read, options: &Options) -> Result<(Summary, Vec<Measured>), ReadError> {
    let (summary, found) = connections(input, options, Meter::new)?;
    Ok((summary, found.into_iter().map(Measured::from).collect()))
}

impl Follower for Meter {
    fn event(&mut self, batch: &Batch, event: &Event) {
        Meter::event(self, batch, event);
    }

    fn share_memory(&mut self, followers: usize) {
        Meter::share_memory(self, followers);
    }
}

impl From<Connection<Meter>> for Measured {
    fn from(Connection { trace, group, follower }: Connection<Meter>) -> Self {
        let paths = follower.paths().map(|(path, meter)| (path, meter.clone().finish().0)).collect();
        let (mut measures, rates) = follower.finish();
        if measures.controller.is_none() && !trace.controller.is_empty() {
            measures.controller = Some(trace.controller.clone());
        }
        measures.peer = measures.peer.or_else(|| trace.recorded().peer.map(str::to_owned));
        Measured { trace, group, measures, rates, paths }
    }
}

impl Measured {
    /// All that was measured of this connection of `file`, as JSON.
    #[must_use]
    pub fn to_json(&self, file: &str) -> serde_json::Value {
        serde_json::json!({
            "file": file,
            "trace": self.trace.index,
            "connection": self.group,
            "title": self.trace.title,
            "vantage": self.trace.vantage.name(),
            "measures": self.measures,
            "paths": self.paths.iter().map(|(path, measures)| {
                serde_json::json!({ "path": path, "name": path_name(*path), "measures": measures })
            }).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
