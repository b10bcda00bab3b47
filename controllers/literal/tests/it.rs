//! Ours beside the references, over random histories.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use windlass_literal::{Changes, Difference, History, Reading, SCHEMES, Scheme, Status, compare, histories};

/// Actions of a history at most.
const ACTIONS: usize = 40;

/// Histories at most in which a change has to show.
const MANY: u32 = 60_000;

/// Histories of each scheme: `WINDLASS_LITERAL_HISTORIES`, or as many as take a few seconds.
fn how_many() -> u32 {
    std::env::var("WINDLASS_LITERAL_HISTORIES").map_or(2000, |text| text.parse().expect("a number of histories"))
}

/// All schemes, or those of the name in `WINDLASS_LITERAL_SCHEME`.
fn chosen() -> impl Iterator<Item = &'static Scheme> {
    let only = std::env::var("WINDLASS_LITERAL_SCHEME").ok();
    SCHEMES.iter().filter(move |scheme| only.as_ref().is_none_or(|only| *only == scheme.name))
}

/// What makes history `number` of a `seed`, whatever came before it.
fn runner(seed: u64, number: u32) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 50_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// The number of the first history: `WINDLASS_LITERAL_FROM`, or 0.
fn first() -> u32 {
    std::env::var("WINDLASS_LITERAL_FROM").map_or(0, |text| text.parse().expect("a number"))
}

/// Whether what docs/literal.md is made of is written.
fn accepts() -> bool {
    std::env::var_os("WINDLASS_ACCEPT_LITERAL").is_some() && first() == 0
}

/// Histories of each scheme that the latest long run found equal, one a line after its name.
const EQUAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/histories.txt");

/// How many histories of each scheme were found equal.
fn equal_histories() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(EQUAL).expect("histories.txt");
    let read = |line: &str| {
        let (name, number) = line.rsplit_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    text.lines()
        .map(|line| read(line).unwrap_or_else(|| panic!("{line:?} in histories.txt: a name, a number")))
        .collect()
}

fn note_histories(name: &str) {
    let mut equal = equal_histories();
    equal.insert(name.to_owned(), how_many());
    let text: String = equal.iter().map(|(name, number)| format!("{name} {number}\n")).collect();
    std::fs::write(EQUAL, text).expect("histories.txt");
}

/// The shortest history found on which ours and the reference with `changes` part, with the number of the one it was made of.
fn shortest(scheme: &Scheme, changes: &Changes) -> Option<(u32, History, Difference)> {
    let strategy = histories(ACTIONS);
    (first()..first() + how_many()).find_map(|number| {
        let mut runner = runner(1, number);
        let tree = strategy.new_tree(&mut runner).expect("a history");
        let outcome = runner.run_one(tree, |history| {
            compare(scheme, changes, &history).map_err(|difference| TestCaseError::fail(difference.to_string()))
        });
        match outcome {
            Ok(_) => None,
            Err(TestError::Fail(_, history)) => {
                let difference = compare(scheme, changes, &history).expect_err("it failed");
                Some((number, history, difference))
            }
            Err(error) => panic!("{error}"),
        }
    })
}

/// A change of a scheme's reference: the scheme, all its changes, and which one of them is meant.
type Changed = (&'static Scheme, Changes, &'static str);

/// The numbers of the histories that showed each change when they were last looked for, a line each: scheme, change, number.
struct Shown {
    path: String,
    numbers: BTreeMap<String, u32>,
}

impl Shown {
    fn read(file: &str) -> Shown {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let read = |line: &str| {
            let (key, number) = line.rsplit_once(' ')?;
            Some((key.to_owned(), number.parse().ok()?))
        };
        let numbers = text
            .lines()
            .map(|line| read(line).unwrap_or_else(|| panic!("{line:?} in {file}: a scheme, a change, a number")))
            .collect();
        Shown { path, numbers }
    }

    fn key((scheme, _, change): &Changed) -> String {
        format!("{} {change}", scheme.name)
    }

    fn write(&self) {
        let text: String = self.numbers.iter().map(|(key, number)| format!("{key} {number}\n")).collect();
        std::fs::write(&self.path, text).unwrap_or_else(|error| panic!("{}: {error}", self.path));
    }
}

/// Those of `changed` for which ours and the reference with their changes part on none of [`MANY`] histories. Each is tried on
/// the history that showed it last (`file`); those that it no longer shows, on one after the other.
fn without_difference(file: &str, changed: impl Iterator<Item = Changed>) -> Vec<(&'static str, &'static str)> {
    let strategy = histories(ACTIONS);
    let history = |number| strategy.new_tree(&mut runner(2, number)).expect("a history").current();
    let mut shown = Shown::read(file);
    let mut left: Vec<Changed> = changed
        .filter(|one| {
            let known = if accepts() { None } else { shown.numbers.get(&Shown::key(one)) };
            known.is_none_or(|number| compare(one.0, &one.1, &history(*number)).is_ok())
        })
        .collect();
    for number in 0..MANY {
        if left.is_empty() {
            break;
        }
        let history = history(number);
        left.retain(|one| {
            let parted = compare(one.0, &one.1, &history).is_err();
            if parted {
                shown.numbers.insert(Shown::key(one), number);
            }
            !parted
        });
    }
    if accepts() {
        shown.write();
    }
    left.into_iter().map(|(scheme, _, change)| (scheme.name, change)).collect()
}

