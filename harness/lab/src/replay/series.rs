//! Windows over time, in bounded memory.

use serde::Serialize;
use windlass_controllers::Time;

/// Most points that are kept; at that number every second one is dropped.
const MOST: usize = 1 << 15;

/// Windows and flight from a time on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Point {
    /// Time, s since the connection's first event.
    pub time_s: f64,
    /// The window the stack logged, bytes; `None` before it did.
    pub stack: Option<u64>,
    /// The windows of the controllers that were run, bytes, in their order.
    pub cwnd: Vec<u64>,
    /// Bytes in flight at that time.
    pub in_flight: u64,
    /// Packets declared lost since the point before.
    pub lost: u32,
}

/// Points in order of time.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Series {
    points: Vec<Point>,
    #[serde(skip)]
    stride: u64,
    #[serde(skip)]
    seen: u64,
    #[serde(skip)]
    lost: u32,
}

impl Series {
    /// Adds a point if it is its turn. A point with losses is always added.
    pub fn add(&mut self, now: Time, lost: u32, point: impl FnOnce() -> Point) {
        self.stride = self.stride.max(1);
        self.lost = self.lost.saturating_add(lost);
        self.seen += 1;
        if lost == 0 && !self.seen.is_multiple_of(self.stride) {
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        self.points.push(Point { time_s: now.0 as f64 / 1e9, lost, ..point() });
        if self.points.len() >= MOST {
            self.stride *= 2;
            self.thin();
        }
    }

    /// Drops every second point; their losses go to the next one.
    fn thin(&mut self) {
        let mut carried = 0_u32;
        let mut odd = false;
        self.points.retain_mut(|point| {
            odd = !odd;
            carried = carried.saturating_add(point.lost);
            if !odd {
                point.lost = std::mem::take(&mut carried);
            }
            !odd
        });
        self.lost = self.lost.saturating_add(carried);
    }

    /// The points in order of time, fewer than 2¹⁵.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_is_thinned_and_no_loss_is_forgotten() {
        let mut series = Series::default();
        for now in 0..200_000_u64 {
            let point = || Point { time_s: 0.0, stack: None, cwnd: vec![now], in_flight: 0, lost: 0 };
            series.add(Time(now * 1_000_000), u32::from(now % 1000 == 0), point);
        }
        let points = series.points();
        assert!(points.len() < MOST && points.len() > MOST / 4, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].time_s < pair[1].time_s));
        assert_eq!(points.iter().map(|point| point.lost).sum::<u32>() + series.lost, 200);
    }
}
