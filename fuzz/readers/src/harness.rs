//! The readers that live in the harness.

use std::sync::OnceLock;

use windlass::report::{comparison, figure, traces};
use windlass_adapter::NamedController;
use windlass_lab::compare::{Member, compare, groups};
use windlass_lab::replay::{ReplayError, answer, replay_controllers};
use windlass_qlog_analysis::read::Options;
use windlass_qlog_analysis::series::{ConnectionSeries, read_series};
use windlass_simulator::scenario::Scenario;

/// Points of a line that are kept at most.
const MOST_POINTS: usize = 1 << 12;

/// Other controllers on a trace.
pub fn replay(data: &[u8]) {
    let open = || Ok::<_, ReplayError>(data);
    let _ = answer(&open, None);
    let engines: Vec<_> = ["reno", "bbr", "rovegas"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), NamedController::named(name)?)))
        .collect();
    if let Ok(found) = replay_controllers(&open, None, &engines, true) {
        let _ = found.text(80);
        let _ = found.svg();
    }
}

/// Reads a scenario file.
pub fn scenario(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Scenario::read("fuzz", text, Some("reno"));
    }
}

/// The connections of a trace over time, if it can be read.
fn series_of(data: &[u8]) -> Vec<ConnectionSeries> {
    let options = Options { jobs: 1, ..Options::default() };
    read_series(data, &options, MOST_POINTS).map(|(_, drawn)| drawn).unwrap_or_default()
}

/// Script elements that a page begins and ends: its own, and one for the data of each connection. None
/// may come from a trace.
fn scripts(page: &str) -> (usize, usize) {
    let page = page.to_ascii_lowercase();
    (page.matches("<script").count(), page.matches("</script").count())
}

/// A trace as a report's page that gives it back, and as figures.
pub fn report(data: &[u8]) {
    static WITHOUT: OnceLock<(usize, usize)> = OnceLock::new();
    let all = series_of(data);
    for drawn in &all {
        let _ = figure::svg(&drawn.measured.trace.title, drawn);
    }
    let sections: Vec<_> = all.into_iter().map(|drawn| traces::Section::new("fuzz", drawn, 0)).collect();
    let without = WITHOUT.get_or_init(|| scripts(&traces::page("fuzz", &[], Some(("fuzz", b"")))));
    let title: String = String::from_utf8_lossy(data).chars().take(100).collect();
    let page = traces::page(&title, &sections, Some((&title, data)));
    assert_eq!(scripts(&page), with(*without, sections.len()), "a trace brings a script into the page");
}

/// With the data of so many connections.
fn with(scripts: (usize, usize), connections: usize) -> (usize, usize) {
    (scripts.0 + connections, scripts.1 + connections)
}

/// Two traces compared, each connection a repetition of the controller it names.
pub fn comparison(data: &[u8]) {
    static WITHOUT: OnceLock<(usize, usize)> = OnceLock::new();
    // Two whole traces, or two pieces of one.
    let middle = data.windows(2).position(|pair| pair == b"\x1e\x1e").map_or(data.len() / 2, |at| at + 1);
    let (one, other) = data.split_at(middle);
    let all: Vec<ConnectionSeries> = [one, other, one].into_iter().flat_map(series_of).collect();
    let member = |drawn: &ConnectionSeries| Member {
        group: drawn.measured.measures.controller.clone().unwrap_or_default(),
        file: drawn.measured.group.clone(),
        measures: drawn.measured.measures.clone(),
    };
    let members: Vec<Member> = all.iter().map(member).collect();
    let without = || scripts(&comparison::page("fuzz", "controller", &compare(&[], "", 0.95), &[]));
    let without = WITHOUT.get_or_init(without);
    for baseline in groups(&members) {
        let compared = compare(&members, &baseline, 0.95);
        let named = |drawn: &ConnectionSeries| (baseline.clone(), traces::Section::new("fuzz", drawn.clone(), 0));
        let page = comparison::page(&baseline, "controller", &compared, &all.iter().map(named).collect::<Vec<_>>());
        assert_eq!(scripts(&page), with(*without, all.len()), "a trace brings a script into the page");
    }
}
