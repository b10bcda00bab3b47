//! The sending end of a flow that repairs losses as TCP without selective acknowledgements
//! does (`spec: chan §8.4`), and the coarse timer of all.

use windlass_controllers::event::{EcnCe, LossTrigger, PacketsAcked, PacketsLost, Queueing};
use windlass_controllers::{ConfiguredController, EventKind, Signals, Span, Time};

use super::{AckOutcome, Context, Sender};
use crate::sim::observer::LossSeen;
use crate::sim::receiver::Receiver;
use crate::sim::recovery::Acknowledged;
use crate::sim::recovery::{Sent, State};
use crate::sim::tcp::{Cause, DUPLICATES, Flavour, Tcp};
use windlass_network::{Codepoint, Fate, Packet};

/// Losses the controller has classified as random so far; `None` if it does not classify.
fn random_losses<E: ConfiguredController>(sender: &Sender<E>) -> Option<f64> {
    let mut found = None;
    sender.host.inspect(&mut |name, value| {
        if name == "losses_random" {
            found = Some(value);
        }
    });
    found
}

#[inline]
pub(super) fn show_loss(now: u64, number: u64, trigger: LossTrigger, together: u32, context: &mut Context<'_>) {
    if let Some(observer) = context.observer {
        observer.lost(Time(now), &LossSeen { number, trigger, together });
    }
}

impl<E: ConfiguredController> Sender<E> {
    /// The cause for which packet `number` never arrives.
    #[cold]
    pub fn gone(&mut self, number: u64, fate: Fate) {
        let Some(tcp) = self.tcp.as_mut().filter(|tcp| tcp.flavour != Flavour::Sack) else { return };
        let cause = if matches!(fate, Fate::Lost(_)) { Cause::Random } else { Cause::Congestion };
        tcp.causes.insert(number, cause);
    }

    /// An ACK arrives; what it tells beyond its number is of the packet that caused it
    /// (`spec: chan §8.3`).
    #[inline(never)]
    pub(super) fn acknowledged_tcp(
        &mut self,
        mut tcp: Box<Tcp>,
        now: u64,
        upto: u64,
        ack: &Packet,
        receiver: &mut Receiver,
        context: &mut Context<'_>,
    ) -> Box<Tcp> {
        let Some(&last) = receiver.log.get(upto) else { return tcp };
        let mut marks = 0;
        for position in receiver.log.first()..=upto {
            let Some(&seen) = receiver.log.get(position) else { continue };
            if context.observer.is_some() {
                self.note(&seen);
            }
            marks += u32::from(seen.ecn == Codepoint::Ce);
            if let Some(sent) = self.recovery.sent.get(seen.id) {
                tcp.board.received(sent.chunk);
            }
        }
        receiver.log.forget_before(upto + 1);
        if context.observer.is_some() {
            self.show_ack(now, Time(last.at), ack, context);
        }
        let indicated = self.ci_path && last.ci;
        let trigger = self.recovery.sent.get(last.id).copied();
        let (mut packets, mut chunks, mut bytes) = (0, 0, 0);
        while let Some(number) = tcp.board.advance() {
            chunks += 1;
            match self.recovery.acked(number) {
                Acknowledged::New(packet) => {
                    self.data.acked(packet, false);
                    self.batch.add(Time(packet.sent_at), u64::from(packet.bytes), None);
                    bytes += u64::from(packet.bytes);
                    packets += 1;
                }
                Acknowledged::Late(packet) => self.data.acked(packet, true),
                Acknowledged::Known => {}
            }
        }
        let newest_sent_at = self.batch.newest_sent_at().unwrap_or(Time(trigger.map_or(now, |packet| packet.sent_at)));
        if chunks == 0 {
            if marks > 0 {
                self.marked_tcp(now, marks, (last.id, newest_sent_at), 0, context);
            }
            if self.recovery.in_flight > 0 {
                self.duplicate(&mut tcp, now, last.id, indicated, context);
            }
            return tcp;
        }
        let is_partial = tcp.renewed(now, chunks);
        self.recovery.forget_chunks_before(tcp.edge());
        // Karn: only what was sent once is a sample.
        let sample = trigger.filter(|packet| packet.transmissions == 1).map(|packet| now - packet.sent_at);
        let mut rtt = sample.map(|sample| {
            context.meter.rtt.add(sample);
            if let Some(fine) = &mut tcp.fine {
                fine.sample(sample);
            }
            self.rtt.sample(Time(now), Span(sample), Span::ZERO)
        });
        if marks > 0 {
            if let Some(rtt) = rtt.take() {
                self.emit_rare(now, EventKind::RttSampled(rtt), context);
            }
            self.marked_tcp(now, marks, (last.id, newest_sent_at), bytes, context);
        }
        if packets > 0 {
            self.batch.app_limited(self.app_limited);
            let mut acked = self.batch.take(self.recovery.in_flight, rtt);
            acked.newest_pn = Some(last.id);
            self.count_delivered(now, newest_sent_at, &mut acked);
            acked.one_way = trigger.map(|packet| self.one_way(now, &last, packet.sent_at, ack));
            acked.queueing = Some(Queueing::new(Span(last.took), ack.waited));
            acked.congestion_indication = self.ci_path.then_some(indicated);
            if is_partial {
                self.hold(&mut acked);
            }
            self.emit(now, EventKind::PacketsAcked(acked), context);
        }
        if is_partial {
            if let Some((number, packet)) = self.oldest(&tcp) {
                context.meter.packets_lost += 1;
                show_loss(now, number, LossTrigger::PacketThreshold, 0, context);
                self.repeat(&mut tcp, now, number, &packet);
            }
        } else {
            self.look_again(&mut tcp, now, context);
        }
        tcp
    }

