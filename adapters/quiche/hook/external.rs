//! Congestion controllers from outside quiche.
//!
//! [`define`] gives an algorithm a name, [`resolve_with`] a function that knows more names.
//! From then on `Config::set_cc_algorithm_name` takes them, in C
//! `quiche_config_set_cc_algorithm_name`, and in a handshake
//! `Connection::set_cc_algorithm_name_in_handshake`. Every path of a connection starts a
//! [`Controller`] of the algorithm; quiche tells it what happens on the path and asks it for
//! a window and a pacing rate. Names quiche knows itself keep their meaning.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::time::Duration;
use std::time::Instant;

use super::bbr2::BBRv2;
use super::CongestionControl;
use crate::frame::EcnCounts;
use crate::packet::Epoch;
use crate::ranges::RangeSet;
use crate::recovery::bandwidth::Bandwidth;
use crate::recovery::rtt::RttStats;
use crate::recovery::CongestionControlAlgorithm;
use crate::recovery::Recovery;
use crate::recovery::RecoveryConfig;
use crate::recovery::RecoveryStats;

pub use super::Acked;
pub use super::BbrParams;
pub use super::Lost;

mod slots;

use slots::SLOTS;

/// The local and the peer's address of a path.
pub type Addresses = (SocketAddr, SocketAddr);

/// A path about to start.
#[derive(Clone, Copy, Debug)]
pub struct NewPath {
    /// Now.
    pub now: Instant,
    /// Its addresses; missing only where recovery is used without a connection.
    pub addresses: Option<Addresses>,
    /// Size of datagrams, bytes.
    pub mtu: usize,
}

/// Starts controllers.
pub trait Algorithm: Send + Sync {
    /// A controller for a path; `None` leaves the path to quiche's CUBIC.
    fn start(&self, path: &NewPath) -> Option<Box<dyn Controller>>;
}

/// A packet that left and counts as in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its number; numbers of a connection grow over all packet number spaces.
    pub number: u64,
    /// Its size.
    pub bytes: usize,
    /// When it leaves.
    pub at: Instant,
    /// Bytes in flight before it.
    pub in_flight: usize,
}

/// A packet number space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

impl From<Epoch> for Space {
    fn from(epoch: Epoch) -> Space {
        match epoch {
            Epoch::Initial => Space::Initial,
            Epoch::Handshake => Space::Handshake,
            Epoch::Application => Space::Application,
        }
    }
}

/// quiche's estimates of a path's RTT.
#[derive(Clone, Copy, Debug)]
pub struct Rtt<'a>(&'a RttStats);

impl Rtt<'_> {
    /// The latest sample.
    #[inline]
    pub fn latest(&self) -> Duration {
        self.0.latest_rtt
    }

    /// The smoothed RTT; the configured one before there was a sample.
    #[inline]
    pub fn smoothed(&self) -> Duration {
        self.0.smoothed_rtt
    }

    /// Its variation.
    #[inline]
    pub fn variation(&self) -> Duration {
        self.0.rttvar
    }

    /// The minimum over five minutes.
    #[inline]
    pub fn min(&self) -> Duration {
        *self.0.min_rtt
    }

    /// The longest the peer says it holds an ACK.
    #[inline]
    pub fn max_ack_delay(&self) -> Duration {
        self.0.max_ack_delay
    }
}

/// Cumulative counts of packets by ECN codepoint, as the peer reports them for a packet
/// number space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ecn {
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// CE.
    pub ce: u64,
}

/// What an ACK frame brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The packet number space.
    pub space: Space,
    /// How long the peer says it held the ACK, µs.
    pub ack_delay: u64,
    /// The counts of the frame, if it has any.
    pub ecn: Option<Ecn>,
}

impl Acked {
    /// Its number.
    #[inline]
    pub fn number(&self) -> u64 {
        self.pkt_num
    }

    /// When it left.
    #[inline]
    pub fn sent_at(&self) -> Instant {
        self.time_sent
    }

