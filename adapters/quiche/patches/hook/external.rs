//! Congestion controllers from outside quiche.
//!
//! [`register`] gives an algorithm a name, [`add_resolver`] a function that knows more names.
//! From then on `Config::set_cc_algorithm_name` takes them, in C
//! `quiche_config_set_cc_algorithm_name`, and in a handshake
//! `Connection::set_cc_algorithm_name_in_handshake`. Every path of a connection starts a
//! [`Controller`] of the algorithm; quiche calls it for what happens on the path and asks it
//! for a window and a pacing rate. Names quiche knows itself keep their meaning.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::time::Duration;
use std::time::Instant;

use super::bbr2::BBRv2;
use super::CongestionControl;
use crate::frame;
use crate::packet::Epoch;
use crate::ranges::RangeSet;
use crate::recovery::bandwidth::Bandwidth;
use crate::recovery::rtt::RttStats;
use crate::recovery::CongestionControlAlgorithm;
use crate::recovery::Recovery;
use crate::recovery::RecoveryConfig;
use crate::recovery::RecoveryStats;
use crate::BufFactory;
use crate::Connection;

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
    /// When it starts.
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
pub struct PacketSent {
    /// Its number; numbers of a connection grow over all packet number spaces.
    pub number: u64,
    /// Its size, bytes.
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

    /// The mean variation, `rttvar` (`RFC 9002 §5.3`).
    #[inline]
    pub fn variation(&self) -> Duration {
        self.0.rttvar
    }

    /// The minimum over five minutes.
    #[inline]
    pub fn min(&self) -> Duration {
        *self.0.min_rtt
    }

    /// The peer's `max_ack_delay`.
    #[inline]
    pub fn max_ack_delay(&self) -> Duration {
        self.0.max_ack_delay
    }
}

/// Cumulative counts of packets by ECN codepoint, as the peer reports them for a packet
/// number space (`RFC 9000 §19.3.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EcnCounts {
    /// Packets with ECT(0).
    pub ect0: u64,
    /// Packets with ECT(1).
    pub ect1: u64,
    /// Packets with CE.
    pub ce: u64,
}

/// Fields of an ACK frame (`RFC 9000 §19.3`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrame {
    /// The packet number space of what it acknowledges.
    pub space: Space,
    /// How long the peer says it delayed the ACK, µs.
    pub ack_delay: u64,
    /// Its ECN counts, if it has any.
    pub ecn: Option<EcnCounts>,
}

impl Acked {
    /// Its packet number.
    #[inline]
    pub fn number(&self) -> u64 {
        self.pkt_num
    }

    /// When it left.
    #[inline]
    pub fn sent_at(&self) -> Instant {
        self.time_sent
    }

    /// Its size, bytes; 0 if it did not count as in flight.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Lost {
    /// Its packet number.
    #[inline]
    pub fn number(&self) -> u64 {
        self.packet_number
    }

    /// When it left.
    #[inline]
    pub fn sent_at(&self) -> Instant {
        self.time_sent
    }

    /// Its size, bytes; 0 if it did not count as in flight.
    #[inline]
    pub fn bytes(&self) -> usize {
        if self.in_flight { self.bytes_lost } else { 0 }
    }

    /// Whether a packet between it and the one lost before it was acknowledged: no persistent
    /// congestion spans the two (`RFC 9002 §7.6.2`). Of the first packet of an event: whether
    /// any packet that left before it was acknowledged.
    #[inline]
    pub fn is_new_loss_burst(&self) -> bool {
        self.new_loss_burst
    }
}

/// Packets newly acknowledged and newly lost.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent<'a> {
    /// When the ACK frame came or the loss timer fired.
    pub now: Instant,
    /// The ACK frame; `None` if a timer found the losses.
    pub ack_frame: Option<&'a AckFrame>,
    /// Packets newly acknowledged, in the order of their numbers.
    pub acked: &'a [Acked],
    /// Packets newly lost, in the order of their numbers.
    pub lost: &'a [Lost],
    /// Bytes in flight before the event.
    pub in_flight_before: usize,
    /// Bytes in flight after the event.
    pub in_flight: usize,
    /// RTT estimates, with the event's own sample if it has one.
    pub rtt: Rtt<'a>,
    /// Whether the event has an RTT sample.
    pub rtt_updated: bool,
}

