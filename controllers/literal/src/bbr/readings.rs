//! How BBR differs from its draft, and what the histories have to find.

use super::Bbr;
use crate::delivery_rate::OF_SAMPLES;
use crate::{Reading, Scheme, Status};

/// Readings of both, beside those of samples.
const READINGS: [Reading; 17] = [
    Reading {
        change: "two bubbles",
        section: "draft-ietf-ccwg-bbr §5.3.4.3",
        says: "in ProbeRTT MarkConnectionAppLimited() takes the place of what the application marked",
        ours: "both hold: adapters know of the application, the controller of ProbeRTT",
        status: Status::Documented,
    },
    Reading {
        change: "emptied in Startup",
        section: "draft-ietf-ccwg-bbr §5.5.9",
        says: "the window of extra_acked becomes ten rounds once the pipe is full",
        ours: "of which those of Startup are forgotten",
        status: Status::Documented,
    },
    Reading {
        change: "pairs of rounds",
        section: "draft-ietf-ccwg-bbr §5.5.9",
        says: "extra_acked is the most of the latest ten rounds",
        ours: "of the latest five pairs of rounds, the one under way among them",
        status: Status::Documented,
    },
    Reading {
        change: "whole bytes",
        section: "draft-ietf-ccwg-bbr §5.5.5, §5.5.9",
        says: "filters keep rates and volumes",
        ours: "in whole bytes, and whole bytes a second",
        status: Status::Documented,
    },
    Reading {
        change: "a packet a second",
        section: "draft-ietf-ccwg-bbr §5.6.2",
        says: "the pacing rate is the gain times the bandwidth",
        ours: "a packet a second at least",
        status: Status::Documented,
    },
    Reading {
        change: "reported pauses",
        section: "draft-ietf-ccwg-bbr §5.4.1",
        says: "a packet that leaves with nothing in flight after there was nothing to send restarts from idle",
        ours: "after more than a probe timeout, which is when adapters report a pause",
        status: Status::Documented,
    },
    Reading {
        change: "RTT of the newest",
        section: "draft-ietf-ccwg-bbr §4.2",
        says: "every ACK that newly acknowledges data has an RTT sample",
        ours: "only one whose newest packet left after all that were acknowledged before (RFC 9002 §5.1)",
        status: Status::Documented,
    },
    Reading {
        change: "looked at by ACKs",
        section: "draft-ietf-ccwg-bbr §2.2",
        says: "the window is limited if it was used in full at any point in the last round trip",
        ours: "if an ACK of this round trip or of the one before found something to send and no room for it",
        status: Status::Documented,
    },
    Reading {
        change: "before the ACK",
        section: "draft-ietf-ccwg-bbr §5.3.3.9",
        says: "IsTimeToGoDown() compares what is in flight after an ACK with inflight_longterm",
        ours: "what was before it and a packet more; after it, it never reached it",
        status: Status::Documented,
    },
    Reading {
        change: "judged by the next ACK",
        section: "draft-ietf-ccwg-bbr §5.5.10.2",
        says: "each lost packet is judged by what was in flight when it left, and the prefix that would have fitted is solved for",
        ours: "the first ACK after a loss with a sample judges by that, and there is no prefix: stacks report losses in batches",
        status: Status::Documented,
    },
    Reading {
        change: "a round with losses",
        section: "draft-ietf-ccwg-bbr §5.3.1.3",
        says: "Startup ends by losses after a full round trip in fast recovery",
        ours: "after any round trip with losses: recovery (RFC 9002 §7.3.2) never lasts longer than one",
        status: Status::Documented,
    },
    Reading {
        change: "reports are ranges",
        section: "draft-ietf-ccwg-bbr §5.3.1.3",
        says: "six discontiguous ranges of lost packets",
        ours: "six reports of losses",
        status: Status::Documented,
    },
    Reading {
        change: "marks",
        section: "draft-ietf-ccwg-bbr §3.7",
        says: "any CE mark is treated as congestion, how is not said",
        ours: "as a loss that is not counted: it begins a recovery period and lowers the short-term bounds, and its episode is not taken back",
        status: Status::Documented,
    },
    Reading {
        change: "the latest episode",
        section: "draft-ietf-ccwg-bbr §5.5.11.2",
        says: "every loss recovery declared spurious is taken back",
        ours: "the latest one is, not one of packets sent before the one ahead of it",
        status: Status::Documented,
    },
    Reading {
        change: "saved before ProbeRTT",
        section: "draft-ietf-ccwg-bbr §5.3.4.3",
        says: "EnterProbeRTT() comes before SaveCwnd(), which then keeps the larger of the window and what was saved",
        ours: "after it, since the window is not ProbeRTT's yet",
        status: Status::Documented,
    },
    Reading {
        change: "four after a timeout",
        section: "draft-ietf-ccwg-bbr §5.6.4.4",
        says: "an RTO leaves room for one packet",
        ours: "persistent congestion leaves a window of four at least, and never a larger one than before",
        status: Status::Documented,
    },
    Reading {
        change: "floor of the new size",
        section: "draft-ietf-ccwg-bbr §5.6.4.6",
        says: "SetCwnd() bounds the window by four packets upon an ACK",
        ours: "a larger datagram size does at once",
        status: Status::Documented,
    },
];

