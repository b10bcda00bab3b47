//! Counters of a link.

/// Totals of one link since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkStats {
    /// Packets that arrived at the queue.
    pub arrived: u64,
    /// Packets whose transmission ended.
    pub forwarded: u64,
    /// Bytes of the packets forwarded.
    pub forwarded_bytes: u64,
    /// Packets dropped for lack of room.
    pub dropped_full: u64,
    /// Packets dropped by active queue management.
    pub dropped_early: u64,
    /// Packets dropped because the topology asked for it by number.
    pub dropped_forced: u64,
    /// Packets lost at random after transmission.
    pub lost: u64,
    /// Packets the queue CE-marked.
    pub marked: u64,
    /// Packets given a congestion-indication mark.
    pub ci_marked: u64,
    /// Most packets that ever waited.
    pub max_waiting: u64,
    /// Integral of the number of waiting packets over time, packet·s.
    pub waiting_packet_seconds: f64,
    /// Bytes the link could have sent; 0 for a link without a rate limit.
    pub capacity_bytes: f64,
}

impl LinkStats {
    /// Packets dropped, for whatever reason but random loss.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped_full + self.dropped_early + self.dropped_forced
    }

    /// Bits sent over bits that could have been sent, 0 to 1; 0 for a link without a
    /// rate limit.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        if self.capacity_bytes > 0.0 { self.forwarded_bytes as f64 / self.capacity_bytes } else { 0.0 }
    }

    /// What happened since `earlier`, except `max_waiting`, which stays that of the whole run.
    #[must_use]
    pub fn since(&self, earlier: &LinkStats) -> LinkStats {
        LinkStats {
            arrived: self.arrived - earlier.arrived,
            forwarded: self.forwarded - earlier.forwarded,
            forwarded_bytes: self.forwarded_bytes - earlier.forwarded_bytes,
            dropped_full: self.dropped_full - earlier.dropped_full,
            dropped_early: self.dropped_early - earlier.dropped_early,
            dropped_forced: self.dropped_forced - earlier.dropped_forced,
            lost: self.lost - earlier.lost,
            marked: self.marked - earlier.marked,
            ci_marked: self.ci_marked - earlier.ci_marked,
            max_waiting: self.max_waiting,
            waiting_packet_seconds: self.waiting_packet_seconds - earlier.waiting_packet_seconds,
            capacity_bytes: self.capacity_bytes - earlier.capacity_bytes,
        }
    }
}
