use super::*;
use crate::testkit::{flow, outcome, sample};

#[test]
fn score_is_the_product_of_its_parts() {
    let run = Run::done("reno", Some(40.0), outcome(vec![flow("a", "reno", 0.0, &[0.0, 9.0])]), Vec::new());
    let metrics = run.metrics.unwrap();
    assert_eq!(metrics.utilisation, Some(0.9));
    assert_eq!(metrics.loss, Some(0.02));
    assert_eq!(metrics.rtt_ratio, Some(1.5));
    assert_eq!(metrics.rtt_p95_ratio, Some(2.0));
    assert_eq!(metrics.fairness, None);
    assert_eq!(metrics.score, Some(58.8)); // 100 · 0.9 · 0.98 / 1.5
}

#[test]
fn base_rtt_is_the_smallest_sample_where_the_scenario_gives_none() {
    let run = Run::done("reno", None, outcome(vec![flow("a", "reno", 0.0, &[0.0, 9.0])]), Vec::new());
    assert_eq!(run.metrics.unwrap().base_rtt_ms, Some(41.0));
}

#[test]
fn fairness_counts_only_the_time_all_flows_were_active() {
    // Alone for two seconds at 9, then both at 4: fair, though their means differ.
    let flows = vec![flow("a", "reno", 0.0, &[0.0, 9.0, 9.0, 4.0, 4.0]), flow("b", "reno", 2.0, &[0.0, 4.0, 4.0])];
    let metrics = Metrics::of(&outcome(flows), "reno", Some(40.0));
    assert_eq!(metrics.fairness, Some(1.0));
    // One takes all: 1/n.
    let flows = vec![flow("a", "reno", 0.0, &[0.0, 9.0, 9.0]), flow("b", "cubic", 0.0, &[0.0, 0.0, 0.0])];
    let metrics = Metrics::of(&outcome(flows), "reno", Some(40.0));
    assert_eq!(metrics.fairness, Some(0.5));
}

#[test]
fn only_flows_under_test_count_and_uncontrolled_traffic_never() {
    let mut other = flow("b", "cubic", 0.0, &[0.0, 9.0]);
    other.rtt_mean_ms = Some(600.0);
    other.packets_lost = 500;
    let cross = flow("cross", "", 0.0, &[0.0, 1.0]);
    let all = outcome(vec![flow("a", "reno", 0.0, &[0.0, 9.0]), other, cross]);
    let metrics = Metrics::of(&all, "reno", Some(40.0));
    assert_eq!((metrics.rtt_mean_ms, metrics.loss, metrics.goodput_mbps), (Some(60.0), Some(0.02), 9.0));
    assert_eq!(metrics.fairness, Some(1.0));
    let metrics = Metrics::of(&all, "", Some(40.0));
    assert_eq!((metrics.rtt_mean_ms, metrics.loss, metrics.goodput_mbps), (Some(330.0), Some(0.26), 18.0));
}

#[test]
fn a_flow_without_samples_has_no_score() {
    let mut silent = flow("a", "reno", 0.0, &[0.0, 0.0]);
    (silent.rtt_mean_ms, silent.rtt_p95_ms, silent.packets_sent, silent.packets_lost) = (None, None, 0, 0);
    let metrics = Metrics::of(&outcome(vec![silent]), "reno", Some(40.0));
    assert_eq!((metrics.score, metrics.loss, metrics.rtt_ratio), (None, None, None));
}

#[test]
fn ranks_within_a_stack_and_leaves_out_the_incomplete() {
    let mut results = sample();
    let summary: Vec<_> =
        results.ranking.iter().map(|s| (s.rank, s.controller.as_str(), s.stack.as_str(), s.runs_done)).collect();
    assert_eq!(
        summary,
        [
            (Some(1), "vegas", "quinn", 1),
            (Some(1), "vegas", "sim", 1),
            (Some(2), "reno", "quinn", 1),
            (Some(2), "reno", "sim", 1),
            (None, "rovegas", "quinn", 0),
        ]
    );
    // A second scenario that vegas could not run costs it its rank.
    results.runs.push(Run::without_results("other", "vegas", "sim", Status::Failed, "it broke".to_owned()));
    let ranking = rank(&results.runs);
    let vegas = ranking.iter().find(|s| s.controller == "vegas" && s.stack == "sim").unwrap();
    assert_eq!((vegas.rank, vegas.runs_done, vegas.runs_planned), (None, 1, 2));
    assert_eq!(vegas.reasons, ["it broke"]);
}