/// What a controller decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The congestion window, bytes.
    pub cwnd: u64,
    /// The pacing rate, bit/s; `None`: unpaced. quiche keeps to it if the program has not
    /// turned pacing off.
    pub pacing_rate: Option<u64>,
    /// The rate at which the path delivers, bit/s, where known: quiche's statistic
    /// `delivery_rate`.
    pub delivery_rate: Option<u64>,
    /// Whether events of other paths may change the decision: then the controller is asked
    /// whenever it is needed.
    pub shared: bool,
    /// The first and the last packet number whose late acknowledgement the controller waits
    /// for: [`Controller::on_ack_frame`] is called for ACK frames that reach between them.
    pub missing: Option<(u64, u64)>,
    /// Whether [`Controller::on_packet_sent`] is needed only for packets that leave while no
    /// others are in flight.
    pub skip_packet_sent: bool,
}

/// A congestion controller of one path. Its [decision](Self::decision) is asked for after a
/// path starts and after each call that may have changed it.
pub trait Controller: Debug + Send + Sync {
    /// A packet left; not all are reported if the decision says so
    /// ([`Decision::skip_packet_sent`]). Returns whether the decision may have changed.
    fn on_packet_sent(&mut self, packet: &PacketSent) -> bool;
    /// Packets were acknowledged or lost; writes the decision over the one before.
    fn on_congestion_event(&mut self, event: &CongestionEvent<'_>, decision: &mut Decision);
    /// An ACK frame came, before its congestion event; `acknowledges` says whether it covers a
    /// packet number. Returns whether the decision may have changed.
    fn on_ack_frame(&mut self, now: Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool;
    /// The probe timeout fired.
    fn on_probe_timeout(&mut self) {}
    /// There is nothing to send although `in_flight` bytes leave room in the window. Comes with a packet that carries no
    /// data.
    fn on_app_limited(&mut self, in_flight: usize);
    /// There is nothing to send, and no packet is made.
    fn on_nothing_to_send(&mut self) {}
    /// The size of datagrams changed, bytes.
    fn on_mtu_update(&mut self, mtu: usize);
    /// Its decision.
    fn decision(&self) -> Decision;
    /// The slow start threshold, bytes.
    fn ssthresh(&self) -> Option<u64>;
    /// The congestion state, as quiche's qlog has it.
    fn state(&self) -> &'static str;
    /// Whether it is in a recovery period: the pacer then grants no burst after an idle time.
    fn is_in_recovery(&self) -> bool;
}

/// All names there is room for are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TooManyNames;

impl std::fmt::Debug for TooManyNames {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for TooManyNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is room for {} names of congestion controllers in a process", SLOTS.len())
    }
}

impl std::error::Error for TooManyNames {}

/// Finds the algorithm of a name.
pub type Resolver = dyn Fn(&str) -> Option<Arc<dyn Algorithm>> + Send + Sync;

/// A path about to start, with the algorithm its program chose.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// Its addresses.
    pub addresses: Addresses,
    /// The program's algorithm, or quiche's default.
    pub algorithm: CongestionControlAlgorithm,
    /// Whether the program chose it by name or in the handshake, not by the enumeration.
    pub named: bool,
}

/// Selects another algorithm than the program's for a path; `None` keeps the program's.
pub type Selector = dyn Fn(&Selection) -> Option<CongestionControlAlgorithm> + Send + Sync;

struct Registry {
    registered: Vec<(String, Arc<dyn Algorithm>)>,
    resolvers: Vec<Arc<Resolver>>,
    selector: Option<Arc<Selector>>,
}

static REGISTRY: RwLock<Registry> =
    RwLock::new(Registry { registered: Vec::new(), resolvers: Vec::new(), selector: None });

