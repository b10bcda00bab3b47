//! Lanes: one of few values at a time, in bounded memory.

use std::ops::Range;

use super::Point;

/// Changes of a value; when those are too many, spans of one width, in each its values one after the other. The total
/// time of each value is exact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lane {
    points: Vec<Point>,
    most: usize,
    /// Width of spans, ns; 0: every change is a point.
    width: i64,
    changes: u64,
    /// Time of the latest value, ns.
    latest: i64,
}

/// A value that holds from one time to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The value of its points.
    pub value: i64,
    /// Start, ns.
    pub from: i64,
    /// End, ns.
    pub to: i64,
}

impl Lane {
    /// Keeps at most `most` points, or as many as there are values.
    pub(super) fn new(most: usize) -> Self {
        Lane { points: Vec::new(), most: most.max(4), width: 0, changes: 0, latest: i64::MIN }
    }

    /// `value` holds from `time` on. Times that go back are taken as the latest.
    pub(super) fn add(&mut self, time: i64, value: i64) {
        self.latest = self.latest.max(time);
        if self.points.last().is_some_and(|last| last.value == value) {
            return;
        }
        self.changes += 1;
        self.points.push(Point { time: self.latest, value });
        if self.points.len() > self.most {
            self.thin();
        }
    }

    /// Joins what holds within spans that are as wide as needed for half the room.
    fn thin(&mut self) {
        let (Some(&first), Some(&last)) = (self.points.first(), self.points.last()) else { return };
        let whole = last.time.saturating_sub(first.time).max(1);
        self.width = self.width.max(whole / self.most as i64).max(1);
        loop {
            let runs = runs(&self.points, last.time, self.width);
            if runs.len() < self.most / 2 || self.width >= whole {
                self.points = runs.iter().map(|run| Point { time: run.from, value: run.value }).collect();
                // What holds from now on has had no time yet.
                self.points.extend(Some(last).filter(|last| runs.last().is_none_or(|run| run.value != last.value)));
                return;
            }
            self.width = self.width.saturating_mul(2);
        }
    }

    /// The points, and how many changes they stand for.
    pub(super) fn finish(self) -> (Vec<Point>, u64) {
        (self.points, self.changes)
    }

    /// True if it has no points.
    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

/// What holds until `end`, where each point holds until the next: spans of `width`, ns, from the first point on, in which
/// several things hold, have a run of each, as long as it holds altogether.
fn runs(points: &[Point], end: i64, width: i64) -> Vec<Run> {
    let width = width.max(1);
    let origin = points.first().map_or(0, |point| point.time);
    let ends = points.iter().skip(1).map(|point| point.time).chain([end]);
    let mut joined = Joined { runs: Vec::new(), held: Vec::new(), from: origin };
    for (point, to) in points.iter().zip(ends) {
        let mut from = point.time;
        while from < to {
            let into = from.saturating_sub(origin) % width;
            let left = to.saturating_sub(from);
            if into == 0 && left >= width {
                // It alone holds in whole spans.
                joined.close();
                let whole = left - left % width;
                joined.put(point.value, whole);
                from = from.saturating_add(whole);
                continue;
            }
            let part = left.min(width - into);
            joined.hold(point.value, part);
            from = from.saturating_add(part);
            if into + part == width {
                joined.close();
            }
        }
    }
    joined.close();
    joined.runs
}

/// What to draw of `points` within `span` on `columns` columns, each of which has one thing that holds in it: so that each
/// has, but for a few, as many columns as it has time.
#[must_use]
pub fn columns(points: &[Point], span: Range<i64>, columns: usize) -> Vec<Run> {
    let width = span.end.saturating_sub(span.start).max(1) as f64 / columns.max(1) as f64;
    let edge = |column: usize| span.start.saturating_add((column as f64 * width) as i64);
    let mut drawn: Vec<Run> = Vec::new();
    // What holds, `None` before the first point, and by how much it has fewer columns than time so far.
    let mut owed: Vec<(Option<i64>, f64)> = Vec::new();
    let mut next = points.partition_point(|point| point.time <= span.start);
    let mut holds = next.checked_sub(1).map(|index| points[index].value);
    for column in 0..columns {
        let (begin, end) = (edge(column), edge(column + 1));
        let (mut from, mut present) = (begin, Vec::new());
        while from < end {
            let until = points.get(next).map_or(end, |point| point.time.clamp(from, end));
            if until > from {
                let place = owed.iter().position(|owed| owed.0 == holds).unwrap_or_else(|| {
                    owed.push((holds, 0.0));
                    owed.len() - 1
                });
                owed[place].1 += (until - from) as f64;
                present.push(place);
                from = until;
            }
            if let Some(point) = points.get(next).filter(|point| point.time <= from && from < end) {
                holds = Some(point.value);
                next += 1;
            }
        }
        let Some(&place) = present.iter().max_by(|a, b| owed[**a].1.total_cmp(&owed[**b].1)) else { continue };
        owed[place].1 -= (end - begin) as f64;
        match (owed[place].0, drawn.last_mut()) {
            (Some(value), Some(run)) if run.value == value && run.to == begin => run.to = end,
            (Some(value), _) => drawn.push(Run { value, from: begin, to: end }),
            (None, _) => {}
        }
    }
    drawn
}

struct Joined {
    runs: Vec<Run>,
    /// Values of the present span in their order, and the time of each, ns.
    held: Vec<(i64, i64)>,
    /// End of the latest run, ns.
    from: i64,
}

impl Joined {
    fn hold(&mut self, value: i64, time: i64) {
        match self.held.iter_mut().find(|held| held.0 == value) {
            Some(held) => held.1 += time,
            None => self.held.push((value, time)),
        }
    }