    /// Its size; 0: it did not count as in flight.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Lost {
    /// Its number.
    #[inline]
    pub fn number(&self) -> u64 {
        self.packet_number
    }

    /// When it left.
    #[inline]
    pub fn sent_at(&self) -> Instant {
        self.time_sent
    }

    /// Its size; 0: it did not count as in flight.
    #[inline]
    pub fn bytes(&self) -> usize {
        if self.in_flight { self.bytes_lost } else { 0 }
    }

    /// Whether a packet was acknowledged that left before it, and after those of the same
    /// report that left before it.
    #[inline]
    pub fn is_apart(&self) -> bool {
        self.apart
    }
}

/// Packets newly acknowledged and newly lost.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Now.
    pub now: Instant,
    /// The ACK frame; `None`: a timer found the losses.
    pub frame: Option<&'a Frame>,
    /// Packets newly acknowledged, in the order of their numbers.
    pub acked: &'a [Acked],
    /// Packets newly lost, in the order of their numbers.
    pub lost: &'a [Lost],
    /// Bytes in flight before.
    pub in_flight_before: usize,
    /// Bytes in flight after.
    pub in_flight: usize,
    /// RTT estimates.
    pub rtt: Rtt<'a>,
    /// Whether the latest sample is of this report.
    pub sampled: bool,
}

/// What a controller decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decided {
    /// The window, bytes.
    pub window: u64,
    /// The pacing rate, bit/s; `None`: unpaced. quiche keeps to it if the program has not
    /// turned pacing off.
    pub pacing_rate: Option<u64>,
    /// The rate at which the path delivers, bit/s, where known: what quiche tells as
    /// `delivery_rate`.
    pub delivery_rate: Option<u64>,
    /// Whether other paths may change it: then the controller is asked each time.
    pub shared: bool,
    /// The controller wants to hear of ACK frames that acknowledge packets from the first to
    /// the second of these numbers, before their reports.
    pub awaits: Option<(u64, u64)>,
    /// Whether the controller need not hear of packets that leave while others are in flight.
    pub quiet: bool,
}

/// A congestion controller of one path. What it [decided](Self::decided) is asked after a
/// path starts and whenever it was told something that it does not answer with a decision.
pub trait Controller: Debug + Send + Sync {
    /// A packet left; not all are told, if it is content with that ([`Decided::quiet`]).
    /// Whether that changed what it decided.
    fn sent(&mut self, packet: &Sent) -> bool;
    /// Packets were acknowledged or lost; it writes what it decides now over what it decided before.
    fn report(&mut self, report: &Report<'_>, decided: &mut Decided);
    /// An ACK frame came, before the report of it; `acknowledges` tells whether it covers a
    /// packet number. Whether that changed what it decided.
    fn frame(&mut self, now: Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool;
    /// The probe timeout fired.
    fn probe_timeout(&mut self) {}
    /// There is nothing to send although `in_flight` bytes leave room in the window.
    fn app_limited(&mut self, in_flight: usize);
    /// The size of datagrams changed, bytes.
    fn resized(&mut self, mtu: usize);
    /// What it decided.
    fn decided(&self) -> Decided;
    /// The slow start threshold, bytes.
    fn ssthresh(&self) -> Option<u64>;
    /// What it is doing, for logs.
    fn state(&self) -> &'static str;
    /// Whether it is in a recovery period: the pacer then grants no burst after silence.
    fn in_recovery(&self) -> bool;
}

/// All names there is room for are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is room for {} names of congestion controllers in a process", SLOTS.len())
    }
}

impl std::error::Error for Full {}

/// Finds the algorithm of a name.
pub type Resolver = dyn Fn(&str) -> Option<Arc<dyn Algorithm>> + Send + Sync;

struct Names {
    defined: Vec<(String, Arc<dyn Algorithm>)>,
    resolvers: Vec<Arc<Resolver>>,
}

static NAMES: RwLock<Names> = RwLock::new(Names { defined: Vec::new(), resolvers: Vec::new() });