/// A mean over many scenarios hides one in which nearly all is lost, or the link stands idle.
#[test]
fn a_collapse_is_named_and_ranks_last() {
    let mut results = sample();
    let order = |runs: &[Run]| -> Vec<(Option<u32>, String)> {
        rank(runs).into_iter().filter(|s| s.stack == "sim").map(|s| (s.rank, s.controller)).collect()
    };
    let first = order(&results.runs).remove(0);
    let run = results.runs.iter_mut().find(|run| run.controller == first.1 && run.stack == "sim").unwrap();
    let metrics = run.metrics.as_mut().unwrap();
    (metrics.loss, metrics.score) = (Some(0.1), Some(99.0));
    assert_eq!(metrics.collapse(), None);
    metrics.loss = Some(0.96);
    assert_eq!(metrics.collapse().unwrap(), "96 % lost");
    let scenario = run.scenario.clone();
    assert_eq!(order(&results.runs).last().unwrap(), &(Some(2), first.1.clone()));
    let standing = rank(&results.runs).into_iter().find(|s| s.controller == first.1 && s.stack == "sim").unwrap();
    assert_eq!(standing.collapses, [format!("{scenario}: 96 % lost")]);
    let idle = Metrics { utilisation: Some(0.03), loss: Some(0.0), ..results.runs[0].metrics.clone().unwrap() };
    assert_eq!(idle.collapse().unwrap(), "3.0 % of the link used");
}

#[test]
fn numbers_are_rounded_before_anything_is_computed_from_them() {
    let run = &sample().runs[0];
    assert_eq!(run.flows[0].cwnd_mean_packets, 33.333);
    assert_eq!(run.flows[0].series.cwnd_packets[1], 10.33);
    assert_eq!(run.flows[0].series.rtt_ms[1], Some(50.12));
    assert_eq!(run.queues[0].mean_packets, 12.346);
    assert_eq!(run.queues[0].series.packets[1], 2.33);
    assert_eq!(decimals(-0.000_01, 3).to_bits(), 0.0f64.to_bits());
}

#[test]
fn json_reads_back_the_same() {
    let results = sample();
    let text = results.to_json().unwrap();
    assert_eq!(serde_json::from_str::<Results>(&text).unwrap(), results);
    assert_eq!(text, sample().to_json().unwrap());
}

