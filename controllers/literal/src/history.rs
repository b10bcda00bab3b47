//! What happens to a sender, at random.

use proptest::prelude::*;
use windlass_controllers::{Path, Time};

/// A sender's life: a datagram size and what happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    /// The first maximum datagram size, bytes.
    pub mtu: u16,
    /// How long the path takes for a packet, so that the ACKs of a round are as far apart.
    pub service_us: u16,
    /// What happens, one after the other.
    pub actions: Vec<Action>,
}

impl History {
    /// The path at its beginning.
    pub(crate) fn path(&self) -> Path {
        Path::new(Time(1_000_000), u32::from(self.mtu), 7)
    }
}

/// One thing that happens.
#[allow(missing_docs, reason = "each is said with its action")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The application has so many packets, which leave so far apart as the window lets them; `u16::MAX` are as many as it does.
    Send { packets: u16, gap_us: u16, short: bool },
    /// Nothing.
    Wait { ms: u16 },
    /// All in flight comes back.
    Round(Round),
    /// A frame that acknowledges packets, without the first ones in flight.
    Ack { skip: u8, packets: u8, ce: u8 },
    /// A timer declares packets lost that were sent before one that was acknowledged.
    Lose { skip: u8, packets: u8 },
    /// Packets declared lost arrive after all.
    Late { packets: u8 },
    /// Packets so far apart are lost, except the last; the first of them sooner than the others, if `halved`.
    Persistent { packets: u8, gap_ms: u16, halved: bool },
    /// All arrives, and there is nothing to send for so long.
    Idle { ms: u32 },
    /// The maximum datagram size changes.
    Mtu { bytes: u16 },
}

/// A flight that comes back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// The round-trip time.
    pub rtt_us: u32,
    /// How long the receiver says it held each ACK.
    pub ack_delay_us: u16,
    /// Packets an ACK acknowledges.
    pub stretch: u8,
    /// Packets that are lost: place of the first in the flight, how many, and one of so many.
    pub lost: (u8, u8, u8),
    /// Frames that report marks, one bit for each of eight.
    pub marked: u8,
    /// Whether the frames come in pairs that have changed places.
    pub swapped: bool,
    /// Packets the application has upon each frame; 64 are as many as may leave.
    pub sends: u8,
}

fn rounds() -> impl Strategy<Value = Round> {
    // The two are twice 60 ms by a whole number.
    let rtt = prop_oneof![
        4 => prop_oneof![6 => Just(50_000u32), 1 => Just(40_000), 1 => Just(60_000)],
        2 => 20_000u32..60_000,
        2 => 1_000u32..400_000,
        1 => 50_000u32..70_000,
    ];
    let stretch = prop_oneof![4 => 1u8..=2, 2 => 1u8..=64];
    let lost = prop_oneof![
        10 => Just((0u8, 0u8, 1u8)),
        4 => (0u8..40, 1u8..4, Just(1u8)),
        2 => (0u8..40, 1u8..40, Just(1u8)),
        1 => (0u8..10, 4u8..16, 2u8..5),
    ];
    let marked = prop_oneof![4 => Just(0u8), 1 => any::<u8>(), 1 => Just(1u8)];
    let sends = prop_oneof![6 => Just(64u8), 2 => 0u8..=2, 1 => 0u8..=64];
    let delay = prop_oneof![2 => Just(0u16), 1 => 0u16..25_000];
    (rtt, delay, stretch, lost, marked, prop::bool::weighted(0.1), sends).prop_map(
        |(rtt_us, ack_delay_us, stretch, lost, marked, swapped, sends)| Round {
            rtt_us,
            ack_delay_us,
            stretch,
            lost,
            marked,
            swapped,
            sends,
        },
    )
}

