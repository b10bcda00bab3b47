//! Schemes, reasons, mutants and what trials shrink, as far as several claims share them.

use crate::Mutant;

pub(super) const EARLY: (&str, &str) = ("start", "early loss");
/// The schemes the document calls high-speed.
pub(super) const HIGH_SPEED: [&str; 5] = ["HS", "STCP", "H-TCP", "BIC", "FAST"];
/// What a share that "is one flow's" may be off by.
pub(super) const EQUAL: f64 = 0.25;

pub(super) const FAST_YIELDS: &str = "FAST with an α that follows the rate has a few packets queued and leaves more; with the 312 packets of a bed of 622 Mbit/s it leaves as little as BIC or less";

pub(super) const FASTS_ALPHA: &str = "the other reading of FAST's α";

pub(super) const DROP_TAIL: &str = "flows that share a drop-tail queue do not lose at random: with RED, which drops at random, a group worth 9 takes 12.5 times what one flow takes and a flow worth 9 12.4, instead of 16 and 48, where the model has 10.2";

pub(super) const DCA_C_IS_RENO: Mutant = Mutant {
    what: "a delay threshold at the end of its range: Reno",
    replace: &[
        ("dca-c:profile=paper", "dca-c:profile=paper,gamma=1"),
        ("dca-s:profile=paper", "dca-s:profile=paper,gamma=1"),
    ],
};
pub(super) const A_TCP_IS_STANDARD: Mutant =
    Mutant { what: "a weight held at 1", replace: &[("a-tcp:profile=paper", "a-tcp:profile=paper,k_max=1")] };

pub(super) const NO_QUEUE_IS_LONG: &str = "no queue that counts as long: γ = 1";

/// The competitor is there for the last second of its hundred.
pub(super) const NO_COMPETITOR: Mutant =
    Mutant { what: "no competitor", replace: &[("start_s = 100\n", "start_s = 199\n")] };

pub(super) const FIFTH_OF_TB_G: &[(&str, &str)] =
    &[("rate_mbps = 467.35", "rate_mbps = 93.47"), ("buffer_packets = 600", "buffer_packets = 120")];

/// A tenth of NS6's rate and queue, and of the load on it.
pub(super) const TENTH_OF_NS6: &[(&str, &str)] =
    &[("rate_mbps = 622", "rate_mbps = 62.2"), ("buffer_packets = 747", "buffer_packets = 75")];
/// A twentieth, where windows are below two hundred packets and TCP-Africa's reduction is near a half.
pub(super) const TWENTIETH_OF_NS6: &[(&str, &str)] =
    &[("rate_mbps = 622", "rate_mbps = 31.1"), ("buffer_packets = 747", "buffer_packets = 37")];
pub(super) const TENTH_OF_NS6_AND_LOAD: &[(&str, &str)] = &[
    ("rate_mbps = 622", "rate_mbps = 62.2"),
    ("buffer_packets = 747", "buffer_packets = 75"),
    ("rate_mbps = 300", "rate_mbps = 30"),
];

/// Buffers of CH2-D far apart, with the schemes that fill them.
pub(super) const SMALL_AND_LARGE: &[&str] = &[
    "scheme=Reno,buffer=30",
    "scheme=Reno,buffer=60",
    "scheme=Reno,buffer=90",
    "scheme=DCA-S,buffer=30",
    "scheme=DCA-S,buffer=60",
    "scheme=DCA-S,buffer=90",
    "scheme=DCA-C,buffer=30",
    "scheme=DCA-C,buffer=60",
    "scheme=DCA-C,buffer=90",
];

pub(super) const NO_GROUP: Mutant = Mutant {
    what: "flows without a group",
    replace: &[("tcp-p:profile=paper,k=1", "reno:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks")],
};
