//! Random sequences of a stack's calls, in an order that stacks keep or in any.

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use windlass_adapter::Groups;
use windlass_controllers::{ConfiguredController, EventKind, Signals};

use super::choices::Choices;
use super::watch::{LARGEST_WINDOW, Watch, check_frame};
use super::{At, Call, Key, Order, Packet, Path, Stack, chosen};

/// The furthest from the start that time goes, nanoseconds.
const FURTHEST: At = 1 << 61;
/// The longest RTT sample: stacks' own arithmetic ends beyond it, and a century is long enough.
const LONGEST_SAMPLE: u64 = 1 << 60;
/// Packets in flight on a path at most.
const MOST_PACKETS: usize = 512;
/// Paths that exist at once, at most.
const MOST_PATHS: usize = 6;
/// Packets that are remembered after they were acknowledged or lost.
const MOST_PAST: usize = 8;
/// Calls that are shown where one does not hold what it has to.
const SHOWN: usize = 16;
/// Peers whose paths form a group each.
const PEERS: usize = 2;

type KeptBy<C, S> = <<S as Stack<C>>::Path as Path>::Kept;

/// Runs the sequence of calls that `data` describes on one stack: its first byte chooses the
/// controller, the second its parameters, the third whether the stack is faulty and puts its
/// connections into groups.
///
/// # Panics
/// If the events, answers or decisions break a rule.
pub fn run<S: Stack>(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (controller, text, least) = chosen(choices.byte(), choices.byte(), S::PROVIDES);
    run_on::<_, S>(controller, text, least, None, choices);
}

/// Runs the sequence of calls that `choices` describe on one stack with `controller`, which is shown as `text` and has
/// windows of `least` datagrams at least. Continues the `digest` of all that passes between them, if there is one.
pub(super) fn run_on<C: ConfiguredController, S: Stack<C>>(
    controller: C,
    text: String,
    least: u64,
    digest: Option<u64>,
    mut choices: Choices<'_>,
) -> Option<u64> {
    let settings = choices.byte();
    let wrong = settings & 1 == 1;
    let grouped = settings & 2 == 2 || controller.needs().contains(Signals::GROUPS);
    let groups = grouped.then(Groups::default);
    let watch = Watch::new(least, !wrong, digest);
    let mut model = Model::<C, S> {
        stack: S::new(controller, groups.as_ref(), &watch),
        text,
        least,
        wrong,
        groups,
        watch,
        now: 0,
        lines: Vec::new(),
        lineages: 0,
        calls: VecDeque::new(),
    };
    model.connect(&mut choices);
    while !choices.is_empty() {
        model.step(&mut choices);
    }
    while !model.lines.is_empty() {
        model.drop_line(0);
    }
    if let Some(groups) = &model.groups {
        assert!(groups.is_empty(), "{} groups are left", groups.len());
    }
    model.watch.digest()
}

/// One path, with the packets its stack has in flight.
struct Line<P: Path> {
    path: P,
    key: Key,
    mtu: u16,
    next_pn: u64,
    largest_acked: Option<u64>,
    flight: VecDeque<Packet<P::Kept>>,
    /// Packets acknowledged or lost already.
    past: VecDeque<Packet<P::Kept>>,
    /// Identifies the group membership it shares with its copies; `None` before it has one.
    lineage: Option<u64>,
    /// Whether it is a copy, which has no recorder.
    copied: bool,
    /// Whether the adapter counts the same packets in flight.
    counted: bool,
}

impl<P: Path> Line<P> {
    fn in_flight(&self) -> u64 {
        bytes(&self.flight)
    }

    fn remember(&mut self, packet: Packet<P::Kept>) {
        if self.past.len() == MOST_PAST {
            self.past.pop_front();
        }
        self.past.push_back(packet);
    }
}

