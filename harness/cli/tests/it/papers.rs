//! `windlass paper`: cached runs, and pages made of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Place, inflated, stderr, stdout, windlass};
use serde_json::Value;

/// The cached runs below an output directory, sorted.
fn cached(out: &str) -> Vec<PathBuf> {
    let dir = Path::new(out).join("quick/cache");
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn the_list_names_every_experiment() {
    let output = windlass(&["paper", "list", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(rows.len(), 12 + 32 + 20 + 14);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row("EV-6")["runs"], Value::from(49));
    let keys: BTreeSet<&str> =
        ["document", "id", "packets", "recovery", "recovery_why", "runs", "spec", "title", "varied"].into();
    assert!(
        rows.iter().all(|row| row.as_object().unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>() == keys)
    );
    assert!(stdout(&windlass(&["paper", "list"])).contains("EV-0a"));
}

#[test]
fn an_experiment_is_the_same_again_goes_on_where_it_was_and_becomes_a_page() {
    let place = Place::new();
    let out = place.path("out");
    let run = ["paper", "run", "ev-0a", "--quick", "--reps", "2", "--out", &out];
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(stdout(&first).contains("QUICK"));
    let result = Path::new(&out).join("quick/EV-0a.json");
    let before = fs::read_to_string(&result).unwrap();
    let files = cached(&out);
    assert_eq!(files.len(), 2);

    // What is missing is run again and is the same; what is there is taken as it is.
    fs::remove_file(&files[0]).unwrap();
    assert!(windlass(&run).status.success());
    assert_eq!(fs::read_to_string(&result).unwrap(), before);
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&files[1]).unwrap()).unwrap();
    record["quantities"][0]["value"] = Value::from(4711.0);
    fs::write(&files[1], record.to_string()).unwrap();
    assert!(windlass(&run).status.success());
    let after: Value = serde_json::from_str(&fs::read_to_string(&result).unwrap()).unwrap();
    let mean = after["cells"][0]["means"][0]["mean"].as_f64().unwrap();
    assert!(mean > 2000.0, "{mean} is not the mean of 4711 and some 5");
    assert_eq!(after["scale"], "quick");
    assert_eq!(after["comparisons"], Value::Array(Vec::new()));

    let report = windlass(&["paper", "report", "--quick", "--out", &out]);
    assert!(report.status.success(), "{}", stderr(&report));
    let page = fs::read_to_string(Path::new(&out).join("quick/sharma.html")).unwrap();
    let packed = page.split_once("id=\"paper\">").unwrap().1.split_once("</script>").unwrap().0;
    assert!(page.contains("Experiments of sharma (quick)") && inflated(packed).contains("EV-0a"));
    assert_eq!(windlass(&["paper", "report", "--out", &out]).status.code(), Some(2));
}