fn csv_of(table: &Table) -> String {
    let mut text = Vec::new();
    table.write_csv(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn tables_hold_what_the_results_hold() {
    let results = sample();
    let all = tables(&results);
    assert_eq!(all.iter().map(|t| t.name).collect::<Vec<_>>(), tables::NAMES);
    for table in &all {
        assert!(table.columns.iter().all(|c| c.values.len() == table.rows()), "{}", table.name);
    }
    let rows: Vec<usize> = all.iter().map(Table::rows).collect();
    assert_eq!(rows, [5, 5, 4, 4, 16, 8]);
    let flows = csv_of(&all[2]);
    let mut lines = flows.lines();
    assert_eq!(
        lines.next(),
        Some(
            "scenario,controller,stack,flow,flow_controller,start_s,stop_s,goodput_mbps,packets_sent,packets_lost,\
             packets_marked,congestion_events,rtt_mean_ms,rtt_p95_ms,rtt_min_ms,cwnd_mean_packets,sha256"
        )
    );
    assert_eq!(lines.next(), Some("made-up,reno,sim,a,reno,0,3,9,1000,20,3,2,60,80,41,33.333,"));
    let runs = csv_of(&all[1]);
    assert!(runs.contains("made-up,rovegas,quinn,unsupported,\"rovegas needs </script> & \"\"quotes\"\"\",,"));
}

#[test]
fn every_column_is_documented() {
    let book = include_str!("../../../../docs/results.md");
    for table in tables(&sample()) {
        let (_, rest) = book.split_once(&format!("### `{}`", table.name)).expect(table.name);
        let section = rest.split("\n### ").next().unwrap_or(rest);
        for column in &table.columns {
            assert!(section.contains(&format!("`{}`", column.name)), "{}.{}", table.name, column.name);
        }
    }
}

mod store_tests {
    use super::*;
    use crate::output::StoreError;

    fn names(dir: &std::path::Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_there_before_the_end_and_all_of_it_after() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("deep/er/out");
        let mut store = Store::open(&target).unwrap();
        store.write(&sample(), |title, _| format!("{BRAND}{title}")).unwrap();
        assert_eq!(names(&target), [""; 0]);
        drop(store);
        assert!(names(dir.path()).is_empty(), "leftovers");

        let mut store = Store::open(&target).unwrap();
        store.write(&sample(), |title, _| format!("{BRAND}{title}")).unwrap();
        let report = store.finish().unwrap();
        assert_eq!(report, Saved { report: target.join("report.html"), kept: None });
        assert_eq!(std::fs::read_to_string(target.join("results.json")).unwrap(), sample().to_json().unwrap());
        assert!(names(&target).contains(&"flow_series.csv".to_owned()));
        assert_eq!(names(target.parent().unwrap()), ["out"]);
    }

    #[test]
    fn an_earlier_result_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        let write = || {
            let mut store = Store::open(&target).unwrap();
            store.write(&sample(), |title, _| format!("{BRAND}{title}")).unwrap();
            store
        };
        let first = write();
        std::fs::write(first.qlog_dir().unwrap().join("old.sqlog"), "").unwrap();
        first.finish().unwrap();
        assert!(target.join("qlog/old.sqlog").exists());
        let before = names(&target);
        drop(write());
        assert_eq!(names(&target), before, "an abandoned run changes nothing");
        write().finish().unwrap();
        assert!(!target.join("qlog").exists());
        assert!(target.join("results.json").exists());
    }

    #[test]
    fn a_run_that_went_wrong_replaces_no_good_result() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        let save = |failed: bool| {
            let mut results = sample();
            let status = if failed { Status::Failed } else { Status::Done };
            results.runs.iter_mut().for_each(|run| run.status = status);
            let mut store = Store::open(&target).unwrap();
            store.write(&results, |title, _| format!("{BRAND}{title}")).unwrap();
            store.finish().unwrap()
        };
        assert_eq!(save(true).kept, None, "there is none yet");
        assert_eq!(save(true).kept, None, "the earlier one is no better");
        assert_eq!(save(false).kept, None);
        let good = std::fs::read_to_string(target.join("results.json")).unwrap();
        for _ in 0..2 {
            let saved = save(true);
            let report = dir.path().join("out-failed/report.html");
            assert_eq!(saved, Saved { report, kept: Some(target.clone()) });
            assert_eq!(std::fs::read_to_string(target.join("results.json")).unwrap(), good);
        }
        assert_eq!(names(dir.path()), ["out", "out-failed"]);
    }

    #[test]
    fn what_somebody_else_wrote_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
        let error = Store::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("\"thesis.tex\""), "{error}");
        std::fs::remove_file(dir.path().join("thesis.tex")).unwrap();
        // The right name, but not ours.
        std::fs::write(dir.path().join("results.json"), "{\"schema\":\"other\"}").unwrap();
        assert!(matches!(Store::open(dir.path()), Err(StoreError::Occupied { .. })));
        let target = dir.path().join("out");
        let mut store = Store::open(&target).unwrap();
        std::fs::write(store.qlog_dir().unwrap().join("one.sqlog"), "").unwrap();
        store.write(&sample(), |title, _| format!("{BRAND}{title}")).unwrap();
        store.finish().unwrap();
        assert!(Store::open(&target).is_ok());
        std::fs::write(target.join("qlog/notes.txt"), "what I saw").unwrap();
        assert!(matches!(Store::open(&target), Err(StoreError::Occupied { .. })));
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = Store::open(&dir.path().join("file/out")).unwrap_err();
        assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
        assert_eq!(names(dir.path()), ["file"]);
    }
}