/// Gives `algorithm` a name. Connections made later with the name start it, also if the
/// name was taken.
pub fn define(name: &str, algorithm: Arc<dyn Algorithm>) -> Result<CongestionControlAlgorithm, Full> {
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(slot) = names.defined.iter().position(|(defined, _)| defined == name) {
        names.defined[slot].1 = algorithm;
        return Ok(SLOTS[slot]);
    }
    let slot = *SLOTS.get(names.defined.len()).ok_or(Full)?;
    names.defined.push((name.to_owned(), algorithm));
    Ok(slot)
}

/// Has `resolver` asked for names that are not defined; what it finds stays defined.
pub fn resolve_with(resolver: Arc<Resolver>) {
    NAMES.write().unwrap_or_else(PoisonError::into_inner).resolvers.push(resolver);
}

pub(crate) fn named(name: &str) -> Option<CongestionControlAlgorithm> {
    let resolvers = {
        let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = names.defined.iter().position(|(defined, _)| defined == name) {
            return Some(SLOTS[slot]);
        }
        names.resolvers.clone()
    };
    let found = resolvers.iter().find_map(|resolver| resolver(name))?;
    match define(name, found) {
        Ok(slot) => Some(slot),
        Err(full) => {
            error!("congestion controller {name:?}: {full}");
            None
        },
    }
}

fn algorithm(of: CongestionControlAlgorithm) -> Option<Arc<dyn Algorithm>> {
    let slot = SLOTS.iter().position(|slot| *slot == of)?;
    let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
    names.defined.get(slot).map(|(_, algorithm)| Arc::clone(algorithm))
}

/// Recovery for a path with these addresses.
pub(crate) fn on_path(local: SocketAddr, peer: SocketAddr, config: &RecoveryConfig) -> Recovery {
    Recovery::new_with_config(&RecoveryConfig { path: Some((local, peer)), ..*config })
}

/// Now, as all of quiche has it.
pub(crate) fn now() -> Instant {
    #[cfg(feature = "virtual-time")]
    if let Some(now) = clock::TOLD.get() {
        return now;
    }
    Instant::now()
}

/// Time as a program tells it.
#[cfg(feature = "virtual-time")]
pub mod clock {
    use std::cell::Cell;
    use std::time::Instant;

    thread_local! {
        pub(super) static TOLD: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    /// Tells all connections of this thread the time, until told otherwise; `None` lets the
    /// system tell it.
    pub fn tell(now: Option<Instant>) {
        TOLD.set(now);
    }
}

/// Random bytes as a program tells them.
#[cfg(feature = "virtual-time")]
pub mod random {
    use std::cell::Cell;

    thread_local! {
        static STATE: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// Has everything random that quiche itself decides on this thread follow from `seed`,
    /// until told otherwise; `None` leaves it to BoringSSL. Keys and all else in TLS stay
    /// BoringSSL's, so nothing of this is for use on a network.
    pub fn tell(seed: Option<u64>) {
        STATE.set(seed);
    }

    /// Fills `buf` if there is a seed.
    pub(super) fn fill(buf: &mut [u8]) -> bool {
        let Some(mut state) = STATE.get() else { return false };
        for bytes in buf.chunks_mut(8) {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^= word >> 31;
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        STATE.set(Some(state));
        true
    }
}

/// Fills `buf` as the program told; `false`: it is BoringSSL's to do.
#[inline]
pub(crate) fn fill(buf: &mut [u8]) -> bool {
    #[cfg(feature = "virtual-time")]
    return random::fill(buf);
    #[cfg(not(feature = "virtual-time"))]
    {
        let _ = buf;
        false
    }
}

/// ECN codepoints of datagrams a program receives: quiche has no place for them in
/// `RecvInfo`.
pub mod ecn {
    use std::cell::Cell;

    /// A codepoint (`RFC 3168 §5`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Codepoint {
        /// Not ECN-capable, or not known.
        #[default]
        NotEct,
        /// ECT(0).
        Ect0,
        /// ECT(1).
        Ect1,
        /// Congestion experienced.
        Ce,
    }

    thread_local! {
        pub(super) static TOLD: Cell<Codepoint> = const { Cell::new(Codepoint::NotEct) };
    }

    /// Tells the codepoint of all datagrams that this thread hands to `Connection::recv`,
    /// until told otherwise.
    pub fn tell(codepoint: Codepoint) {
        TOLD.set(codepoint);
    }
}

/// Packets received in a packet number space, by codepoint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    ect0: u64,
    ect1: u64,
    ce: u64,
}

impl Received {
    /// A packet of the datagram under way counts.
    pub(crate) fn count(&mut self) {
        match ecn::TOLD.get() {
            ecn::Codepoint::NotEct => {},
            ecn::Codepoint::Ect0 => self.ect0 += 1,
            ecn::Codepoint::Ect1 => self.ect1 += 1,
            ecn::Codepoint::Ce => self.ce += 1,
        }
    }

