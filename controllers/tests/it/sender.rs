//! A random sender: keeps books well enough for its events to be plausible, and on
//! request mixes in what only a broken stack would say.

use windlass_controllers::event::{
    Delivery, EcnCe, IdleRestart, LossTrigger, OneWay, PacketSent, PacketsAcked, PacketsLost, Place, ProbeReceived,
    Queueing, RttSample, SpuriousLoss,
};
use windlass_controllers::{Decision, Event, EventKind, Path, Span, Time};

/// SplitMix64: enough randomness for choosing events, and repeatable.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Log-uniform over all of `u64`, the extremes included.
    pub fn hostile(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            _ => {
                let bits = self.below(64);
                self.next() >> bits
            }
        }
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

pub struct Sender {
    pub random: Random,
    pub now: Time,
    seed: u64,
    pn: u64,
    in_flight: u64,
    delivered: u64,
    base_rtt: Span,
    queue: Span,
    mtu: u64,
    hostile: bool,
}

impl Sender {
    pub fn new(seed: u64, hostile: bool) -> Sender {
        let mut random = Random(seed);
        let base_rtt = Span::from_micros(100 + random.below(300_000));
        let mtu = random.pick(&[1200, 1350, 1452]);
        Sender {
            random,
            now: Time::ZERO,
            seed,
            pn: 0,
            in_flight: 0,
            delivered: 0,
            base_rtt,
            queue: Span::ZERO,
            mtu,
            hostile,
        }
    }

    pub fn path(&self) -> Path {
        Path::new(self.now, self.mtu as u32, self.seed)
    }

    fn number(&mut self, plausible: u64) -> u64 {
        if self.hostile && self.random.one_in(4) { self.random.hostile() } else { plausible }
    }

    fn span(&mut self, plausible: Span) -> Span {
        Span(self.number(plausible.0))
    }

    fn sent_at(&mut self, rtt: Span) -> Time {
        Time(self.number(self.now.0.saturating_sub(rtt.0)))
    }

    fn rtt(&mut self) -> RttSample {
        let latest = self.base_rtt + self.queue;
        RttSample::new(self.span(latest), self.span(latest), self.span(Span(latest.0 / 8)), self.span(self.base_rtt))
            .with_ack_delay(self.span(Span::ZERO))
    }

    /// The next event of a sender that lives by `decision`.
    pub fn event(&mut self, decision: &Decision) -> Event {
        self.pass_time();
        let room = decision.cwnd.saturating_sub(self.in_flight);
        let sending = self.random.below(room / 2 + 2).min(200 * self.mtu);
        self.in_flight = self.in_flight.saturating_add(sending);
        self.pn += sending / self.mtu;
        let rtt = self.base_rtt + self.queue;
        let kind = match self.random.below(100) {
            0..=69 => EventKind::PacketsAcked(self.acked(rtt)),
            70..=74 => EventKind::PacketsLost(self.lost(rtt)),
            75..=78 => EventKind::EcnCe(
                EcnCe::new(self.number(1 + self.pn % 3) as u32, self.sent_at(rtt), self.in_flight)
                    .with_newest_pn(Some(self.pn)),
            ),
            79 => EventKind::PersistentCongestion(self.lost(rtt)),
            80..=81 => EventKind::SpuriousLoss(SpuriousLoss::new(self.sent_at(rtt))),
            82 => EventKind::MtuUpdated(self.resize()),
            83 => EventKind::IdleRestart(IdleRestart::new(self.span(Span(rtt.0 * 4)), self.span(Span(rtt.0 * 2)))),
            84..=88 => EventKind::TimerExpired,
            89..=92 => EventKind::RttSampled(self.rtt()),
            93 => EventKind::PacketSent(self.sent(decision)),
            _ => EventKind::ProbeReceived(self.probed(decision)),
        };
        Event::new(self.now, kind)
    }

    /// Queueing drifts like a random walk between nothing and three base RTTs.
    fn pass_time(&mut self) {
        let drift = Span(self.random.below(self.base_rtt.0 / 8 + 1));
        self.queue = if self.random.one_in(2) { self.queue + drift } else { self.queue - drift };
        self.queue.0 = self.queue.0.min(3 * self.base_rtt.0);
        let step = match self.random.below(16) {
            0 => 0,
            1 => self.base_rtt.0,
            _ => self.random.below(self.base_rtt.0 / 4 + 1),
        };
        self.now += Span(step);
        if self.hostile && self.random.one_in(1000) {
            self.now += Span(self.random.hostile() >> 8);
        }
    }