/// Gives `algorithm` a name. Connections made later with the name start it, also if the
/// name was taken.
pub fn register(name: &str, algorithm: Arc<dyn Algorithm>) -> Result<CongestionControlAlgorithm, TooManyNames> {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(slot) = registry.registered.iter().position(|(registered, _)| registered == name) {
        registry.registered[slot].1 = algorithm;
        return Ok(SLOTS[slot]);
    }
    let slot = *SLOTS.get(registry.registered.len()).ok_or(TooManyNames)?;
    registry.registered.push((name.to_owned(), algorithm));
    Ok(slot)
}

/// Has `resolver` asked for names that are not registered; what it finds stays registered.
pub fn add_resolver(resolver: Arc<Resolver>) {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner).resolvers.push(resolver);
}

/// Has `selector` asked for every path about to start, in place of the one before.
pub fn set_selector(selector: Arc<Selector>) {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner).selector = Some(selector);
}

/// The name that `algorithm` was registered with; `None` for quiche's own.
pub fn registered_name(algorithm: CongestionControlAlgorithm) -> Option<String> {
    let slot = SLOTS.iter().position(|slot| *slot == algorithm)?;
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    registry.registered.get(slot).map(|(name, _)| name.clone())
}

/// The algorithm called `name`, if one is registered or a resolver finds it.
pub(crate) fn find(name: &str) -> Option<CongestionControlAlgorithm> {
    let resolvers = {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = registry.registered.iter().position(|(registered, _)| registered == name) {
            return Some(SLOTS[slot]);
        }
        registry.resolvers.clone()
    };
    let found = resolvers.iter().find_map(|resolver| resolver(name))?;
    match register(name, found) {
        Ok(slot) => Some(slot),
        Err(error) => {
            error!("congestion controller {name:?}: {error}");
            None
        },
    }
}

fn algorithm(of: CongestionControlAlgorithm) -> Option<Arc<dyn Algorithm>> {
    let slot = SLOTS.iter().position(|slot| *slot == of)?;
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    registry.registered.get(slot).map(|(_, algorithm)| Arc::clone(algorithm))
}

/// Recovery for a path with these addresses.
pub(crate) fn on_path(local: SocketAddr, peer: SocketAddr, config: &RecoveryConfig) -> Recovery {
    let mut config = RecoveryConfig { path: Some((local, peer)), ..*config };
    let selector = REGISTRY.read().unwrap_or_else(PoisonError::into_inner).selector.clone();
    if let Some(selector) = selector {
        let named = config.cc_algorithm_named;
        let selection = Selection { addresses: (local, peer), algorithm: config.cc_algorithm, named };
        config.cc_algorithm = selector(&selection).unwrap_or(config.cc_algorithm);
    }
    Recovery::new_with_config(&config)
}

/// The ECN codepoint of a received datagram (`RFC 3168 §5`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnCodepoint {
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

impl<F: BufFactory> Connection<F> {
    /// Sets the ECN codepoint of the datagrams handed to [`recv`](Self::recv) from here on,
    /// since `RecvInfo` has no field for it. Once one other than `NotEct` arrived, ACK frames
    /// of its packet number space carry ECN counts (`RFC 9000 §13.4.1`).
    pub fn set_received_ecn(&mut self, codepoint: EcnCodepoint) {
        self.received_ecn = codepoint;
    }
}

/// Packets received in a packet number space, by codepoint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceivedEcn {
    ect0: u64,
    ect1: u64,
    ce: u64,
}

impl ReceivedEcn {
    /// Counts one packet of a datagram with `codepoint`.
    pub(crate) fn count(&mut self, codepoint: EcnCodepoint) {
        match codepoint {
            EcnCodepoint::NotEct => {},
            EcnCodepoint::Ect0 => self.ect0 += 1,
            EcnCodepoint::Ect1 => self.ect1 += 1,
            EcnCodepoint::Ce => self.ce += 1,
        }
    }

