//! What an ACK reports to a sender that recovers as QUIC does (`RFC 9002`), and the order in which the
//! controller gets it.

use windlass_adapter::{AckedPackets, LossEpisode};
use windlass_controllers::event::{
    EcnCe, LossTrigger, OneWay, PacketsAcked, PacketsLost, Place, ProbeReceived, Queueing, RttSample, SpuriousLoss,
};
use windlass_controllers::{ConfiguredController, Event, EventKind, Span, Time};

use super::{Context, Sender};
use crate::sim::observer::{AckSeen, LossSeen};
use crate::sim::receiver::{Received, Receiver};
use crate::sim::recovery::{Acknowledged, LostBatch, PACKET_THRESHOLD};
use crate::sim::tcp::Flavour;
use crate::sim::train::{PROBE, of_handle};
use windlass_network::{Codepoint, Packet};

/// What an ACK brought besides its sample.
pub(super) struct AckOutcome {
    /// CE marks the ACK newly reports.
    pub marks: u32,
    /// The newest packet newly acknowledged, and when it was sent.
    pub newest: Option<(u64, Time)>,
    pub bytes: u64,
    pub lost: Option<LostBatch>,
}

/// The newest packet that an ACK newly acknowledges.
#[derive(Clone, Copy)]
pub(super) struct NewestAcked {
    pub arrival: Received,
    /// Bytes in flight when it was sent, itself included.
    pub in_flight: u64,
}

impl<E: ConfiguredController> Sender<E> {
    /// An ACK arrives that tells of the receiver's log up to `upto`.
    #[inline]
    pub fn acknowledged(
        &mut self,
        now: u64,
        upto: u64,
        ack: &Packet,
        receiver: &mut Receiver,
        context: &mut Context<'_>,
    ) {
        if let Some(tcp) = self.tcp.take() {
            self.tcp = Some(match tcp.flavour {
                Flavour::Sack => self.acknowledged_sack(tcp, now, upto, ack, receiver, context),
                _ => self.acknowledged_tcp(tcp, now, upto, ack, receiver, context),
            });
            return;
        }
        let Some(&last) = receiver.log.get(upto) else { return };
        let mut marks = 0;
        let mut ci = false;
        let mut newest: Option<NewestAcked> = None;
        let mut late = 0;
        let recovery_start = self.active.recovery_start();
        // Where nothing has to be read back from memory just after it was written.
        let mut batch = self.batch;
        for position in receiver.log.first()..=upto {
            let Some(&seen) = receiver.log.get(position) else { continue };
            if seen.id & PROBE != 0 {
                let (train, index) = of_handle(seen.id);
                self.probed(now, Place::new(train, index), seen.at.saturating_sub(seen.took), &seen, context);
                continue;
            }
            if context.observer.is_some() {
                self.note(&seen);
            }
            marks += u32::from(seen.ecn == Codepoint::Ce);
            if !receiver.tells(&seen, last.range) {
                continue;
            }
            ci |= seen.ci;
            if let Some(carried) = self.trains.as_ref().and_then(|trains| trains.carried(seen.id)) {
                self.probed(now, carried.place, carried.sent_at, &seen, context);
            }
            match self.recovery.acked(seen.id) {
                Acknowledged::New(packet) => {
                    self.data.acked(packet, false);
                    batch.add(Time(packet.sent_at), u64::from(packet.bytes), recovery_start);
                    if newest.is_none_or(|newest| seen.id > newest.arrival.id) {
                        newest = Some(NewestAcked { arrival: seen, in_flight: packet.in_flight_or_lost_at });
                    }
                }
                Acknowledged::Late(packet) => {
                    self.data.acked(packet, true);
                    batch.add_late(u64::from(packet.bytes));
                    late += u32::from(self.episode.includes(Time(packet.in_flight_or_lost_at)));
                }
                Acknowledged::Known => {}
            }
        }
        receiver.log.forget_before(upto + 1);
        if context.observer.is_some() {
            self.show_ack(now, Time(last.at), ack, context);
        }
        let ack_delay = ack.sent_at.since(Time(last.at)).min(self.max_ack_delay);
        let mut rtt = None;
        let newest_sent_at = batch.newest_sent_at().unwrap_or_default();
        if let Some(newest) = &newest
            && self.recovery.frame(newest.arrival.id)
        {
            let latest = now - newest_sent_at.0;
            context.meter.rtt.add(latest);
            rtt = Some(self.rtt.sample(Time(now), Span(latest), ack_delay));
        }
        if let Some(newest_sent_at) = self.episode.on_late_acks(late) {
            self.emit_rare(now, EventKind::SpuriousLoss(SpuriousLoss::new(newest_sent_at)), context);
        }
        let lost = self.detect(now, context);
        if marks > 0 || lost.is_some() {
            let newest = newest.map(|newest| (newest.arrival.id, newest_sent_at));
            let news = AckOutcome { marks, newest, bytes: batch.bytes(), lost };
            self.congestion(now, rtt.take(), &news, context);
        }
        let Some(newest) = &newest else {
            // Bytes acknowledged late are of the next frame's.
            self.batch = batch;
            return;
        };
        let mut event = Event::new(Time(now), EventKind::PacketsAcked(self.finish_batch(now, batch, newest, rtt, ack)));
        if let EventKind::PacketsAcked(acked) = &mut event.kind {
            acked.congestion_indication = self.ci_path.then_some(ci);
            if self.active.recovery_start() != recovery_start {
                // A response was taken just now; whatever is acknowledged left before it.
                acked.fresh_bytes = if self.active.recovery_start().is_some() { 0 } else { acked.bytes };
            }
        }
        self.emit_event(now, &event, context);
        self.recovery.reclaim(now, 2 * self.rtt.pto(self.max_ack_delay).0);
        if let Some(trains) = &mut self.trains {
            trains.forget_before(self.recovery.sent.first());
        }
    }

