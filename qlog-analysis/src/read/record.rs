//! One record after another, each into its place in the tables.

use super::Options;
use super::block::Block;
use super::dialect::Dialect;
use super::event;
use crate::model::Batch;

/// The lengths of a batch's tables.
struct Lengths([usize; 8]);

impl Lengths {
    fn of(batch: &Batch) -> Self {
        Lengths([
            batch.events.len(),
            batch.packets.len(),
            batch.ranges.len(),
            batch.streams.len(),
            batch.metrics.len(),
            batch.states.len(),
            batch.facts.len(),
            batch.peers.len(),
        ])
    }

    /// Takes back what was added since.
    fn restore(&self, batch: &mut Batch) {
        batch.events.truncate(self.0[0]);
        batch.packets.truncate(self.0[1]);
        batch.ranges.truncate(self.0[2]);
        batch.streams.truncate(self.0[3]);
        batch.metrics.truncate(self.0[4]);
        batch.states.truncate(self.0[5]);
        batch.facts.truncate(self.0[6]);
        batch.peers.truncate(self.0[7]);
    }
}

/// Reads the records of a block.
pub(crate) fn read(block: &Block, dialect: &Dialect, options: &Options) -> Batch {
    let mut batch = Batch { trace: block.trace, ..Batch::default() };
    batch.events.reserve(block.bounds.len());
    let mut clock = 0_i64;
    for (number, text) in block.records() {
        let lengths = Lengths::of(&batch);
        if let Err(malformed) = event::read(text, dialect, options, &mut batch) {
            lengths.restore(&mut batch);
            batch.not_read(number, malformed);
            continue;
        }
        if dialect.delta
            && let Some(event) = batch.events.get_mut(lengths.0[0])
        {
            clock = clock.saturating_add(event.time);
            event.time = clock;
        }
    }
    batch
}
