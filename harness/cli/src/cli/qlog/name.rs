//! What connections are called where several are shown together.

use std::collections::{BTreeMap, BTreeSet};

/// For each connection, a file, the connection's own name and where it was taken, as short a name as tells it
/// from the others: its [`short`] path, and the connection or its number where a file has
/// several.
pub(super) fn unique<'a>(connections: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> Vec<String> {
    let connections: Vec<(&str, &str, &str)> = connections.collect();
    let files: Vec<&str> = connections.iter().map(|(file, ..)| *file).collect();
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    files.iter().for_each(|file| *all.entry(file).or_default() += 1);
    let mut ends: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, group, vantage) in &connections {
        ends.entry(group).or_default().insert(vantage);
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = short(&files);
    for (name, &(file, group, vantage)) in names.iter_mut().zip(&connections) {
        let several = all[file] > 1;
        let number = seen.entry(file).or_default();
        *number += 1;
        match (several, group) {
            (false, _) => {}
            (true, "") => name.push_str(&format!("#{number}")),
            (true, group) => name.push_str(&format!("#{group}")),
        }
        // Both ends of a connection, in one file or in two.
        if !group.is_empty() && ends[group].len() > 1 {
            name.push_str(&format!(" ({vantage})"));
        }
    }
    distinct(names, "#")
}

/// The names, a number after `separator` at the end of those that an earlier one has already.
fn distinct(names: Vec<String>, separator: &str) -> Vec<String> {
    let taken: BTreeSet<String> = names.iter().cloned().collect();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = |name: String| {
        let number = numbers.entry(name.clone()).or_default();
        loop {
            *number += 1;
            let other = format!("{name}{separator}{number}");
            if *number == 1 || !taken.contains(&other) {
                break if *number == 1 { name } else { other };
            }
        }
    };
    names.into_iter().map(numbered).collect()
}

/// File names of `names`, no two alike, each with `ending`.
pub(super) fn file_names<'a>(names: impl Iterator<Item = &'a str>, ending: &str) -> Vec<String> {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '-' };
    let stems = names.map(|name| {
        let stem: String = name.chars().map(plain).collect();
        windlass_qlog::file_name(&if stem.starts_with('.') { format!("-{stem}") } else { stem })
    });
    distinct(stems.collect(), "-").into_iter().map(|stem| stem + ending).collect()
}

/// Paths without the directories that all begin with, without a last part that is the same
/// in all, and without the suffixes of traces.
pub(super) fn short(paths: &[&str]) -> Vec<String> {
    const SUFFIXES: [&str; 6] = [".gz", ".zst", ".sqlog", ".qlog", ".json", ".netlog"];
    let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.split('/').collect()).collect();
    let Some((first, rest)) = paths.split_first() else { return Vec::new() };
    let alike = |at: usize| rest.iter().all(|path| path.get(at) == first.get(at));
    let shared = (0..first.len()).take_while(|&at| alike(at)).count();
    let same_end = rest.iter().all(|path| path.last() == first.last());
    let short = paths.iter().map(|parts| {
        let from = shared.min(parts.len() - 1);
        let to = if same_end && parts.len() > from + 1 { parts.len() - 1 } else { parts.len() };
        let name = parts[from..to].join("/");
        SUFFIXES.iter().fold(name.as_str(), |name, suffix| name.strip_suffix(suffix).unwrap_or(name)).to_owned()
    });
    short.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(connections: &[(&str, &str)]) -> Vec<String> {
        unique(connections.iter().map(|&(file, group)| (file, group, "unknown")))
    }

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(of(&[("a/b/flow.sqlog.zst", "")]), ["flow"]);
        let runs = [("r/qlog/s/cubic@sim/flow.sqlog", ""), ("r/qlog/s/reno@sim/flow.sqlog", "")];
        assert_eq!(of(&runs), ["cubic@sim", "reno@sim"]);
        let flows = [("s/reno@sim/first.sqlog", ""), ("s/reno@sim/second.sqlog", "")];
        assert_eq!(of(&flows), ["first", "second"]);
        assert_eq!(of(&[("x.qlog", "c1"), ("x.qlog", "c2"), ("y.qlog", "")]), ["x#c1", "x#c2", "y"]);
        assert_eq!(of(&[("x.qlog", ""), ("x.qlog", "")]), ["x#1", "x#2"]);
    }

    #[test]
    fn both_ends_of_a_connection_are_told_apart() {
        let names = |files: [&str; 2]| unique([(files[0], "c1", "client"), (files[1], "c1", "server")].into_iter());
        assert_eq!(names(["x.qlog", "x.qlog"]), ["x#c1 (client)", "x#c1 (server)"]);
        assert_eq!(names(["a.qlog", "b.qlog"]), ["a (client)", "b (server)"]);
    }
}