    /// The ECN counts of an ACK frame; `None` if no codepoint was ever seen.
    pub(crate) fn counts(&self) -> Option<frame::EcnCounts> {
        (self.ect0 + self.ect1 + self.ce > 0).then(|| frame::EcnCounts::of(self.ect0, self.ect1, self.ce))
    }
}

/// A controller, its decision, and the ACK frame under way.
#[derive(Debug)]
pub(crate) struct External {
    controller: Box<dyn Controller>,
    decision: Decision,
    /// The decided window within `max_cwnd`, bytes.
    cwnd: usize,
    /// The decided pacing rate in quiche's type.
    pacing_rate: Bandwidth,
    mtu: usize,
    max_cwnd: u64,
    time_sent_set_to_now: bool,
    /// The ACK frame read last.
    ack_frame: AckFrame,
}

impl External {
    fn new(controller: Box<dyn Controller>, mtu: usize, time_sent_set_to_now: bool) -> External {
        let mut external = External {
            decision: controller.decision(),
            controller,
            cwnd: 0,
            pacing_rate: Bandwidth::zero(),
            mtu,
            max_cwnd: u64::MAX,
            time_sent_set_to_now,
            ack_frame: AckFrame { space: Space::Initial, ack_delay: 0, ecn: None },
        };
        external.apply_decision();
        external
    }

    /// Asks the controller for its decision and applies it.
    fn update_decision(&mut self) {
        self.decision = self.controller.decision();
        self.apply_decision();
    }

    /// Converts the decision to quiche's types.
    #[inline]
    fn apply_decision(&mut self) {
        self.cwnd = self.limited(self.decision.cwnd);
        self.pacing_rate = bandwidth(self.decision.pacing_rate);
    }

    /// `cwnd` within `max_cwnd`.
    #[inline]
    fn limited(&self, cwnd: u64) -> usize {
        usize::try_from(cwnd.min(self.max_cwnd)).unwrap_or(usize::MAX)
    }

    #[inline]
    fn cwnd(&self) -> usize {
        if self.decision.shared { self.shared_cwnd() } else { self.cwnd }
    }

    #[cold]
    fn shared_cwnd(&self) -> usize {
        self.limited(self.controller.decision().cwnd)
    }

    #[inline]
    fn pacing_rate(&self) -> Bandwidth {
        if self.decision.shared { self.shared_pacing_rate() } else { self.pacing_rate }
    }

    #[cold]
    fn shared_pacing_rate(&self) -> Bandwidth {
        bandwidth(self.controller.decision().pacing_rate)
    }

    /// Calls the controller for an ACK frame of `ranges` if it reaches between these packets.
    #[cold]
    fn on_ack_frame(&mut self, (oldest, newest): (u64, u64), ranges: &RangeSet, now: Instant) {
        if ranges.iter().any(|range| range.start <= newest && oldest < range.end) {
            let acknowledges = |number| ranges.iter().any(|range| range.contains(&number));
            if self.controller.on_ack_frame(now, &acknowledges) {
                self.update_decision();
            }
        }
    }

    #[inline]
    fn delivery_rate(&self) -> Bandwidth {
        self.decision.delivery_rate.map_or(Bandwidth::zero(), whole_bytes)
    }
}

/// The congestion control of a path: BBRv2 or an external controller.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Sender {
    Bbr2(BBRv2),
    External(External),
}

