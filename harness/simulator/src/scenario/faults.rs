//! The keys of faults: what strikes packets on a link (`[[link.fault]]`, `[[dumbbell.fault]]`) and the ends of a flow
//! (`[[flow.fault]]`).

use windlass_controllers::Span;
use windlass_network::{Fault, FaultKind};

use super::fields::{MAX_DELAY, MAX_TIME, Section, above_zero, at_s, ms, within};
use super::flow_spec::{EndFault, EndFaultKind};

const KINDS: [&str; 7] = ["blackout", "reordering", "duplication", "corruption", "mtu", "ecn-bleaching", "ce-storm"];

/// Reads the faults of a link.
pub(super) fn of_link(section: &Section<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for fault in section.tables("fault") {
        let kind = kind(&fault, &KINDS);
        let at = fault.required_number("at_s", within(0.0, MAX_TIME, "s"));
        let length = fault.required_number("for_ms", above_zero(1e10, "ms"));
        let shared = matches!(kind, "reordering" | "duplication" | "corruption" | "ce-storm");
        only(&fault, "percent", shared, "strikes every packet");
        only(&fault, "by_ms", kind == "reordering", "holds nothing back");
        only(&fault, "bytes", kind == "mtu", "asks for no size");
        let share = fault.number_or("percent", within(0.0, 100.0, "%"), 100.0) / 100.0;
        let required = |key, wanted: bool, bounds| {
            if wanted { fault.required_number(key, bounds).map(|found| found.value) } else { Some(0.0) }
        };
        let by = required("by_ms", kind == "reordering", above_zero(MAX_DELAY, "ms"));
        let bytes = required("bytes", kind == "mtu", within(1.0, 65_535.0, "bytes"));
        fault.finish();
        let (Some(at), Some(length), Some(by), Some(bytes)) = (at, length, by, bytes) else { continue };
        let kind = match kind {
            "blackout" => FaultKind::Blackout,
            "reordering" => FaultKind::Reordering { share, by: ms(by) },
            "duplication" => FaultKind::Duplication { share },
            "corruption" => FaultKind::Corruption { share },
            "mtu" => FaultKind::Mtu { bytes: bytes as u32 },
            "ecn-bleaching" => FaultKind::EcnBleaching,
            "ce-storm" => FaultKind::CeStorm { share },
            _ => continue,
        };
        let at = at_s(at.value);
        faults.push(Fault { at, until: at + ms(length.value), kind });
    }
    faults
}

/// Reads the faults of a flow's ends.
pub(super) fn of_ends(section: &Section<'_>) -> Vec<EndFault> {
    let mut faults = Vec::new();
    for fault in section.tables("fault") {
        let kind = kind(&fault, &["rebinding", "clock-jump"]);
        let at = fault.required_number("at_s", within(0.0, MAX_TIME, "s"));
        let jumps = kind == "clock-jump";
        only(&fault, "by_ms", jumps, "moves no clock");
        only(&fault, "end", jumps, "happens to the sender");
        let receiver = fault.word("end", &["sender", "receiver"]) == "receiver";
        let by = if jumps {
            fault.required_number("by_ms", above_zero(MAX_DELAY, "ms")).map(|found| ms(found.value))
        } else {
            Some(Span::ZERO)
        };
        fault.finish();
        let (Some(at), Some(by)) = (at, by) else { continue };
        let kind = match kind {
            "rebinding" => EndFaultKind::Rebinding,
            "clock-jump" => EndFaultKind::ClockJump { receiver, by },
            _ => continue,
        };
        faults.push(EndFault { at: at_s(at.value), kind });
    }
    faults
}

/// The kind of a fault, which has none by default; empty if it is missing.
fn kind(fault: &Section<'_>, kinds: &[&'static str]) -> &'static str {
    if fault.has("kind") {
        return fault.word("kind", kinds);
    }
    let known = kinds.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(", ");
    fault.lacks("a fault has no kind".to_owned(), Some(format!("add kind = one of {known}")));
    ""
}