    /// The acknowledgements of an ACK, for the controller: their sums, the delivery rate where it is
    /// needed, and what is known of the newest packet. `rtt` is `None` if the controller has the
    /// sample already.
    #[inline(always)]
    pub(super) fn finish_batch(
        &mut self,
        now: u64,
        mut batch: AckedPackets,
        newest: &NewestAcked,
        rtt: Option<RttSample>,
        ack: &Packet,
    ) -> PacketsAcked {
        let in_flight = self.recovery.in_flight;
        let sent_at = batch.newest_sent_at().unwrap_or_default();
        batch.app_limited(self.app_limited);
        let mut acked = batch.take(in_flight, rtt);
        self.batch = batch;
        acked.newest_pn = Some(newest.arrival.id);
        acked.newest_in_flight = Some(newest.in_flight);
        self.count_delivered(now, sent_at, &mut acked);
        let arrival = &newest.arrival;
        acked.one_way = Some(self.one_way(now, arrival, sent_at.0, ack));
        acked.queueing = Some(Queueing::new(Span(arrival.took), ack.waited));
        acked
    }

    /// Adds the delivery rate, where it is needed, to what was acknowledged, of which the newest packet left at `sent_at`.
    #[inline(always)]
    pub(super) fn count_delivered(&mut self, now: u64, sent_at: Time, acked: &mut PacketsAcked) {
        let (delivered, in_flight, app_limited) = (acked.delivered, self.recovery.in_flight, self.app_limited);
        let snapshot = self.delivery_rate.as_mut().and_then(|delivery_rate| {
            delivery_rate.acknowledged(Time(now), sent_at, delivered, in_flight, app_limited)
        });
        if let Some(snapshot) = snapshot {
            snapshot.apply_to(acked);
        }
    }

    /// Counts `bytes` that were declared lost, where the delivery rate is needed.
    #[inline]
    pub(super) fn count_lost(&mut self, now: u64, bytes: u64) {
        if let Some(delivery_rate) = &mut self.delivery_rate {
            delivery_rate.lost(Time(now), bytes);
        }
    }

    /// One-way times of a packet that left at `sent_at` and of its ACK, which comes at `now`.
    #[inline]
    pub(super) fn one_way(&self, now: u64, arrival: &Received, sent_at: u64, ack: &Packet) -> OneWay {
        OneWay::new(
            difference(arrival.at, sent_at).saturating_add(self.clock_offset),
            difference(now, ack.sent_at.0).saturating_sub(self.clock_offset),
        )
    }

    /// What comes between the samples of an ACK and its growth, in the order
    /// [`windlass_controllers::event`] gives.
    #[cold]
    pub(super) fn congestion(
        &mut self,
        now: u64,
        rtt: Option<RttSample>,
        news: &AckOutcome,
        context: &mut Context<'_>,
    ) {
        if let Some(rtt) = rtt {
            self.emit_rare(now, EventKind::RttSampled(rtt), context);
        }
        if news.marks > 0 {
            self.marked(now, news, context);
        }
        if let Some(lost) = &news.lost {
            self.lost(now, lost, news.bytes, context);
        }
    }

    pub(super) fn marked(&mut self, now: u64, news: &AckOutcome, context: &mut Context<'_>) {
        // Marks on packets taken for lost come with nothing newly acknowledged: they are
        // answered as news of this moment.
        let (newest_pn, newest_sent_at) = news.newest.map_or((None, Time(now)), |(number, at)| (Some(number), at));
        let in_flight = self.recovery.in_flight + news.lost.map_or(0, |lost| lost.bytes) + news.bytes;
        self.emit_rare(
            now,
            EventKind::EcnCe(EcnCe::new(news.marks, newest_sent_at, in_flight).with_newest_pn(newest_pn)),
            context,
        );
    }

