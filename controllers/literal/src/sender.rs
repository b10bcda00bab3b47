//! A sender that both are asked to control: it keeps packets, detects what a history says, and reports it to
//! ours through the common adapter and to the reference packet by packet.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use windlass_adapter::rfc9002::{self, LossRun, RttEstimator};
use windlass_adapter::{AckFrame, AckedPackets, Flow, InFlight, LostPackets};
use windlass_controllers::event::{
    IdleRestart, OneWay, PacketSent, PacketsAcked, Place, ProbeReceived, Queueing, RttSample, SpuriousLoss,
};
use windlass_controllers::{Algorithm, Event, EventKind, Phase, Span, Time, TrainPlan};

use crate::{Action, Changes, Expected, Frame, History, Packet, Reference, Round, Sample, Scheme};

/// The event that changes no state variable.
const SENT: &str = "a packet sent";

/// Packets in flight at most; beyond, the application has no more.
const MOST: usize = 400;

/// What the receiver's clock is ahead of the sender's, ns.
pub const CLOCK_OFFSET: i64 = -12_345_678;

/// Where ours and the reference part.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Index of the action, and what happened in it.
    pub after: (usize, &'static str),
    /// What differs.
    pub what: String,
    /// Ours.
    pub ours: f64,
    /// The document's value.
    pub text: f64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (action, event) = self.after;
        write!(f, "after {event} of action {action}: {} is {}, by the text {}", self.what, self.ours, self.text)
    }
}

/// Runs `history` on both, the reference with `changes`.
///
/// # Errors
/// They differ.
///
/// # Panics
/// The scheme's text is of no controller.
pub fn compare(scheme: &Scheme, changes: &Changes, history: &History) -> Result<(), Difference> {
    let algorithm = Algorithm::read(scheme.text).unwrap_or_else(|error| panic!("{}: {error:?}", scheme.text));
    let path = history.path();
    let mut sender = Sender::new(algorithm, (scheme.start)(changes.clone(), &path), history);
    sender.check("the start")?;
    for (at, action) in history.actions.iter().enumerate() {
        if sender.undecided {
            break;
        }
        sender.at = at;
        if (scheme.scope)(action) {
            sender.act(action)?;
        }
    }
    Ok(())
}

/// The losses since the latest one of a packet sent after the one before was found.
#[derive(Default)]
struct Episode {
    found_at: Option<Time>,
    outstanding: BTreeSet<u64>,
    newest_sent_at: Time,
}

pub(crate) struct Sender {
    pub flow: Flow<Algorithm>,
    reference: Box<dyn Reference>,
    in_flight: InFlight,
    mtu: u64,
    service_us: u64,
    pub now: Time,
    pub next_pn: u64,
    outstanding: BTreeMap<u64, Packet>,
    lost: BTreeMap<u64, Packet>,
    largest_acked: Option<u64>,
    pub rtt: RttEstimator,
    run: LossRun,
    last_lost: Option<u64>,
    pub delivered: u64,
    last_sent_at: Time,
    episode: Episode,
    at: usize,
    undecided: bool,
    /// The wake-up the controller got last.
    woken_for: Option<Time>,
    train: Option<Train>,
    /// Places of packets that left in trains, by number.
    places: BTreeMap<u64, Place>,
    /// The latest acknowledgements as reported to ours.
    latest: Option<(Time, PacketsAcked)>,
}

/// The train the controller asked for last.
struct Train {
    plan: TrainPlan,
    since: Time,
    /// Packets that left, or probes that were reported.
    next: u32,
}

type Outcome = Result<(), Difference>;

