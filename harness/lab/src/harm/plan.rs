//! What is run.

use std::fmt;

use crate::grid::Cell;

/// How the queue of the bottleneck is managed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Queue {
    /// It drops what finds no room.
    TailDrop,
    /// RFC 8290.
    FqCodel,
}

/// A bottleneck; the RTT of the empty path is 50 ms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// Mbit/s.
    pub rate_mbps: u32,
    /// BDP.
    pub buffer_bdp: u32,
    /// Its queue.
    pub queue: Queue,
}

/// RTT of the empty path, ms.
const RTT_MS: u32 = 50;

/// The places, by rate, buffer and queue.
pub const PLACES: [Place; 8] = {
    const fn of(rate_mbps: u32, buffer_bdp: u32, queue: Queue) -> Place {
        Place { rate_mbps, buffer_bdp, queue }
    }
    [
        of(8, 1, Queue::TailDrop),
        of(8, 4, Queue::TailDrop),
        of(50, 1, Queue::TailDrop),
        of(50, 4, Queue::TailDrop),
        of(8, 1, Queue::FqCodel),
        of(8, 4, Queue::FqCodel),
        of(50, 1, Queue::FqCodel),
        of(50, 4, Queue::FqCodel),
    ]
};

/// Bytes of a packet on the wire.
const PACKET: f64 = 1228.0;

impl Place {
    /// Time to send a packet, s.
    #[must_use]
    pub fn packet_time(&self) -> f64 {
        8.0 * PACKET / f64::from(self.rate_mbps) / 1e6
    }

    /// Long enough for several of CUBIC's epochs, s.
    fn duration(&self) -> f64 {
        if self.rate_mbps > 20 { 30.0 } else { 40.0 }
    }

    fn cell(&self, what: &str, flows: &str, controller: &str, stack: &str) -> Cell {
        let Place { rate_mbps, buffer_bdp, queue } = self;
        let queue = if *queue == Queue::FqCodel { "queue = \"fq-codel\"\n" } else { "" };
        let duration = self.duration();
        Cell {
            name: format!("{what} on {stack}, {self}"),
            file: String::new(),
            scenario: format!(
                "duration_s = {duration}\nsample_ms = 100\n[dumbbell]\nrate_mbps = {rate_mbps}\nrtt_ms = {RTT_MS}\n\
                 buffer_bdp = {buffer_bdp}\n{queue}{flows}"
            ),
            controller: controller.to_owned(),
            stack: stack.to_owned(),
            seed: 1,
            reads: "harm/1".to_owned(),
            work: 100 + (duration / self.packet_time()) as u64,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = if self.queue == Queue::FqCodel { "FQ-CoDel" } else { "tail drop" };
        write!(f, "{} Mbit/s, {} BDP, {queue}", self.rate_mbps, self.buffer_bdp)
    }
}

/// A flow alone.
#[must_use]
pub fn solo(place: &Place, controller: &str, stack: &str) -> Cell {
    place.cell(controller, "[[flow]]\nname = \"own\"\ncontroller = \"under-test\"\n", controller, stack)
}

/// A flow of `controller` beside one of `other`, which starts up to two round trips later.
#[must_use]
pub fn pair(place: &Place, controller: &str, other: &str, stack: &str) -> Cell {
    let late = 2e-3 * f64::from(RTT_MS);
    let flows = format!(
        "[[flow]]\nname = \"own\"\ncontroller = \"under-test\"\n[[flow]]\nname = \"other\"\ncontroller = \"{other}\"\n\
         start_jitter_s = {late}\n"
    );
    place.cell(&format!("{controller} and {other}"), &flows, controller, stack)
}