/// One expression for BBRv2, another for an external controller.
macro_rules! dispatch {
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
        let path = NewPath { now: Instant::now(), addresses: config.path, mtu };
        let controller = algorithm.start(&path)?;
        let to_now = config.custom_bbr_params.and_then(|params| params.time_sent_set_to_now).unwrap_or(true);
        Some(Sender::External(External::new(controller, mtu, to_now)))
    }

    /// `available` bytes of the window if a whole datagram fits into them, else 0. A datagram
    /// that filled a smaller rest would be acknowledged on its own and leave room for another
    /// such; over time all become small, and a path with random loss loses more of them.
    #[inline]
    pub(crate) fn cwnd_available(&self, available: usize) -> usize {
        dispatch!(self, _bbr => available, external => if available < external.mtu { 0 } else { available })
    }

    pub(crate) fn time_sent_set_to_now(&self) -> bool {
        dispatch!(self, bbr => bbr.time_sent_set_to_now(), external => external.time_sent_set_to_now)
    }

    // [if src/recovery/gcongestion/bbr2.rs: fn rtt_persistent_jump_count]
    pub(crate) fn rtt_persistent_jump_count(&self) -> u64 {
        dispatch!(self, bbr => bbr.rtt_persistent_jump_count(), _external => 0)
    }
    // [end]

    #[cfg(feature = "qlog")]
    pub(crate) fn send_rate(&self) -> Option<Bandwidth> {
        dispatch!(self, bbr => bbr.send_rate(), _external => None)
    }

    #[cfg(feature = "qlog")]
    pub(crate) fn ack_rate(&self) -> Option<Bandwidth> {
        dispatch!(self, bbr => bbr.ack_rate(), _external => None)
    }

    /// A valid ACK frame came; its congestion event follows if it brings any.
    pub(crate) fn on_ack_frame(&mut self, epoch: Epoch, ranges: &RangeSet, ack_delay: u64, now: Instant) {
        let Sender::External(external) = self else { return };
        external.ack_frame.space = epoch.into();
        external.ack_frame.ack_delay = ack_delay;
        if let Some(missing) = external.decision.missing {
            external.on_ack_frame(missing, ranges, now);
        }
    }
}

impl Recovery {
    /// No packet is made, for want of anything to send.
    pub(crate) fn on_nothing_to_send(&mut self) {
        let Recovery::GCongestion(recovery) = self else { return };
        if let Sender::External(external) = recovery.sender() {
            external.controller.on_nothing_to_send();
        }
    }

    /// Takes the ECN counts of the ACK frame about to be processed.
    pub(crate) fn on_ecn_counts(&mut self, counts: &Option<frame::EcnCounts>) {
        let Recovery::GCongestion(recovery) = self else { return };
        if let Sender::External(external) = recovery.sender() {
            external.ack_frame.ecn = counts.as_ref().map(|counts| {
                let [ect0, ect1, ce] = counts.counts();
                EcnCounts { ect0, ect1, ce }
            });
        }
    }
}

/// A pacing rate in quiche's type; infinite where there is none.
#[inline]
fn bandwidth(pacing_rate: Option<u64>) -> Bandwidth {
    pacing_rate.map_or(Bandwidth::infinite(), whole_bytes)
}

/// A rate in whole bytes per second, at least one.
#[inline]
fn whole_bytes(bits_per_second: u64) -> Bandwidth {
    Bandwidth::from_bytes_per_second((bits_per_second / 8).max(1))
}

