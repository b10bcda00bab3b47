//! The four documents with their experiments. They know the experiments' model
//! ([`papers`](super)); the model knows none of them.

mod arumaithurai;
mod chan;
mod cho;
mod sharma;

use super::{Document, Experiment};

/// The four documents, in the order reports show them.
pub const DOCUMENTS: &[Document] = &[sharma::DOCUMENT, cho::DOCUMENT, chan::DOCUMENT, arumaithurai::DOCUMENT];

/// The document called `name`; `None` if there is none.
#[must_use]
pub fn named(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.name == name)
}

/// The experiment with this id, in whatever case, and its document. No two documents
/// share an id.
#[must_use]
pub fn experiment(id: &str) -> Option<(&'static Document, &'static Experiment)> {
    let all = DOCUMENTS.iter().flat_map(|document| document.experiments.iter().map(move |e| (document, e)));
    all.into_iter().find(|(_, experiment)| experiment.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod trials;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::*;
    use windlass_simulator::scenario::Scenario;

    /// Every id of the four specifications' sections on evaluation, and those of ours that they ask for elsewhere.
    const IDS: &[(&str, &str)] = &[
        ("sharma", "EV-0a EV-0b EV-1 EV-1a EV-1n EV-2 EV-3 EV-4 EV-5 EV-5r EV-6 EV-6q"),
        (
            "cho",
            "CH2-A CH2-B CH2-C CH2-D CH2-E CH2-F CH3-A CH3-B CH3-C CH3-D CH3-E CH3-F CH3-G CH4-A CH4-B CH4-C CH4-D CH4-E \
         CH4-F CH4-G CH4-H CH4-I CH4-J CH4-K CH4-L CH4-M CH4-N CH5-A CH5-B CH5-C CH5-D MOD-1",
        ),
        (
            "chan",
            "E3.1 E3.2 E3.2r E3.3 E3.4 E3.5 E3.6 E3.7 E3.8 E3.9 E4.1 E4.2 E5.1 E5.2 E5.3 E6.1 E6.2 E6.3 E6.4 E6.5",
        ),
        ("arumaithurai", "S1 S1a S2 S3 S4 S5 S6a S6b S6c S7 S8 S9 S10 S11"),
    ];

    #[test]
    fn the_registry_has_every_experiment_of_every_document_once() {
        let names: Vec<&str> = DOCUMENTS.iter().map(|document| document.name).collect();
        assert_eq!(names, IDS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (name, ids) in IDS {
            let ours: Vec<&str> = named(name).unwrap().experiments.iter().map(|e| e.id).collect();
            assert_eq!(ours, ids.split_whitespace().collect::<Vec<_>>(), "{name}");
        }
        let (document, experiment) = experiment("ev-5R").unwrap();
        assert_eq!((document.name, experiment.id), ("sharma", "EV-5r"));
    }

    /// Every cell of every experiment can be read, has a name of its own, watches a link that
    /// is there, and has a key that no other run has.
    #[test]
    fn every_cell_is_sound() {
        for document in DOCUMENTS {
            for experiment in document.experiments {
                let plan = &experiment.plan;
                for scale in [Scale::Full, Scale::Quick] {
                    let cells = (plan.cells)(scale);
                    assert!(!cells.is_empty(), "{}", experiment.id);
                    let names: BTreeSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
                    assert_eq!(names.len(), cells.len(), "{}: names", experiment.id);
                    // Only what is the same run shares a key.
                    let keys: BTreeSet<String> = cells.iter().map(|cell| cell.run(1, "sim").key()).collect();
                    let runs: BTreeSet<_> = cells.iter().map(|cell| (&cell.scenario, &cell.measure.name)).collect();
                    assert_eq!(keys.len(), runs.len(), "{}: keys", experiment.id);
                    for cell in cells {
                        let read = Scenario::read(&cell.name, &cell.scenario, None);
                        let scenario = read.unwrap_or_else(|error| panic!("{}: {}: {error}", experiment.id, cell.name));
                        assert!(scenario.topology.links.iter().any(|link| link.name == cell.bottleneck));
                    }
                }
            }
        }
    }

    /// A template is a scenario as it stands.
    #[test]
    fn every_template_is_a_scenario() {
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/documents");
        let mut read = 0;
        for document in DOCUMENTS {
            for file in fs::read_dir(documents.join(document.name)).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "toml") {
                    let text = fs::read_to_string(&path).unwrap();
                    Scenario::read(document.name, &text, None)
                        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    read += 1;
                }
            }
        }
        assert!(read >= DOCUMENTS.len(), "{read} templates");
    }

    /// What an experiment says of its flows' recovery is what they do.
    #[test]
    fn every_experiment_states_its_recovery() {
        for experiment in DOCUMENTS.iter().flat_map(|document| document.experiments) {
            let mut found = BTreeSet::new();
            for cell in (experiment.plan.cells)(Scale::Quick) {
                let scenario = Scenario::read(&cell.name, &cell.scenario, None).unwrap();
                found.extend(scenario.flow_set().flows.iter().map(|flow| flow.recovery.name()));
            }
            let stated: BTreeSet<&str> = experiment.transport.recovery.iter().copied().collect();
            assert_eq!(found, stated, "{}", experiment.id);
            assert!(experiment.transport.why.contains("(spec: "), "{}", experiment.id);
        }
    }

    fn quick_run(id: &str) -> (Cell, TimeSeries) {
        let (_, experiment) = experiment(id).unwrap();
        let cell = (experiment.plan.cells)(Scale::Quick).remove(0);
        let scenario = Scenario { seed: 3, ..Scenario::read("quick", &cell.scenario, None).unwrap() };
        let step = windlass_controllers::Span((cell.step_ms * 1e6) as u64);
        let series = watch(&scenario, cell.bottleneck, step, cell.measure.state_variables, &|_| false).unwrap();
        (cell, series)
    }

    #[test]
    fn a_run_is_the_same_with_the_same_seed() {
        let (cell, first) = quick_run("EV-0a");
        let (_, second) = quick_run("EV-0a");
        let [first, second] = [first, second].map(|series| (cell.measure.read)(&series));
        assert_eq!((&first.quantities, &first.curves), (&second.quantities, &second.curves));
        let window = first.curves.iter().find(|curve| curve.kind == "cwnd").unwrap();
        assert!(*window.y.last().unwrap() > 1.0, "the window is there to the end");
        let m6 = first.quantities.iter().find(|quantity| quantity.id == "M6").unwrap().value;
        assert!(m6 > 0.9 && m6 <= 1.0, "{m6}");
    }

    /// `spec: sharma §13.1`, A-27: 104 ms, and what 1050 bytes and an ACK take on the links.
    #[test]
    fn the_path_is_as_long_as_the_document_says() {
        let (_, series) = quick_run("EV-0a");
        let sending = 8.0 * 1050.0 * (2.0 / 1e9 + 1.0 / 5e6) + 8.0 * 40.0 * (2.0 / 1e9 + 1.0 / 5e6);
        let rtt = series.outcome.flows[0].rtt_min_ms.unwrap();
        assert!((rtt - 104.0 - 1e3 * sending).abs() < 0.01, "{rtt}");
    }

    #[test]
    fn a_run_that_is_stopped_has_no_trail() {
        let (_, experiment) = experiment("EV-0a").unwrap();
        let cell = (experiment.plan.cells)(Scale::Quick).remove(0);
        let scenario = Scenario::read("stopped", &cell.scenario, None).unwrap();
        let step = windlass_controllers::Span::from_millis(10);
        let stopped = watch(&scenario, cell.bottleneck, step, &[], &|part| part > 0.5);
        assert!(matches!(stopped, Err(WatchError::Stopped)));
        assert!(matches!(watch(&scenario, "nowhere", step, &[], &|_| false), Err(WatchError::NoLink(_))));
    }

    #[test]
    fn repetitions_become_means_with_intervals() {
        let runs: Vec<Vec<Quantity>> = (0..10).map(|i| vec![Quantity::new("x", "s", f64::from(i))]).collect();
        let means = mean_of(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert_eq!((means[0].repetitions, means[0].mean), (10, 4.5));
        assert!((means[0].half_width.unwrap() - 2.262 * 3.0277 / 10f64.sqrt()).abs() < 1e-3);
        assert_eq!(mean_of(&[&runs[3]])[0].half_width, None);
    }

    /// `spec: chan §14.3`: at no load nothing but the wireless link loses packets, and nothing is marked.
    #[test]
    fn losses_are_held_against_their_causes() {
        let (_, series) = quick_run("E6.5");
        let all = series.flows[0].loss_classification;
        assert!(all.truly_random > 20 && all.congestion == 0, "{all:?}");
    }

    /// `spec: cho §6.6 C1`: the detector of CH4-D watches, and its flow stays standard TCP.
    #[test]
    fn facts_of_controllers_are_followed() {
        let (_, series) = quick_run("CH4-D");
        let k = series.flows[0].state_variable("k");
        assert_eq!(k.len(), series.time.len());
        assert!(k.iter().filter(|k| k.is_finite()).all(|k| *k == 1.0));
        assert!(series.flows[0].state_variable("knee").iter().any(|knee| *knee > 0.0));
        assert!(series.flows[1].state_variable("knee").iter().all(|knee| knee.is_nan()), "Reno has none");
    }

    /// Data files can be read, and speak of what is there.
    #[test]
    fn published_values_are_of_experiments() {
        for document in DOCUMENTS {
            let values = published(document.published).unwrap_or_else(|error| panic!("{}: {error}", document.name));
            for value in values {
                let known = document.experiments.iter().any(|experiment| experiment.id == value.experiment);
                assert!(known, "{}: {value:?}", document.name);
                assert!(value.value.is_finite() && !value.source.is_empty());
            }
            for claim in document.claims {
                assert!(
                    document.experiments.iter().any(|experiment| experiment.id == claim.experiment),
                    "{}",
                    claim.id
                );
            }
        }
        assert!(published("[[value]]\nexperiment = 3\n").is_err());
    }

    #[test]
    fn values_are_held_against_ours() {
        let text = |rule: &str| {
            format!(
                "[[value]]\nexperiment = \"E\"\ncell = \"s=1\"\nquantity = \"x\"\nvalue = 10\nsource = \"a\"\n{rule}\n"
            )
        };
        let cell = |s: &str, x: f64| CellResult {
            cell: format!("s={s} t=0"),
            settings: vec![("s".to_owned(), s.to_owned())],
            scenario: String::new(),
            seeds: vec![1],
            means: mean_of(&[&[Quantity::new("x", "m", x)]]),
            curves: Vec::new(),
        };
        let cells = [cell("1", 10.5), cell("2", 99.0)];
        for (rule, holds) in [
            ("", None),
            ("within = 0.05", Some(true)),
            ("within = 0.04", Some(false)),
            ("bound = \"most\"", Some(false)),
            ("bound = \"least\"", Some(true)),
        ] {
            let value = &published(&text(rule)).unwrap()[0];
            let found =
                value.beside(&cells, &[Derived::new("x", "s=1", "m", 10.5), Derived::new("x", "s=2", "m", 1.0)]);
            assert_eq!(found.len(), 2, "a cell and what follows");
            assert!(found.iter().all(|one| one.holds == holds && one.ours == 10.5), "{rule}: {found:?}");
        }
    }
}
