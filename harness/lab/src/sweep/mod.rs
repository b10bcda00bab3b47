//! Sweeps: every combination of scenarios, values of their keys, controllers, stacks and seeds that a plan names.
//!
//! A [`Plan`] is a TOML file (`docs/fleet.md`). [`run`] carries out those of its cells that the [`Store`] lacks, or a [`Share`] of
//! them, [`status`] says what is done, and [`collect`] writes one dataset. The store is that of the [grid](crate::grid): several
//! processes may use one at a time, and a kill at any moment loses the cells in hand.
//!
//! ```no_run
//! use windlass_lab::grid::Cores;
//! use windlass_lab::sweep::{Plan, Share, Store, collect, measure, run};
//! # use windlass_lab::grid::Watch;
//! # fn example(watch: &dyn Watch) -> Result<(), Box<dyn std::error::Error>> {
//! let plan = Plan::load("plan.toml".as_ref())?;
//! let out = std::path::Path::new("results");
//! let store = Store::open(out)?;
//! let done = run(&plan, &store, Share::WHOLE, &Cores { jobs: 0, run: measure }, watch);
//! println!("{} cells run, {} packets", done.tally.made, done.tally.packets);
//! let collected = collect(&plan, &store, out)?;
//! println!("{} cells in runs.csv, {} failed, {} missing", collected.done, collected.failed, collected.missing);
//! # Ok(())
//! # }
//! ```

mod axes;
mod collect;
mod measure;
mod plan;
mod read;
mod run;

