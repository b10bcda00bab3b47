use super::*;
use crate::results::{Metrics, Results, Run, Status};

fn results(seed: u64, runs: Vec<Run>) -> Results {
    Results {
        schema: String::new(),
        windlass: String::new(),
        title: String::new(),
        seed,
        stacks: vec!["sim".to_owned(), "quinn".to_owned()],
        scenarios: vec![Scene {
            name: "s".to_owned(),
            summary: "A link.".to_owned(),
            duration_s: 1.0,
            base_rtt_ms: None,
        }],
        controllers: Vec::new(),
        ranking: Vec::new(),
        runs,
    }
}

fn run(stack: &str, controller: &str, measured: Option<(f64, f64, f64)>) -> Run {
    let mut run = Run::without_results("s", controller, stack, Status::Unsupported, "it lacks something".to_owned());
    if let Some((goodput_mbps, rtt, loss)) = measured {
        run.status = Status::Done;
        run.reason = None;
        run.metrics = Some(Metrics {
            score: None,
            goodput_mbps,
            utilisation: None,
            rtt_mean_ms: Some(rtt),
            rtt_p95_ms: None,
            base_rtt_ms: None,
            rtt_ratio: None,
            rtt_p95_ratio: None,
            loss: Some(loss),
            fairness: None,
        });
    }
    run
}

fn example() -> Conformance {
    let seed = |seed, goodput, rtt| {
        let refused = run("quinn", "picky", None);
        let runs = vec![
            run("sim", "reno", Some((10.0, 40.0, 0.01))),
            run("quinn", "reno", Some((goodput, rtt, 0.02))),
            run("sim", "picky", Some((5.0, 20.0, 0.0))),
            refused,
        ];
        results(seed, runs)
    };
    compare(&[seed(1, 9.0, 40.0), seed(2, 8.0, 42.0)])
}

#[test]
fn distances_are_of_means_with_their_errors() {
    let conformance = example();
    assert_eq!(conformance.seeds, [1, 2]);
    assert_eq!(conformance.rows.len(), 4);
    let [only] = &conformance.distances[..] else { panic!("{:?}", conformance.distances) };
    assert_eq!((only.from.as_str(), only.to.as_str()), ("sim", "quinn"));
    // 8.5 ± 0.5 beside 10 ± 0; 41 ± 1 beside 40; twice the loss, a point more.
    assert_eq!(only.gap.goodput, Some(Gap { value: -15.0, error: Some(5.0) }));
    assert_eq!(only.gap.rtt, Some(Gap { value: 2.5, error: Some(2.5) }));
    assert_eq!(only.gap.loss, Some(Gap { value: 1.0, error: Some(0.0) }));
    assert!(only.is_beyond(14.9) && !only.is_beyond(15.0));
    assert_eq!(conformance.rows[3].reason.as_deref(), Some("it lacks something"));
}

#[test]
fn one_run_has_no_error_and_none_no_mean() {
    assert_eq!(Mean::of(&[3.0]), Some(Mean { mean: 3.0, error: None }));
    assert_eq!(Mean::of(&[]), None);
    assert!(compare(&[]).rows.is_empty());
}

#[test]
fn the_page_shows_what_is_apart_and_what_was_refused() {
    let text = page(&example(), 5.0, 2);
    assert!(text.contains("| reno | sim | 10.00 |  | 40.00 |  | 1.00 |  |"), "{text}");
    assert!(
        text.contains("| reno | quinn | 8.50 ± 0.50 | **-15.0 ± 5.0 %** | 41.00 ± 1.00 | +2.5 ± 2.5 % | 2.00 | +1.0 |"),
        "{text}"
    );
    assert!(text.contains("picky on quinn: it lacks something"), "{text}");
    assert!(text.ends_with("| s | reno | sim | quinn | **-15.0 ± 5.0 %** | +2.5 ± 2.5 % | +1.0 |\n"), "{text}");
    assert!(page(&example(), 50.0, 2).ends_with("None.\n"));
}

#[test]
fn tables_have_a_row_for_each_stack_and_for_each_two() {
    let [stacks, distances] = tables(&example());
    assert_eq!((stacks.rows(), distances.rows()), (4, 1));
    let mut csv = Vec::new();
    distances.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.lines().next().unwrap().starts_with("scenario,controller,from,to,goodput_percent,"), "{csv}");
    assert!(csv.contains("s,reno,sim,quinn,-15,5,2.5,2.5,1,0"), "{csv}");
}