    fn resize(&mut self) -> u32 {
        self.mtu = self.random.pick(&[1200, 1350, 1452, 9000]);
        let plausible = self.mtu;
        self.number(plausible) as u32
    }

    fn acked(&mut self, rtt: Span) -> PacketsAcked {
        let packets = 1 + self.random.below(12);
        let before = self.in_flight;
        let plausible = (packets * self.mtu).min(before);
        self.in_flight -= plausible;
        self.delivered = self.delivered.saturating_add(plausible);
        let bytes = self.number(plausible);
        let fresh = if self.random.one_in(5) { self.random.below(bytes.max(1)) } else { bytes };
        let offset = self.random.pick(&[0, -5_000_000_000, 1 << 40]);
        let one_way = OneWay::new(
            (self.number(rtt.0 / 2) as i64).wrapping_add(offset),
            (self.number(rtt.0 / 2) as i64).wrapping_sub(offset),
        );
        // The order of these draws is part of the recorded digests.
        let (packets, fresh) = (self.number(packets) as u32, self.number(fresh));
        PacketsAcked::new(bytes, packets, self.sent_at(rtt), self.in_flight, self.delivered)
            .with_fresh_bytes(fresh)
            .with_newest_pn((!self.random.one_in(10)).then_some(self.pn))
            .with_newest_in_flight((!self.random.one_in(10)).then_some(before))
            .with_in_flight_before(self.number(before))
            .with_app_limited(self.random.one_in(8))
            .with_rtt(if self.random.one_in(6) { None } else { Some(self.rtt()) })
            .with_one_way((!self.random.one_in(4)).then_some(one_way))
            .with_queueing(if self.random.one_in(2) {
                Some(Queueing::new(self.span(self.queue), self.span(Span(1000))))
            } else {
                None
            })
            .with_congestion_indication(self.random.pick(&[None, Some(false), Some(true)]))
            .with_delivery((!self.random.one_in(10)).then(|| self.delivery(rtt)))
    }

    /// What was delivered a round trip ago, or so.
    fn delivery(&mut self, rtt: Span) -> Delivery {
        let ago = self.random.below(3 * rtt.0 + 1);
        Delivery::new(
            self.number(self.delivered.saturating_sub(self.in_flight)),
            self.sent_at(rtt),
            self.sent_at(rtt + Span(ago)),
        )
        .with_lost(self.number(0))
        .with_app_limited(self.random.one_in(8))
    }

    fn lost(&mut self, rtt: Span) -> PacketsLost {
        let packets = 1 + self.random.below(3);
        let before = self.in_flight;
        let bytes = (packets * self.mtu).min(before);
        self.in_flight -= bytes;
        PacketsLost::new(self.number(bytes), self.number(packets) as u32, self.sent_at(rtt), self.in_flight)
            .with_newest_pn(Some(self.pn))
            .with_in_flight_before(self.number(before))
            .with_trigger(self.random.pick(&[
                LossTrigger::PacketThreshold,
                LossTrigger::TimeThreshold,
                LossTrigger::Unknown,
            ]))
            .with_transmissions(self.number(1) as u32)
    }

    fn sent(&mut self, decision: &Decision) -> PacketSent {
        let place = decision.train.filter(|_| !self.random.one_in(4)).map(|plan| {
            let last = u64::from(plan.packets.saturating_sub(1));
            let index = if self.random.one_in(2) { last } else { self.random.below(last + 2) };
            Place::new(self.number(u64::from(plan.id)) as u32, self.number(index) as u32)
        });
        PacketSent::new(self.mtu, self.in_flight).with_pn(Some(self.pn)).with_place(place)
    }

    fn probed(&mut self, decision: &Decision) -> ProbeReceived {
        let (train, packets) = decision.train.map_or((0, 15), |plan| (plan.id, plan.packets));
        let index = self.random.below(u64::from(packets) + 1);
        let (train, index) = (self.number(u64::from(train)) as u32, self.number(index) as u32);
        let ce = self.random.one_in(3);
        let one_way = if self.random.one_in(3) { None } else { Some(self.number(self.queue.0) as i64) };
        let sent_at = self.sent_at(self.base_rtt + self.queue);
        ProbeReceived::new(train, index, sent_at).with_ce(ce).with_one_way(one_way)
    }
}
