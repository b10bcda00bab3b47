//! Blocks that other threads read while this one cuts the file and takes what was read, in the order of the file.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Options;
use super::block::{self, BLOCK, Block};
use super::encoding::Encoding;
use crate::model::Batch;

/// Blocks for each thread that are read or wait to be taken, at most.
const BLOCKS_A_THREAD: usize = 4;

/// Threads, and the blocks that they read.
pub(super) struct Ahead {
    pool: ThreadPool,
    options: Arc<Options>,
    /// The length of each block's text, bytes, and what is in it.
    reading: VecDeque<(usize, Receiver<Batch>)>,
    /// The sum of those lengths.
    bytes: usize,
}

impl Ahead {
    /// As many threads as the options ask for; `None` where that is one.
    pub fn new(options: &Options) -> Option<Ahead> {
        if options.jobs == 1 {
            return None;
        }
        // What panics there does so here, too, where its batch is missed.
        let pool = ThreadPoolBuilder::new().num_threads(options.jobs).panic_handler(|_| {}).build().ok()?;
        Some(Ahead { pool, options: Arc::new(options.clone()), reading: VecDeque::new(), bytes: 0 })
    }

    /// Has a thread read `block`.
    pub fn read(&mut self, block: Block, encoding: Arc<Encoding>) {
        let (sender, receiver) = sync_channel(1);
        self.bytes += block.text.len();
        self.reading.push_back((block.text.len(), receiver));
        let options = Arc::clone(&self.options);
        self.pool.spawn(move || {
            // Nobody takes it after an error.
            let _ = sender.send(block::read(&block, &encoding, &options));
        });
    }

    /// What is in the earliest block, once that is read; `None` if there is no other.
    pub fn take(&mut self) -> Option<Batch> {
        let (length, batch) = self.reading.pop_front()?;
        self.bytes -= length;
        Some(batch.recv().expect("a block is read without a panic"))
    }

    /// Whether no more blocks should be read before some are taken. Those of very long records are larger than others.
    pub fn is_full(&self) -> bool {
        let most = self.pool.current_num_threads() * BLOCKS_A_THREAD;
        self.reading.len() >= most || self.bytes > 2 * most * BLOCK
    }
}