    /// What an ACK frame tells; nothing if no codepoint was ever seen.
    pub(crate) fn counts(&self) -> Option<EcnCounts> {
        (self.ect0 + self.ect1 + self.ce > 0).then(|| EcnCounts::of(self.ect0, self.ect1, self.ce))
    }
}

/// Loss recovery and congestion control of a path without a connection around them, for
/// measuring what they cost.
#[cfg(feature = "virtual-time")]
pub mod alone {
    use std::ops::Range;
    use std::time::Instant;

    use crate::frame::Frame;
    use crate::packet::Epoch;
    use crate::ranges::RangeSet;
    use crate::recovery::HandshakeStatus;
    use crate::recovery::Recovery;
    use crate::recovery::RecoveryConfig;
    use crate::recovery::RecoveryOps;
    use crate::recovery::Sent;

    const EPOCH: Epoch = Epoch::Application;
    const STATUS: HandshakeStatus =
        HandshakeStatus { has_handshake_keys: true, peer_verified_address: true, completed: true };

    /// Recovery of one path after the handshake.
    #[derive(Debug)]
    pub struct Alone {
        recovery: Recovery,
        skipped: Option<u64>,
    }

    impl Alone {
        /// With the controller and all else of `config`.
        pub fn new(config: &crate::Config) -> Self {
            Alone { recovery: Recovery::new_with_config(&RecoveryConfig::from_config(config)), skipped: None }
        }

        /// Packet `number` leaves with `bytes` of a stream, if the window has room: what a
        /// connection asks and tells for it. Whether it left.
        #[inline]
        pub fn send(&mut self, now: Instant, number: u64, bytes: usize) -> bool {
            let recovery = &mut self.recovery;
            if recovery.should_elicit_ack(EPOCH) || recovery.cwnd_available() < bytes {
                // As a connection does that has more to send than there is room for.
                recovery.update_app_limited(false);
                return false;
            }
            let frame = Frame::StreamHeader { stream_id: 0, offset: 0, length: bytes, fin: false };
            let packet = Sent {
                pkt_num: number,
                frames: smallvec::smallvec![frame],
                time_sent: now,
                time_acked: None,
                time_lost: None,
                size: bytes,
                ack_eliciting: true,
                in_flight: true,
                delivered: 0,
                delivered_time: now,
                first_sent_time: now,
                is_app_limited: false,
                tx_in_flight: 0,
                lost: 0,
                has_data: true,
                is_pmtud_probe: false,
            };
            let _ = std::hint::black_box((recovery.cwnd(), recovery.max_datagram_size()));
            recovery.on_packet_sent(packet, EPOCH, STATUS, now, "");
            let _ = std::hint::black_box((recovery.get_packet_send_time(now), recovery.get_next_release_time()));
            true
        }