#[test]
fn ours_is_the_documents_but_for_the_readings() {
    let mut found = Vec::new();
    for scheme in chosen() {
        match shortest(scheme, &scheme.changes()) {
            Some((number, history, difference)) => {
                found.push(format!("{}, history {number}: {difference}\n  in {history:?}", scheme.name));
            }
            None if accepts() => note_histories(scheme.name),
            None => {}
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A reading without which ours is the document's is no longer one: mended.
#[test]
fn every_reading_makes_a_difference() {
    let readings = chosen().flat_map(|scheme| scheme.readings().map(move |reading| (scheme, reading.change)));
    let gone = without_difference(
        "shown-readings.txt",
        readings.map(|(scheme, change)| (scheme, scheme.changes().without(change), change)),
    );
    assert!(gone.is_empty(), "take these rows out: {gone:?}");
}

#[test]
fn every_mutant_is_caught() {
    let mutants = chosen().flat_map(|scheme| scheme.mutants.iter().map(move |(mutant, _)| (scheme, *mutant)));
    let missed = without_difference(
        "shown-mutants.txt",
        mutants.map(|(scheme, mutant)| (scheme, scheme.changes().with(mutant), mutant)),
    );
    assert!(missed.is_empty(), "{missed:?}");
}

/// For whom a reading is new: of every quantity that differs, the shortest of many histories in which it does.
#[test]
#[ignore = "a tool: WINDLASS_LITERAL_SCHEME=bbr cargo test --release -p windlass-literal --test it survey -- --ignored --nocapture"]
fn survey() {
    for scheme in chosen() {
        let mut found: Vec<(String, History, Difference)> = Vec::new();
        for most in [3, 6, 12, ACTIONS] {
            let strategy = histories(most);
            for number in 0..how_many() {
                let history = strategy.new_tree(&mut runner(3, number)).expect("a history").current();
                let Err(difference) = compare(scheme, &scheme.changes(), &history) else { continue };
                let kind = format!("{} after {}", difference.what, difference.after.1);
                if !found.iter().any(|(other, ..)| *other == kind) {
                    found.push((kind, history, difference));
                }
            }
        }
        for (_, mut history, difference) in found {
            history.actions.truncate(difference.after.0 + 1);
            println!("{}: {difference}\n  in {history:?}", scheme.name);
        }
    }
}

/// What docs/literal.md has below its marker.
fn tables() -> String {
    let mut page = String::from(
        "\n| controller | document | sentences | histories found equal | mutants found | differences: to mend | mended | documented |\n|---|---|---|---|---|---|---|---|\n",
    );
    let equal = equal_histories();
    for scheme in SCHEMES {
        let histories = equal.get(scheme.name).map_or("–".to_owned(), ToString::to_string);
        let of = |status| scheme.readings().filter(|reading| reading.status == status).count();
        let (sentences, mutants) = (scheme.sentences(), scheme.mutants.len());
        let (faults, mended, documented) = (of(Status::Fault), scheme.mended.len(), of(Status::Documented));
        let _ = writeln!(
            page,
            "| {} | {} | {sentences} | {histories} | {mutants} | {faults} | {mended} | {documented} |",
            scheme.name, scheme.document
        );
    }
    page.push_str("\n## Differences\n\n| controllers | section | the document | ours | |\n|---|---|---|---|---|\n");
    let mut rows: Vec<(Reading, Vec<&str>)> = Vec::new();
    for (scheme, reading) in SCHEMES.iter().flat_map(|scheme| scheme.readings().map(move |row| (scheme, row))) {
        match rows.iter_mut().find(|(row, _)| row == reading) {
            Some((_, names)) => names.push(scheme.name),
            None => rows.push((*reading, vec![scheme.name])),
        }
    }
    for (Reading { section, says, ours, status, .. }, names) in rows {
        let status = if status == Status::Fault { "to mend" } else { "documented" };
        let _ = writeln!(page, "| {} | {section} | {says} | {ours} | {status} |", names.join(", "));
    }
    for (scheme, (section, was)) in SCHEMES.iter().flat_map(|scheme| scheme.mended.iter().map(move |row| (scheme, row)))
    {
        let _ = writeln!(page, "| {} | {section} | so it is | {was} | mended |", scheme.name);
    }
    page
}

#[test]
fn the_page_has_the_tables() {
    const MARKER: &str =
        "<!-- below: WINDLASS_ACCEPT_LITERAL=1 cargo test --release -p windlass-literal --test it page -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/literal.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (prose, rest) = page.split_once(MARKER).expect("the marker");
    if accepts() {
        std::fs::write(path, format!("{prose}{MARKER}{}", tables())).expect("the page");
        return;
    }
    assert_eq!(rest, tables(), "WINDLASS_ACCEPT_LITERAL=1 writes it anew");
}
