//! One path of a quiche connection as a windlass flow.

use std::time::Instant;

use quiche::external::{Decided, Report, Sent, Space};
use windlass_adapter::instants::{Clock, span};
use windlass_adapter::{AckBatch, Flow, InFlight, default_pacing};
use windlass_controllers::event::{self, Idle, LossTrigger, Lost, Marked, SpuriousLoss};
use windlass_controllers::{Engine, Event, Phase, Span, Time, What};

use crate::ecn::Marks;
use crate::losses::Episode;
use crate::packets::{Packet, Packets};

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// Granularity of timers (`RFC 9002 §6.1.2`).
const GRANULARITY: Span = Span::from_millis(1);

/// Persistent congestion lasts so many probe timeouts (`RFC 9002 §7.6.1`).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

/// Turns what quiche tells of a path into events of a flow.
#[derive(Debug)]
pub(crate) struct Path<E: Engine> {
    flow: Flow<E>,
    clock: Clock,
    mtu: u32,
    in_flight: InFlight,
    packets: Packets,
    batch: AckBatch,
    acked: Vec<Packet>,
    episode: Episode,
    marks: Marks,
    rate: Rate,
    /// When the first RTT sample was taken.
    sampled: Option<Time>,
    smoothed: Option<Span>,
    pto: Span,
    app_limited: bool,
    heeds_sent: bool,
}

/// How fast the path delivers, over spans of about a round trip.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Rate {
    since: Option<Time>,
    bytes: u64,
    /// bit/s
    latest: Option<u64>,
}

impl Rate {
    /// `bytes` arrived by `now`, on a path with this smoothed RTT.
    #[inline]
    fn delivered(&mut self, now: Time, bytes: u64, smoothed: Span) {
        let since = *self.since.get_or_insert(now);
        let span = now.since(since);
        self.bytes = self.bytes.saturating_add(bytes);
        if span >= smoothed.max(GRANULARITY) {
            self.latest = Some((self.bytes as f64 * 8e9 / span.0 as f64) as u64);
            *self = Rate { since: Some(now), bytes: 0, ..*self };
        }
    }
}

/// Packets declared lost together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Losses {
    packets: u32,
    bytes: u64,
    first: u64,
    newest: Option<Packet>,
}

impl<E: Engine> Path<E> {
    /// `flow` on a path of datagrams of `mtu` bytes.
    pub(crate) fn new(flow: Flow<E>, clock: Clock, mtu: u32) -> Self {
        Path {
            heeds_sent: flow.heeds_sent(),
            in_flight: InFlight::new(flow.engine()),
            flow,
            clock,
            mtu,
            packets: Packets::default(),
            batch: AckBatch::default(),
            acked: Vec::new(),
            episode: Episode::default(),
            marks: Marks::default(),
            rate: Rate::default(),
            sampled: None,
            smoothed: None,
            pto: Span::ZERO,
            app_limited: false,
        }
    }

    pub(crate) fn flow(&self) -> &Flow<E> {
        &self.flow
    }

    pub(crate) fn mtu(&self) -> u64 {
        u64::from(self.mtu)
    }