    fn close(&mut self) {
        for (value, time) in std::mem::take(&mut self.held) {
            self.put(value, time);
        }
    }

    fn put(&mut self, value: i64, time: i64) {
        let from = self.from;
        self.from = from.saturating_add(time);
        match self.runs.last_mut() {
            Some(run) if run.value == value => run.to = self.from,
            _ => self.runs.push(Run { value, from, to: self.from }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Total time of each value.
    fn times(runs: impl Iterator<Item = Run>) -> BTreeMap<i64, i64> {
        let mut times = BTreeMap::new();
        runs.filter(|run| run.to > run.from).for_each(|run| *times.entry(run.value).or_default() += run.to - run.from);
        times
    }

    fn held(points: &[Point], end: i64) -> BTreeMap<i64, i64> {
        let ends = points.iter().skip(1).map(|point| point.time).chain([end]);
        times(points.iter().zip(ends).map(|(point, to)| Run { value: point.value, from: point.time, to }))
    }

    proptest! {
        #[test]
        fn times_are_exact_however_few_points_are_kept(
            changes in prop::collection::vec((0_i64..1000, 0_i64..4), 1..400), most in 8_usize..64, rest in 0_i64..5000, width in 1_i64..3000,
        ) {
            let mut lane = Lane::new(most);
            let (mut now, mut points) = (-500, Vec::new());
            for &(gap, value) in &changes {
                now += gap;
                lane.add(now, value);
                points.push(Point { time: now, value });
            }
            let end = now + rest;
            let (kept, values) = lane.finish();
            let unlike = points.windows(2).filter(|pair| pair[0].value != pair[1].value).count();
            prop_assert_eq!(values, 1 + unlike as u64);
            prop_assert!(kept.len() <= most, "{} points", kept.len());
            prop_assert!(kept.is_sorted_by_key(|point| point.time));
            prop_assert_eq!(kept.last().unwrap().value, points.last().unwrap().value);
            prop_assert_eq!(held(&kept, end), held(&points, end));
            let drawn = runs(&points, end, width);
            prop_assert!(drawn.len() as i64 <= 4 * ((end + 500) / width + 1));
            prop_assert!(drawn.iter().zip(drawn.iter().skip(1)).all(|(one, next)| one.to == next.from && one.value != next.value));
            prop_assert_eq!(times(drawn.into_iter()), held(&points, end));
            let before = rest % 1000;
            let drawn = columns(&points, -500 - before..end, 100);
            let column = (end + 500 + before) / 100 + 1;
            let (drawn_times, held) = (times(drawn.iter().copied()), held(&points, end));
            for value in 0..4 {
                let of = |times: &BTreeMap<i64, i64>| times.get(&value).copied().unwrap_or(0);
                prop_assert!((of(&drawn_times) - of(&held)).abs() <= 6 * column, "{value}: {drawn_times:?} for {held:?}");
            }
            let within = |run: &Run, point: &Point, to: i64| point.value == run.value && point.time < run.to && to > run.from;
            let ends = || points.iter().skip(1).map(|point| point.time).chain([end]);
            prop_assert!(drawn.iter().all(|run| points.iter().zip(ends()).any(|(point, to)| within(run, point, to))));
        }
    }

    #[test]
    fn what_is_longer_than_a_span_stays_where_it_is() {
        let at = |time, value| Point { time, value };
        let points = [at(0, 0), at(250, 1), at(260, 2), at(270, 1), at(520, 0)];
        let run = |value, from, to| Run { value, from, to };
        let expected = [run(0, 0, 250), run(1, 250, 290), run(2, 290, 300), run(1, 300, 520), run(0, 520, 700)];
        assert_eq!(runs(&points, 700, 100), expected);
    }
}
