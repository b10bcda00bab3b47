//! Packets, from sent to acknowledged or lost, and the data they carry.

use super::Meter;
use crate::flight::{PacketStatus, Sent};
use crate::metrics::rates::Rates;
use crate::metrics::space::{Kept, Space};
use crate::model::{Batch, Packet, PacketType};

/// Packet number spaces, one each path, that are followed.
const SPACES: usize = 32;

/// Packets less than this after the one before leave with it, ns.
const TOGETHER: i64 = 50_000;

/// Probes less than this after the one before are of the same timeout, ns.
const SAME_TIMEOUT: i64 = 1_000_000;

impl Meter {
    pub(super) fn packet(&mut self, now: i64) {
        self.first_packet.get_or_insert(now);
        self.last_packet = self.last_packet.max(now);
    }

    pub(super) fn sent(&mut self, now: i64, batch: &Batch, packet: &Packet) {
        self.packet(now);
        self.sent += 1;
        self.coverage.frames |= packet.ack_eliciting.is_some();
        if let Some(trigger) = packet.trigger {
            self.probe(now, batch.name(trigger));
        }
        batch.flow_control_of(packet).iter().for_each(|limit| self.limit(true, limit));
        batch.streams_of(packet).iter().for_each(|frame| self.credit[0].data(frame));
        let bytes = packet.bytes.unwrap_or(0);
        self.sizes[0] += u64::from(bytes);
        self.leaves(now);
        // Without frames, every packet counts as one that asks for an ACK.
        if packet.ack_eliciting == Some(false) {
            return;
        }
        self.datagram = self.datagram.max(bytes);
        let pace = self.pace();
        self.limited.sent(now, bytes, &pace);
        let Some(number) = packet.number else { return };
        let key = (packet.kind.space(), self.paths.numbering(packet.path));
        if !self.spaces.contains_key(&key) {
            if self.spaces.len() >= SPACES {
                return;
            }
            let mut space = Space::default();
            space.flight.limit(self.most);
            self.spaces.insert(key, space);
        }
        let streams = batch.streams_of(packet);
        let room = self.most.saturating_sub(streams.len());
        if self.streams.len() > room {
            // The frames of the oldest packets will not be counted when these are acknowledged.
            let over = self.streams.len() - room;
            self.streams.drain(..over);
            self.first_stream += over as u64;
        }
        let first = self.first_stream + self.streams.len() as u64;
        self.streams.extend(streams);
        let kept = Kept { streams: (first, streams.len() as u32), inferred: false };
        let sent = Sent { time: now, bytes, status: PacketStatus::InFlight, extra: kept };
        self.share_room(key);
        if let Some(space) = self.spaces.get_mut(&key) {
            space.flight.sent(number, sent);
        }
        self.flies(now, i64::from(bytes));
    }

    /// Makes room for a packet of a space, where several together remember too many.
    fn share_room(&mut self, key: (PacketType, u32)) {
        let all = self.spaces.values().map(|space| space.flight.remembered());
        if self.spaces.len() < 2 || all.sum::<usize>() < self.most {
            return;
        }
        let others = self.spaces.iter_mut().filter(|(other, _)| **other != key).map(|(_, space)| &mut space.flight);
        if let Some(longest) = others.max_by_key(|flight| flight.remembered()).filter(|flight| flight.remembered() > 0)
        {
            longest.halve();
        }
    }

    /// A packet leaves, with the one before or in a burst of its own.
    fn leaves(&mut self, now: i64) {
        let (last, packets) = self.burst;
        if last != i64::MIN && now.saturating_sub(last) < TOGETHER {
            self.burst = (now, packets + 1);
        } else {
            self.bursts += 1;
            self.burst = (now, 1);
        }
        self.measures.burst_max = self.measures.burst_max.max(Some(self.burst.1));
    }

    fn flies(&mut self, now: i64, change: i64) {
        self.in_flight = self.in_flight.saturating_add_signed(change);
        self.counted_in_flight.set(now, self.in_flight as f64);
    }

    pub(super) fn packet_received(&mut self, now: i64, batch: &Batch, packet: &Packet) {
        self.packet(now);
        self.received_packets += 1;
        self.coverage.frames |= packet.ack_eliciting.is_some();
        batch.flow_control_of(packet).iter().for_each(|limit| self.limit(false, limit));
        self.sizes[1] += u64::from(packet.bytes.unwrap_or(0));
        for frame in batch.streams_of(packet) {
            self.credit[1].data(frame);
            let new = self.received.add(frame);
            self.received_goodput = self.received_goodput.saturating_add(new);
            if new > 0 && self.goodput == 0 {
                self.deliver(now, new);
            }
        }
        self.acks(now, batch, packet);
    }