struct Model<C: ConfiguredController, S: Stack<C>> {
    stack: S,
    text: String,
    least: u64,
    /// Whether calls may come in any order and with any values.
    wrong: bool,
    groups: Option<Groups<C, Key>>,
    watch: Watch,
    now: At,
    lines: Vec<Line<S::Path>>,
    lineages: u64,
    /// The latest calls.
    calls: VecDeque<Made<KeptBy<C, S>>>,
}

/// Time of a call, its path, and the call.
type Made<K> = (At, usize, Shown<K>);

/// A call as it is shown.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "it is shown")]
enum Shown<K> {
    Connect { mtu: u16 },
    Sent { bytes: u64, pn: u64 },
    Call(Call<K>),
    Copy,
    Drop,
}

impl<C: ConfiguredController, S: Stack<C>> Model<C, S> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        let what = choices.below(32);
        if self.lines.is_empty() {
            return self.connect(choices);
        }
        let line = choices.below(self.lines.len());
        match what {
            0..8 => self.send(line, choices),
            8..17 => self.frame(line, choices),
            17..19 => self.advance(choices),
            19 => self.lose_by_timer(line, choices),
            20 => self.spurious(line),
            21 => self.resize(line, choices),
            22 => self.move_path(line, choices),
            23 if choices.once_in(2) => self.drop_line(line),
            23 => self.connect(choices),
            24 => self.discard(line, choices),
            25 => self.call(line, Call::MaxAckDelay(Duration::from_millis(choices.byte().into()))),
            26 => self.send_packet(line, 40, Some(true)),
            27 => self.call(line, Call::Asked),
            28 => self.go_back(choices),
            _ if self.wrong => self.nonsense(line, choices),
            29 => self.advance(choices),
            30 => self.send(line, choices),
            _ => self.frame(line, choices),
        }
    }

    fn advance(&mut self, choices: &mut Choices<'_>) {
        let by = match choices.below(8) {
            0 => 0,
            1 => 1,
            2 | 3 => 1000 * At::from(choices.byte()),
            4..7 => 1_000_000 * At::from(choices.byte()),
            _ => 1_000_000_000 * At::from(choices.byte()),
        };
        self.now = self.now.saturating_add(by).min(FURTHEST);
    }

    /// A clock that goes back, as a bad one does.
    fn go_back(&mut self, choices: &mut Choices<'_>) {
        let by = 1_000_000 * At::from(choices.byte());
        self.now = self.now.saturating_sub(by).max(-FURTHEST);
    }

    fn connect(&mut self, choices: &mut Choices<'_>) {
        if self.lines.len() == MOST_PATHS {
            return;
        }
        let mtu = self.mtu(choices);
        let key = IpAddr::from(Ipv4Addr::new(192, 0, 2, choices.below(PEERS) as u8));
        self.note(self.lines.len(), Shown::Connect { mtu });
        let path = self.stack.connect(self.now, mtu, key);
        let (flight, past) = (VecDeque::new(), VecDeque::new());
        self.lines.push(Line {
            path,
            key,
            mtu,
            next_pn: 0,
            largest_acked: None,
            flight,
            past,
            lineage: None,
            copied: false,
            counted: true,
        });
        let line = self.lines.len() - 1;
        let events = self.events(line);
        self.check();
        if self.groups.is_some() && self.lines[line].path.has_started() {
            assert!(matches!(events[..], [EventKind::Joined]), "{events:?} of a flow that joins");
        }
    }

    /// A datagram size.
    fn mtu(&self, choices: &mut Choices<'_>) -> u16 {
        match choices.below(8) {
            0 => 1200 + u16::from(choices.byte()),
            1 => 8952,
            2 => 65_527,
            3 if self.wrong => choices.number() as u16,
            _ => 1200,
        }
    }

    fn send(&mut self, line: usize, choices: &mut Choices<'_>) {
        let count = 1 + choices.below(24);
        let (full, limited) = (choices.below(8) > 0, [Some(false), Some(true), None][choices.below(3)]);
        for _ in 0..count {
            let state = &self.lines[line];
            let bytes = if full { u64::from(state.mtu) } else { 1 + u64::from(state.mtu) / 3 };
            // The last of a burst may exceed the window, as probes do.
            let full = state.in_flight() > state.path.window();
            in_order::<S::Path>(&self.events(line));
            if full && !self.wrong {
                break;
            }
            self.send_packet(line, bytes, limited);
        }
    }

    fn send_packet(&mut self, line: usize, bytes: u64, app_limited: Option<bool>) {
        let (now, pn) = (self.now, self.lines[line].next_pn);
        if self.lines[line].flight.len() == MOST_PACKETS {
            return;
        }
        self.note(line, Shown::Sent { bytes, pn });
        let state = &mut self.lines[line];
        state.next_pn = pn.saturating_add(1);
        let kept = state.path.sent(now, bytes, pn, app_limited);
        state.flight.push_back(Packet { at: now, bytes, pn, kept });
        in_order::<S::Path>(&self.events(line));
        self.check();
    }

    fn note(&mut self, line: usize, call: Shown<KeptBy<C, S>>) {
        if self.calls.len() == SHOWN {
            self.calls.pop_front();
        }
        self.calls.push_back((self.now, line, call));
    }

    /// Makes a call after which the stack asks for the window.
    fn call(&mut self, line: usize, call: Call<KeptBy<C, S>>) {
        self.called(line, call);
        self.check();
    }

    /// Makes a call and returns the events it led to.
    fn called(&mut self, line: usize, call: Call<KeptBy<C, S>>) -> Vec<EventKind> {
        self.note(line, Shown::Call(call));
        self.lines[line].path.call(self.now, &call);
        let events = self.events(line);
        in_order::<S::Path>(&events);
        events
    }

    /// An ACK frame, with what it shows to be lost or marked.
    fn frame(&mut self, line: usize, choices: &mut Choices<'_>) {
        if choices.below(4) > 0 {
            self.advance(choices);
        }
        let state = &mut self.lines[line];
        let lost = if choices.once_in(6) { choices.below(5).min(state.flight.len()) } else { 0 };
        let lost: Vec<_> = state.flight.drain(..lost).collect();
        let skipped = if choices.once_in(6) { choices.below(5).min(state.flight.len()) } else { 0 };
        let acked = (1 + choices.below(12)).min(state.flight.len() - skipped);
        let acked: Vec<_> = state.flight.drain(skipped..skipped + acked).collect();
        let Some(newest) = acked.last().copied() else { return self.lose(line, &lost, choices) };
        let marks = if choices.once_in(6) { 1 + choices.below(3) as u64 } else { 0 };
        let persistent = choices.once_in(8);
        let app_limited = choices.once_in(4);
        let estimate = choices.byte();
        let (acked_bytes, lost_bytes) = (bytes(&acked), bytes(&lost));
        let state = &self.lines[line];
        let in_flight = state.in_flight();
        let largest = state.largest_acked.max(Some(newest.pn));
        let sampled = (state.largest_acked < largest).then(|| {
            let latest = u64::try_from(self.now.saturating_sub(newest.at)).unwrap_or(0);
            Call::Sampled { newest, latest: Duration::from_nanos(latest.min(LONGEST_SAMPLE)) }
        });
        let acks: Vec<_> = acked.iter().map(|packet| Call::Acked { packet: *packet, app_limited, estimate }).collect();
        // Stacks that report losses late count them as in flight until then.
        let late = if S::Path::ORDER == Order::AcksFirst { lost_bytes } else { 0 };
        let left = in_flight.saturating_add(late);
        let end = Call::AcksEnd { bytes: acked_bytes, newest, in_flight: left, app_limited, largest };
        let losses = losses(&lost, persistent);
        let marks = (marks > 0).then_some(Call::Marked { packets: marks, newest });
        let mut calls: Vec<_> = match S::Path::ORDER {
            Order::LossesFirst | Order::SampleLast => {
                sampled.into_iter().chain(losses).chain(marks).chain(acks).chain([end]).collect()
            }
            Order::AcksFirst => acks.into_iter().chain([end]).chain(losses).chain(marks).collect(),
        };
        self.lines[line].largest_acked = largest;
        acked.into_iter().chain(lost.iter().copied()).for_each(|packet| self.lines[line].remember(packet));
        if self.wrong {
            match choices.below(6) {
                0 => calls.reverse(),
                1 => drop(calls.remove(choices.below(calls.len()))),
                2 => calls.push(calls[choices.below(calls.len())]),
                3 => calls.truncate(choices.below(calls.len())),
                _ => {}
            }
            for call in calls {
                self.called(line, call);
            }
            return self.check();
        }
        // What came before is complete.
        self.call(line, Call::Asked);
        let events: Vec<_> = calls.into_iter().flat_map(|call| self.called(line, call)).collect();
        self.check();
        if self.lines[line].path.has_started() && !self.lines[line].copied {
            whole_frame::<S::Path>(&events, !lost.is_empty(), persistent, marks.is_some());
        }
        self.count(line);
    }

    /// The oldest packets are declared lost without an ACK frame.
    fn lose_by_timer(&mut self, line: usize, choices: &mut Choices<'_>) {
        let state = &mut self.lines[line];
        let lost = (1 + choices.below(6)).min(state.flight.len());
        let lost: Vec<_> = state.flight.drain(..lost).collect();
        self.lose(line, &lost, choices);
    }

    fn lose(&mut self, line: usize, lost: &[Packet<KeptBy<C, S>>], choices: &mut Choices<'_>) {
        for call in losses(lost, choices.once_in(4)) {
            self.called(line, call);
        }
        // No decision is asked for yet: the next call completes the report.
        lost.iter().for_each(|packet| self.lines[line].remember(*packet));
    }

    fn spurious(&mut self, line: usize) {
        self.call(line, Call::Spurious);
    }

    fn resize(&mut self, line: usize, choices: &mut Choices<'_>) {
        let mtu = self.mtu(choices);
        self.lines[line].mtu = mtu;
        self.call(line, Call::MtuUpdated(mtu));
    }

    /// A path moves, or is tried: a copy goes on with what is in flight, or without.
    fn move_path(&mut self, line: usize, choices: &mut Choices<'_>) {
        if self.lines.len() == MOST_PATHS {
            return;
        }
        let state = &mut self.lines[line];
        let Some(path) = state.path.copy() else { return };
        let flight = match choices.below(3) {
            0 => std::mem::take(&mut state.flight),
            1 => state.flight.clone(),
            _ => VecDeque::new(),
        };
        state.counted &= state.flight.len() == flight.len() || flight.is_empty();
        // One that has not started is no copy of a flow.
        let copied = state.copied || state.path.has_started();
        let (past, key) = (state.past.clone(), state.key);
        let copy = Line {
            path,
            key,
            mtu: state.mtu,
            next_pn: state.next_pn,
            largest_acked: state.largest_acked,
            flight,
            past,
            lineage: state.lineage,
            copied,
            counted: false,
        };
        self.lines.push(copy);
        self.note(line, Shown::Copy);
        self.check();
        if choices.once_in(3) {
            self.drop_line(line);
        }
    }

    fn drop_line(&mut self, line: usize) {
        self.note(line, Shown::Drop);
        // Asking for events completes the report.
        in_order::<S::Path>(&self.events(line));
        let dropped = self.lines.remove(line);
        let alone = !self.lines.iter().any(|other| other.lineage == dropped.lineage);
        let member = self.groups.is_some() && dropped.path.has_started();
        drop(dropped.path);
        let events = self.watch.take().unwrap_or_else(|wrong| panic!("{wrong}"));
        let leaves = member && alone && !dropped.copied;
        assert_eq!(matches!(events[..], [EventKind::Left]), leaves, "{events:?} of a flow that ends");
        assert!(leaves || events.is_empty(), "{events:?} of a flow that ends");
        self.count_members();
    }

    /// The keys of a packet number space are discarded, with all that was in flight in it.
    fn discard(&mut self, line: usize, choices: &mut Choices<'_>) {
        let state = &mut self.lines[line];
        let gone = choices.below(4).min(state.flight.len());
        let gone = state.flight.drain(..gone).fold(0_u64, |bytes, packet| bytes.saturating_add(packet.bytes));
        self.call(line, Call::Discarded(gone));
        self.count(line);
    }

    /// A call that no correct stack makes.
    fn nonsense(&mut self, line: usize, choices: &mut Choices<'_>) {
        let Some(packet) = self.some_packet(line, choices) else { return self.send_packet(line, 1200, None) };
        let any = choices.number();
        let call = match choices.below(14) {
            0 => Call::Sampled { newest: packet, latest: Duration::from_nanos(any.min(LONGEST_SAMPLE)) },
            1 => Call::Acked { packet, app_limited: any & 1 == 0, estimate: choices.byte() },
            2 | 3 => {
                let (in_flight, largest) = (choices.number(), Some(choices.number()));
                Call::AcksEnd { bytes: any, newest: packet, in_flight, app_limited: false, largest }
            }
            4 => Call::Lost { packet, persistent: any & 1 == 0 },
            5 | 6 => Call::LossesEnd { bytes: any, newest: packet, persistent: choices.once_in(2) },
            7 => Call::Marked { packets: any, newest: packet },
            8 => Call::Spurious,
            9 => Call::MaxAckDelay(Duration::from_nanos(any)),
            10 => Call::Discarded(any),
            11 => {
                self.now = self.now.wrapping_add(any as At).clamp(-FURTHEST, FURTHEST);
                Call::Asked
            }
            12 => {
                self.lines[line].next_pn = any;
                Call::Asked
            }
            _ => return self.send_packet(line, any, None),
        };
        for _ in 0..1 + choices.below(2) {
            self.called(line, call);
        }
        if choices.once_in(2) {
            self.check();
        }
    }

    /// A packet of this path or of another, as it is or forged.
    fn some_packet(&self, line: usize, choices: &mut Choices<'_>) -> Option<Packet<KeptBy<C, S>>> {
        let other = &self.lines[(line + choices.below(2)) % self.lines.len()];
        let known = other.flight.len() + other.past.len();
        if known == 0 {
            return None;
        }
        let mut packet = *other.past.iter().chain(&other.flight).nth(choices.below(known.min(256)))?;
        match choices.below(4) {
            0 => packet.bytes = choices.number(),
            1 => packet.pn = choices.number(),
            2 => packet.at = packet.at.wrapping_add(choices.number() as At).clamp(-FURTHEST, FURTHEST),
            _ => {}
        }
        Some(packet)
    }

    /// The events since they were taken last, to which a call on `line` led.
    fn events(&mut self, line: usize) -> Vec<EventKind> {
        let state = &mut self.lines[line];
        if state.lineage.is_none() && state.path.has_started() {
            state.lineage = Some(self.lineages);
            self.lineages += 1;
        }
        self.watch.take().unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// The stack asks for every window, and what has to hold does.
    fn check(&mut self) {
        for state in &self.lines {
            let least = S::Path::least_window(state.mtu, self.least);
            let window = state.path.window();
            let most = LARGEST_WINDOW.max(least).saturating_add(1);
            assert!((least..=most).contains(&window), "a window of {window} is not within {least}..={most}");
            // What was reported before is complete once the window is asked for.
            in_order::<S::Path>(&self.watch.take().unwrap_or_else(|wrong| panic!("{wrong}")));
            self.watch.answered(|| (window, state.path.in_flight(), state.path.answers()));
        }
        self.count_members();
    }

    /// As many members as there are connections, and each within bounds.
    fn count_members(&self) {
        let Some(groups) = &self.groups else { return };
        for peer in 0..PEERS {
            let key = IpAddr::from(Ipv4Addr::new(192, 0, 2, peer as u8));
            let lineages: BTreeSet<u64> =
                self.lines.iter().filter(|line| line.key == key).filter_map(|line| line.lineage).collect();
            let members = groups.with(&key, |group| {
                let finite = |value: f64| value >= 0.0 && value <= LARGEST_WINDOW as f64;
                let whole = group.members().iter().all(|member| finite(member.cwnd) && !member.ssthresh.is_nan());
                assert!(whole, "{:?}", group.members());
                group.members().len()
            });
            assert_eq!(members.unwrap_or(0), lineages.len(), "members of {key}");
        }
    }

    /// Checks that the adapter counts the bytes in flight that a correct stack has.
    fn count(&self, line: usize) {
        let state = &self.lines[line];
        if self.wrong || !state.counted {
            return;
        }
        if let Some(counted) = state.path.in_flight() {
            assert_eq!(counted, state.in_flight(), "bytes in flight");
        }
    }
}

