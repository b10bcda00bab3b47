//! Virtual time as s2n-quic's timestamps have it, and randomness that repeats.

use std::convert::Infallible;
use std::time::Duration;

use s2n_quic::provider::congestion_controller::Timestamp;
use s2n_quic::provider::connection_id::{self, ConnectionInfo, LocalId};
use s2n_quic::provider::io::testing::time;
use s2n_quic::provider::random::{Generator, Provider};
use windlass_controllers::Time;
use windlass_network::Stream;

/// Time since the start of the run, by the first timestamp of the run. Timestamps are whole
/// microseconds, and so is the time of everything that happens in a run; the first
/// microsecond comes twice, since s2n-quic's timestamps are never zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    first: Timestamp,
}

impl Clock {
    /// The clock of a run that begins now.
    pub fn begin() -> Clock {
        Clock { first: time::now() }
    }

    /// Time since the origin.
    pub fn now(self) -> Time {
        self.time(time::now())
    }

    /// `timestamp` as time since the origin.
    pub fn time(self, timestamp: Timestamp) -> Time {
        let since = timestamp.saturating_duration_since(self.first) + Duration::from_micros(1);
        Time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Time left until `time`, in whole microseconds.
    pub fn until(self, time: Time) -> Duration {
        Duration::from_micros(time.since(self.now()).0.div_ceil(1000))
    }

    /// Waits until `at`, or not at all.
    pub async fn wait(self, at: Time) {
        let wait = self.until(at);
        if !wait.is_zero() {
            time::delay(wait).await;
        }
    }
}

/// s2n-quic's random numbers from a stream of the run.
pub struct Random(pub Stream);

impl Generator for Random {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

impl Provider for Random {
    type Generator = Self;
    type Error = Infallible;

    fn start(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

/// s2n-quic's connection IDs from a stream of the run. Its own are of the same length, but the system's random bytes.
pub struct ConnectionIds(pub Stream);

/// Bytes of a connection ID.
const ID_BYTES: usize = 16;

impl connection_id::Generator for ConnectionIds {
    fn generate(&mut self, _: &ConnectionInfo<'_>) -> LocalId {
        let mut id = [0; ID_BYTES];
        self.0.fill(&mut id);
        LocalId::try_from_bytes(&id).expect("s2n-quic takes connection IDs of 4 to 20 bytes")
    }
}

impl connection_id::Validator for ConnectionIds {
    fn validate(&self, _: &ConnectionInfo<'_>, id: &[u8]) -> Option<usize> {
        (id.len() >= ID_BYTES).then_some(ID_BYTES)
    }
}
