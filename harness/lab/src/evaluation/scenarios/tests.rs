use windlass_simulator::scenario::BUILTIN;

use super::*;

#[test]
fn every_scenario_file_is_built_in_and_readable() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simulator/scenarios");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut names: Vec<String> = BUILTIN.iter().map(|scenario| scenario.name.to_owned()).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
    for name in names {
        let scenario = Source::builtin(&name).unwrap().read(Some("reno")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, name);
        assert!(!scenario.description.is_empty(), "{name}");
    }
}

#[test]
fn the_evaluated_ones_leave_the_controller_open() {
    for scenario in BUILTIN.iter().filter(|scenario| scenario.evaluated) {
        let scenario = Source::builtin(scenario.name).unwrap().read(Some("vegas")).unwrap();
        assert!(scenario.flows.iter().any(|flow| flow.under_test && flow.controller == "vegas"), "{}", scenario.name);
        assert!(base_rtt(&scenario).is_some());
    }
}

#[test]
fn base_rtt_counts_transmission_and_needs_flows_alike() {
    let text = "duration_s = 1\n[dumbbell]\nrate_mbps = 12.28\nrtt_ms = 40\n[[flow]]\ncontroller = \"reno\"\n";
    let source = Source { name: "x".into(), file: "x".into(), text: text.into() };
    // 1228 bytes at 12.28 Mbit/s take 0.8 ms.
    assert_eq!(base_rtt(&source.read(None).unwrap()), Some(Span::from_micros(40_800)));
    let text = format!("{text}[[flow]]\ncontroller = \"reno\"\nrtt_ms = 60\n");
    assert_eq!(base_rtt(&Source { text, ..source }.read(None).unwrap()), None);
}