    /// The receiver echoes `marks` CE marks, of packets sent no later than `newest`, its number and
    /// time: one response per window (`RFC 3168 §6.1.2`), which is the controller's to count.
    #[cold]
    fn marked_tcp(&mut self, now: u64, marks: u32, newest: (u64, Time), bytes: u64, context: &mut Context<'_>) {
        self.marked(now, &AckOutcome { marks, newest: Some(newest), bytes, lost: None }, context);
    }

    /// Makes an acknowledgement in recovery one that ends no recovery and lets nothing grow
    /// (`spec: sharma §1.3`).
    #[inline]
    pub(super) fn hold(&self, acked: &mut PacketsAcked) {
        acked.fresh_bytes = 0;
        if let Some(start) = self.active.recovery_start() {
            acked.newest_sent_at = acked.newest_sent_at.min(start);
        }
    }

    /// `spec: chan §3.7 L2`: on the first two new ACKs after a fast retransmission.
    fn look_again(&mut self, tcp: &mut Tcp, now: u64, context: &mut Context<'_>) {
        if tcp.worried == 0 {
            return;
        }
        tcp.worried -= 1;
        match self.oldest(tcp) {
            Some((number, packet)) if tcp.fine.is_some_and(|fine| fine.is_over(now, packet.sent_at)) => {
                context.meter.packets_lost += 1;
                show_loss(now, number, LossTrigger::TimeThreshold, 0, context);
                self.repeat(tcp, now, number, &packet);
            }
            _ => tcp.worried = 0,
        }
    }

    /// A duplicate ACK (`spec: chan §2.1 R3, R4; §3.7 L1, L3; §7.4`).
    fn duplicate(&mut self, tcp: &mut Tcp, now: u64, trigger: u64, marked: bool, context: &mut Context<'_>) {
        if marked && self.host.controller().needs().contains(Signals::CONGESTION_INDICATION) {
            let marked = EcnCe::new(1, Time(now), self.recovery.in_flight).with_newest_pn(Some(trigger));
            self.emit_rare(now, EventKind::EcnCe(marked), context);
        }
        tcp.duplicates = tcp.duplicates.saturating_add(1);
        let Some((number, packet)) = self.oldest(tcp) else { return };
        let late = tcp.duplicates < DUPLICATES && tcp.fine.is_some_and(|fine| fine.is_over(now, packet.sent_at));
        if late || tcp.duplicates == DUPLICATES {
            if tcp.is_going_back() {
                return;
            }
            if tcp.recovery_point.is_some() {
                return;
            }
            tcp.recover = None;
            tcp.duplicates = DUPLICATES;
            if tcp.flavour == Flavour::NewReno {
                tcp.recovery_point = Some(self.data.fresh());
            }
            self.repeat(tcp, now, number, &packet);
            self.judge(tcp, now, number, &packet, late, context);
        } else if tcp.duplicates > DUPLICATES && (tcp.inflation > 0 || tcp.recovery_point.is_some()) {
            tcp.inflation += 1;
        }
    }

