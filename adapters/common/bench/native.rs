//! A stack's controllers, its own or ours, fed as the stack feeds them.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::dialect;
use crate::proto::RttEstimator;
use crate::proto::congestion::{self, ControllerFactory};
use crate::rounds::BLOCK;

/// Bytes per datagram.
pub const MTU: u64 = 1200;
/// Connections taking turns, as on a server: the next ACK is not this one's.
pub const FLOWS: usize = 16;
/// A loss every so many ACKs keeps the windows near a steady state; odd, so that every
/// flow gets its turn.
pub const LOSS_EVERY: u64 = 501;
/// Of every sample.
pub const RTT: Duration = Duration::from_millis(40);
/// Of one flow and the next.
pub const BETWEEN_ACKS: Duration = Duration::from_micros(200);

/// The stack's calls for one ACK frame, on boxed controllers as it holds them.
pub struct Native {
    flows: Vec<Box<dyn congestion::Controller>>,
    now: Instant,
    pn: u64,
    rtt: RttEstimator,
}

impl Native {
    /// Flows with the controllers of `factory`.
    pub fn new(factory: Arc<dyn ControllerFactory>, rtt: RttEstimator) -> Native {
        let now = Instant::now();
        let flows = (0..FLOWS).map(|_| factory.clone().build(now, MTU as u16)).collect();
        Native { flows, now: now + RTT, pn: 0, rtt }
    }

    /// A block of frames; how long it took.
    pub fn block(&mut self) -> Duration {
        let start = self.now;
        let times: [(Instant, Instant); BLOCK] = std::array::from_fn(|i| {
            let now = start + BETWEEN_ACKS * i as u32;
            (now, now - RTT)
        });
        self.now = start + BETWEEN_ACKS * BLOCK as u32;
        let clock = Instant::now();
        for (i, &(now, sent)) in times.iter().enumerate() {
            self.pn += 2;
            let controller = black_box(&mut self.flows[i % FLOWS]);
            dialect::acked(controller.as_mut(), now, sent, MTU, self.pn - 1, &self.rtt);
            dialect::acked(controller.as_mut(), now, sent, MTU, self.pn, &self.rtt);
            controller.on_end_acks(now, 100 * MTU, false, Some(self.pn));
            if self.pn.is_multiple_of(2 * LOSS_EVERY) {
                dialect::lost(controller.as_mut(), now, sent, MTU, self.pn);
            }
            black_box(controller.window());
        }
        clock.elapsed()
    }
}
