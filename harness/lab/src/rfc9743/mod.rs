//! RFC 9743: the criteria by which a new congestion controller is evaluated, as experiments.
//!
//! A [`Question`] is a [`Criterion`] (§5, and special cases of §7) on a [`Path`] type (§6, §7). It needs runs of a few
//! [`Mix`]es of flows, of the controller and of the standards that bound it, each with several seeds; [`measure`] carries one
//! out. Its [`Answer`] holds the number over the seeds against a limit with a source: the RFC gives no thresholds, and asks
//! whether a controller does more harm than previous standards do (§5.2), so that most limits are what Reno and CUBIC do in the
//! same place. What nothing bounds is shown.

mod criterion;
mod judge;
mod measure;
mod mix;
mod path;
mod table;

pub use criterion::{CRITERIA, Criterion, Limit, NOT_APPLICABLE};
pub use judge::{Answer, Assessment, Effort, Key, Question, Read, questions};
pub use measure::{Measured, Numbers, measure};
pub use mix::{Mix, OVERLOAD_FLOWS, Rival, SEVERAL, STANDARDS};
pub use path::{PATHS, Path};
pub use table::{Results, Row, shown, table};

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use windlass_simulator::scenario::Scenario;

    /// RFC 9743's sections with something to evaluate.
    const SECTIONS: [&str; 25] = [
        "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2.1", "5.2.2", "5.2.3", "5.3.1", "5.3.2", "6.1", "6.2", "6.3",
        "6.4", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11",
    ];

    #[test]
    fn every_section_is_asked_or_has_its_reason() {
        let listed = |text: &'static str| text.split(", ");
        let asked: BTreeSet<&str> = CRITERIA.iter().flat_map(|criterion| listed(criterion.section)).collect();
        let run: BTreeSet<&str> =
            PATHS.iter().filter(|path| path.quick).flat_map(|path| listed(path.section)).collect();
        for section in SECTIONS {
            let reason = NOT_APPLICABLE.iter().any(|(one, ..)| *one == section);
            assert!(asked.contains(section) || run.contains(section) || reason, "{section}");
        }
    }

    #[test]
    fn every_run_is_a_scenario() {
        for question in questions(&PATHS.each_ref(), &CRITERIA.each_ref()) {
            for (_, cell) in question.cells("nf-tcp", "sim", Effort::Full) {
                let read = Scenario::read(&cell.name, &cell.scenario, Some(&cell.controller));
                read.unwrap_or_else(|error| panic!("{}: {error}\n{}", cell.name, cell.scenario));
            }
        }
    }

    /// The answers of `controller` on these paths to these criteria.
    fn answers(
        controller: &str,
        paths: &[&str],
        criteria: &[&str],
    ) -> HashMap<(&'static str, &'static str), Assessment> {
        let paths: Vec<&Path> = paths.iter().map(|name| Path::named(name).unwrap()).collect();
        let criteria: Vec<&Criterion> = criteria.iter().map(|name| Criterion::named(name).unwrap()).collect();
        let questions = questions(&paths, &criteria);
        let mut read = Read::new();
        for question in &questions {
            for (key, cell) in question.cells(controller, "sim", Effort::Quick) {
                read.entry(key)
                    .or_insert_with(|| measure(&cell, question.path.packet_time(), &|_| false).unwrap().read);
            }
        }
        let of = |question: &Question| {
            let answer = question.answer(controller, &read, Effort::Quick);
            println!("{controller} {} {}: {}", question.criterion.name, question.path.name, answer.text(question));
            ((question.criterion.name, question.path.name), answer.assessment)
        };
        questions.iter().map(of).collect()
    }

    /// Rows of a controller that gives up a hundredth of its window where CUBIC gives up three tenths: it keeps the queue
    /// full, and late flows starve.
    #[test]
    fn a_cubic_that_hardly_backs_off_fails() {
        let (paths, criteria) =
            (["tail-drop"], ["queue", "fairness", "reno-goodput", "cubic-goodput", "outage", "goodput"]);
        let mutated = answers("cubic:beta=0.99", &paths, &criteria);
        let plain = answers("cubic", &paths, &criteria);
        for name in ["queue", "fairness", "cubic-goodput"] {
            assert_eq!(mutated[&(name, "tail-drop")], Assessment::NotMet, "{name}");
        }
        for name in ["outage", "goodput"] {
            assert_eq!(mutated[&(name, "tail-drop")], Assessment::Met, "{name}: what it does not break");
        }
        assert!(plain.values().all(|answer| *answer == Assessment::Met), "{plain:?}");
    }

    /// A BBR that ignores loss is BBRv1 as RFC 9743 §5.1.3 has it: several flows before a small buffer lose for good.
    #[test]
    fn a_bbr_that_ignores_loss_fails() {
        let (paths, criteria) = (["shallow"], ["loss-of-several", "cubic-goodput", "circuit-breaker", "outage"]);
        let mutated = answers("bbr:loss_threshold=1,beta=1", &paths, &criteria);
        for name in ["loss-of-several", "cubic-goodput", "circuit-breaker"] {
            assert_eq!(mutated[&(name, "shallow")], Assessment::NotMet, "{name}");
        }
        assert_eq!(mutated[&("outage", "shallow")], Assessment::Met);
        let plain = answers("cubic", &paths, &criteria);
        assert!(plain.values().all(|answer| *answer == Assessment::Met), "{plain:?}");
        assert_eq!(
            answers("bbr", &["shallow"], &["loss-of-several"])[&("loss-of-several", "shallow")],
            Assessment::Met
        );
    }

    #[test]
    fn what_cannot_be_run_says_why() {
        let native = answers("native:cubic", &["tail-drop"], &["queue"]);
        assert_eq!(native[&("queue", "tail-drop")], Assessment::NotRun);
    }

    #[test]
    fn a_receiver_that_conceals_losses_has_no_limit() {
        let found = answers("reno", &["tail-drop"], &["divided-acks", "optimistic-acks"]);
        assert_eq!(found[&("divided-acks", "tail-drop")], Assessment::Met);
        assert_eq!(found[&("optimistic-acks", "tail-drop")], Assessment::Shown);
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([0.0, 0.012_345, 1.0, 23.456, 12_345.6].map(shown), ["0", "0.0123", "1.00", "23.5", "12346"]);
    }
}
