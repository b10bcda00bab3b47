//! What is run.

use std::fmt;

use crate::grid::Cell;

/// Controllers that are measured unless others are named.
pub const CONTROLLERS: [&str; 8] = ["reno", "cubic", "bbr", "copa", "prague", "ledbat++", "a-tcp", "nf-tcp"];
/// Rate of the link, Mbit/s.
const LINK_MBPS: f64 = 20.0;
/// Mean rate of the video, Mbit/s.
const VIDEO_MBPS: f64 = 4.0;
/// What the video leaves of the link to the flow beside it, Mbit/s of packets as a window counts them.
pub const BULK_SHARE: f64 = (LINK_MBPS - VIDEO_MBPS) * PACKET.0 / PACKET.1;

/// RTT of the empty path, ms.
const RTT_MS: f64 = 40.0;
/// Bytes of a packet, and on the wire.
const PACKET: (f64, f64) = (1200.0, 1228.0);
/// When the flow beside the video starts, s, and when all ends.
const BESIDE_AT: f64 = 5.0;
const END: f64 = 45.0;

/// How the queue of the bottleneck is managed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// It drops what finds no room; a buffer of one BDP.
    Short,
    /// The same with four BDP.
    Deep,
    /// RFC 8289.
    CoDel,
    /// RFC 8033.
    Pie,
    /// A queue for each flow, by turns.
    Drr,
    /// RFC 8290.
    FqCoDel,
    /// RFC 9332.
    DualPi2,
}

impl Queue {
    /// All of them; where packets are dropped or marked early the buffer has four BDP.
    pub const ALL: [Queue; 7] =
        [Queue::Short, Queue::Deep, Queue::CoDel, Queue::Pie, Queue::Drr, Queue::FqCoDel, Queue::DualPi2];

    /// Its kind in a scenario file, and the buffer, BDP.
    fn written(self) -> (&'static str, u32) {
        match self {
            Queue::Short => ("drop-tail", 1),
            Queue::Deep => ("drop-tail", 4),
            Queue::CoDel => ("codel", 4),
            Queue::Pie => ("pie", 4),
            Queue::Drr => ("drr", 4),
            Queue::FqCoDel => ("fq-codel", 4),
            Queue::DualPi2 => ("dualpi2", 4),
        }
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Queue::Short => "1 BDP",
            Queue::Deep => "4 BDP",
            Queue::CoDel => "CoDel",
            Queue::Pie => "PIE",
            Queue::Drr => "DRR",
            Queue::FqCoDel => "FQ-CoDel",
            Queue::DualPi2 => "DualPI2",
        })
    }
}

/// A video at a bottleneck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case<'a> {
    /// The bottleneck's queue.
    pub queue: Queue,
    /// The controller of the flow beside it; `None` for the video's own.
    pub beside: Option<&'a str>,
    /// Whether its encoder follows the estimated send rate, down to an eighth of its rate.
    pub encoder: bool,
    /// How its frames are delivered as objects, in groups from one key frame to the next; `None` if they go on one stream.
    pub objects: Option<Objects<'a>>,
}

/// Delivery of groups of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Objects<'a> {
    /// `group_order` of a scenario file.
    pub order: &'a str,
    /// `delivery_timeout_ms`; `None` if nothing is dropped.
    pub timeout_ms: Option<u32>,
}

impl Case<'_> {
    /// Its run of `controller` on `stack`, as the grid names it.
    #[must_use]
    pub fn cell(&self, controller: &str, stack: &str) -> Cell {
        let (kind, buffer_bdp) = self.queue.written();
        let beside = self.beside.unwrap_or("under-test");
        let encoder = if self.encoder { format!("encoder_least_mbps = {}\n", VIDEO_MBPS / 8.0) } else { String::new() };
        let (mut named, mut keys) = (String::new(), String::new());
        if let Some(Objects { order, timeout_ms }) = self.objects {
            (named, keys) = (format!(", groups {order}"), format!("group_order = \"{order}\"\n"));
            if let Some(ms) = timeout_ms {
                named += &format!(", timeout {ms} ms");
                keys += &format!("delivery_timeout_ms = {ms}\n");
            }
        }
        Cell {
            name: format!(
                "{controller} beside {} on {stack}, {}{}{named}",
                self.beside.unwrap_or("itself"),
                self.queue,
                if self.encoder { ", encoder" } else { "" }
            ),
            file: String::new(),
            scenario: format!(
                "duration_s = {END}\nsample_ms = 100\n[dumbbell]\nrate_mbps = {LINK_MBPS}\nrtt_ms = {RTT_MS}\n\
                 buffer_bdp = {buffer_bdp}\nqueue = \"{kind}\"\n\
                 [[flow]]\nname = \"video\"\ncontroller = \"under-test\"\napplication_mbps = {VIDEO_MBPS}\nframes_per_s = 30\n\
                 key_frame_every = 60\n{encoder}{keys}[[flow]]\nname = \"bulk\"\ncontroller = \"{beside}\"\nstart_s = {BESIDE_AT}\n"
            ),
            controller: controller.to_owned(),
            stack: stack.to_owned(),
            seed: 1,
            reads: "frame-delay/2".to_owned(),
            work: 100 + (END * LINK_MBPS * 1e6 / 8.0 / PACKET.1) as u64,
        }
    }
}
