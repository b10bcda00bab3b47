//! The signals of the contract that `WINDLASS_SIGNAL_…` stand for.

use windlass_abi::signal;
use windlass_controllers::Signals;

/// Signals of every stack.
const ALWAYS: Signals =
    Signals::ACKS.and(Signals::LOSS).and(Signals::PERSISTENT_CONGESTION).and(Signals::RTT).and(Signals::GROUPS);

/// What a stack reports of deliveries, or the library works out of packets sent.
const DELIVERIES: Signals = Signals::WINDOW_AT_SEND.and(Signals::DELIVERY_RATE);

/// Bits with the signals they stand for, and their names in the header after `WINDLASS_SIGNAL_`.
const SIGNALS: [(u32, Signals, &str); 9] = [
    (signal::ECN, Signals::ECN, "ECN"),
    (signal::CE_COUNT, Signals::CE_COUNT, "CE_COUNT"),
    (signal::PACKET_NUMBERS, Signals::PACKET_NUMBERS, "PACKET_NUMBERS"),
    (signal::SPURIOUS_LOSS, Signals::SPURIOUS_LOSS, "SPURIOUS_LOSS"),
    (signal::SENT, DELIVERIES, "SENT"),
    (signal::DELIVERY, DELIVERIES, "DELIVERY"),
    (signal::PACING, Signals::PACING, "PACING"),
    (signal::TIMER, Signals::WAKE_UP, "TIMER"),
    (signal::ONE_WAY_DELAY, Signals::ONE_WAY_DELAY, "ONE_WAY_DELAY"),
];

/// What a stack with these bits reports; `None` if one of them stands for nothing.
#[must_use]
pub fn provides(bits: u32) -> Option<Signals> {
    let known = SIGNALS.iter().fold(0, |known, (bit, ..)| known | bit);
    let set = SIGNALS.iter().filter(|(bit, ..)| bits & bit != 0);
    (bits & !known == 0).then(|| set.fold(ALWAYS, |all, (_, signal, _)| all.and(*signal)))
}

/// The constants of the header a stack would have to set to report `missing`; `None` if it has none for some of them.
pub fn constants(missing: Signals) -> Option<String> {
    let of = |signal: Signals| missing.without(signal) != missing;
    let rows = SIGNALS.iter().filter(|(bit, signal, _)| of(*signal) && *bit != signal::DELIVERY);
    let rest = rows.clone().fold(missing, |rest, (_, signal, _)| rest.without(*signal));
    let name = |(bit, _, name): &(u32, Signals, &str)| match *bit {
        signal::SENT => format!("WINDLASS_SIGNAL_{name} or WINDLASS_SIGNAL_DELIVERY"),
        _ => format!("WINDLASS_SIGNAL_{name}"),
    };
    rest.is_empty().then(|| rows.map(name).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_stand_for_nothing_are_refused() {
        assert_eq!(provides(0), Some(ALWAYS));
        assert_eq!(provides(3), Some(ALWAYS.and(Signals::ECN).and(Signals::CE_COUNT)));
        assert_eq!(provides(1 << 9), None);
    }

    #[test]
    fn signals_have_the_headers_names() {
        let named = |signals| constants(signals).unwrap();
        assert_eq!(named(Signals::ECN | Signals::CE_COUNT), "WINDLASS_SIGNAL_ECN, WINDLASS_SIGNAL_CE_COUNT");
        let deliveries = "WINDLASS_SIGNAL_SENT or WINDLASS_SIGNAL_DELIVERY, WINDLASS_SIGNAL_PACING";
        assert_eq!(named(Signals::DELIVERY_RATE | Signals::PACING), deliveries);
        assert_eq!(constants(Signals::ECN | Signals::PROBE_TRAINS), None);
        let header = include_str!("../../abi/include/windlass.h");
        for (bit, _, name) in SIGNALS {
            assert!(header.contains(&format!("#define WINDLASS_SIGNAL_{name} {bit}u")), "{name}");
        }
        assert_eq!(header.matches("#define WINDLASS_SIGNAL_").count(), SIGNALS.len());
    }
}