/// Notes a problem if `key` is there though it means nothing.
fn only(fault: &Section<'_>, key: &'static str, means: bool, why: &str) {
    if !means && fault.has(key) {
        fault.lacks(format!("a fault of this kind {why}, but it has {key}"), Some(format!("leave {key} out")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use windlass_controllers::Time;

    fn read(faults: &str, of_flow: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration_s = 10\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 40\n{faults}\n[[flow]]\ncontroller = \"reno\"\n{of_flow}"
        );
        Scenario::read("test", &text, None).map_err(|error| error.to_string())
    }

    fn at(ms: u64) -> Time {
        Time::from_micros(1000 * ms)
    }

    #[test]
    fn every_kind_is_read() {
        let text = [
            ("blackout", ""),
            ("reordering", "percent = 30\nby_ms = 20"),
            ("duplication", "percent = 50"),
            ("corruption", "percent = 1"),
            ("mtu", "bytes = 1300"),
            ("ecn-bleaching", ""),
            ("ce-storm", ""),
        ]
        .map(|(kind, keys)| format!("[[dumbbell.fault]]\nkind = {kind:?}\nat_s = 1\nfor_ms = 500\n{keys}\n"));
        let scenario = read(&text.concat(), "").unwrap();
        let kinds = [
            FaultKind::Blackout,
            FaultKind::Reordering { share: 0.3, by: Span::from_millis(20) },
            FaultKind::Duplication { share: 0.5 },
            FaultKind::Corruption { share: 0.01 },
            FaultKind::Mtu { bytes: 1300 },
            FaultKind::EcnBleaching,
            FaultKind::CeStorm { share: 1.0 },
        ];
        assert_eq!(scenario.topology.links[0].faults, kinds.map(|kind| Fault { at: at(1000), until: at(1500), kind }));
    }

    #[test]
    fn ends_move_and_their_clocks_jump() {
        let flow = "[[flow.fault]]\nkind = \"rebinding\"\nat_s = 1\n\
                    [[flow.fault]]\nkind = \"clock-jump\"\nat_s = 2\nby_ms = 300\nend = \"receiver\"\n\
                    [[flow.fault]]\nkind = \"clock-jump\"\nat_s = 3\nby_ms = 500\n";
        let scenario = read("", flow).unwrap();
        let flow = &scenario.flows[0];
        assert_eq!((flow.address(at(999)), flow.address(at(1000))), (0, 1));
        let ahead = |receiver, ms| flow.clock_ahead(receiver, at(ms)).millis();
        assert_eq!(
            (ahead(true, 1999), ahead(true, 2000), ahead(false, 2999), ahead(false, 3000)),
            (0.0, 300.0, 0.0, 500.0)
        );
    }

    #[test]
    fn faults_that_overlap_are_one_period() {
        let fault = |at_s: f64, for_ms: u32| {
            format!("[[dumbbell.fault]]\nkind = \"blackout\"\nat_s = {at_s}\nfor_ms = {for_ms}\n")
        };
        let text = fault(1.0, 500) + &fault(4.0, 100) + &fault(1.4, 600);
        let scenario = read(&text, "[[flow.fault]]\nkind = \"rebinding\"\nat_s = 6\n").unwrap();
        let periods = scenario.fault_periods(&scenario.flows[0]);
        assert_eq!(periods, [(at(1000), at(2000)), (at(4000), at(4100)), (at(6000), at(6000))]);
    }

    #[test]
    fn mistakes_name_what_was_expected() {
        for (text, expected) in [
            ("at_s = 1\nfor_ms = 5", "a fault has no kind"),
            ("kind = \"blackout\"\nfor_ms = 5", "[[fault]] has no at_s"),
            ("kind = \"blackout\"\nat_s = 1", "[[fault]] has no for_ms"),
            ("kind = \"blackout\"\nat_s = 1\nfor_ms = 5\npercent = 4", "strikes every packet, but it has percent"),
            ("kind = \"reordering\"\nat_s = 1\nfor_ms = 5", "[[fault]] has no by_ms"),
            ("kind = \"mtu\"\nat_s = 1\nfor_ms = 5\nbytes = 0", "bytes is 0"),
            ("kind = \"blakout\"\nat_s = 1\nfor_ms = 5", "kind is \"blakout\""),
        ] {
            let error = read(&format!("[[dumbbell.fault]]\n{text}"), "").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let error = read("", "[[flow.fault]]\nkind = \"rebinding\"\nat_s = 1\nby_ms = 3").unwrap_err();
        assert!(error.contains("moves no clock, but it has by_ms"), "{error}");
    }
}