impl Sender {
    pub fn new(algorithm: Algorithm, reference: Box<dyn Reference>, history: &History) -> Sender {
        let path = history.path();
        Sender {
            undecided: false,
            latest: None,
            woken_for: None,
            train: None,
            places: BTreeMap::new(),
            in_flight: InFlight::new(&algorithm),
            flow: Flow::ungrouped(algorithm, &path),
            reference,
            mtu: u64::from(history.mtu),
            service_us: u64::from(history.service_us),
            now: path.now,
            next_pn: 0,
            outstanding: BTreeMap::new(),
            lost: BTreeMap::new(),
            largest_acked: None,
            rtt: RttEstimator::new(),
            run: LossRun::default(),
            last_lost: None,
            delivered: 0,
            last_sent_at: path.now,
            episode: Episode::default(),
            at: 0,
        }
    }

    pub fn act(&mut self, action: &Action) -> Outcome {
        match *action {
            Action::Send { packets, gap_us, short } => self.write(usize::from(packets), u64::from(gap_us), short),
            Action::Wait { ms } => {
                self.wait(u64::from(ms) * 1000);
                Ok(())
            }
            Action::Round(ref round) => self.round(round),
            Action::Ack { skip, packets, ce } => {
                let acked = self.some(usize::from(skip), usize::from(packets), u64::MAX);
                if let Some(newest) = acked.last().map(|pn| self.outstanding[pn].sent_at) {
                    self.now = self.now.max(newest + Span::from_millis(10));
                }
                if acked.is_empty() { Ok(()) } else { self.frame(&acked, &[], u32::from(ce), 0) }
            }
            Action::Lose { skip, packets } => {
                let Some(largest) = self.largest_acked else { return Ok(()) };
                let lost = self.some(usize::from(skip), usize::from(packets), largest);
                if lost.is_empty() { Ok(()) } else { self.frame(&[], &lost, 0, 0) }
            }
            Action::Late { packets } => {
                let late: Vec<u64> = self.lost.keys().copied().take(usize::from(packets)).collect();
                if late.is_empty() { Ok(()) } else { self.frame(&late, &[], 0, 0) }
            }
            Action::Persistent { packets, gap_ms, halved } => self.persistent(packets, u64::from(gap_ms), halved),
            Action::Idle { ms } => {
                self.wait(20_000);
                let acked = self.some(0, usize::MAX, u64::MAX);
                if !acked.is_empty() {
                    self.frame(&acked, &[], 0, 0)?;
                }
                self.wait(u64::from(ms) * 1000);
                self.write(usize::MAX, 10, false)
            }
            Action::Mtu { bytes } => {
                self.mtu = u64::from(bytes);
                self.emit(EventKind::MtuUpdated(u32::from(bytes)));
                self.reference.on_mtu(self.now, self.mtu);
                self.check("the datagram size")
            }
        }
    }

    fn wait(&mut self, us: u64) {
        self.now += Span::from_micros(us);
    }

    /// `packets` of those in flight without the first `skip`, none numbered `below` or higher.
    fn some(&self, skip: usize, packets: usize, below: u64) -> Vec<u64> {
        self.outstanding.range(..below).map(|(pn, _)| *pn).skip(skip).take(packets).collect()
    }

    fn emit(&mut self, kind: EventKind) {
        let due = self.flow.with_decision(|decision| decision.wake_at).filter(|at| *at <= self.now);
        if due.is_some() && due != self.woken_for {
            self.woken_for = due;
            self.flow.on_event(&Event::new(self.now, EventKind::TimerExpired));
        }
        self.flow.on_event(&Event::new(self.now, kind));
        if let Some(plan) = self.flow.with_decision(|decision| decision.train)
            && self.train.as_ref().is_none_or(|train| train.plan.id != plan.id)
        {
            self.train = Some(Train { plan, since: self.now, next: 0 });
        }
    }

    /// The place of the next packet in a train that carries data.
    fn place(&mut self) -> Option<Place> {
        let train = self.train.as_mut().filter(|train| train.plan.carries_data && train.next < train.plan.packets)?;
        train.next += 1;
        Some(Place::new(train.plan.id, train.next - 1))
    }