/// Shows how it came to a panic.
impl<C: ConfiguredController, S: Stack<C>> Drop for Model<C, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, after", self.text);
            for (now, line, call) in &self.calls {
                eprintln!("  {now} ns, path {line}: {call:?}");
            }
        }
    }
}

/// The events of one call are of one frame, or the end of one and the beginning of the next.
fn in_order<P: Path>(events: &[EventKind]) {
    check_frame(events, P::ORDER).unwrap_or_else(|wrong| panic!("{wrong}: {events:?}"));
}

fn bytes<'a, K: 'a>(packets: impl IntoIterator<Item = &'a Packet<K>>) -> u64 {
    packets.into_iter().fold(0, |sum, packet| sum.saturating_add(packet.bytes))
}

/// The calls of packets lost together; none if there are none.
fn losses<K: Copy>(lost: &[Packet<K>], persistent: bool) -> Vec<Call<K>> {
    let Some(newest) = lost.last().copied() else { return Vec::new() };
    let each = lost.iter().map(|packet| Call::Lost { packet: *packet, persistent });
    each.chain([Call::LossesEnd { bytes: bytes(lost), newest, persistent }]).collect()
}

/// An ACK frame led to the events of its parts, in the stack's order.
fn whole_frame<P: Path>(events: &[EventKind], lost: bool, persistent: bool, marked: bool) {
    let count = |of: fn(&EventKind) -> bool| events.iter().filter(|kind| of(kind)).count();
    let losses = count(|kind| matches!(kind, EventKind::PacketsLost(_)));
    let persistents = count(|kind| matches!(kind, EventKind::PersistentCongestion(_)));
    let counts = (
        count(|kind| matches!(kind, EventKind::PacketsAcked(_))),
        losses,
        persistents,
        count(|kind| matches!(kind, EventKind::EcnCe(_))),
    );
    let persistent = if P::ESTABLISHES_PERSISTENT_CONGESTION { persistents > 0 } else { persistent };
    let expected = (1, usize::from(lost && !persistent), usize::from(lost && persistent), usize::from(marked));
    assert_eq!(counts, expected, "acknowledgements, losses, persistent congestion, marks: {events:?}");
    match P::ORDER {
        order @ (Order::LossesFirst | Order::SampleLast) => {
            check_frame(events, order).unwrap_or_else(|wrong| panic!("{wrong}: {events:?}"))
        }
        Order::AcksFirst => {
            let rank = |kind: &EventKind| match kind {
                EventKind::PacketsAcked(_) => Some(0),
                EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_) => Some(1),
                EventKind::EcnCe(_) => Some(2),
                EventKind::RttSampled(_) => panic!("a sample beside the acknowledgements: {events:?}"),
                _ => None,
            };
            let ranks: Vec<_> = events.iter().filter_map(rank).collect();
            assert!(ranks.is_sorted(), "not in the stack's order: {events:?}");
        }
    }
}
