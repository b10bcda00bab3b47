use super::*;

fn member(group: &str, file: &str, goodput: f64) -> Member {
    let measures = Measures { goodput: Some(goodput), ..Measures::default() };
    Member { group: group.to_owned(), file: file.to_owned(), measures }
}

fn row<'a>(comparison: &'a Comparison, group: &str) -> &'a Row {
    comparison.rows.iter().find(|row| row.metric == "goodput_mbps" && row.group == group).unwrap()
}

#[test]
fn flows_of_one_run_count_once() {
    let members = [
        member("reno", "1/s/reno@sim/first.sqlog", 4.0),
        member("reno", "1/s/reno@sim/second.sqlog", 8.0),
        member("reno", "2/s/reno@sim/first.sqlog", 8.0),
        member("cubic", "1/s/cubic@sim/first.sqlog", 9.0),
        member("cubic", "2/s/cubic@sim/first.sqlog", 9.0),
    ];
    let comparison = compare(&members, "reno", 0.95);
    assert_eq!(comparison.groups, ["reno", "cubic"]);
    let reno = row(&comparison, "reno");
    assert_eq!((reno.repetitions, reno.mean, reno.difference), (2, 7.0, None));
    let cubic = row(&comparison, "cubic").difference.unwrap();
    assert_eq!(cubic.absolute, 2.0);
    assert!((cubic.percent.unwrap() - 200.0 / 7.0).abs() < 1e-9);
    let (low, high) = cubic.interval.unwrap();
    // One degree of freedom: t(0.975; 1) = 12.706.
    assert!((high - 2.0 - 12.706).abs() < 0.01 && (low - 2.0 + 12.706).abs() < 0.01, "{low} {high}");
}

#[test]
fn one_repetition_has_no_interval_and_a_silent_one_no_row() {
    let mut silent = member("silent", "c.qlog", 0.0);
    silent.measures.goodput = None;
    let members = [member("a", "a.qlog", 5.0), member("b", "b.qlog", 0.0), silent];
    let comparison = compare(&members, "b", 0.95);
    let a = row(&comparison, "a");
    assert_eq!(a.deviation, None);
    assert_eq!(a.difference.unwrap(), Difference { absolute: 5.0, percent: None, interval: None });
    assert!(!comparison.rows.iter().any(|row| row.metric == "goodput_mbps" && row.group == "silent"));
}
