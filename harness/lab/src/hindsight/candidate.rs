//! A controller whose window is held against the one a stack told.

use windlass_controllers::{Algorithm, EventKind, Path};

use super::frame::{Frame, Occurrence};
use super::rerun::Rerun;

/// A factor between two windows counts as this much at most, as a natural logarithm.
const FARTHEST: f64 = 2.0;

/// An interval between two ACK frames counts as this much at most, s.
const LONGEST: f64 = 1.0;

/// How far apart two windows were over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Distance {
    sum: f64,
    time: f64,
    /// Of all windows so far, so that equal controllers are known as such.
    pub fingerprint: u64,
}

impl Distance {
    /// For `seconds` the stack's window was `told` and the other `cwnd`.
    pub fn add(&mut self, seconds: f64, told: u64, cwnd: u64) {
        let seconds = seconds.clamp(0.0, LONGEST);
        let ratio = cwnd.max(1) as f64 / told.max(1) as f64;
        self.sum += seconds * libm::log(ratio).abs().min(FARTHEST);
        self.time += seconds;
        // FNV-1a, a window at a time.
        self.fingerprint = (self.fingerprint ^ cwnd).wrapping_mul(0x0100_0000_01b3);
    }

    /// Both together.
    fn and(&self, other: &Distance) -> Distance {
        Distance {
            sum: self.sum + other.sum,
            time: self.time + other.time,
            fingerprint: self.fingerprint.rotate_left(7) ^ other.fingerprint,
        }
    }

    /// The mean of |ln(window / told)|; none where nothing was compared.
    pub fn mean(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.sum / self.time)
    }
}

/// A controller of the catalogue on trial.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub algorithm: Algorithm,
    /// From the beginning of the connection to its end.
    whole: Rerun,
    pub whole_distance: Distance,
    /// From the latest loss or mark on, with the window the stack had then; and the same
    /// from the one before, which remembers it.
    again: [Option<Rerun>; 2],
    /// How far those two were off since the latest loss or mark.
    epoch: [Distance; 2],
    /// The nearer of both, epoch by epoch.
    again_distance: Distance,
}

/// `algorithm` with an initial window of `bytes`, if it can be told to have one.
pub(super) fn starting_at(mut algorithm: Algorithm, bytes: u64, mtu: u32) -> Option<Algorithm> {
    let packets = bytes as f64 / f64::from(mtu.max(1));
    algorithm.set("iw", &packets.to_string()).ok()?;
    Some(algorithm)
}

impl Candidate {
    pub fn new(algorithm: Algorithm, path: &Path) -> Candidate {
        Candidate {
            algorithm,
            whole: Rerun::new(algorithm, path),
            whole_distance: Distance::default(),
            again: [None, None],
            epoch: Default::default(),
            again_distance: Distance::default(),
        }
    }

    /// How far the window was off that was set right at losses and marks.
    pub fn by_epoch(&self) -> Distance {
        let [latest, before] = &self.epoch;
        let nearer = match (latest.mean(), before.mean()) {
            (Some(one), Some(other)) if other < one => before,
            _ => latest,
        };
        self.again_distance.and(nearer)
    }

    /// For `seconds` until now the stack's window was `told`.
    pub fn compare(&mut self, seconds: f64, told: u64) {
        self.whole_distance.add(seconds, told, self.whole.cwnd());
        for (again, distance) in self.again.iter().zip(&mut self.epoch) {
            if let Some(again) = again {
                distance.add(seconds, told, again.cwnd());
            }
        }
    }

    /// Takes what happened next.
    pub fn take(&mut self, occurrence: &Occurrence<'_>) {
        self.whole.take(occurrence);
        self.again.iter_mut().flatten().for_each(|again| again.take(occurrence));
    }

    /// A new epoch begins with `frame`: the stack's window was `told`.
    pub fn restart(&mut self, frame: &Frame, told: u64, path: &Path) {
        self.again_distance = self.by_epoch();
        self.epoch = Default::default();
        self.again.swap(0, 1);
        let path = Path { now: frame.now, ..*path };
        self.again[0] = Some(match starting_at(self.algorithm, told, path.mtu) {
            None => self.whole.clone(),
            Some(algorithm) => {
                let mut again = Rerun::new(algorithm, &path);
                if let Some(rtt) = frame.rtt {
                    again.tell(frame.now, EventKind::RttSampled(rtt));
                }
                again
            }
        });
    }
}