impl CongestionControl for Sender {
    #[cfg(feature = "qlog")]
    fn state_str(&self) -> &'static str {
        dispatch!(self, bbr => bbr.state_str(), external => external.controller.state())
    }

    fn get_congestion_window(&self) -> usize {
        dispatch!(self, bbr => bbr.get_congestion_window(), external => external.cwnd())
    }

    fn get_congestion_window_in_packets(&self) -> usize {
        dispatch!(self, bbr => bbr.get_congestion_window_in_packets(),
            external => external.cwnd() / external.mtu.max(1))
    }

    fn can_send(&self, bytes_in_flight: usize) -> bool {
        dispatch!(self, bbr => bbr.can_send(bytes_in_flight), external => bytes_in_flight < external.cwnd())
    }

    fn on_packet_sent(
        &mut self, sent_time: Instant, bytes_in_flight: usize, packet_number: u64, bytes: usize,
        is_retransmissible: bool,
    ) {
        dispatch!(self,
            bbr => bbr.on_packet_sent(sent_time, bytes_in_flight, packet_number, bytes, is_retransmissible),
            external => {
                if external.decision.skip_packet_sent && bytes_in_flight > 0 {
                    return;
                }
                let sent = PacketSent { number: packet_number, bytes, at: sent_time, in_flight: bytes_in_flight };
                if external.controller.on_packet_sent(&sent) {
                    external.update_decision();
                }
            }
        )
    }

    fn on_packet_neutered(&mut self, packet_number: u64) {
        dispatch!(self, bbr => bbr.on_packet_neutered(packet_number), _external => ())
    }

    #[inline]
    fn on_congestion_event(
        &mut self, rtt_updated: bool, prior_in_flight: usize, bytes_in_flight: usize, event_time: Instant,
        acked_packets: &[Acked], lost_packets: &[Lost], least_unacked: u64, rtt_stats: &RttStats,
        recovery_stats: &mut RecoveryStats,
    ) {
        let external = dispatch!(self,
            bbr => return bbr.on_congestion_event(rtt_updated, prior_in_flight, bytes_in_flight, event_time,
                acked_packets, lost_packets, least_unacked, rtt_stats, recovery_stats),
            external => external);
        let event = CongestionEvent {
            now: event_time,
            // An ACK frame without newly acknowledged packets brings no congestion event.
            ack_frame: (!acked_packets.is_empty()).then_some(&external.ack_frame),
            acked: acked_packets,
            lost: lost_packets,
            in_flight_before: prior_in_flight,
            in_flight: bytes_in_flight,
            rtt: Rtt(rtt_stats),
            rtt_updated,
        };
        external.controller.on_congestion_event(&event, &mut external.decision);
        external.apply_decision();
    }

    fn on_retransmission_timeout(&mut self, packets_retransmitted: bool) {
        dispatch!(self, bbr => bbr.on_retransmission_timeout(packets_retransmitted),
            external => {
                external.controller.on_probe_timeout();
                external.update_decision();
            })
    }

    fn on_connection_migration(&mut self) {
        dispatch!(self, bbr => bbr.on_connection_migration(), _external => ())
    }

    fn limit_cwnd(&mut self, max_cwnd: usize) {
        dispatch!(self, bbr => bbr.limit_cwnd(max_cwnd), external => {
            external.max_cwnd = max_cwnd as u64;
            external.apply_decision();
        })
    }

    fn is_in_recovery(&self) -> bool {
        dispatch!(self, bbr => bbr.is_in_recovery(), external => external.controller.is_in_recovery())
    }

    fn is_cwnd_limited(&self, bytes_in_flight: usize) -> bool {
        dispatch!(self, bbr => bbr.is_cwnd_limited(bytes_in_flight),
            external => bytes_in_flight >= external.cwnd())
    }

    fn pacing_rate(&self, bytes_in_flight: usize, rtt_stats: &RttStats) -> Bandwidth {
        dispatch!(self, bbr => bbr.pacing_rate(bytes_in_flight, rtt_stats),
            external => external.pacing_rate())
    }

    fn bandwidth_estimate(&self, rtt_stats: &RttStats) -> Bandwidth {
        dispatch!(self, bbr => bbr.bandwidth_estimate(rtt_stats),
            external => external.delivery_rate())
    }

    fn max_bandwidth(&self) -> Bandwidth {
        dispatch!(self, bbr => bbr.max_bandwidth(),
            external => external.delivery_rate())
    }

    fn update_mss(&mut self, new_mss: usize) {
        dispatch!(self, bbr => bbr.update_mss(new_mss), external => {
            external.mtu = new_mss;
            external.controller.on_mtu_update(new_mss);
            external.update_decision();
        })
    }

    fn on_app_limited(&mut self, bytes_in_flight: usize) {
        dispatch!(self, bbr => bbr.on_app_limited(bytes_in_flight),
            external => {
                external.controller.on_app_limited(bytes_in_flight);
                external.update_decision();
            })
    }

    #[cfg(feature = "qlog")]
    fn ssthresh(&self) -> Option<u64> {
        dispatch!(self, bbr => bbr.ssthresh(), external => external.controller.ssthresh())
    }
}