    /// Bytes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.flow.cwnd()
    }

    /// What holds now. Without a rate decided it is the window over the smoothed RTT, a
    /// little faster.
    #[inline]
    pub(crate) fn decided(&self) -> Decided {
        self.flow.look(|decision| Decided {
            window: decision.cwnd,
            pacing_rate: decision.pacing_rate.or_else(|| default_pacing(decision, self.smoothed?)),
            delivery_rate: self.rate.latest,
            shared: self.flow.is_grouped(),
            awaits_frames: self.episode.is_open(),
        })
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.flow.look(|decision| decision.phase == Phase::Recovery)
    }

    #[inline]
    fn tell(&mut self, now: Time, what: What) {
        self.flow.on(&Event { now, what });
    }

    /// A packet left; whether the flow was told of something.
    #[inline]
    pub(crate) fn sent(&mut self, packet: &Sent) -> bool {
        let now = self.clock.advance(packet.at);
        let bytes = packet.bytes as u64;
        let before = packet.in_flight as u64;
        if self.in_flight.bytes() != before {
            // Losses found when a path changes are not told.
            self.in_flight.acknowledged(now, before);
        }
        let mut told = self.heeds_sent;
        if self.in_flight.counts_only() {
            self.in_flight.add(bytes);
        } else if let Some(idle) = self.in_flight.sent(now, bytes, 0) {
            self.tell(now, What::Idle(Idle { idle, pto: self.pto }));
            told = true;
        }
        let in_flight = self.in_flight.bytes();
        let narrow = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.packets.sent(packet.number, now, narrow, self.app_limited);
        if self.app_limited && !self.leaves_room(in_flight) {
            self.app_limited = false;
        }
        if self.heeds_sent {
            let sent = event::Sent { bytes, pn: Some(packet.number), in_flight, app_limited: false, place: None };
            self.tell(now, What::Sent(sent));
        }
        told
    }

    fn leaves_room(&self, in_flight: u64) -> bool {
        self.window().saturating_sub(in_flight) >= SLACK_DATAGRAMS * u64::from(self.mtu)
    }

    /// There is nothing to send.
    pub(crate) fn app_limited(&mut self, in_flight: u64) {
        self.app_limited |= self.leaves_room(in_flight);
    }

    /// An ACK frame came; whether the flow was told of something.
    #[inline]
    pub(crate) fn frame(&mut self, now: Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool {
        let Some(newest_sent_at) = self.episode.heard(acknowledges) else { return false };
        let now = self.clock.advance(now);
        self.tell(now, What::SpuriousLoss(SpuriousLoss { newest_sent_at }));
        true
    }

    /// Packets were acknowledged or lost.
    pub(crate) fn report(&mut self, report: &Report<'_>) {
        let now = self.clock.advance(report.now);
        self.acked.clear();
        for acked in report.acked {
            self.acked.extend(self.packets.acknowledged(acked.number()));
        }
        let rtt = self.sample(now, report);
        let marks = report.frame.map_or(0, |frame| self.marks.added(frame.space, frame.ecn));
        let rtt = if marks > 0 || !report.lost.is_empty() {
            self.congestion(now, report, rtt, marks);
            None
        } else {
            rtt
        };
        self.in_flight.acknowledged(now, report.in_flight as u64);
        self.acknowledge(now, report.in_flight as u64, rtt);
        let application = report.frame.is_some_and(|frame| frame.space == Space::Application);
        self.packets.clear(if application { report.least_unacked } else { 0 });
    }

    /// The RTT sample of a report, if it brings one.
    #[inline]
    fn sample(&mut self, now: Time, report: &Report<'_>) -> Option<event::Rtt> {
        let rtt = &report.rtt;
        if !rtt.fresh {
            return None;
        }
        self.sampled.get_or_insert(now);
        let (smoothed, variation) = (span(rtt.smoothed), span(rtt.variation));
        self.smoothed = Some(smoothed);
        self.pto = smoothed + Span(variation.0.saturating_mul(4)).max(GRANULARITY) + span(rtt.max_ack_delay);
        // Acknowledgements of Initial packets are not held (`RFC 9000 §13.2.1`).
        let held = report.frame.filter(|frame| frame.space != Space::Initial);
        let ack_delay = held.map_or(Span::ZERO, |frame| span(frame.ack_delay));
        Some(event::Rtt { latest: span(rtt.latest), smoothed, variation, min: span(rtt.min), ack_delay })
    }

    /// What a report brings besides acknowledgements: the sample, marks, losses.
    #[cold]
    fn congestion(&mut self, now: Time, report: &Report<'_>, rtt: Option<event::Rtt>, marks: u32) {
        let before = report.in_flight_before as u64;
        if let Some(rtt) = rtt {
            self.tell(now, What::Sampled(rtt));
        }
        if let Some(newest) = self.acked.last().filter(|_| marks > 0) {
            let marked = Marked {
                packets: marks,
                newest_sent_at: newest.sent_at,
                newest_pn: Some(newest.number),
                in_flight: before,
            };
            self.tell(now, What::Marked(marked));
        }
        let mut losses = Losses::default();
        for lost in report.lost {
            let Some(packet) = self.packets.gone(lost.number()) else { continue };
            losses.first = if losses.packets == 0 { packet.number } else { losses.first.min(packet.number) };
            losses.packets += 1;
            losses.bytes += u64::from(packet.bytes);
            if losses.newest.is_none_or(|newest| packet.number > newest.number) {
                losses.newest = Some(packet);
            }
            self.episode.lost(now, packet.number, packet.sent_at);
        }
        let Some(newest) = losses.newest else { return };
        self.in_flight.lost(losses.bytes);
        let lost = Lost {
            bytes: losses.bytes,
            packets: losses.packets,
            newest_sent_at: newest.sent_at,
            newest_pn: Some(newest.number),
            in_flight_before: before,
            in_flight: before.saturating_sub(losses.bytes),
            trigger: LossTrigger::Unknown,
            transmissions: 1,
        };
        let persistent = losses.packets > 1
            && self.sampled.is_some_and(|sampled| {
                let period = Span(self.pto.0.saturating_mul(PERSISTENT_CONGESTION_THRESHOLD));
                self.packets.persistent(losses.first, newest.number, period, sampled)
            });
        self.tell(now, if persistent { What::PersistentCongestion(lost) } else { What::Lost(lost) });
    }

    /// The acknowledgements of a report, which leave `in_flight` bytes.
    #[inline]
    fn acknowledge(&mut self, now: Time, in_flight: u64, rtt: Option<event::Rtt>) {
        let Some(mut newest) = self.acked.last().copied() else {
            if let Some(rtt) = rtt {
                self.tell(now, What::Sampled(rtt));
            }
            return;
        };
        let recovery_start = self.flow.recovery_start();
        for packet in &self.acked {
            self.batch.add(packet.sent_at, u64::from(packet.bytes), recovery_start);
            if packet.number > newest.number {
                newest = *packet;
            }
        }
        let bytes = self.batch.bytes();
        self.rate.delivered(now, bytes, self.smoothed.unwrap_or(GRANULARITY));
        self.batch.app_limited(newest.app_limited);
        let mut acked = self.batch.finish(in_flight, rtt);
        acked.newest_pn = Some(newest.number);
        self.in_flight.depart(now, &mut acked, newest.app_limited);
        self.flow.on(&Event { now, what: What::Acked(acked) });
    }

    /// Nothing will be heard of packet `number`.
    pub(crate) fn forget(&mut self, number: u64) {
        if let Some(packet) = self.packets.gone(number) {
            let left = self.in_flight.bytes().saturating_sub(u64::from(packet.bytes));
            self.in_flight.acknowledged(self.clock.now(), left);
        }
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: usize) {
        let mtu = u32::try_from(mtu).unwrap_or(u32::MAX);
        if mtu != self.mtu {
            self.mtu = mtu;
            self.tell(self.clock.now(), What::Mtu(mtu));
        }
    }
}