    /// Reports lost packets to the controller. They are out of flight already, as are the
    /// `acked` bytes reported next.
    pub(super) fn lost(&mut self, now: u64, lost: &LostBatch, acked: u64, context: &mut Context<'_>) {
        context.meter.packets_lost += u64::from(lost.packets);
        self.count_lost(now, lost.bytes);
        let after = self.recovery.in_flight + acked;
        let body = PacketsLost::new(lost.bytes, lost.packets, Time(lost.newest_sent_at), after)
            .with_newest_pn(Some(lost.newest))
            .with_trigger(lost.trigger)
            .with_transmissions(u32::from(lost.transmissions));
        if lost.persistent {
            self.episode = LossEpisode::default();
            self.rtt.restart_min();
            context.meter.congestion_events += 1;
            self.emit_rare(now, EventKind::PersistentCongestion(body), context);
            return;
        }
        self.episode.on_packets_lost(Time(now), Time(lost.newest_sent_at), lost.packets);
        self.emit_rare(now, EventKind::PacketsLost(body), context);
    }

    /// Keeps what the observer wants to know of a packet an ACK tells of.
    #[cold]
    pub(super) fn note(&mut self, seen: &Received) {
        self.told.push(seen.id);
        match seen.ecn {
            Codepoint::NotEct => {}
            Codepoint::Ect0 => self.told_ecn[0] += 1,
            Codepoint::Ect1 => self.told_ecn[1] += 1,
            Codepoint::Ce => self.told_ecn[2] += 1,
        }
    }

    /// Shows an ACK to the observer.
    #[cold]
    pub(super) fn show_ack(&mut self, now: u64, last_arrival: Time, ack: &Packet, context: &mut Context<'_>) {
        let Some(observer) = context.observer else { return };
        self.told.sort_unstable();
        let ranges = &mut self.told_ranges;
        ranges.clear();
        for number in self.told.drain(..) {
            match ranges.last_mut() {
                Some((_, high)) if *high + 1 == number => *high = number,
                _ => ranges.push((number, number)),
            }
        }
        if !ranges.is_empty() {
            let ack = AckSeen {
                number: self.told_acks,
                ranges,
                delay: ack.sent_at.since(last_arrival),
                ecn: (self.told_ecn != [0; 3]).then_some(self.told_ecn),
                bytes: ack.bytes.saturating_sub(self.overhead),
            };
            observer.acked(Time(now), &ack);
            self.told_acks += 1;
        }
    }

    /// Declares lost what is lost at `now`.
    #[inline(always)]
    pub(super) fn detect(&mut self, now: u64, context: &mut Context<'_>) -> Option<LostBatch> {
        if self.recovery.is_in_order() {
            self.recovery.stop_loss_timer();
            return None;
        }
        self.look_for_losses(now, context)
    }

    #[inline(never)]
    fn look_for_losses(&mut self, now: u64, context: &mut Context<'_>) -> Option<LostBatch> {
        let data = &mut self.data;
        let mut gone: Vec<(u64, LossTrigger)> = Vec::new();
        let watched = context.observer.is_some();
        if let Some(bytes) = self.bytes_per_duplicate {
            self.recovery.packet_threshold = (self.active.cwnd / bytes).max(PACKET_THRESHOLD);
        }
        let lost = self.recovery.detect(now, &self.rtt, self.max_ack_delay, |packet, number, trigger| {
            data.lost(packet, trigger);
            if watched {
                gone.push((number, trigger));
            }
        });
        if let Some(observer) = context.observer {
            let together = gone.len() as u32;
            for (number, trigger) in gone {
                observer.lost(Time(now), &LossSeen { number, trigger, together });
            }
        }
        lost
    }

    /// A packet of a train that left at `sent_at` was received.
    pub(super) fn probed(&mut self, now: u64, place: Place, sent_at: u64, seen: &Received, context: &mut Context<'_>) {
        let Place { train, index, .. } = place;
        let one_way = Some(difference(seen.at, sent_at).saturating_add(self.clock_offset));
        let ce = seen.ecn == Codepoint::Ce;
        self.emit_rare(
            now,
            EventKind::ProbeReceived(ProbeReceived::new(train, index, Time(sent_at)).with_ce(ce).with_one_way(one_way)),
            context,
        );
    }
}

/// `a − b`, saturating.
fn difference(a: u64, b: u64) -> i64 {
    match a.checked_sub(b) {
        Some(difference) => i64::try_from(difference).unwrap_or(i64::MAX),
        None => 0i64.saturating_sub_unsigned(b - a),
    }
}