        /// An ACK frame of the packets with these numbers comes; how many were new.
        #[inline]
        pub fn acknowledge(&mut self, now: Instant, numbers: Range<u64>) -> usize {
            let recovery = &mut self.recovery;
            let mut ranges = RangeSet::default();
            ranges.insert(numbers);
            recovery.external_ecn(&None);
            let Ok(_) = recovery.on_ack_received(&ranges, 0, EPOCH, STATUS, now, self.skipped, "") else { return 0 };
            while recovery.next_lost_frame(EPOCH).is_some() {}
            let mut acknowledged = 0;
            while recovery.next_acked_frame(EPOCH).is_some() {
                acknowledged += 1;
            }
            let _ = std::hint::black_box((recovery.cwnd_available(), recovery.loss_detection_timer()));
            acknowledged
        }

        /// The window, bytes.
        pub fn window(&self) -> usize {
            self.recovery.cwnd()
        }
    }
}

/// A controller, what it decided, and the frame it is told of next.
#[derive(Debug)]
pub(crate) struct External {
    controller: Box<dyn Controller>,
    decided: Decided,
    /// What follows for quiche from what it decided.
    window: usize,
    pacing_rate: Bandwidth,
    mtu: usize,
    limit: u64,
    sent_now: bool,
    /// The ACK frame read last.
    frame: Frame,
}

impl External {
    fn new(controller: Box<dyn Controller>, mtu: usize, sent_now: bool) -> External {
        let mut external = External {
            decided: controller.decided(),
            controller,
            window: 0,
            pacing_rate: Bandwidth::zero(),
            mtu,
            limit: u64::MAX,
            sent_now,
            frame: Frame { space: Space::Initial, ack_delay: 0, ecn: None },
        };
        external.follow();
        external
    }

    /// Asks the controller what it decided.
    fn ask(&mut self) {
        self.decided = self.controller.decided();
        self.follow();
    }

    /// Works out what follows from what it decided.
    #[inline]
    fn follow(&mut self) {
        self.window = self.within_limit(self.decided.window);
        self.pacing_rate = bandwidth(self.decided.pacing_rate);
    }

    /// Of a window decided, what quiche's limit leaves.
    #[inline]
    fn within_limit(&self, window: u64) -> usize {
        usize::try_from(window.min(self.limit)).unwrap_or(usize::MAX)
    }

    #[inline]
    fn window(&self) -> usize {
        if self.decided.shared { self.shared_window() } else { self.window }
    }

    #[cold]
    fn shared_window(&self) -> usize {
        self.within_limit(self.controller.decided().window)
    }

    #[inline]
    fn pacing_rate(&self) -> Bandwidth {
        if self.decided.shared { self.shared_pacing_rate() } else { self.pacing_rate }
    }

    #[cold]
    fn shared_pacing_rate(&self) -> Bandwidth {
        bandwidth(self.controller.decided().pacing_rate)
    }

    /// Tells the controller of an ACK frame of `ranges`, if it acknowledges any of what it awaits.
    #[cold]
    fn look_for(&mut self, (oldest, newest): (u64, u64), ranges: &RangeSet, now: Instant) {
        if ranges.iter().any(|range| range.start <= newest && oldest < range.end) {
            let acknowledges = |number| ranges.iter().any(|range| range.contains(&number));
            if self.controller.frame(now, &acknowledges) {
                self.ask();
            }
        }
    }

    #[inline]
    fn delivery_rate(&self) -> Bandwidth {
        self.decided.delivery_rate.map_or(Bandwidth::zero(), whole_bytes)
    }
}

/// What sends: BBRv2, or an external controller.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Sender {
    Bbr2(BBRv2),
    External(External),
}

/// Asks whichever sends.
macro_rules! ask {
    ($sender:expr, $bbr:ident => $of_bbr:expr, $external:ident => $of_external:expr) => {
        match $sender {
            Sender::Bbr2($bbr) => $of_bbr,
            Sender::External($external) => $of_external,
        }
    };
}

impl Sender {
    pub(crate) fn new(
        initial_window: usize, max_window: usize, mtu: usize, initial_rtt: Duration, params: Option<&BbrParams>,
    ) -> Self {
        Sender::Bbr2(BBRv2::new(initial_window, max_window, mtu, initial_rtt, params))
    }