/// What the default does in the draft's stead.
const REMEDIES: [Reading; 3] = [
    Reading {
        change: "at entry",
        section: "draft-ietf-ccwg-bbr §5.6.4.5",
        says: "ProbeRTT's window is half of what bandwidth and minimum RTT are then",
        ours: "of what they were when it began, by the latest round's bandwidth (docs/bbr-draft.md)",
        status: Status::Documented,
    },
    Reading {
        change: "once an episode",
        section: "draft-ietf-ccwg-bbr §5.5.10.2",
        says: "NoteLoss() saves what an undo restores in every round trip with a loss",
        ours: "it is saved when recovery begins, as the text of §5.5.11 has it (docs/bbr-draft.md)",
        status: Status::Documented,
    },
    Reading {
        change: "pauses are no aggregation",
        section: "draft-ietf-ccwg-bbr §5.4.1",
        says: "HandleRestartFromIdle() begins the interval of extra_acked anew and keeps what was delivered in the one before",
        ours: "nothing of it is kept (docs/findings/restart-from-idle.md)",
        status: Status::Documented,
    },
];

const MUTANTS: &[(&str, &str)] = &[
    ("four rounds", "a plateau is four rounds"),
    ("no margin", "it paces at the bandwidth, not below it"),
    ("no aggregation", "extra_acked does not count"),
    ("limited samples count", "application-limited samples count as others"),
    ("three cycles", "the bandwidth is the most of three cycles"),
    ("half", "losses lower the short-term bounds by half"),
    ("every round lowers", "rounds without losses lower the short-term bounds too"),
    ("five seconds", "a minimum RTT is believed for five seconds"),
    ("samples of ProbeRTT", "samples of ProbeRTT count as others"),
    ("idle keeps a round", "a pause changes nothing"),
    ("bounds stay", "a spurious loss leaves the bounds"),
    ("no headroom", "ProbeBW_CRUISE leaves no headroom"),
    ("five per cent", "up to a twentieth may be lost"),
    ("no refill", "ProbeBW_REFILL keeps the short-term bounds"),
    ("recovery keeps the window", "the window of before a recovery period is not restored"),
    ("the ACK at hand", "the window is limited if this ACK found no room"),
    ("samples of calm frames", "RTT samples of frames with marks or losses do not count"),
    ("judged without a sample", "an ACK without a sample uses up the judgement of a loss"),
    ("no loss after a timeout", "persistent congestion is no loss to be judged"),
    ("bandwidth of before", "ProbeBW_DOWN ends by the bandwidth of the ACK before"),
];

const SOURCE: &str = concat!(
    include_str!("mod.rs"),
    include_str!("control.rs"),
    include_str!("model.rs"),
    include_str!("state_machine.rs")
);

pub(crate) const SCHEME: Scheme = Scheme {
    name: "bbr",
    text: "bbr",
    document: "draft-ietf-ccwg-bbr §5",
    source: SOURCE,
    readings: &[&OF_SAMPLES, &READINGS, &REMEDIES],
    mutants: MUTANTS,
    mended: &[
        ("draft-ietf-ccwg-bbr §2.2", "the window was limited if the ACK at hand found no room"),
        ("draft-ietf-ccwg-bbr §5.3.4.3", "RTT samples of frames with marks or losses did not count"),
        ("draft-ietf-ccwg-bbr §5.5.10.2", "an ACK without a sample used up the judgement of a loss"),
        ("draft-ietf-ccwg-bbr §5.5.10.2", "persistent congestion was no loss to be judged"),
        ("draft-ietf-ccwg-bbr §5.6.4.2", "BDPMultiple() before an RTT sample was the gain times the initial window"),
    ],
    scope: |_| true,
    start: |changes, path| Box::new(Bbr::new(changes, path)),
};

/// Without the remedies.
pub(crate) const BY_THE_LETTER: Scheme =
    Scheme { name: "bbr:profile=draft", text: "bbr:profile=draft", readings: &[&OF_SAMPLES, &READINGS], ..SCHEME };
