//! Blocks that several threads read: this one, which cuts the file and takes what was read, in the order of the file, and others.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Options;
use super::block::{self, BLOCK, Block};
use super::encoding::Encoding;
use crate::model::Batch;

/// Blocks for each thread that are read or wait to be taken, at most.
const BLOCKS_A_THREAD: usize = 4;

/// Threads, and the blocks that are read.
pub(super) struct Ahead {
    /// The other threads.
    pool: ThreadPool,
    options: Arc<Options>,
    /// The length of each block's text, bytes, and what is in it.
    blocks: VecDeque<(usize, Outcome)>,
    /// How many of them another thread is to read and none has begun with.
    waiting: Arc<AtomicUsize>,
}

enum Outcome {
    Read(Box<Batch>),
    /// Another thread reads it.
    Awaited(Receiver<Batch>),
}

impl Ahead {
    /// As many threads as the options ask for, or as rayon has by default; `None` where that is one.
    pub fn new(options: &Options) -> Option<Ahead> {
        let threads = match options.jobs {
            0 => rayon::current_num_threads(),
            jobs => jobs,
        };
        let others = threads.checked_sub(1).filter(|&others| others > 0)?;
        // What panics there does so here, too, where its batch is missed.
        let pool = ThreadPoolBuilder::new().num_threads(others).panic_handler(|_| {}).build().ok()?;
        let options = Arc::new(options.clone());
        Some(Ahead { pool, options, blocks: VecDeque::new(), waiting: Arc::default() })
    }

    /// Reads `block`: on another thread, unless all have one that waits.
    pub fn read(&mut self, block: Block, encoding: &Arc<Encoding>) {
        let length = block.text.len();
        let batch = if self.waiting.load(Ordering::Relaxed) < self.pool.current_num_threads() {
            Outcome::Awaited(self.spawn(block, Arc::clone(encoding)))
        } else {
            Outcome::Read(Box::new(block::read(&block, encoding, &self.options)))
        };
        self.blocks.push_back((length, batch));
    }

    fn spawn(&self, block: Block, encoding: Arc<Encoding>) -> Receiver<Batch> {
        let (sender, receiver) = sync_channel(1);
        let (options, waiting) = (Arc::clone(&self.options), Arc::clone(&self.waiting));
        waiting.fetch_add(1, Ordering::Relaxed);
        self.pool.spawn(move || {
            waiting.fetch_sub(1, Ordering::Relaxed);
            // Not taken after an error.
            let _ = sender.send(block::read(&block, &encoding, &options));
        });
        receiver
    }

    /// What is in the earliest block, once that is read; `None` if there is no other.
    pub fn take(&mut self) -> Option<Batch> {
        Some(match self.blocks.pop_front()?.1 {
            Outcome::Read(batch) => *batch,
            Outcome::Awaited(batch) => batch.recv().expect("a block is read without a panic"),
        })
    }

    /// The same if so much is read that no more should be before some is taken. Blocks of very long records are larger than others.
    pub fn take_of_many(&mut self) -> Option<Batch> {
        let most = (self.pool.current_num_threads() + 1) * BLOCKS_A_THREAD;
        let bytes: usize = self.blocks.iter().map(|(length, _)| length).sum();
        if self.blocks.len() >= most || bytes > 2 * most * BLOCK { self.take() } else { None }
    }
}