    /// The receiver reports data that left in trains, and the probes that have arrived by now.
    fn report_trains(&mut self, acked: &[Packet], sample: Option<Sample>) {
        for packet in acked {
            if let Some(place) = self.places.remove(&packet.pn) {
                self.probed(place.train, place.index, packet.sent_at, sample);
            }
        }
        while let (Some(train), Some(Sample { latest, .. })) = (&mut self.train, sample) {
            let sent_at = train.since + train.plan.offset(train.next);
            if train.plan.carries_data || train.next >= train.plan.packets || sent_at + latest > self.now {
                break;
            }
            train.next += 1;
            let (id, index) = (train.plan.id, train.next - 1);
            self.probed(id, index, sent_at, sample);
        }
    }

    fn probed(&mut self, train: u32, index: u32, sent_at: Time, sample: Option<Sample>) {
        let one_way = sample.map(|sample| sample.forward);
        self.emit(EventKind::ProbeReceived(ProbeReceived::new(train, index, sent_at).with_one_way(one_way)));
    }

    /// Room for a packet of `bytes`; one may always be in flight.
    fn has_room(&self, bytes: u64) -> bool {
        self.in_flight.bytes() + bytes <= self.flow.cwnd().max(2 * self.mtu)
    }

    /// The application has more, after it had nothing.
    fn write(&mut self, packets: usize, gap_us: u64, short: bool) -> Outcome {
        if self.has_room(self.mtu) {
            self.reference.on_write();
        }
        self.send(packets, gap_us, short)
    }

    fn send(&mut self, packets: usize, gap_us: u64, short: bool) -> Outcome {
        let wanted = if packets == usize::from(u16::MAX) { usize::MAX } else { packets };
        let mut left = 0;
        while left < wanted && self.outstanding.len() < MOST && self.has_room(self.mtu) {
            if left > 0 {
                self.wait(gap_us);
            }
            left += 1;
            let bytes = if short && left == wanted { self.mtu / 3 } else { self.mtu };
            let more = left < wanted && self.outstanding.len() + 1 < MOST;
            self.send_one(bytes, !more)?;
        }
        Ok(())
    }

    fn send_one(&mut self, bytes: u64, last: bool) -> Outcome {
        let idle = self.now.since(self.last_sent_at);
        let pto = self.rtt.pto(rfc9002::DEFAULT_MAX_ACK_DELAY);
        if self.outstanding.is_empty() && self.next_pn > 0 && idle > pto {
            self.emit(EventKind::IdleRestart(IdleRestart::new(idle, pto)));
            self.reference.on_idle(self.now, idle);
            self.check("an idle restart")?;
        }
        let packet = Packet { pn: self.next_pn, bytes, sent_at: self.now };
        self.next_pn += 1;
        self.last_sent_at = self.now;
        self.outstanding.insert(packet.pn, packet);
        let _ = self.in_flight.sent(self.now, bytes, 0);
        let in_flight = self.in_flight.bytes();
        let limited = last && self.has_room(self.mtu);
        if self.flow.wants_packet_sent() {
            let place = self.place();
            self.places.extend(place.map(|place| (packet.pn, place)));
            let sent = PacketSent::new(bytes, in_flight).with_pn(Some(packet.pn)).with_app_limited(limited);
            let sent = sent.with_place(place);
            self.emit(EventKind::PacketSent(sent));
        }
        self.reference.on_packet_sent(&packet, in_flight, limited);
        self.check(SENT)
    }

