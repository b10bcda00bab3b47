//! A queue whose items are numbered.

use prefetch_index::prefetch_index;

/// Consecutive items by number. Grows to the most it ever holds, until it is [fitted](Ring::fit); taking
/// from the front and adding at the back are a mask and a store.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Vec<T>,
    mask: u64,
    first: u64,
    next: u64,
}

/// The fewest places.
const FEWEST: usize = 16;

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring::new()
    }
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring whose first item will be number 0.
    pub fn new() -> Ring<T> {
        Ring { slots: vec![T::default(); FEWEST], mask: FEWEST as u64 - 1, first: 0, next: 0 }
    }

    /// Number of the oldest item, or of the next one if there is none.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Number the next item will get.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Number of items.
    #[inline]
    pub fn len(&self) -> u64 {
        self.next - self.first
    }

    /// True if the ring holds no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Appends an item as the newest.
    #[inline]
    pub fn push(&mut self, item: T) {
        *self.add() = item;
    }

    /// Adds an item, whatever it is, to be written where it lies: a large one that is put
    /// together elsewhere and moved makes the processor wait for its parts.
    #[inline]
    pub fn add(&mut self) -> &mut T {
        if self.len() == self.slots.len() as u64 {
            self.grow();
        }
        let place = (self.next & self.mask) as usize;
        self.next += 1;
        &mut self.slots[place]
    }

    /// Takes the oldest item, which stays where it lies for now.
    #[inline]
    pub fn pop(&mut self) -> Option<&T> {
        if self.first == self.next {
            return None;
        }
        let place = (self.first & self.mask) as usize;
        self.first += 1;
        Some(&self.slots[place])
    }

    /// The oldest item; `None` if there is none.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(self.first)
    }

    #[cold]
    fn grow(&mut self) {
        self.resize(2 * self.slots.len());
    }

    /// Halves the memory if a quarter of it would do: a few items that go round in memory made for many would find each
    /// place cold. To be called now and again.
    pub fn fit(&mut self) {
        if self.slots.len() > FEWEST && self.len() <= self.slots.len() as u64 / 4 {
            self.resize(self.slots.len() / 2);
        }
    }

    fn resize(&mut self, length: usize) {
        let mask = length as u64 - 1;
        let mut slots = vec![T::default(); length];
        for number in self.first..self.next {
            slots[(number & mask) as usize] = self.slots[(number & self.mask) as usize];
        }
        (self.slots, self.mask) = (slots, mask);
    }

    /// Item `number`, if it is still here.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&T> {
        if number < self.first || number >= self.next {
            return None;
        }
        Some(&self.slots[(number & self.mask) as usize])
    }

    /// Item `number`, if it is still here.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        if number < self.first || number >= self.next {
            return None;
        }
        Some(&mut self.slots[(number & self.mask) as usize])
    }

    /// Has the processor fetch item `number`, which need not be here.
    #[inline]
    pub fn prefetch(&self, number: u64) {
        prefetch_index(&self.slots, (number & self.mask) as usize);
    }

    /// Forgets the items before `number`.
    #[inline]
    pub fn forget_before(&mut self, number: u64) {
        self.first = self.first.max(number.min(self.next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_items_by_number_while_it_grows_and_wraps() {
        let mut ring = Ring::new();
        for i in 0..1000u64 {
            ring.push(i);
            if i % 3 == 0 {
                ring.forget_before(i.saturating_sub(50));
            }
            assert_eq!(ring.get(i), Some(&i));
            assert_eq!(ring.get(ring.first()), Some(&ring.first()));
        }
        assert_eq!((ring.get(ring.first() - 1), ring.get(1000)), (None, None));
        assert_eq!(ring.slots.len(), 64);
        ring.forget_before(5000);
        assert_eq!((ring.first(), ring.next()), (1000, 1000));
    }

    #[test]
    fn is_fitted_to_what_it_holds() {
        let mut ring = Ring::new();
        (0..1000u64).for_each(|i| ring.push(i));
        ring.fit();
        assert_eq!(ring.slots.len(), 1024);
        ring.forget_before(930);
        (0..9).for_each(|_| ring.fit());
        assert_eq!(ring.slots.len(), 256);
        (1000..1100).for_each(|i| ring.push(i));
        assert!((930..1100).all(|number| ring.get(number) == Some(&number)));
        ring.forget_before(1100);
        (0..9).for_each(|_| ring.fit());
        assert_eq!(ring.slots.len(), FEWEST);
    }
}
