//! What flows tell the network they are on.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::driver::sender_log::lock;

/// Something a flow did that the network has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// Its ends were made: the addresses of the sending and the receiving one.
    Made([SocketAddr; 2]),
    /// It is over.
    Over,
}

/// News of one flow, in a list of all.
#[derive(Clone, Debug)]
pub struct News {
    number: usize,
    board: Board,
}

/// The news of all flows that nobody has read yet, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Board(Arc<Mutex<Vec<(usize, Item)>>>);

impl Board {
    /// Where flow `number` tells its news.
    pub fn of(&self, number: usize) -> News {
        News { number, board: self.clone() }
    }

    /// Takes what is there into `items`.
    pub fn read(&self, items: &mut Vec<(usize, Item)>) {
        items.append(&mut lock(&self.0));
    }
}

impl News {
    /// The ends were made.
    pub fn made(&self, ends: [SocketAddr; 2]) {
        lock(&self.board.0).push((self.number, Item::Made(ends)));
    }

    /// It is over.
    pub fn over(&self) {
        lock(&self.board.0).push((self.number, Item::Over));
    }
}