fn actions() -> impl Strategy<Value = Action> {
    let packets = prop_oneof![3 => Just(u16::MAX), 2 => 1u16..40];
    let gap = prop_oneof![Just(0u16), Just(10u16), 0u16..2000];
    prop_oneof![
        6 => (packets, gap, prop::bool::weighted(0.2)).prop_map(|(packets, gap_us, short)| Action::Send { packets, gap_us, short }),
        2 => prop_oneof![2 => 0u16..100, 2 => 0u16..3000, 1 => 0u16..65_000].prop_map(|ms| Action::Wait { ms }),
        24 => rounds().prop_map(Action::Round),
        4 => (0u8..20, 1u8..=64, prop_oneof![3 => Just(0u8), 1 => 1u8..4])
            .prop_map(|(skip, packets, ce)| Action::Ack { skip, packets, ce }),
        3 => (0u8..10, 1u8..20).prop_map(|(skip, packets)| Action::Lose { skip, packets }),
        3 => (1u8..40).prop_map(|packets| Action::Late { packets }),
        2 => (2u8..5, 10u16..2000, any::<bool>())
            .prop_map(|(packets, gap_ms, halved)| Action::Persistent { packets, gap_ms, halved }),
        2 => prop_oneof![2 => 0u32..400, 2 => 0u32..12_000, 1 => 50_000u32..200_000].prop_map(|ms| Action::Idle { ms }),
        1 => prop_oneof![Just(1200u16), 1200u16..9000].prop_map(|bytes| Action::Mtu { bytes }),
    ]
}

/// Rounds of so many microseconds in which nothing happens but `marks`, in all but one of so many.
fn calm_actions(most_us: u32, one_of: u32, marks: impl Strategy<Value = u8>) -> impl Strategy<Value = Action> {
    let rtt = prop_oneof![4 => Just(most_us), 1 => most_us * 3 / 5..most_us * 6 / 5];
    let calm = (1u8..=2, rtt, marks).prop_map(|(stretch, rtt_us, marked)| {
        let sends = 64;
        Action::Round(Round { rtt_us, ack_delay_us: 0, stretch, lost: (0, 0, 1), marked, swapped: false, sends })
    });
    prop_oneof![one_of - 1 => calm, 1 => actions()]
}

/// Rounds, spells in which a packet leaves every second or two and most are lost, and waits after one that overtook others.
fn sparse_actions() -> impl Strategy<Value = Action> {
    let sparse =
        (3u8..8, 500u16..2000).prop_map(|(packets, gap_ms)| Action::Persistent { packets, gap_ms, halved: false });
    prop_oneof![
        4 => calm_actions(50_000, 11, Just(0u8)),
        1 => sparse,
        1 => (0u32..400).prop_map(|ms| Action::Idle { ms }),
        1 => (1u8..4).prop_map(|skip| Action::Ack { skip, packets: 1, ce: 0 }),
        1 => (5_000u16..12_000).prop_map(|ms| Action::Wait { ms }),
    ]
}

/// Histories of up to `most` actions.
pub fn histories(most: usize) -> impl Strategy<Value = History> {
    let actions = prop_oneof![
        5 => prop::collection::vec(actions(), 1..=most),
        2 => prop::collection::vec(calm_actions(50_000, 21, Just(0u8)), 1..=most),
        1 => prop::collection::vec(sparse_actions(), 1..=most),
        1 => prop::collection::vec(calm_actions(10_000, 6, prop_oneof![2 => Just(0u8), 1 => any::<u8>()]), 1..=most),
    ];
    let service = prop_oneof![2 => Just(0u16), 1 => Just(500u16), 1 => 0u16..2000];
    (prop_oneof![Just(1200u16), Just(1000u16), 1000u16..9000], service, actions)
        .prop_map(|(mtu, service_us, actions)| History { mtu, service_us, actions })
}

/// From one microsecond to ten seconds, every magnitude as often.
fn any_rtt() -> impl Strategy<Value = u32> {
    (0u32..24, any::<u32>()).prop_map(|(bits, rest)| ((1 << bits) | (rest & ((1 << bits) - 1))).min(10_000_000))
}

/// Histories of up to `most` actions whose rounds take anything from one microsecond to ten seconds.
pub fn poisons(most: usize) -> impl Strategy<Value = History> {
    let rtts = prop_oneof![3 => any_rtt().prop_map(Some), 1 => Just(None)];
    let round =
        (rounds(), rtts).prop_map(|(round, rtt)| Action::Round(Round { rtt_us: rtt.unwrap_or(round.rtt_us), ..round }));
    let actions = prop::collection::vec(prop_oneof![1 => round, 1 => actions()], 1..=most);
    let service = prop_oneof![2 => Just(0u16), 1 => 0u16..2000];
    (service, actions).prop_map(|(service_us, actions)| History { mtu: 1200, service_us, actions })
}
