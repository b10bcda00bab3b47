//! One quantity over time, in bounded memory.

use std::ops::Range;

/// A value and its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Point {
    /// Time, ns of the trace's clock.
    pub time: i64,
    /// Value, in the quantity's unit.
    pub value: i64,
}

/// A quantity over time: every value values, or, when those are too many, the least and the
/// largest of every so many values in a row, in the order they came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    points: Vec<Point>,
    most: usize,
    /// How many values in a row two points stand for; 1: each point is a value.
    stride: u64,
    /// The values since the latest point: least, largest, how many.
    pending: (Point, Point, u64),
    values: u64,
}

impl Line {
    /// Keeps at most `most` points, 4 at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Line {
            points: Vec::new(),
            most: most.max(4),
            stride: 1,
            pending: (Point::default(), Point::default(), 0),
            values: 0,
        }
    }

    /// The points it keeps at most.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// A value from `time` on. Times that go back are taken as the latest.
    pub fn add(&mut self, time: i64, value: i64) {
        let latest = self.latest().map_or(time, |latest| latest.time);
        let point = Point { time: time.max(latest), value };
        self.values += 1;
        if self.stride == 1 {
            if self.points.len() < self.most {
                self.points.push(point);
                return;
            }
            self.thin();
        }
        let (least, largest, count) = &mut self.pending;
        if *count == 0 {
            (*least, *largest) = (point, point);
        } else if value < least.value {
            *least = point;
        } else if value >= largest.value {
            *largest = point;
        }
        *count += 1;
        if *count >= self.stride {
            self.flush_pending();
            if self.points.len() + 2 > self.most {
                self.thin();
            }
        }
    }

    /// Halves the points: of four in a row the least and the largest are kept.
    fn thin(&mut self) {
        self.stride = if self.stride == 1 { 4 } else { self.stride.saturating_mul(2) };
        let thinned: Vec<Point> = self.points.chunks(4).flat_map(extremes).collect();
        self.points = thinned;
    }

    /// Makes points of the values that wait.
    fn flush_pending(&mut self) {
        let (least, largest, count) = self.pending;
        match count {
            0 => {}
            1 => self.points.push(least),
            _ => self.points.extend(extremes(&[least, largest])),
        }
        self.pending.2 = 0;
    }

    fn latest(&self) -> Option<Point> {
        let (least, largest, count) = self.pending;
        match count {
            0 => self.points.last().copied(),
            _ => Some(if least.time > largest.time { least } else { largest }),
        }
    }

    /// The points, and how many values they stand for; the line is complete.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Point>, u64) {
        self.flush_pending();
        (self.points, self.values)
    }

    /// True if it has no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values == 0
    }

    /// Starts over without points, with the same bound on their number.
    pub fn clear(&mut self) {
        *self = Line::new(self.most);
    }
}

/// The least and the largest of points, in order of time; one if they are the same.
fn extremes(points: &[Point]) -> impl Iterator<Item = Point> + use<> {
    let least = points.iter().copied().min_by_key(|point| point.value);
    // Of equals the last.
    let largest = points.iter().copied().max_by_key(|point| point.value);
    let (first, second) = match (least, largest) {
        (Some(least), Some(largest)) if largest.time < least.time => (Some(largest), Some(least)),
        (least, largest) if least == largest => (least, None),
        both => both,
    };
    first.into_iter().chain(second)
}

/// What to draw of `points` within `range` on `columns` columns: the least, the largest
/// and the last of each column, and a point beyond each end.
#[must_use]
pub fn visible(points: &[Point], range: Range<i64>, columns: usize) -> Vec<Point> {
    let from = points.partition_point(|point| point.time < range.start).saturating_sub(1);
    let to = (points.partition_point(|point| point.time <= range.end) + 1).min(points.len());
    let Some(within) = points.get(from..to).filter(|within| within.len() > 3 * columns) else {
        return points.get(from..to).unwrap_or_default().to_vec();
    };
    let span = range.end.saturating_sub(range.start).max(1) as f64;
    // What lies beyond has columns of its own.
    let column = |point: &Point| match point.time {
        time if time < range.start => -1,
        time if time > range.end => i64::MAX,
        time => (time.saturating_sub(range.start) as f64 / span * columns as f64) as i64,
    };
    let mut drawn = Vec::new();
    for same in within.chunk_by(|one, next| column(one) == column(next)) {
        drawn.extend(extremes(same));
        drawn.extend(same.last().filter(|&last| drawn.last() != Some(last)));
    }
    drawn
}

/// The value that holds at `time`; `None` before the first.
#[must_use]
pub fn at(points: &[Point], time: i64) -> Option<i64> {
    let after = points.partition_point(|point| point.time <= time);
    after.checked_sub(1).map(|index| points[index].value)
}

/// Of a count: when, and by how much a second it grows, in bins of `width` ns over `range`.
#[must_use]
pub fn rate(points: &[Point], range: Range<i64>, width: i64) -> Vec<(i64, f64)> {
    let width = width.max(1);
    let mut rates = Vec::new();
    let mut begin = range.start;
    let mut before = at(points, begin.saturating_sub(1)).unwrap_or(0);
    while begin < range.end {
        let end = begin.saturating_add(width).min(range.end);
        let now = at(points, end).unwrap_or(0);
        // What is left of a bin at the end says little.
        if end - begin > width / 3 {
            rates.push((begin + (end - begin) / 2, now.saturating_sub(before) as f64 * 1e9 / (end - begin) as f64));
        }
        (begin, before) = (end, now);
    }
    rates
}
