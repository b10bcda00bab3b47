//! What windlass' harness, tests and benchmarks need beside the hook in
//! [`external`](crate::external): virtual time, seeded randomness and loss recovery without a
//! connection around it. No program that talks to a network has a use for it.

/// Calls of a controller without a connection.
pub use crate::recovery::external::RttEstimate;

/// Virtual time.
pub mod clock {
    use std::cell::Cell;
    use std::time::Instant;

    thread_local! {
        static NOW: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    /// Sets the time of all connections of this thread; `None` returns to the system's clock.
    pub fn set(now: Option<Instant>) {
        NOW.set(now);
    }

    /// The time of this thread's connections.
    pub(crate) fn now() -> Instant {
        NOW.get().unwrap_or_else(Instant::now)
    }
}

/// Seeded randomness.
pub mod random {
    use std::cell::Cell;

    thread_local! {
        static STATE: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// Makes everything random that quiche itself draws on this thread follow from `seed`;
    /// `None` returns to BoringSSL's source. Keys and all else in TLS stay BoringSSL's, so
    /// nothing of this is for use on a network.
    pub fn seed(seed: Option<u64>) {
        STATE.set(seed);
    }

    /// Fills `buf` if there is a seed; returns whether it did.
    pub(crate) fn fill(buf: &mut [u8]) -> bool {
        let Some(mut state) = STATE.get() else { return false };
        for bytes in buf.chunks_mut(8) {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^= word >> 31;
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        STATE.set(Some(state));
        true
    }
}

/// Loss recovery and congestion control of a path without a connection around them, for
/// measuring what they cost.
pub mod bench {
    use std::ops::Range;
    use std::time::Instant;

    use crate::frame::Frame;
    use crate::packet::Epoch;
    use crate::ranges::RangeSet;
    use crate::recovery::HandshakeStatus;
    use crate::recovery::Recovery;
    use crate::recovery::RecoveryConfig;
    use crate::recovery::RecoveryOps;
    use crate::recovery::Sent;

    const EPOCH: Epoch = Epoch::Application;
    const STATUS: HandshakeStatus =
        HandshakeStatus { has_handshake_keys: true, peer_verified_address: true, completed: true };

    /// Recovery of one path after the handshake.
    #[derive(Debug)]
    pub struct PathRecovery {
        recovery: Recovery,
        skipped: Option<u64>,
    }

    impl PathRecovery {
        /// A path with the controller and the other settings of `config`.
        pub fn new(config: &crate::Config) -> Self {
            PathRecovery { recovery: Recovery::new_with_config(&RecoveryConfig::from_config(config)), skipped: None }
        }

        /// Sends packet `number` with `bytes` of a stream if the window has room, with the calls
        /// a connection makes for it. Returns whether it was sent.
        #[inline]
        pub fn send(&mut self, now: Instant, number: u64, bytes: usize) -> bool {
            let recovery = &mut self.recovery;
            if recovery.should_elicit_ack(EPOCH) || recovery.cwnd_available() < bytes {
                // A connection with more to send than the window allows does this.
                recovery.update_app_limited(false);
                return false;
            }
            let frame = Frame::StreamHeader { stream_id: 0, offset: 0, length: bytes, fin: false };
            let packet = Sent {
                pkt_num: number,
                frames: smallvec::smallvec![frame],
                time_sent: now,
                time_acked: None,
                time_lost: None,
                size: bytes,
                ack_eliciting: true,
                in_flight: true,
                delivered: 0,
                delivered_time: now,
                first_sent_time: now,
                is_app_limited: false,
                tx_in_flight: 0,
                lost: 0,
                has_data: true,
                is_pmtud_probe: false,
            };
            let _ = std::hint::black_box((recovery.cwnd(), recovery.max_datagram_size()));
            recovery.on_packet_sent(packet, EPOCH, STATUS, now, "");
            let _ = std::hint::black_box((recovery.get_packet_send_time(now), recovery.get_next_release_time()));
            true
        }

        /// Receives an ACK frame of the packets with these numbers; returns how many of them it
        /// newly acknowledges.
        #[inline]
        pub fn acknowledge(&mut self, now: Instant, numbers: Range<u64>) -> usize {
            let recovery = &mut self.recovery;
            let mut ranges = RangeSet::default();
            ranges.insert(numbers);
            recovery.on_ecn_counts(&None);
            let Ok(_) = recovery.on_ack_received(&ranges, 0, EPOCH, STATUS, now, self.skipped, "") else { return 0 };
            while recovery.next_lost_frame(EPOCH).is_some() {}
            let mut acknowledged = 0;
            while recovery.next_acked_frame(EPOCH).is_some() {
                acknowledged += 1;
            }
            let _ = std::hint::black_box((recovery.cwnd_available(), recovery.loss_detection_timer()));
            acknowledged
        }

        /// The congestion window, bytes.
        pub fn cwnd(&self) -> usize {
            self.recovery.cwnd()
        }
    }
}