    /// The sender of an algorithm known by name; `None` for one of quiche's others.
    pub(crate) fn external(config: &RecoveryConfig) -> Option<Self> {
        let algorithm = algorithm(config.cc_algorithm)?;
        let mtu = config.max_send_udp_payload_size;
        let path = NewPath { now: now(), addresses: config.path, mtu };
        let controller = algorithm.start(&path)?;
        let sent_now = config.custom_bbr_params.and_then(|params| params.time_sent_set_to_now).unwrap_or(true);
        Some(Sender::External(External::new(controller, mtu, sent_now)))
    }

    /// `room`, bytes, if a whole datagram has room. One that filled what is left of a window
    /// would be acknowledged alone and leave room for another such; over time all
    /// become small, and a path that loses packets at random loses more of them.
    #[inline]
    pub(crate) fn whole(&self, room: usize) -> usize {
        ask!(self, _bbr => room, external => if room < external.mtu { 0 } else { room })
    }

    pub(crate) fn time_sent_set_to_now(&self) -> bool {
        ask!(self, bbr => bbr.time_sent_set_to_now(), external => external.sent_now)
    }

    pub(crate) fn rtt_persistent_jump_count(&self) -> u64 {
        ask!(self, bbr => bbr.rtt_persistent_jump_count(), _external => 0)
    }

    #[cfg(feature = "qlog")]
    pub(crate) fn send_rate(&self) -> Option<Bandwidth> {
        ask!(self, bbr => bbr.send_rate(), _external => None)
    }

    #[cfg(feature = "qlog")]
    pub(crate) fn ack_rate(&self) -> Option<Bandwidth> {
        ask!(self, bbr => bbr.ack_rate(), _external => None)
    }

    /// An ACK frame was checked; its report may follow.
    pub(crate) fn on_ack_frame(&mut self, epoch: Epoch, ranges: &RangeSet, ack_delay: u64, now: Instant) {
        let Sender::External(external) = self else { return };
        external.frame.space = epoch.into();
        external.frame.ack_delay = ack_delay;
        if let Some(awaited) = external.decided.awaits {
            external.look_for(awaited, ranges, now);
        }
    }
}

impl Recovery {
    /// The counts of the ACK frame about to be processed.
    pub(crate) fn external_ecn(&mut self, counts: &Option<EcnCounts>) {
        let Recovery::GCongestion(recovery) = self else { return };
        if let Sender::External(external) = recovery.external() {
            external.frame.ecn = counts.as_ref().map(|counts| {
                let [ect0, ect1, ce] = counts.counts();
                Ecn { ect0, ect1, ce }
            });
        }
    }
}

/// Of a pacing rate.
#[inline]
fn bandwidth(pacing_rate: Option<u64>) -> Bandwidth {
    pacing_rate.map_or(Bandwidth::infinite(), whole_bytes)
}

#[inline]
fn whole_bytes(bits_per_second: u64) -> Bandwidth {
    Bandwidth::from_bytes_per_second((bits_per_second / 8).max(1))
}