pub use axes::{Axis, set};
pub use collect::{Collected, Group, MEASURES, collect};
pub use measure::measure;
pub use plan::{Plan, Settings};
pub use read::PlanError;
pub use run::{Share, Status, Store, forget_failed, run, status};

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::grid::{Cell, Cores, Engine, Failure, Watch};
    use crate::results::Run;

    /// Stops after so many cells.
    struct After(AtomicUsize);

    impl After {
        fn all() -> After {
            After(AtomicUsize::new(usize::MAX))
        }
    }

    impl Watch for After {
        fn begin(&self, _: u64) {}
        fn advance(&self, _: &Cell, before: u64, _: f64) -> u64 {
            before
        }
        fn done(&self, _: &Cell, _: u64) {
            let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        }
        fn stopping(&self) -> bool {
            self.0.load(Ordering::Relaxed) == 0
        }
    }

    const BASE: &str = "[scenario]\nduration_s = 0.3\n[scenario.dumbbell]\nrate_mbps = 2\nrtt_ms = 20\nbuffer_packets = 10\n\
                    [[scenario.flow]]\ncontroller = \"under-test\"\n";

    fn cores(jobs: usize) -> impl Engine<Run> {
        Cores { jobs, run: measure }
    }

    fn plan(rest: &str) -> Plan {
        Plan::parse("plans/plan.toml", &format!("{rest}\n{BASE}")).unwrap()
    }

    const THREE_BY_TWO: &str = "controllers = [\"reno\", \"cubic\"]\nseeds = 3\n\
                            axes = { \"dumbbell.loss_percent\" = [0, 1.5, 5], dumbbell.rtt_ms = [10, 40] }";

    #[test]
    fn every_combination_is_a_cell_and_seeds_change_first() {
        let plan = plan(THREE_BY_TWO);
        assert_eq!(plan.count(), 3 * 2 * 2 * 3);
        let cells: Vec<Cell> = plan.cells().collect();
        let names: Vec<&str> = [0, 1, 3, 6, 12].map(|number| cells[number].name.as_str()).into();
        assert_eq!(
            names,
            [
                "plan dumbbell.loss_percent=0 dumbbell.rtt_ms=10 reno on sim, seed 1",
                "plan dumbbell.loss_percent=0 dumbbell.rtt_ms=10 reno on sim, seed 2",
                "plan dumbbell.loss_percent=0 dumbbell.rtt_ms=10 cubic on sim, seed 1",
                "plan dumbbell.loss_percent=0 dumbbell.rtt_ms=40 reno on sim, seed 1",
                "plan dumbbell.loss_percent=1.5 dumbbell.rtt_ms=10 reno on sim, seed 1",
            ]
        );
        let keys: std::collections::BTreeSet<String> = cells.iter().map(Cell::key).collect();
        assert_eq!(keys.len(), cells.len());
        assert!((0..plan.count()).all(|number| plan.cell(number) == cells[number]));
        let shares = [1, 2, 3].map(|number| Share::new(number, 3).unwrap().count(&plan));
        assert_eq!(shares, [12, 12, 12]);
        assert_eq!([1, 2, 5].map(|number| Share::new(number, 5).unwrap().count(&plan)), [8, 7, 7]);
    }

    #[test]
    fn controllers_seeds_and_scenarios_are_what_a_user_types() {
        let text = "scenario = [\"clean-link\", \"random-loss\"]\nseeds = [7, 9]\nstacks = \"quinn\"\n\
                controllers = [\"native:cubic\", { name = \"copa\", delta = [0.1, 0.5], iw = 4 }, \"reno:iw=3\"]";
        let plan = Plan::parse("p", text).unwrap();
        assert_eq!(plan.controllers, ["native:cubic", "copa:delta=0.1,iw=4", "copa:delta=0.5,iw=4", "reno:iw=3"]);
        assert_eq!(
            (plan.seeds.as_slice(), plan.stacks.as_slice(), plan.count()),
            (&[7, 9][..], &["quinn".to_owned()][..], 16)
        );
        assert_eq!(plan.scenario_name(plan.settings(15).scenario), "random-loss");
        let plain = Plan::parse("p", "scenario = \"clean-link\"").unwrap();
        let cell = plain.cell(0);
        assert_eq!((cell.controller.as_str(), cell.stack.as_str(), cell.seed, plain.count()), ("", "sim", 1, 1));
    }

    #[test]
    fn mistakes_name_the_line_the_value_and_what_was_expected() {
        for (rest, expected) in [
            ("seeds = 0", "plans/plan.toml:1: seeds is 0; expected how many there are"),
            ("\nseeds = [1, -1]", "plan.toml:2: seeds is [1, -1]; expected"),
            ("seeds = [3, 3]", "seeds has 3 twice"),
            ("stacks = [\"sim\", \"quin\"]", "stacks has \"quin\"; expected some of sim, quinn, noq"),
            ("controllers = [\"renno\"]", "controllers: "),
            ("controllers = [\"copa:delta=x\"]", "controllers: copa"),
            ("controllers = [{ delta = 1 }]", "without a name; expected names, such as"),
            ("controllers = []", "controllers is empty"),
            ("sedes = 3", "a plan has no key sedes; expected one of scenario, controllers, stacks, seeds, axes"),
            ("seeds = ", "plan.toml:1: not valid TOML"),
            ("axes = { \"dumbbell.rtt_ms\" = 3 }", "plan.toml:1: axis dumbbell.rtt_ms is 3; expected a list of values"),
            ("axes = { \"dumbbell.rtt_ms\" = [3, 3] }", "axis dumbbell.rtt_ms has 3 twice"),
            ("axes = { seed = [3] }", "axis seed: expected seeds ="),
            (
                "axes = { \"link.rate_mbps\" = [3] }",
                "the scenario has no link; expected one of its tables: dumbbell, flow",
            ),
            (
                "\naxes.dumbbell.rate_mpbs = [3, 4]",
                "plan.toml:2: axis dumbbell.rate_mpbs: [dumbbell] has no key rate_mpbs (did you mean rate_mbps?)",
            ),
            (
                "axes = { \"duration\" = [3] }",
                "axis duration: the scenario has no key duration (did you mean duration_s?)",
            ),
            ("axes = { dumbbell.queue = [\"red\", \"codel\"], dumbbell.queue.kind = [\"red\"] }", "not valid TOML"),
            (
                "axes = { \"dumbbell\" = [1, 2], \"dumbbell.rtt_ms\" = [1, 2] }",
                "axis dumbbell: dumbbell.rtt_ms is a part of it",
            ),
            (
                "seeds = 1000000\naxes = { \"dumbbell.rtt_ms\" = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }",
                "the plan has 11 × 1 × 1 × 1 × 1000000 cells; expected at most 10000000",
            ),
        ] {
            let error =
                Plan::parse("plans/plan.toml", &format!("{rest}\n{BASE}")).map(|_| rest).unwrap_err().to_string();
            assert!(error.contains(expected), "{rest}: {error}");
        }
        for (text, expected) in [
            ("seeds = 3", "the plan has no scenario; expected the name of a scenario"),
            (
                "scenario = \"clean-lnk\"",
                "scenario \"clean-lnk\": there is no file clean-lnk; expected one, or one of clean-link",
            ),
            ("scenario = [\"clean-link\", \"clean-link\"]", "scenario has clean-link twice"),
            ("[scenario]\nduration_s = 1", "[scenario]: the scenario has no network"),
        ] {
            let error = Plan::parse("p", text).map(|_| text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    /// A key that one value of another axis has is no mistake: where it does not fit the cell fails.
    #[test]
    fn a_key_that_is_known_in_some_cells_is_known() {
        let text = "controllers = \"reno\"\naxes = { \"dumbbell.queue.kind\" = [\"drop-tail\", \"codel\"], \"dumbbell.queue.target_ms\" = [5, 20] }";
        let plan = plan(text);
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert!(run(&plan, &store, Share::WHOLE, &cores(2), &After::all()).failure.is_none());
        let status = status(&plan, &store, Share::WHOLE);
        assert_eq!((status.cells, status.done, status.failed), (4, 2, 2), "{status:?}");
    }

    fn collected(plan: &Plan, dir: &Path) -> (Collected, [String; 3]) {
        let out = dir.join("collected");
        let collected = collect(plan, &Store::open(dir).unwrap(), &out).unwrap();
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        (collected, ["runs.csv", "flows.csv", "queues.csv"].map(read))
    }

    #[test]
    fn a_sweep_that_is_stopped_anywhere_collects_what_one_that_is_not_does() {
        let plan = plan(THREE_BY_TWO);
        let whole = tempfile::tempdir().unwrap();
        let done = run(&plan, &Store::open(whole.path()).unwrap(), Share::WHOLE, &cores(0), &After::all());
        assert_eq!((done.tally.made, done.tally.cells, done.failure.is_none()), (36, 36, true));
        assert!(done.tally.packets > 0 && done.tally.cpu_s > 0.0);

        let parts = tempfile::tempdir().unwrap();
        let store = Store::open(parts.path()).unwrap();
        let mut made = 0;
        for cells in [1, 5, 2, 7] {
            let done = run(&plan, &store, Share::WHOLE, &cores(1), &After(AtomicUsize::new(cells)));
            assert!(matches!(done.failure, Some(Failure::Stopped)));
            made += done.tally.made;
        }
        assert_eq!(made, 15);
        let so_far = status(&plan, &store, Share::WHOLE);
        assert_eq!((so_far.done, so_far.missing.len(), so_far.is_guess), (15, 21, false));
        assert!(so_far.left_s > 0.0);
        assert_eq!(collected(&plan, parts.path()).0.missing, 21);
        // Then by three processes, one of which does what another did.
        for number in [1, 2, 2, 3] {
            made += run(&plan, &store, Share::new(number, 3).unwrap(), &cores(2), &After::all()).tally.made;
        }
        assert_eq!(made, 36);
        let ((one, files), (other, others)) = (collected(&plan, whole.path()), collected(&plan, parts.path()));
        assert_eq!(one, other);
        assert_eq!(files, others);
        let lines: Vec<&str> = files[0].lines().collect();
        assert!(
            lines[0].starts_with(
                "cell,dumbbell.loss_percent,dumbbell.rtt_ms,seed,scenario,controller,stack,status,reason,"
            )
        );
        assert!(lines[13].starts_with("13,1.5,10,1,plan,reno,sim,done,,"), "{}", lines[13]);
        assert_eq!((lines.len(), one.groups.len()), (37, 12));
        let group = &one.groups[4];
        assert_eq!((group.first, group.done, group.failed), (12, 3, 0));
        let rates: Vec<f64> =
            lines[13..16].iter().map(|line| line.split(',').nth(10).unwrap().parse().unwrap()).collect();
        let (mean, half) = group.means[0].unwrap();
        assert!((mean - rates.iter().sum::<f64>() / 3.0).abs() < 1e-9, "{mean} of {rates:?}");
        assert!(half.unwrap() > 0.0);
    }

    /// What fails is a result that says why, is not run again unless it is forgotten, and stops no other.
    #[test]
    fn a_cell_that_fails_is_a_result() {
        let plan = plan("controllers = [\"reno\", \"native:cubic\"]\naxes = { \"dumbbell.rtt_ms\" = [20, -1] }");
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let first = run(&plan, &store, Share::WHOLE, &cores(1), &After::all()).tally;
        let again = run(&plan, &store, Share::WHOLE, &cores(1), &After::all()).tally;
        assert_eq!((first.made, again.made, again.kept), (4, 0, 4));
        let status = status(&plan, &store, Share::WHOLE);
        assert_eq!((status.done, status.failed, status.missing.len()), (1, 3, 0));
        let told =
            |text: &str| status.reasons.iter().find(|(reason, _)| reason.contains(text)).map(|(_, count)| *count);
        assert_eq!(told("rtt_ms is -1; expected a number above 0"), Some((2, 2)), "{status:?}");
        assert_eq!(told("sim has no controller \"cubic\" of its own"), Some((1, 1)), "{status:?}");
        let (collected, files) = collected(&plan, dir.path());
        assert_eq!((collected.done, collected.failed, collected.missing), (1, 3, 0));
        assert!(files[0].lines().nth(3).unwrap().starts_with("3,-1,1,plan,reno,sim,failed,"));
        assert_eq!(collected.groups[3].means, vec![None; MEASURES.len()]);

        assert_eq!(forget_failed(&plan, &store, Share::new(4, 4).unwrap()).unwrap(), 1);
        assert_eq!(run(&plan, &store, Share::WHOLE, &cores(1), &After::all()).tally.made, 1);
        assert_eq!(forget_failed(&plan, &store, Share::WHOLE).unwrap(), 3);
        assert_eq!(run(&plan, &store, Share::WHOLE, &cores(1), &After::all()).tally.made, 3);
    }

    #[test]
    fn shares_are_read_and_named() {
        assert_eq!(Share::parse("2/8"), Share::new(2, 8));
        for wrong in ["0/3", "4/3", "3", "a/b", "1/0"] {
            assert!(Share::parse(wrong).unwrap_err().contains("expected I/N"), "{wrong}");
        }
        let status = Status { missing: vec![0, 8, 9, 3], ..Status::default() };
        assert_eq!(status.shares(8), [1, 2, 4]);
    }
}
