//! Which controller for which use: a recommendation that follows from results by stated criteria.
//!
//! The results are tables that other commands write: `harm.csv` of [harm](crate::harm) and `rfc9743.csv` of [RFC 9743](crate::rfc9743);
//! [`Evidence`] reads them. A [`Use`] has [`Requirement`]s, which a controller meets or does not, and one [`Measure`] by which those that do
//! are ranked. [`choose`] gives the ranking and says why the others are out.

mod choice;
mod evidence;
mod uses;

pub use choice::{Choice, Needs, Ranked, choose};
pub use evidence::Evidence;
pub use uses::{Measure, Requirement, USES, Use};

#[cfg(test)]
mod tests {
    use super::*;

    const HARM: &str = "stack,measure,rate_mbps,buffer_bdp,queue,to,reno,cubic,greedy,shy\n\
    sim,goodput,8,1,tail-drop,reno,0.5,0.6,0.9,0.1\n\
    sim,goodput,8,1,tail-drop,cubic,0.4,0.5,0.8,0.2\n\
    sim,goodput,8,1,tail-drop,shy,0.9,0.9,0.9,0.5\n\
    sim,goodput,8,1,fq-codel,reno,0.5,0.5,0.5,0.5\n\
    sim,goodput,8,1,fq-codel,cubic,0.5,0.5,0.5,0.5\n\
    sim,goodput,8,1,fq-codel,shy,0.5,0.5,0.5,0.5\n\
    sim,delay,8,1,tail-drop,reno,9,9,9,9\n";

    /// Answers of each controller: its goodput on every path, and whether they are met.
    fn answers(goodput: &[(&str, f64, &str)]) -> String {
        let mut text = "controller,stack,criterion,path,assessment,value,unit,reason\n".to_owned();
        for (controller, value, word) in goodput {
            for path in ["tail-drop", "shallow", "deep", "wireless", "reordering", "route-change"] {
                text.push_str(&format!("{controller},sim,goodput,{path},{word},{value},Mbit/s,\"a, b\"\n"));
                text.push_str(&format!("{controller},sim,loss,{path},met,0,,\n"));
                text.push_str(&format!("{controller},quinn,goodput,{path},not met,0,,\n"));
            }
        }
        text
    }

    const BULK: &Use = &USES[0];

    fn evidence() -> Evidence {
        let answers =
            answers(&[("reno", 10.0, "met"), ("cubic", 16.0, "met"), ("greedy", 20.0, "met"), ("shy", 8.0, "not met")]);
        Evidence::of(HARM, &answers).unwrap()
    }

    #[test]
    fn the_best_of_those_that_meet_all_that_is_asked_comes_first() {
        let choice = choose(&evidence(), BULK, Needs::default(), &|_| None);
        let names: Vec<&str> = choice.ranked.iter().map(|one| one.controller.as_str()).collect();
        assert_eq!(names, ["cubic", "reno"]);
        assert_eq!(choice.ranked[0].score, 1.0);
        assert!((choice.ranked[1].score - 10.0 / 16.0).abs() < 1e-3);
        assert_eq!(choice.ranked[0].numbers[0], "tail-drop 16.0 Mbit/s");
        let out: Vec<&[String]> = choice.out.values().map(Vec::as_slice).collect();
        assert_eq!(out, [["shy".to_owned()], ["greedy".to_owned()]]);
    }

    #[test]
    fn behind_fair_queues_harm_elsewhere_does_not_count() {
        let choice = choose(&evidence(), BULK, Needs { fq: true, ecn: false }, &|_| None);
        assert_eq!(choice.ranked[0].controller, "greedy");
    }

    #[test]
    fn what_cannot_run_is_out_whatever_it_measured() {
        let choice = choose(&evidence(), BULK, Needs::default(), &|name| (name == "cubic").then(|| "no".to_owned()));
        assert_eq!(choice.ranked[0].controller, "reno");
        assert_eq!(choice.out["no"], ["cubic"]);
    }

    #[test]
    fn a_background_transfer_takes_the_least() {
        let uses = Use::named("background").unwrap();
        let choice = choose(&evidence(), uses, Needs::default(), &|_| None);
        assert_eq!(choice.ranked.len(), 1, "reno; shy does not fill a path, and the others take too much");
        let answers = answers(&[("reno", 10.0, "met"), ("shy", 9.0, "undecided")]);
        let choice = choose(&Evidence::of(HARM, &answers).unwrap(), uses, Needs::default(), &|_| None);
        assert_eq!(choice.ranked[0].controller, "reno");
        assert_eq!((choice.ranked[0].score, choice.ranked.len()), (0.5, 2));
        assert_eq!(choice.ranked[1].numbers, ["of reno 50 %", "of cubic 50 %"], "at its worst, behind FQ-CoDel");
    }

    #[test]
    fn tables_that_are_none_are_named() {
        for (harm, answers, expected) in [
            ("a,b\n", "", "harm.csv line 1: a,b; expected stack,measure"),
            (HARM, "controller,stack\n", "rfc9743.csv line 1 has no column criterion"),
            (&HARM.replace("0.9,0.1", "much,0.1"), "", "harm.csv line 2: greedy is \"much\"; expected a number"),
            (HARM, &self::answers(&[("other", 1.0, "met")]), "no controller is in both"),
        ] {
            let error = Evidence::of(harm, answers).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let missing = Evidence::read(std::path::Path::new("/nowhere")).unwrap_err();
        assert!(
            missing.starts_with("/nowhere/harm.csv: ") && missing.ends_with("`windlass harm` writes it"),
            "{missing}"
        );
    }

    #[test]
    fn every_use_asks_for_criteria_and_paths_that_there_are() {
        let known = |criterion: &str, paths: &[&str]| {
            assert!(crate::rfc9743::CRITERIA.iter().any(|one| one.name == criterion), "{criterion}");
            paths.iter().for_each(|path| assert!(crate::rfc9743::Path::named(path).is_some(), "{path}"));
        };
        for (requirements, measure) in USES.iter().flat_map(|one| [false, true].map(|ecn| one.asks(ecn))) {
            for requirement in requirements {
                if let Requirement::Meets(criterion, paths) = requirement {
                    known(criterion, paths);
                }
            }
            if let Measure::Most(criterion, paths) | Measure::Least(criterion, paths) = measure {
                known(criterion, paths);
            }
        }
    }
}
