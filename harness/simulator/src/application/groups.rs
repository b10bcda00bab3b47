//! The groups of a media object sequence at their sender: what they have of objects, and when one is given up.

use std::collections::VecDeque;

use windlass_controllers::Time;

use crate::scenario::{GroupOrder, Objects, Writes};

/// The groups of a sequence: the sender asks which of them goes first and which to drop, whatever its transport.
#[derive(Clone, Debug)]
pub struct Groups {
    objects: Objects,
    /// Objects of a group.
    length: u64,
    /// Objects produced.
    produced: u64,
    /// Bytes of all groups before the newest.
    before: u64,
    /// Bytes of each group.
    bytes: Vec<u64>,
    /// Groups given up.
    dropped: Vec<bool>,
    /// Objects whose timeout has not come: when it comes, their group, and where in that they end.
    deadlines: VecDeque<(Time, u64, u64)>,
}

impl Groups {
    /// Those of an application that `writes` objects; `None` if it does not.
    #[must_use]
    pub fn new(writes: Option<Writes>) -> Option<Groups> {
        let frames = writes?.frames?;
        Some(Groups {
            objects: frames.objects?,
            length: frames.key_every,
            produced: 0,
            before: 0,
            bytes: Vec::new(),
            dropped: Vec::new(),
            deadlines: VecDeque::new(),
        })
    }

    /// An object is produced at `now`, with which all have `total` bytes. Returns the number of its group.
    pub fn produced(&mut self, now: Time, total: u64) -> u64 {
        if self.produced.is_multiple_of(self.length) {
            self.before += self.bytes.last().copied().unwrap_or(0);
            self.bytes.push(0);
            self.dropped.push(false);
        }
        self.produced += 1;
        let group = self.bytes.len() - 1;
        self.bytes[group] = total - self.before;
        if let (Some(timeout), false) = (self.objects.timeout, self.dropped[group]) {
            self.deadlines.push_back((now + timeout, group as u64, self.bytes[group]));
        }
        group as u64
    }

    /// The next group to reset at `now`: an object of it was produced as long ago as the timeout, and the receiver is not
    /// known to have it whole: of the group it is known to have the first so many bytes that `acknowledged` says.
    pub fn expired(&mut self, now: Time, acknowledged: impl Fn(u64) -> u64) -> Option<u64> {
        while let Some((_, group, end)) = self.deadlines.front().copied().filter(|(at, ..)| *at <= now) {
            self.deadlines.pop_front();
            if !self.dropped[group as usize] && acknowledged(group) < end {
                self.dropped[group as usize] = true;
                return Some(group);
            }
        }
        None
    }

    /// When the next timeout comes.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.deadlines.front().map(|(at, ..)| *at)
    }

    /// Groups that began.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Bytes that group `number` has to send, dropped ones included.
    #[must_use]
    pub fn bytes(&self, number: u64) -> u64 {
        self.bytes[number as usize]
    }

    /// Whether all objects of group `number` are produced.
    #[must_use]
    pub fn is_complete(&self, number: u64) -> bool {
        number + 1 < self.count() || self.produced.is_multiple_of(self.length)
    }

    /// Whether group `number` was reset.
    #[must_use]
    pub fn is_dropped(&self, number: u64) -> bool {
        self.dropped[number as usize]
    }

    /// Which groups go first.
    #[must_use]
    pub fn order(&self) -> GroupOrder {
        self.objects.order
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::Span;

    use super::*;
    use crate::scenario::Frames;

    /// Groups of three objects of 1000 bytes.
    fn groups(timeout: Option<u64>) -> Groups {
        let objects = Objects { order: GroupOrder::Descending, timeout: timeout.map(Span::from_millis) };
        let late = Span::from_millis(150);
        let frames = Frames { key_every: 3, key_factor: 1.0, late, encoder: None, objects: Some(objects) };
        let writes = Writes { frames: Some(frames), ..Writes::new(1000.0, Span::from_millis(100)) };
        Groups::new(Some(writes)).expect("it writes objects")
    }

    fn at(ms: u64) -> Time {
        Time::from_micros(1000 * ms)
    }

    #[test]
    fn a_group_has_its_objects_and_begins_with_the_next() {
        let mut groups = groups(None);
        let of: Vec<u64> = (1..=5).map(|number| groups.produced(at(100 * number), 1000 * number)).collect();
        assert_eq!((of, groups.count(), groups.next()), (vec![0, 0, 0, 1, 1], 2, None));
        assert_eq!([groups.bytes(0), groups.bytes(1)], [3000, 2000]);
        assert_eq!([groups.is_complete(0), groups.is_complete(1)], [true, false]);
        groups.produced(at(600), 6000);
        assert!(groups.is_complete(1), "its last object is produced");
        assert_eq!(groups.expired(at(1_000_000), |_| 0), None, "nothing is dropped without a timeout");
    }

    #[test]
    fn a_group_is_reset_once_when_an_object_is_not_acknowledged_in_time() {
        let mut groups = groups(Some(250));
        for number in 1..=4 {
            groups.produced(at(100 * number), 1000 * number);
        }
        assert_eq!(groups.next(), Some(at(350)));
        assert_eq!(groups.expired(at(349), |_| 0), None);
        assert_eq!(groups.expired(at(350), |_| 1000), None, "it is acknowledged");
        assert_eq!(groups.expired(at(450), |_| 1999), Some(0), "a byte is missing");
        assert!(groups.is_dropped(0) && !groups.is_dropped(1));
        // The third object is of the group that is reset; the fourth is of the next one.
        assert_eq!(groups.expired(at(650), |_| 0), Some(1));
        assert_eq!(groups.produced(at(700), 5000), 1);
        assert_eq!((groups.next(), groups.expired(at(9000), |_| 0)), (None, None), "what is dropped has no timeout");
    }
}
