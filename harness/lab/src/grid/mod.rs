//! Many runs: what is asked for are [`Cell`]s, what is missing is run, what was run is kept.
//!
//! A cell is a scenario, a controller, a stack, a seed and what is read off; its [`key`](Cell::key) is a hash of these
//! and of the code. [`run`] has an [`Engine`] carry out the cells whose records the [`Store`] lacks. A record is in the
//! store as soon as its run is over, so that a kill at any moment loses no more than the cells in hand.

mod cell;
mod read_off;
mod run;
#[cfg(feature = "object-store")]
mod shards;
mod store;

pub use cell::{CODE, Cell};
pub use read_off::{Measured, NoOutcome, measured, prepared, read_off};
pub(crate) use run::cpu_seconds;
pub use run::{Cores, Done, Engine, Failure, Keep, Reading, Tally, Watch, run};
pub use store::{Record, Store};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    struct Number {
        value: f64,
    }

    fn cell(name: &str, seed: u64) -> Cell {
        Cell {
            name: name.to_owned(),
            scenario: "duration_s = 1".to_owned(),
            file: String::new(),
            controller: "reno".to_owned(),
            stack: "sim".to_owned(),
            seed,
            reads: "value".to_owned(),
            work: seed,
        }
    }

    /// The work that was begun and done, which stops when `stop` is set.
    #[derive(Default)]
    struct Progress {
        work: Mutex<(u64, u64)>,
        stop: AtomicBool,
    }

    impl Watch for Progress {
        fn begin(&self, work: u64) {
            self.work.lock().unwrap().0 = work;
        }
        fn advance(&self, cell: &Cell, _: u64, part: f64) -> u64 {
            (part * cell.work as f64) as u64
        }
        fn done(&self, cell: &Cell, _: u64) {
            self.work.lock().unwrap().1 += cell.work;
        }
        fn stopping(&self) -> bool {
            self.stop.load(Ordering::Relaxed)
        }
    }

    fn reading(cell: &Cell) -> Reading<Number> {
        Reading { read: Number { value: cell.seed as f64 / 3.0 }, packets: cell.seed }
    }

    /// Equal runs share a key, whatever they are called and cost; anything that decides what they yield changes it.
    #[test]
    fn a_cell_is_named_by_its_content() {
        let one = cell("one", 1);
        assert_eq!(one.key(), Cell { work: 7, ..cell("another", 1) }.key());
        let others = [
            cell("one", 2),
            Cell { scenario: "duration_s = 2".to_owned(), ..one.clone() },
            Cell { controller: "cubic".to_owned(), ..one.clone() },
            Cell { stack: "quinn".to_owned(), ..one.clone() },
            Cell { reads: "another value".to_owned(), ..one.clone() },
            // Texts do not run into each other.
            Cell { controller: "renosim".to_owned(), stack: String::new(), ..one.clone() },
        ];
        let keys: BTreeSet<String> = others.iter().chain([&one]).map(Cell::key).collect();
        assert_eq!(keys.len(), others.len() + 1);
    }

    /// What a file of recorded capacity holds decides what the run yields, and where it lies does not.
    #[test]
    fn a_cell_is_named_by_what_its_files_hold() {
        let of = |folder: &std::path::Path, text: &str| {
            std::fs::write(folder.join("down.trace"), text).unwrap();
            let scenario = "duration_s = 1\n[dumbbell]\nrtt_ms = 9\ncapacity = \"down.trace\"\n".to_owned();
            let file = folder.join("scenario.toml").display().to_string();
            Cell { scenario, file, ..cell("one", 1) }.key()
        };
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let one = of(here.path(), "10\n");
        assert_eq!(one, of(there.path(), "10\n"));
        assert_ne!(one, of(there.path(), "10\n20\n"));
        assert_ne!(one, Cell { file: "elsewhere/scenario.toml".to_owned(), ..cell("one", 1) }.key());
        let table = "[[link]]\nname = \"l\"\ncapacity = { file = \"down.trace\", scale = 2 }";
        let keyed = |file: String| Cell { scenario: table.to_owned(), file, ..cell("one", 1) }.key();
        assert_ne!(
            keyed(here.path().join("s").display().to_string()),
            keyed(there.path().join("s").display().to_string())
        );
    }

    #[test]
    fn a_record_is_found_again_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let record = Record { key: "k".to_owned(), seed: 1, read: Number { value: 1.0 / 3.0 }, cpu_s: 0.5, packets: 7 };
        store.insert(&record).unwrap();
        assert_eq!(store.get("k"), Some(record));
        assert_eq!(store.get("other"), None);
        std::fs::write(dir.path().join("cache/half.json"), "{\"key\":\"half\",").unwrap();
        assert_eq!(store.get("half"), None);
    }

    /// What is the same run is run once, what is there not again, the longest first.
    #[test]
    fn what_is_missing_is_run_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let cells: Vec<Cell> = [1, 2, 3, 3].map(|seed| cell(&format!("of {seed}"), seed)).into();
        let order = Mutex::new(Vec::new());
        let engine = Cores {
            jobs: 1,
            run: |cell: &Cell, _: &dyn Fn(f64) -> bool| {
                order.lock().unwrap().push(cell.seed);
                Ok(reading(cell))
            },
        };
        let progress = Progress::default();
        let done = run(&cells[..1], &store, &engine, &progress);
        assert!(done.failure.is_none());
        let Done { tally, failure } = run(&cells, &store, &engine, &progress);
        assert!(failure.is_none());
        assert_eq!((tally.cells, tally.kept, tally.made, tally.packets), (3, 3, 2, 5));
        assert_eq!(*order.lock().unwrap(), [1, 3, 2]);
        assert_eq!(*progress.work.lock().unwrap(), (5, 6), "the work of the second command, and that done in both");
        let values = cells.iter().map(|cell| store.get(&cell.key()).unwrap().read.value);
        assert!(values.eq([1.0, 2.0, 3.0, 3.0].map(|seed: f64| seed / 3.0)));
    }

    /// Cells that were done when it was stopped, by the caller or a failure, are kept, and the next command goes on there.
    #[test]
    fn a_stop_loses_the_cells_in_hand_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let cells: Vec<Cell> = (1..=50).map(|seed| cell("one", seed)).collect();
        let runs = AtomicUsize::new(0);
        let progress = Progress::default();
        let limited = Cores {
            jobs: 2,
            run: |cell: &Cell, watch: &dyn Fn(f64) -> bool| {
                if runs.fetch_add(1, Ordering::Relaxed) == 9 {
                    progress.stop.store(true, Ordering::Relaxed);
                }
                if watch(0.5) { Err(Failure::Stopped) } else { Ok(reading(cell)) }
            },
        };
        let Done { tally, failure } = run(&cells, &store, &limited, &progress);
        assert!(matches!(failure, Some(Failure::Stopped)));
        assert!((8..=10).contains(&tally.kept), "{tally:?}");
        let kept = cells.iter().filter(|cell| store.get(&cell.key()).is_some()).count();
        assert_eq!(kept, tally.kept);

        let broken = |cell: &Cell, _: &dyn Fn(f64) -> bool| match cell.seed {
            20 => Err(Failure::Run("seed 20 cannot be run".to_owned())),
            _ => Ok(reading(cell)),
        };
        let Done { tally, failure } = run(&cells, &store, &Cores { jobs: 1, run: broken }, &Progress::default());
        assert_eq!(failure.unwrap().to_string(), "seed 20 cannot be run");
        assert!(tally.kept > kept && tally.kept < 50);

        let counted = AtomicUsize::new(0);
        let whole = |cell: &Cell, _: &dyn Fn(f64) -> bool| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(reading(cell))
        };
        let done = run(&cells, &store, &Cores { jobs: 0, run: whole }, &Progress::default());
        assert_eq!((done.tally.kept, done.tally.made), (50, counted.into_inner()));
        assert_eq!(done.tally.made, 50 - tally.kept);
    }

    /// What a process that was killed kept in its own directory the next one puts where others find it.
    #[cfg(feature = "object-store")]
    #[test]
    fn a_shared_store_gets_what_a_kill_left_behind() {
        let [one, other, shared] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let name = shared.path().display().to_string();
        let open = |dir: &tempfile::TempDir| Store::<Number>::open(dir.path()).unwrap().shared(&name).unwrap();
        let record = |key: &str, value: f64| Record {
            key: key.to_owned(),
            seed: 1,
            read: Number { value },
            cpu_s: 0.5,
            packets: 7,
        };
        open(&one).insert(&record("a", 1.0 / 3.0)).unwrap();
        assert_eq!(open(&other).get("a"), None, "it waits for others");
        let again = open(&one);
        again.insert(&record("b", 2.0)).unwrap();
        again.flush().unwrap();
        let found = open(&other);
        assert_eq!((found.get("a"), found.get("b")), (Some(record("a", 1.0 / 3.0)), Some(record("b", 2.0))));
        found.remove("a").unwrap();
        assert_eq!(found.get("a"), None);
        // A command ends with everything where others find it, and finds what they did.
        let cells: Vec<Cell> = (1..=5).map(|seed| cell("one", seed)).collect();
        let engine = Cores { jobs: 2, run: |cell: &Cell, _: &dyn Fn(f64) -> bool| Ok(reading(cell)) };
        assert_eq!(run(&cells[..3], &open(&one), &engine, &Progress::default()).tally.made, 3);
        assert_eq!(run(&cells, &open(&other), &engine, &Progress::default()).tally.made, 2);
    }
}