impl CongestionControl for Sender {
    #[cfg(feature = "qlog")]
    fn state_str(&self) -> &'static str {
        ask!(self, bbr => bbr.state_str(), external => external.controller.state())
    }

    fn get_congestion_window(&self) -> usize {
        ask!(self, bbr => bbr.get_congestion_window(), external => external.window())
    }

    fn get_congestion_window_in_packets(&self) -> usize {
        ask!(self, bbr => bbr.get_congestion_window_in_packets(),
            external => external.window() / external.mtu.max(1))
    }

    fn can_send(&self, bytes_in_flight: usize) -> bool {
        ask!(self, bbr => bbr.can_send(bytes_in_flight), external => bytes_in_flight < external.window())
    }

    fn on_packet_sent(
        &mut self, sent_time: Instant, bytes_in_flight: usize, packet_number: u64, bytes: usize,
        is_retransmissible: bool,
    ) {
        ask!(self,
            bbr => bbr.on_packet_sent(sent_time, bytes_in_flight, packet_number, bytes, is_retransmissible),
            external => {
                if external.decided.quiet && bytes_in_flight > 0 {
                    return;
                }
                let sent = Sent { number: packet_number, bytes, at: sent_time, in_flight: bytes_in_flight };
                if external.controller.sent(&sent) {
                    external.ask();
                }
            }
        )
    }

    fn on_packet_neutered(&mut self, packet_number: u64) {
        ask!(self, bbr => bbr.on_packet_neutered(packet_number), _external => ())
    }

    #[inline]
    fn on_congestion_event(
        &mut self, rtt_updated: bool, prior_in_flight: usize, bytes_in_flight: usize, event_time: Instant,
        acked_packets: &[Acked], lost_packets: &[Lost], least_unacked: u64, rtt_stats: &RttStats,
        recovery_stats: &mut RecoveryStats,
    ) {
        let external = ask!(self,
            bbr => return bbr.on_congestion_event(rtt_updated, prior_in_flight, bytes_in_flight, event_time,
                acked_packets, lost_packets, least_unacked, rtt_stats, recovery_stats),
            external => external);
        let report = Report {
            now: event_time,
            // A frame whose packets were all known is told, and brings no report.
            frame: (!acked_packets.is_empty()).then_some(&external.frame),
            acked: acked_packets,
            lost: lost_packets,
            in_flight_before: prior_in_flight,
            in_flight: bytes_in_flight,
            rtt: Rtt(rtt_stats),
            sampled: rtt_updated,
        };
        external.controller.report(&report, &mut external.decided);
        external.follow();
    }

    fn on_retransmission_timeout(&mut self, packets_retransmitted: bool) {
        ask!(self, bbr => bbr.on_retransmission_timeout(packets_retransmitted),
            external => {
                external.controller.probe_timeout();
                external.ask();
            })
    }

    fn on_connection_migration(&mut self) {
        ask!(self, bbr => bbr.on_connection_migration(), _external => ())
    }

    fn limit_cwnd(&mut self, max_cwnd: usize) {
        ask!(self, bbr => bbr.limit_cwnd(max_cwnd), external => {
            external.limit = max_cwnd as u64;
            external.follow();
        })
    }

    fn is_in_recovery(&self) -> bool {
        ask!(self, bbr => bbr.is_in_recovery(), external => external.controller.in_recovery())
    }

    fn is_cwnd_limited(&self, bytes_in_flight: usize) -> bool {
        ask!(self, bbr => bbr.is_cwnd_limited(bytes_in_flight),
            external => bytes_in_flight >= external.window())
    }

    fn pacing_rate(&self, bytes_in_flight: usize, rtt_stats: &RttStats) -> Bandwidth {
        ask!(self, bbr => bbr.pacing_rate(bytes_in_flight, rtt_stats),
            external => external.pacing_rate())
    }

    fn bandwidth_estimate(&self, rtt_stats: &RttStats) -> Bandwidth {
        ask!(self, bbr => bbr.bandwidth_estimate(rtt_stats),
            external => external.delivery_rate())
    }

    fn max_bandwidth(&self) -> Bandwidth {
        ask!(self, bbr => bbr.max_bandwidth(),
            external => external.delivery_rate())
    }

    fn update_mss(&mut self, new_mss: usize) {
        ask!(self, bbr => bbr.update_mss(new_mss), external => {
            external.mtu = new_mss;
            external.controller.resized(new_mss);
            external.ask();
        })
    }

    fn on_app_limited(&mut self, bytes_in_flight: usize) {
        ask!(self, bbr => bbr.on_app_limited(bytes_in_flight),
            external => {
                external.controller.app_limited(bytes_in_flight);
                external.ask();
            })
    }

    #[cfg(feature = "qlog")]
    fn ssthresh(&self) -> Option<u64> {
        ask!(self, bbr => bbr.ssthresh(), external => external.controller.ssthresh())
    }
}