    fn round(&mut self, round: &Round) -> Outcome {
        let flight: Vec<Packet> = self.outstanding.values().copied().collect();
        let (first, number, one_of) = round.lost;
        let is_lost = |place: usize| {
            place.checked_sub(usize::from(first)).is_some_and(|place| {
                place % usize::from(one_of) == 0 && place / usize::from(one_of) < usize::from(number)
            })
        };
        let mut places: Vec<Vec<usize>> =
            (0..flight.len()).collect::<Vec<_>>().chunks(usize::from(round.stretch)).map(<[usize]>::to_vec).collect();
        if round.swapped {
            places.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
        let mut pending: Vec<u64> = Vec::new();
        for (index, places) in places.iter().enumerate() {
            let (lost, acked): (Vec<usize>, Vec<usize>) = places.iter().copied().partition(|place| is_lost(*place));
            let pns = |places: &[usize]| -> Vec<u64> { places.iter().map(|place| flight[*place].pn).collect() };
            let (acked, lost) = (pns(&acked), pns(&lost));
            pending.extend(lost);
            let Some(&last) = acked.last() else { continue };
            if let Some(newest) = places.last().map(|place| flight[*place]) {
                let service = Span::from_micros(self.service_us * places.len() as u64);
                self.now = (self.now + service).max(newest.sent_at + Span::from_micros(u64::from(round.rtt_us)));
            }
            let (found, rest): (Vec<u64>, Vec<u64>) = pending.iter().partition(|pn| **pn < last);
            pending = rest;
            let ce = u32::from(round.marked & (1 << (index % 8)) != 0) * acked.len().min(3) as u32;
            self.frame(&acked, &found, ce, u64::from(round.ack_delay_us))?;
            if round.sends >= 64 {
                self.send(usize::MAX, 0, false)?;
            } else if round.sends > 0 {
                self.send(usize::from(round.sends), 5, index % 5 == 4)?;
            }
        }
        pending.retain(|pn| self.largest_acked.is_some_and(|largest| *pn < largest));
        if pending.is_empty() { Ok(()) } else { self.frame(&[], &pending, 0, 0) }
    }

    fn persistent(&mut self, packets: u8, gap_ms: u64, halved: bool) -> Outcome {
        let first = self.next_pn;
        if self.has_room(self.mtu) {
            self.reference.on_write();
        }
        for index in 0..packets {
            if self.has_room(self.mtu) {
                self.send_one(self.mtu, true)?;
            }
            if index + 1 < packets {
                self.wait(gap_ms * 1000);
            }
        }
        self.wait(30_000);
        let mut sent: Vec<u64> = (first..self.next_pn).collect();
        let Some(last) = sent.pop() else { return Ok(()) };
        if halved && sent.len() > 1 {
            let rest = sent.split_off(1);
            self.frame(&[last], &sent, 0, 0)?;
            self.wait(1000);
            return self.frame(&[], &rest, 0, 0);
        }
        self.frame(&[last], &sent, 0, 0)
    }

    /// A frame that acknowledges `acked` and lets `lost` be found.
    fn frame(&mut self, acked: &[u64], lost: &[u64], ce: u32, ack_delay_us: u64) -> Outcome {
        // A timer fires at no instant of an ACK.
        let apart = u64::from(acked.is_empty());
        self.wait(apart);
        let before = self.in_flight.bytes();
        // What it has leaves at once, so room means that there is none.
        let app_limited = self.has_room(self.mtu);
        let late: Vec<Packet> = acked.iter().filter_map(|pn| self.lost.remove(pn)).collect();
        let acked: Vec<Packet> = acked.iter().filter_map(|pn| self.outstanding.remove(pn)).collect();
        let lost: Vec<Packet> = lost.iter().filter_map(|pn| self.outstanding.remove(pn)).collect();
        let newest = acked.iter().chain(&late).max_by_key(|packet| packet.pn).copied();
        let ack_delay = Span::from_micros(ack_delay_us.min(25_000));
        let sample =
            newest.filter(|newest| self.largest_acked.is_none_or(|largest| newest.pn > largest)).map(|newest| {
                let latest = self.now.since(newest.sent_at);
                Sample { latest, ack_delay, forward: latest.0 as i64 / 2 + CLOCK_OFFSET }
            });
        self.largest_acked = self.largest_acked.max(newest.map(|newest| newest.pn));
        let measured = sample.map(|sample| self.rtt.sample(self.now, sample.latest, sample.ack_delay));
        self.report_trains(&acked, sample);
        self.feed(&acked, &lost, newest, measured, sample, ce, before, app_limited);
        let frame = Frame {
            now: self.now,
            acked: &acked,
            late: &late,
            sample,
            ce: if acked.is_empty() { 0 } else { ce },
            lost: &lost,
            in_flight_before: before,
            in_flight: self.in_flight.bytes(),
            app_limited,
        };
        let flow = &self.flow;
        self.reference.follow_random_choices(&|name| variable(flow, name));
        self.reference.on_frame(&frame);
        self.check(if lost.is_empty() { "a frame" } else { "a frame with losses" })?;
        self.note_episode(&lost, &late)?;
        self.wait(apart);
        Ok(())
    }

    /// Reports a frame to ours, in the contract's order.
    #[expect(clippy::too_many_arguments, reason = "the parts of one frame")]
    fn feed(
        &mut self,
        acked: &[Packet],
        lost: &[Packet],
        newest: Option<Packet>,
        measured: Option<RttSample>,
        sample: Option<Sample>,
        ce: u32,
        before: u64,
        app_limited: bool,
    ) {
        let bytes = |packets: &[Packet]| packets.iter().map(|packet| packet.bytes).sum::<u64>();
        let mut frame = AckFrame::default();
        *frame.rtt() = measured;
        if !acked.is_empty() {
            frame.add_ecn_ce(ce);
        }
        if let Some(last) = lost.last() {
            self.in_flight.lost(self.now, bytes(lost));
            *frame.lost() = LostPackets {
                packets: lost.len() as u32,
                bytes: bytes(lost),
                newest_sent_at: last.sent_at,
                newest_pn: Some(last.pn),
                persistent: self.is_persistent(lost),
            };
        }
        let (now, left) = (self.now, before - bytes(lost));
        let newest_at = newest.map_or((Time::ZERO, None), |newest| (newest.sent_at, Some(newest.pn)));
        let congested = frame.is_congested();
        if congested {
            frame.emit_congestion(now, newest_at, (before, left), |event| {
                self.flow.on_event(event);
            });
        }
        let after = left - bytes(acked);
        if acked.is_empty() {
            if let Some(measured) = measured.filter(|_| !congested) {
                self.emit(EventKind::RttSampled(measured));
            }
            return;
        }
        let mut packets = AckedPackets::after(self.delivered);
        for packet in acked {
            packets.add(packet.sent_at, packet.bytes, self.flow.recovery_start());
        }
        packets.app_limited(app_limited);
        let mut event = packets.take(after, measured.filter(|_| !congested));
        self.delivered = event.delivered;
        event.newest_pn = acked.last().map(|packet| packet.pn);
        event.one_way = sample.map(|sample| OneWay::new(sample.forward, sample.latest.0 as i64 - sample.forward));
        // All of a round-trip time is the path's.
        event.queueing = sample.map(|_| Queueing::new(Span::ZERO, Span::ZERO));
        self.in_flight.acknowledged(now, after, Time::ZERO);
        self.in_flight.fill_delivery_rate(now, &mut event, app_limited);
        self.latest = Some((now, event));
        self.emit(EventKind::PacketsAcked(event));
    }

    /// Whether `lost` span persistent congestion, as the simulator's sender finds it.
    fn is_persistent(&mut self, lost: &[Packet]) -> bool {
        let duration = self.rtt.persistent_congestion_duration(rfc9002::DEFAULT_MAX_ACK_DELAY);
        let mut persistent = false;
        for packet in lost {
            if self.last_lost.map(|last| last + 1) != Some(packet.pn) {
                self.run.interrupt();
            }
            self.last_lost = Some(packet.pn);
            persistent |= self.run.add(packet.sent_at, self.rtt.first_sample, || duration);
        }
        persistent
    }

    fn note_episode(&mut self, lost: &[Packet], late: &[Packet]) -> Outcome {
        for packet in lost {
            if self.episode.found_at.is_none_or(|found_at| packet.sent_at > found_at) {
                self.episode =
                    Episode { found_at: Some(self.now), outstanding: BTreeSet::new(), newest_sent_at: packet.sent_at };
            }
            self.episode.outstanding.insert(packet.pn);
            self.episode.newest_sent_at = self.episode.newest_sent_at.max(packet.sent_at);
            self.lost.insert(packet.pn, *packet);
        }
        let before = self.episode.outstanding.len();
        for packet in late {
            self.episode.outstanding.remove(&packet.pn);
        }
        if before > 0 && self.episode.outstanding.is_empty() {
            let newest_sent_at = self.episode.newest_sent_at;
            self.emit(EventKind::SpuriousLoss(SpuriousLoss::new(newest_sent_at)));
            self.reference.on_spurious_loss(self.now, newest_sent_at);
            self.check("a spurious loss")?;
        }
        Ok(())
    }

    /// A field of the rate sample that the common adapter makes of the latest acknowledgements.
    fn sampled(&self, name: &str) -> Option<f64> {
        let (at, acked) = self.latest?;
        let delivery = acked.delivery?;
        let elapsed = [at.since(delivery.delivered_at), acked.newest_sent_at.since(delivery.first_sent_at)];
        Some(match name {
            "RS.prior_delivered" => delivery.delivered as f64,
            "RS.delivered" => (acked.delivered - delivery.delivered) as f64,
            "RS.interval" => elapsed[0].max(elapsed[1]).secs(),
            "RS.tx_in_flight" => acked.newest_in_flight? as f64,
            "RS.lost" => delivery.lost as f64,
            "RS.is_app_limited" => f64::from(u8::from(delivery.app_limited)),
            _ => return None,
        })
    }

    /// Compares what both let the sender do.
    fn check(&mut self, event: &'static str) -> Outcome {
        if self.undecided {
            return Ok(());
        }
        let Expected { cwnd, ssthresh, pacing, phase, variables, undecided, rounding } =
            self.reference.expected(self.now);
        let after = (self.at, event);
        let differs = |what: &str, ours: f64, text: f64, by: f64| {
            if (ours - text).abs() <= by + rounding.max(1e-7) * text.abs() || ours == text {
                Ok(())
            } else {
                Err(Difference { after, what: what.to_owned(), ours, text })
            }
        };
        let ours = self.flow.decision();
        self.undecided = undecided;
        if undecided {
            return Ok(());
        }
        if cwnd.is_nan() {
            for (name, value) in variables {
                differs(name, self.sampled(name).unwrap_or(f64::NAN), value, 1e-9)?;
            }
            return Ok(());
        }
        differs("cwnd", ours.cwnd as f64, cwnd, 1.0)?;
        let ssthresh = ssthresh.map_or(Some(f64::INFINITY), |bytes| Some(bytes).filter(|bytes| !bytes.is_nan()));
        if let Some(ssthresh) = ssthresh {
            differs("ssthresh", ours.ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64), ssthresh, 1.0)?;
        }
        if let Some(pacing) = pacing {
            differs("pacing rate", ours.pacing_rate.map_or(f64::NAN, |rate| rate as f64), pacing, 100.0)?;
        }
        if let Some(phase) = phase {
            let number = |phase: Phase| f64::from(phase as u8);
            differs("phase", number(ours.phase), number(phase), 0.0)?;
        }
        if event == SENT {
            return Ok(());
        }
        let mut ours = vec![f64::NAN; variables.len()];
        self.flow.inspect(&mut |other, value| {
            if let Some(place) = variables.iter().position(|(name, _)| *name == other) {
                ours[place] = value;
            }
        });
        let by = if rounding > 0.0 { 1e-3 } else { 1e-6 };
        for ((name, value), ours) in variables.into_iter().zip(ours) {
            differs(name, ours, value, by)?;
        }
        Ok(())
    }
}

/// A state variable of ours.
fn variable(flow: &Flow<Algorithm>, name: &str) -> Option<f64> {
    let mut found = None;
    flow.inspect(&mut |other, value| {
        if other == name {
            found = Some(value);
        }
    });
    found
}
