//! Comparison of groups of traces with one of them.

mod welch;

pub use welch::{Sample, half_width, interval};

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use windlass_qlog_analysis::metrics::Measures;

/// A trace that is compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
    /// The group it belongs to, such as its controller.
    pub group: String,
    /// The file it is from.
    pub file: String,
    /// Measures of the connection.
    pub measures: Measures,
}

/// A measure of a group, and how it differs from the baseline's.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The measure, by its column in `windlass qlog metrics`.
    pub metric: &'static str,
    /// The group the row is of.
    pub group: String,
    /// Repetitions that have the measure.
    pub repetitions: usize,
    /// Mean over the repetitions, in the measure's unit.
    pub mean: f64,
    /// Standard deviation over the repetitions; `None` with one repetition.
    pub deviation: Option<f64>,
    /// The difference to the baseline; `None` for the baseline itself and where the baseline
    /// does not have the measure.
    pub difference: Option<Difference>,
}

/// How a mean differs from the baseline's.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// Mean less the baseline's mean.
    pub absolute: f64,
    /// The same as a share of the baseline's mean, percent; `None` if that is 0.
    pub percent: Option<f64>,
    /// Welch's t interval of the difference; `None` unless both groups have two repetitions
    /// or more.
    pub interval: Option<(f64, f64)>,
}

/// A comparison: groups in order, the baseline among them, and a row for each measure and
/// group.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The groups, as their traces came.
    pub groups: Vec<String>,
    /// The group that the others are measured against.
    pub baseline: String,
    /// The confidence of the intervals, 0 to 1.
    pub confidence: f64,
    /// A row for each measure and group.
    pub rows: Vec<Row>,
}

/// Compares `members` with the group `baseline`, one of theirs; intervals at `confidence`.
///
/// A repetition is a run. Flows of one group that shared a run shared its bottleneck too
/// and are not independent: their mean counts once. They are known by their directory,
/// where that is one of a windlass run ([`run_of`]); any other file is a run of its own.
#[must_use]
pub fn compare(members: &[Member], baseline: &str, confidence: f64) -> Comparison {
    let groups = groups(members);
    // Each member is looked at once for each measure, however many groups there are.
    let mut of_group: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    for member in members {
        of_group.entry(&member.group).or_default().push(member);
    }
    let mut rows = Vec::new();
    for &(metric, get) in Measures::COLUMNS {
        let of = |group: &str| Sample::of(&repetitions(of_group.get(group).map_or(&[], Vec::as_slice), get));
        let base = of(baseline);
        for group in &groups {
            let Some(sample) = of(group) else { continue };
            let difference = base.filter(|_| group != baseline).map(|base| {
                let absolute = sample.mean - base.mean;
                let percent = (base.mean != 0.0).then(|| 100.0 * absolute / base.mean.abs());
                Difference { absolute, percent, interval: interval(&base, &sample, confidence) }
            });
            let Sample { count, mean, deviation } = sample;
            rows.push(Row { metric, group: group.clone(), repetitions: count, mean, deviation, difference });
        }
    }
    Comparison { groups, baseline: baseline.to_owned(), confidence, rows }
}

/// The groups, as their first members came.
#[must_use]
pub fn groups(members: &[Member]) -> Vec<String> {
    let mut known = BTreeSet::new();
    members.iter().map(|member| &member.group).filter(|&group| known.insert(group)).cloned().collect()
}

/// A measure of each repetition of a group's members.
fn repetitions(members: &[&Member], get: fn(&Measures) -> Option<f64>) -> Vec<f64> {
    let mut runs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for member in members {
        if let Some(value) = get(&member.measures) {
            runs.entry(run_of(&member.file)).or_default().push(value);
        }
    }
    runs.into_values().map(|values| values.iter().sum::<f64>() / values.len() as f64).collect()
}

/// The run a file belongs to: its directory where that has the name of a windlass run,
/// CONTROLLER@STACK, or else the file itself.
#[must_use]
pub fn run_of(file: &str) -> String {
    let directory = Path::new(file).parent();
    let name = directory.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    match (directory, name) {
        (Some(directory), Some(name)) if name.contains('@') => directory.display().to_string(),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
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
}