    /// Takes the ACK frames of a received packet.
    pub(super) fn acks(&mut self, now: i64, batch: &Batch, packet: &Packet) {
        let space = packet.kind.space();
        for ack in batch.path_acks_of(packet) {
            self.acked(now, (space, self.paths.numbering(ack.path)), batch.ranges_of_path_ack(ack));
        }
        if !packet.acks {
            return;
        }
        if let Some(ce) = packet.ce {
            let before = self.ce.insert(space, ce).unwrap_or(0);
            self.coverage.marks = true;
            self.marks[0] += ce.saturating_sub(before);
        }
        self.acked(now, (space, self.paths.numbering(packet.path)), batch.ranges_of(packet));
        self.forget();
    }

    fn acked(&mut self, now: i64, space: (PacketType, u32), ranges: &[(u64, u64)]) {
        let largest = ranges.iter().map(|range| range.1).max();
        self.coverage.acks |= largest.is_some();
        let Some(Space { flight, .. }) = self.spaces.get_mut(&space) else { return };
        if let Some(sent) = largest.and_then(|largest| flight.get(largest))
            && sent.status == PacketStatus::InFlight
            // Where the trace's clock goes back, the time between says nothing.
            && let sample = now.saturating_sub(sent.time)
            && sample >= 0
        {
            if !self.rtts_agree {
                self.measured_rtt.add(sample);
            }
            self.latest_sample = Some(sample);
            self.measured_rtts.sampled();
            let smoothed = if self.samples.1 > 0 { self.samples.1 + (sample - self.samples.1) / 8 } else { sample };
            self.samples = (sample, smoothed);
        }
        let (mut bytes, mut goodput, mut spurious, mut arrived) = (0, 0_u64, 0, 0);
        for &range in ranges {
            flight.range(range, |_, sent| {
                match sent.status {
                    PacketStatus::Acked => return true,
                    PacketStatus::Lost if sent.extra.inferred => arrived += 1,
                    PacketStatus::Lost => spurious += 1,
                    PacketStatus::InFlight => bytes += i64::from(sent.bytes),
                }
                sent.status = PacketStatus::Acked;
                let (first, number) = sent.extra.streams;
                let Some(from) = first.checked_sub(self.first_stream) else { return true };
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                for frame in self.streams.iter().skip(from).take(number as usize) {
                    goodput = goodput.saturating_add(self.acknowledged.add(frame));
                }
                true
            });
        }
        self.spurious += spurious;
        if let (Some(largest), false) = (largest, self.coverage.losses) {
            self.inferred.1 += arrived;
            let rtt = self.samples.0.max(self.samples.1);
            if let Some(found) = self.spaces.get_mut(&space).map(|space| space.infer(now, largest, rtt)) {
                self.inferred.0 += found.packets;
                bytes += found.bytes;
            }
        }
        if goodput > 0 {
            if self.goodput == 0 {
                // What it received before was the smaller part of the story.
                self.rates = None;
            }
            self.goodput = self.goodput.saturating_add(goodput);
            self.deliver(now, goodput);
        }
        if bytes > 0 {
            self.flies(now, -bytes);
        }
    }

    fn deliver(&mut self, now: i64, bytes: u64) {
        let start = self.first.unwrap_or(now);
        let bins = self.bins;
        let new = || {
            let mut rates = Rates::new(start);
            rates.limit(bins);
            rates
        };
        self.rates.get_or_insert_with(new).add(now, bytes);
    }

    /// Forgets the data frames of packets that are no longer remembered.
    fn forget(&mut self) {
        if self.streams.len() < 4096 {
            return;
        }
        let needed = self.spaces.values_mut().filter_map(|space| Some(space.flight.oldest()?.extra.streams.0)).min();
        let needed = needed.unwrap_or(self.first_stream + self.streams.len() as u64);
        let unneeded = needed.saturating_sub(self.first_stream) as usize;
        if unneeded > self.streams.len() / 2 {
            self.streams.drain(..unneeded.min(self.streams.len()));
            self.first_stream = needed;
        }
    }

    /// A packet was sent because of a probe timeout, if that is why.
    fn probe(&mut self, now: i64, trigger: &str) {
        if matches!(trigger, "PTO_RETRANSMISSION" | "pto_probe" | "retransmit_timeout") {
            let (before, timeouts) = self.probes;
            let same = before != i64::MIN && now.saturating_sub(before) < SAME_TIMEOUT;
            self.coverage.timeouts = true;
            self.probes = (now, timeouts + u64::from(!same));
        }
    }

    pub(super) fn packet_lost(&mut self, now: i64, packet: &Packet) {
        self.on_logged_loss();
        self.lost += 1;
        let Some(number) = packet.number else { return };
        let space = (packet.kind.space(), self.paths.numbering(packet.path));
        if let Some(sent) = self.spaces.get_mut(&space).and_then(|space| space.flight.get(number))
            && sent.status != PacketStatus::Acked
        {
            sent.extra.inferred = false;
            if sent.status == PacketStatus::Lost {
                return;
            }
            sent.status = PacketStatus::Lost;
            let bytes = i64::from(sent.bytes);
            self.flies(now, -bytes);
        }
    }
}
