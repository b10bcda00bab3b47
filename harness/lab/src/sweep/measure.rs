//! One cell, and what is read off it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use windlass_stacks::stack::Runner;

use crate::evaluation::{Job, Source, execute};
use crate::grid::{Cell, Failure, Reading};
use crate::results::{Run, Status};

/// Runs `cell`. `stop` gets the part of the run that is done, 0 to 1, and returns whether to give up. The result has no
/// time series.
///
/// # Errors
/// Stopped. Whatever else goes wrong, a panic among it, is part of what is read.
pub fn measure(cell: &Cell, stop: &dyn Fn(f64) -> bool) -> Result<Reading<Run>, Failure> {
    let failed = |reason: String| Run::without_results("", &cell.controller, &cell.stack, Status::Failed, reason);
    let source = Source { name: String::new(), file: cell.file.clone(), text: cell.scenario.clone() };
    let controller = Some(cell.controller.as_str()).filter(|name| !name.is_empty());
    let run = match Runner::named(&cell.stack) {
        None => failed(format!("there is no stack {:?}", cell.stack)),
        Some(stack) => {
            let job = Job { source: &source, controller, stack, seed: Some(cell.seed), threads: 1 };
            match catch_unwind(AssertUnwindSafe(|| execute(&job, None, stop))) {
                Ok(run) => run.map_err(|_| Failure::Stopped)?,
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                    failed(format!("it panicked: {text}"))
                }
            }
        }
    };
    let packets = run.flows.iter().map(|flow| flow.packets_sent).sum();
    let read = Run { scenario: String::new(), ..run };
    Ok(Reading { read: without_series(read), packets })
}

fn without_series(mut run: Run) -> Run {
    run.flows.iter_mut().for_each(|flow| flow.series = Default::default());
    run.queues.iter_mut().for_each(|queue| queue.series = Default::default());
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(stack: &str) -> Cell {
        Cell {
            name: "one".to_owned(),
            scenario: "duration_s = 0.3\n[dumbbell]\nrate_mbps = 2\nrtt_ms = 20\n[[flow]]\ncontroller = \"under-test\""
                .to_owned(),
            file: "plan.toml".to_owned(),
            controller: "reno".to_owned(),
            stack: stack.to_owned(),
            seed: 1,
            reads: String::new(),
            work: 1,
        }
    }

    #[test]
    fn what_goes_wrong_is_read_and_a_stop_is_none_of_it() {
        let run = |stack: &str, stop: &dyn Fn(f64) -> bool| measure(&cell(stack), stop).map(|reading| reading.read);
        let done = run("sim", &|_| false).unwrap();
        assert_eq!((done.status, done.flows.len(), done.flows[0].series.time_s.len()), (Status::Done, 1, 0));
        for (stack, stop, reason) in [
            ("sim", (|_| panic!("of the stack's making")) as fn(f64) -> bool, "it panicked: of the stack's making"),
            ("none", |_| false, "there is no stack \"none\""),
        ] {
            let run = run(stack, &stop).unwrap();
            assert_eq!((run.status, run.reason.as_deref()), (Status::Failed, Some(reason)));
        }
        assert!(matches!(run("sim", &|_| true), Err(Failure::Stopped)));
    }
}
