//! The part that adapters of quinn and its forks share, called as all of them together call it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use windlass_adapter::std_time::{self, Clock, Loss, Packet as Acknowledged};
use windlass_adapter::{Flow, Groups};
use windlass_controllers::{Algorithm, ConfiguredController, Signals};

use super::{At, Call, Key, Order, Watch};

/// A moment long enough after the earliest instant there is.
#[must_use]
pub fn instant(at: At) -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(|| Instant::now() + Duration::from_secs(80 * 365 * 24 * 3600));
    let distance = Duration::from_nanos(at.unsigned_abs());
    if at < 0 { start - distance } else { start + distance }
}

/// Estimates of the smoothed and of the minimum RTT, possible and impossible.
fn estimates(which: u8) -> (Duration, Duration) {
    let ms = Duration::from_millis;
    let all = [
        (ms(40), ms(30)),
        (Duration::ZERO, Duration::ZERO),
        (Duration::from_nanos(1), ms(1)),
        (ms(30_000), ms(1)),
        (Duration::MAX, Duration::ZERO),
        (Duration::MAX, Duration::MAX),
    ];
    all[usize::from(which) % all.len()]
}

/// Connections without a stack.
pub struct Stack<C: ConfiguredController = Algorithm> {
    controller: C,
    groups: Option<Groups<C, Key>>,
    watch: Watch,
    made: u64,
}

impl<C: ConfiguredController> super::Stack<C> for Stack<C> {
    type Path = Path<C>;
    const PROVIDES: Signals = Signals::ACKS
        .and(Signals::LOSS)
        .and(Signals::PERSISTENT_CONGESTION)
        .and(Signals::SPURIOUS_LOSS)
        .and(Signals::PACKET_NUMBERS)
        .and(Signals::RTT)
        .and(Signals::ECN)
        .and(Signals::WINDOW_AT_SEND)
        .and(Signals::DELIVERY_RATE)
        .and(Signals::PACING)
        .and(Signals::GROUPS);

    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self {
        Stack { controller, groups: groups.cloned(), watch: watch.clone(), made: 0 }
    }

    fn connect(&mut self, now: At, mtu: u16, key: Key) -> Path<C> {
        let clock = Clock::new(instant(0), instant(now));
        let path = windlass_controllers::Path::new(clock.latest(), mtu.into(), self.made);
        self.made += 1;
        let recorder = Some(self.watch.recorder(&path));
        let flow = match &self.groups {
            Some(groups) => Flow::grouped_with(self.controller.clone(), &path, groups, key, recorder),
            None => Flow::ungrouped_with(self.controller.clone(), &path, recorder),
        };
        Path(std_time::Path::new(flow, clock, mtu))
    }
}

/// One of their paths.
pub struct Path<C: ConfiguredController>(std_time::Path<C>);

impl<C: ConfiguredController> super::Path for Path<C> {
    type Kept = ();
    const ORDER: Order = Order::AcksFirst;

    fn sent(&mut self, now: At, bytes: u64, pn: u64, app_limited: Option<bool>) {
        self.0.on_packet_sent(instant(now), bytes, pn, app_limited.is_some());
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        let (path, now) = (&mut self.0, instant(now));
        match *call {
            Call::Acked { packet, app_limited, estimate } => {
                let packet = Acknowledged { sent: instant(packet.at), bytes: packet.bytes, pn: Some(packet.pn) };
                path.on_packet_acked(packet, app_limited, || estimates(estimate));
            }
            Call::AcksEnd { in_flight, app_limited, largest, .. } => {
                path.on_end_acks(now, in_flight, app_limited, largest);
            }
            Call::LossesEnd { bytes, newest, persistent } => {
                let loss = Loss { bytes, packets: None, newest_pn: Some(newest.pn), persistent };
                path.on_packets_lost(now, instant(newest.at), loss);
            }
            Call::Marked { newest, .. } => path.on_ecn_ce(now, instant(newest.at), Some(newest.pn)),
            Call::Spurious => path.on_spurious_loss(),
            Call::MtuUpdated(mtu) => path.on_mtu_update(mtu),
            Call::MaxAckDelay(delay) => path.set_max_ack_delay(delay),
            Call::Asked => _ = (path.window(), path.flow().decision()),
            Call::Sampled { .. } | Call::Lost { .. } | Call::Discarded(_) => {}
        }
    }

    fn copy(&self) -> Option<Self> {
        Some(Path(self.0.clone()))
    }

    fn window(&self) -> u64 {
        self.0.window()
    }

    fn answers(&self) -> String {
        format!("{:?}", (self.0.flow().decision().pacing_rate, self.0.send_quantum()))
    }

    fn least_window(mtu: u16, _: u64) -> u64 {
        2 * u64::from(mtu)
    }
}