#[test]
fn what_cannot_be_run_is_said() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["EV-0"], "unknown experiment \"EV-0\" (did you mean"),
        (vec!["E6.1", "--stack", "quinn"], "E6.1 has nothing that quinn can run: it repairs losses as TCP does"),
        (vec!["EV-1", "--stack", "quin"], "unknown stack \"quin\"; expected sim"),
        (vec![], "required"),
    ] {
        let output = windlass(&[&["paper", "run", "--out", &out], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    assert!(place.entries().is_empty());
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_done_and_nothing_half() {
    let place = Place::new();
    let out = place.path("out");
    let args = ["paper", "run", "EV-0a,EV-0b", "--quick", "--reps", "50", "--jobs", "1", "--out", &out];
    let child = crate::command::start(&args).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let dir = Path::new(&out).join("quick/cache");
    let begun = std::time::Instant::now();
    while fs::read_dir(&dir).map_or(0, Iterator::count) < 2 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "nothing is cached after a minute");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let files = cached(&out);
    assert!(stderr(&output).contains(&format!("interrupted; {} of 100 runs are done and cached", files.len())));
    for file in files {
        assert!(serde_json::from_str::<Value>(&fs::read_to_string(file).unwrap()).is_ok());
    }
    assert_eq!(fs::read_dir(Path::new(&out).join("quick")).unwrap().count(), 1, "only the cache");
}

/// A page's tables are what the experiments yield: filled, they agree; changed, they are found.
#[test]
fn a_page_is_filled_and_a_wrong_figure_is_found() {
    let place = Place::new();
    let (out, page) = (place.path("out"), place.path("page.md"));
    let run = windlass(&["paper", "run", "CH3-C,E3.1", "--out", &out]);
    assert!(run.status.success(), "{}", stderr(&run));
    let marks = "# Page\n\n<!-- paper table E3.1; throughput; across k -->\n<!-- end -->\n\n<!-- paper table CH3-C -->\n<!-- end -->\n";
    fs::write(&page, marks).unwrap();
    let fill = |check: &[&str]| windlass(&[&["paper", "fill", "--out", &out, &page], check].concat());
    assert!(fill(&[]).status.success());
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("| throughput, Mbit/s by k | 2 | 4 | 8 | 16 | 32 |") && text.contains("| vegas | 0.8"),
        "{text}"
    );
    assert!(fill(&["--check"]).status.success(), "{}", stderr(&fill(&["--check"])));
    fs::write(&page, text.replace("| vegas | 0.8", "| vegas | 0.9")).unwrap();
    let wrong = fill(&["--check"]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("out of date") && stderr(&wrong).contains("E3.1"));
}

/// A sample of the committed figures, made anew: whatever in controllers, simulator or experiments moves them has to
/// move the page.
#[test]
#[cfg_attr(debug_assertions, ignore = "seconds when optimised, a minute otherwise")]
fn committed_tables_are_what_their_commands_make() {
    let place = Place::new();
    let out = place.path("out");
    let run =
        windlass(&["paper", "run", "EV-0a,CH2-A,CH3-C,CH4-H,E3.1,E3.2,E3.2r,E3.6,E3.7,E3.9,E4.1,S11", "--out", &out]);
    assert!(run.status.success(), "{}", stderr(&run));
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers");
    let pages: Vec<String> = ["sharma", "cho", "chan", "arumaithurai"]
        .iter()
        .map(|name| pages.join(format!("{name}.md")).display().to_string())
        .collect();
    let args = ["paper", "fill", "--check", "--out", &out].into_iter().chain(pages.iter().map(String::as_str));
    let fill = windlass(&args.collect::<Vec<_>>());
    assert!(fill.status.success(), "{}", stderr(&fill));
    assert!(stdout(&fill).starts_with("12 tables compared, 0 changed"), "{}", stdout(&fill));
}

/// A table says which part of an experiment was run, and whether quickly or in full.
#[test]
fn a_table_says_what_made_it() {
    let place = Place::new();
    let out = place.path("out");
    let table = |what: &str| {
        let output = windlass(&["paper", "table", what, "--out", &out]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).lines().next().unwrap().to_owned()
    };
    let run = |args: &[&str]| {
        let output = windlass(&[&["paper", "run", "--out", &out], args].concat());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    };
    run(&["E3.1", "--quick"]);
    assert!(
        table("E3.1").starts_with("`windlass paper run E3.1 --quick`, **a part of it**: a tenth of"),
        "{}",
        table("E3.1")
    );
    run(&["E3.1", "--only", "k=4", "--only", "scheme=vegas,k=8"]);
    let part = table("E3.1");
    assert!(
        part.starts_with("`windlass paper run E3.1 --only k=4 --only scheme=vegas,k=8`, **a part of it**"),
        "{part}"
    );
    assert!(part.ends_with("full times, 3 of 10 cells."), "{part}");
    // A statement of all cells is not shown by some.
    let claim = || {
        let output = windlass(&["paper", "table", "claims", "--out", &out]);
        stdout(&output).lines().find(|line| line.starts_with("chan,chan-1,")).unwrap().to_owned()
    };
    assert!(claim().contains(",undetermined,") && claim().contains("; by these cells it holds"), "{}", claim());
    run(&["E3.1"]);
    assert!(claim().contains(",holds,"), "{}", claim());
    assert_eq!(table("E3.1"), "`windlass paper run E3.1`: full times, 1 run a cell.");
    run(&["E3.2", "--reps", "2"]);
    assert!(
        table("E3.2")
            .ends_with("`windlass paper run E3.2 --reps 2`, **a part of it**: full times, 2 of 10 runs a cell.")
    );
    let none = windlass(&["paper", "run", "E3.1", "--only", "k=5", "--out", &out]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("E3.1 has no cell with k=5; it has scheme=vegas k=2;"), "{}", stderr(&none));
}

/// What a trial found is kept, and stands in the tables until the claim is another.
#[test]
fn trials_are_kept() {
    let place = Place::new();
    let (out, page) = (place.path("out"), place.path("page.md"));
    let tried = windlass(&["paper", "table", "mutants sharma-1", "--out", &out]);
    assert!(tried.status.success() && stdout(&tried).contains("| caught |"), "{}", stderr(&tried));
    let listed = windlass(&["paper", "table", "claims", "--out", &out]);
    let claims = stdout(&listed);
    let of = |id: &str| claims.lines().find(|line| line.starts_with(&format!("sharma,{id},"))).unwrap().to_owned();
    assert!(of("sharma-1").contains(",caught,"), "{}", of("sharma-1"));
    assert!(
        of("sharma-2").contains("not tried: `windlass paper table \"\"mutants sharma-2\"\"` does"),
        "{}",
        of("sharma-2")
    );
    fs::write(&page, "<!-- paper claims -->\n<!-- end -->\n").unwrap();
    let fill = windlass(&["paper", "fill", &page, "--out", &out]);
    assert!(fill.status.success(), "{}", stderr(&fill));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("| sharma | 21 | 0 | 0 | 21 | 1 |") && text.contains("| sharma-2 | At 622"), "{text}");
    let unknown = windlass(&["paper", "table", "mutants sharma-0", "--out", &out]);
    assert!(stderr(&unknown).contains("no claim and no document is called \"sharma-0\""), "{}", stderr(&unknown));
}

#[test]
fn tables_that_are_not_there_are_named() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["table", "EV-0"], "unknown experiment"),
        (vec!["table", "EV-0a"], "has no such results"),
        (vec!["fill", "absent.md"], "cannot read absent.md"),
    ] {
        let output = windlass(&[&["paper", args[0], "--out", &out], &args[1..]].concat());
        assert!(!output.status.success() && stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}
