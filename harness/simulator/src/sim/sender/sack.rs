//! The sending end of a flow that repairs losses as TCP with selective acknowledgements does
//! (`RFC 6675`, `RFC 2018`; `spec: chan §2.3`; `spec: sharma §1.3`).
//!
//! The bytes in flight are `pipe`: what was neither acknowledged, selectively or not, nor taken for
//! lost, and what was sent again. An ACK tells of all that has arrived, however many blocks that
//! would take: with an ACK for every packet that is out of order, three blocks tell as much unless
//! ACKs are lost. Left out are NextSeg's rules 3 and 4 (`RFC 6675 §4`), which resend what is not known to be lost
//! when nothing new may be sent. The documents' flows are endless and no receiver's window stops them, so that
//! rule 2 always has a segment; of the senders they ran, ns-2's has neither rule (a hole or else new data) and
//! Linux resends such packets only when it has nothing new, too.

use windlass_controllers::event::{LossTrigger, Place};
use windlass_controllers::{ConfiguredController, EventKind, Span, Time};

use super::tcp::show_loss;
use super::{AckOutcome, Context, NewestAcked, Sender};
use crate::sim::receiver::Receiver;
use crate::sim::recovery::{Acknowledged, LostBatch, PACKET_THRESHOLD, State};
use crate::sim::tcp::{Losses, Tcp};
use crate::sim::train::{PROBE, of_handle};
use windlass_network::{Codepoint, Packet};

