//! Measures of a connection, taken from its trace in one pass.
//!
//! A [`Meter`] is fed the events of one connection in order and gives a [`Measures`]. Its
//! memory is that of the packets in flight and of some histograms, whatever the length of
//! the trace. `docs/metrics.md` defines each measure.

mod delivered;
mod distribution;
mod fairness;
mod measures;
mod meter;
mod rates;
mod weighted;

pub use distribution::Quantiles;
pub use fairness::{Shares, shares};
pub use measures::{Level, Measures};
pub use meter::Meter;
pub use rates::Rates;

use std::collections::BTreeMap;
use std::io::Read;

use crate::model::{Batch, Trace};
use crate::read::{Options, ReadError, Summary, read};

/// One connection of a file, measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// What the file says of the trace.
    pub trace: Trace,
    /// Its connection, where the events name one; otherwise the trace's.
    pub group: String,
    /// What was measured.
    pub measures: Measures,
    /// Bytes delivered over time.
    pub rates: Rates,
}

/// Measures every connection of every trace in a file.
///
/// # Errors
/// As [`read`].
pub fn measure(input: impl Read, options: &Options) -> Result<(Summary, Vec<Measured>), ReadError> {
    let mut meters: BTreeMap<(u32, String), Meter> = BTreeMap::new();
    let summary = read(input, options, &mut |trace, batch| {
        split(trace, &batch, &mut meters);
        Ok(())
    })?;
    let measured = meters.into_iter().map(|((index, group), meter)| {
        let trace = summary.traces[index as usize].clone();
        let group = if group.is_empty() { trace.group.clone() } else { group };
        let (mut measures, rates) = meter.finish();
        if measures.controller.is_none() && !trace.controller.is_empty() {
            measures.controller = Some(trace.controller.clone());
        }
        Measured { trace, group, measures, rates }
    });
    Ok((summary.clone(), measured.collect()))
}

/// Feeds the events of a batch to the meters of their connections.
fn split(trace: &Trace, batch: &Batch, meters: &mut BTreeMap<(u32, String), Meter>) {
    let mut events = batch.events.as_slice();
    while let Some(first) = events.first() {
        let run = events.iter().take_while(|event| event.group == first.group).count();
        let (of_one, rest) = events.split_at(run);
        events = rest;
        let key = (trace.index, batch.name(first.group).to_owned());
        let meter = meters.entry(key).or_default();
        for event in of_one {
            meter.event(batch, event);
        }
    }
}

#[cfg(test)]
mod tests;