    /// The controller gets a loss, and the window is held open for what duplicate ACKs
    /// say has left the network.
    fn judge(&mut self, tcp: &mut Tcp, now: u64, number: u64, packet: &Sent, late: bool, context: &mut Context<'_>) {
        context.meter.packets_lost += 1;
        let trigger = if late { LossTrigger::TimeThreshold } else { LossTrigger::PacketThreshold };
        show_loss(now, number, trigger, 1, context);
        let cause = tcp.causes.remove(&number);
        tcp.causes = tcp.causes.split_off(&self.recovery.sent.first());
        let first = tcp.last_cut.is_none_or(|cut| cut < packet.sent_at);
        // Reno halves for every fast retransmission, Vegas once for what was sent together.
        let newest_sent_at = if tcp.fine.is_some() { Time(packet.sent_at) } else { Time(now) };
        let lost = PacketsLost::new(u64::from(packet.bytes), 1, newest_sent_at, self.recovery.in_flight)
            .with_newest_pn(Some(number))
            .with_trigger(trigger)
            .with_transmissions(u32::from(packet.transmissions));
        let before = self.active.cwnd;
        let random = random_losses(self);
        self.emit_rare(now, EventKind::PacketsLost(lost), context);
        if let (Some(before), Some(after)) = (random, random_losses(self)) {
            self.loss_classification.add(after > before, cause.map(|cause| cause == Cause::Random));
        }
        if self.active.cwnd < before {
            tcp.last_cut = Some(now);
        }
        if first || tcp.fine.is_none() {
            tcp.inflation = tcp.duplicates;
        }
    }

    /// The packet of the first chunk that is not acknowledged, if it is under way.
    fn oldest(&self, tcp: &Tcp) -> Option<(u64, Sent)> {
        let number = tcp.board.latest(tcp.edge())?;
        self.recovery.sent.get(number).filter(|packet| packet.state == State::InFlight).map(|packet| (number, *packet))
    }

    /// Takes a packet out of flight, to be sent again at once.
    fn repeat(&mut self, tcp: &mut Tcp, now: u64, number: u64, packet: &Sent) {
        self.recovery.lose(number, now);
        self.data.lost_first(packet);
        self.count_lost(now, u64::from(packet.bytes));
        let outstanding = self.recovery.in_flight / u64::from(packet.bytes).max(1) + 1;
        tcp.repeats(now, packet.transmissions, u32::try_from(outstanding).unwrap_or(u32::MAX));
    }

    /// The coarse timer expired, if it did: everything after what is acknowledged goes out
    /// again.
    pub(super) fn timed_out(&mut self, mut tcp: Box<Tcp>, now: u64, context: &mut Context<'_>) -> Box<Tcp> {
        if tcp.deadline(self.recovery.in_flight) > now {
            return tcp;
        }
        let before = self.recovery.in_flight;
        // What the scoreboard took for lost since the latest recovery is not reported to the controller yet.
        let mut losses = std::mem::take(&mut tcp.unanswered);
        for number in self.recovery.sent.first()..self.recovery.sent.next() {
            if let Some(packet) =
                self.recovery.sent.get(number).copied().filter(|packet| packet.state == State::InFlight)
            {
                self.recovery.lose(number, now);
                self.data.lost_first(&packet);
                losses.add(number, &packet, packet.sent_at);
            }
        }
        let sent = &self.recovery.sent;
        let all = (sent.first()..sent.next()).filter_map(|number| sent.get(number));
        self.data.go_back(tcp.edge(), all);
        tcp.timed_out(now, self.data.fresh());
        if let Some(batch) = losses.batch {
            for number in losses.numbers {
                show_loss(now, number, LossTrigger::TimeThreshold, batch.packets, context);
            }
            self.count_lost(now, batch.bytes);
            context.meter.packets_lost += u64::from(batch.packets);
            context.meter.congestion_events += 1;
            let lost = PacketsLost::new(batch.bytes, batch.packets, Time(batch.newest_sent_at), 0)
                .with_in_flight_before(before)
                .with_newest_pn(Some(batch.newest))
                .with_trigger(LossTrigger::TimeThreshold)
                .with_transmissions(u32::from(batch.transmissions));
            self.emit_rare(now, EventKind::PersistentCongestion(lost), context);
        }
        tcp
    }
}