impl<E: ConfiguredController> Sender<E> {
    /// An ACK arrives that tells of the receiver's log up to `upto`.
    #[inline(never)]
    pub(super) fn acknowledged_sack(
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
        let mut ci = false;
        let mut newest: Option<NewestAcked> = None;
        let mut echoed = None;
        let recovery_start = self.active.recovery_start();
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
            ci |= seen.ci;
            if let Some(carried) = self.trains.as_ref().and_then(|trains| trains.carried(seen.id)) {
                self.probed(now, carried.place, carried.sent_at, &seen, context);
            }
            // The timestamp echoed is of the first packet the ACK answers (`RFC 7323 §4.3`).
            if echoed.is_none() && position + u64::from(last.answered) > upto {
                echoed = self.recovery.sent.get(seen.id).map(|packet| packet.sent_at);
            }
            let (chunk, late) = match self.recovery.acked(seen.id) {
                Acknowledged::New(packet) => {
                    self.data.acked(packet, false);
                    batch.add(Time(packet.sent_at), u64::from(packet.bytes), recovery_start);
                    if newest.is_none_or(|newest| seen.id > newest.arrival.id) {
                        newest = Some(NewestAcked { arrival: seen, in_flight: packet.in_flight_or_lost_at });
                    }
                    (packet.chunk, false)
                }
                Acknowledged::Late(packet) => {
                    self.data.acked(packet, true);
                    batch.add_late(u64::from(packet.bytes));
                    (packet.chunk, true)
                }
                Acknowledged::Known => continue,
            };
            tcp.board.received(chunk);
            if late && let Some(number) = tcp.board.latest(chunk) {
                // Its retransmission is no longer part of the pipe.
                let _ = self.recovery.acked(number);
            }
        }
        receiver.log.forget_before(upto + 1);
        if context.observer.is_some() {
            self.show_ack(now, Time(last.at), ack, context);
        }
        let before = tcp.edge();
        while tcp.board.advance().is_some() {}
        let mut rtt = None;
        if tcp.edge() > before {
            tcp.since = now;
            self.recovery.forget_chunks_before(tcp.edge());
            if tcp.recovery_point.is_some_and(|point| tcp.edge() >= point) {
                tcp.recovery_point = None;
            }
            if let Some(sent_at) = echoed {
                let latest = now - sent_at;
                tcp.sample(latest);
                context.meter.rtt.add(latest);
                rtt = Some(self.rtt.sample(Time(now), Span(latest), Span::ZERO));
            }
        }
        let is_duplicate = tcp.edge() == before;
        let lost = self.judge_sack(&mut tcp, now, context);
        let in_recovery = tcp.recovery_point.is_some();
        let newest_sent_at = batch.newest_sent_at().unwrap_or_default();
        if marks > 0 || lost.is_some() {
            // In recovery a mark is of the window that was reduced already (`RFC 3168 §6.1.2`).
            let held = |at: Time| if in_recovery { recovery_start.map_or(at, |start| at.min(start)) } else { at };
            let newest = newest.map(|newest| (newest.arrival.id, held(newest_sent_at)));
            let news = AckOutcome { marks, newest, bytes: batch.bytes(), lost };
            self.congestion(now, rtt.take(), &news, context);
        }
        if let Some(newest) = &newest {
            let mut acked = self.finish_batch(now, batch, newest, rtt, ack);
            acked.congestion_indication = self.ci_path.then_some(ci);
            if in_recovery {
                self.hold(&mut acked);
            } else if is_duplicate || self.active.recovery_start() != recovery_start {
                // Duplicate ACKs leave the window as it is (`RFC 5681 §3.2`). One that grew by a packet there would
                // fill the last place of a full queue, which the retransmission needs.
                acked.fresh_bytes = 0;
            }
            self.emit(now, EventKind::PacketsAcked(acked), context);
            if let Some(trains) = &mut self.trains {
                trains.forget_before(self.recovery.sent.first());
            }
        }
        tcp
    }

    /// Takes for lost what the scoreboard says (`RFC 6675 §5`), to be sent again in order. Returned is what is
    /// reported to the controller now. In a recovery each loss is a report that asks for no response, since it counts as sent before the
    /// latest one (`RFC 9002 §7.3.2`); the first of packets sent since waits for the end of it, and begins the next.
    #[inline]
    fn judge_sack(&mut self, tcp: &mut Tcp, now: u64, context: &mut Context<'_>) -> Option<LostBatch> {
        let threshold = match self.bytes_per_duplicate {
            Some(bytes) => (self.active.cwnd / bytes).max(PACKET_THRESHOLD),
            None => PACKET_THRESHOLD,
        };
        let is_repairing = tcp.is_answered(tcp.edge());
        // A controller that has not responded takes each report for a reason to.
        let response = self.active.recovery_start().filter(|_| is_repairing);
        let mut reported = Losses::default();
        while let Some(number) = tcp.board.next_lost(threshold) {
            let Some(packet) = self.recovery.sent.get(number).filter(|packet| packet.state == State::InFlight).copied()
            else {
                continue;
            };
            self.recovery.lose(number, now);
            self.data.lost(&packet, LossTrigger::PacketThreshold);
            let is_answered = tcp.is_answered(packet.chunk);
            match response {
                Some(start) if is_answered || tcp.unanswered.batch.is_some() => {
                    reported.add(number, &packet, packet.sent_at.min(start.0));
                    if let Some(unanswered) = tcp.unanswered.batch.as_mut().filter(|_| !is_answered) {
                        (unanswered.newest, unanswered.newest_sent_at) = (number, packet.sent_at);
                    }
                }
                None if is_answered => {
                    context.meter.packets_lost += 1;
                    self.count_lost(now, u64::from(packet.bytes));
                    show_loss(now, number, LossTrigger::PacketThreshold, 0, context);
                }
                _ => tcp.unanswered.add(number, &packet, packet.sent_at),
            }
        }
        if !is_repairing && tcp.board.is_edge_lost() {
            tcp.enter_recovery(now, self.data.fresh());
            reported = std::mem::take(&mut tcp.unanswered);
        }
        let batch = reported.batch?;
        for number in reported.numbers {
            show_loss(now, number, LossTrigger::PacketThreshold, batch.packets, context);
        }
        Some(batch)
    }
}
