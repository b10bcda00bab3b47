//! Regimes: controllers over a wide grid of paths, each run held against bounds from theory.
//!
//! A [`Regime`] is a value on each of six [axes](AXES): rate, RTT, buffer, flows, path, packet size. A [`Plan`] is the
//! regimes that are run: a [cover](cover()) of all pairs of values, and the cross of the axes where a run is cheap.
//! [`measure`] runs one and reads it off; [`judge`] holds what was read against [bounds](Bound), each with its source.
//! Reno's run in the same regime is what several bounds compare with. [`Results`] are those of all controllers, and
//! [`table`] their table.

mod bounds;
mod judge;
mod known_limits;
mod measure;
mod plan;
mod regime;

use crate::results::Table;

pub use bounds::{Bound, Kind, bounds};
pub use judge::{Assessment, Broken, Judged, judge};
pub use known_limits::{KnownLimit, known_limits};
pub use measure::{Measured, measure};
pub use plan::{Case, Effort, Plan, REFERENCE, cover};
pub use regime::{AXES, Axis, Path, Regime};

/// A controller on a stack.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The controller as a user types it.
    pub controller: String,
    /// The stack; `sim` is the simulator.
    pub stack: String,
    /// Each regime with what was read off, and its assessment.
    pub judged: Vec<((Case, Option<Measured>), Judged)>,
}

/// Results of `windlass regimes`.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// By stack and controller.
    pub rows: Vec<Row>,
}

/// A line for each run.
#[must_use]
pub fn table(results: &Results) -> Table {
    type Line<'a> = (&'a Row, &'a Case, Option<&'a Measured>, &'a Judged);
    let lines: Vec<Line<'_>> = results
        .rows
        .iter()
        .flat_map(|row| row.judged.iter().map(move |((case, read), judged)| (row, case, read.as_ref(), judged)))
        .collect();
    let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut table = Table::new("regimes")
        .text("controller", lines.iter().map(|line| word(&line.0.controller)))
        .text("stack", lines.iter().map(|line| word(&line.0.stack)));
    for (number, axis) in AXES.iter().enumerate() {
        table = table.text(axis.name, lines.iter().map(|line| word(line.1.regime.word(number))));
    }
    let number = |read: fn(&Measured) -> Option<f64>| lines.iter().map(move |line| line.2.and_then(read));
    let broken = |judged: &Judged| judged.broken.iter().map(|one| one.kind.name()).collect::<Vec<_>>().join(" ");
    table = table
        .text("assessment", lines.iter().map(|line| word(line.3.assessment.name())))
        .text("outside_by", lines.iter().map(|line| word(&broken(line.3))))
        .text("reason", lines.iter().map(|line| word(&line.3.reason)))
        .number("duration_s", lines.iter().map(|line| line.1.duration.clone().ok()))
        .number("bdp_packets", lines.iter().map(|line| Some(line.1.regime.bdp())))
        .count("buffer_packets", lines.iter().map(|line| Some(line.1.regime.buffer())));
    for kind in Kind::ALL {
        let value = lines.iter().map(|line| line.2.and_then(|read| read.value(kind)));
        table = table.number(kind.name(), value);
        let limit = |line: &Line<'_>| line.3.bounds.iter().find(|bound| bound.kind == kind).map(|bound| bound.limit);
        table = table.number(kind.bound_name(), lines.iter().map(limit));
    }
    table
        .count(
            "sent",
            lines.iter().map(|line| {
                line.2.and_then(|read| match read {
                    Measured::Run { sent, .. } => Some(*sent),
                    _ => None,
                })
            }),
        )
        .number(
            "until_s",
            number(|read| match read {
                Measured::Run { until_s, .. } => Some(*until_s),
                _ => None,
            }),
        )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::grid::Reading;

    use windlass_controllers::Algorithm;
    use windlass_simulator::scenario::Scenario;

    fn regime(text: &str) -> Regime {
        Regime(Regime::parse(text).unwrap().map(|value| value.expect("all six are named")))
    }

    fn run(controller: &str, text: &str) -> Measured {
        let case = regime(text).case(Effort::Quick);
        let cell = case.cell(controller, "sim").unwrap_or_else(|| panic!("{:?}", case.duration));
        let Reading { read, .. } = measure(&cell, &case.regime, &|_| false).unwrap();
        read
    }

    fn assessment(controller: &str, text: &str) -> Judged {
        let (own, reference) = (run(controller, text), run(REFERENCE, text));
        judge((controller, "sim"), &regime(text).case(Effort::Quick), Some(&own), Some(&reference))
    }

    #[test]
    fn a_regime_is_read_as_it_is_written() {
        for one in Regime::all() {
            assert_eq!(Regime::parse(&one.to_string()).unwrap(), one.0.map(Some));
        }
        assert_eq!(Regime::all().count(), 6 * 5 * 5 * 10 * 9 * 3);
        assert!(
            regime("rate=1G,rtt=1ms,buffer=1,flows=1,path=clean,mtu=1500").fits(&Regime::parse("rtt=1ms").unwrap())
        );
        for (text, expected) in [
            ("rate", "\"rate\" is not axis=value"),
            ("speed=1G", "unknown axis \"speed\"; expected rate, rtt"),
            ("rate=2G", "rate cannot be \"2G\"; expected 64k, 1M"),
        ] {
            assert!(Regime::parse(text).unwrap_err().starts_with(expected), "{text}");
        }
    }

    /// Every scenario is sound and says what the regime does.
    #[test]
    fn every_case_is_a_scenario() {
        for case in Plan::new(Effort::Full, &[None; 6]).cases {
            let Ok(duration) = case.duration else { continue };
            let text = case.regime.scenario(duration);
            let scenario =
                Scenario::read("case", &text, Some("reno")).unwrap_or_else(|error| panic!("{text}\n{error}"));
            assert_eq!(scenario.flows.len(), case.regime.flows() as usize);
            let link = &scenario.topology.links[0];
            assert_eq!(link.rate, case.regime.rate());
            assert!((duration / case.regime.packet_time()) < 1.001 * Effort::Full.packets(), "{}", case.regime);
            assert!(duration > case.regime.last_start() + 29.0 * case.regime.rtt(), "{}", case.regime);
        }
    }

    #[test]
    fn what_does_not_fit_says_so() {
        let case = regime("rate=100G,rtt=2s,buffer=1,flows=1,path=clean,mtu=9000").case(Effort::Full);
        let reason = case.duration.clone().unwrap_err();
        assert!(reason.contains("30 round trips") && reason.ends_with("a run has 1200 thousand"), "{reason}");
        let judged = judge(("reno", "sim"), &case, None, None);
        assert_eq!((judged.assessment, judged.reason), (Assessment::NotRun, reason));
        assert_eq!(case.cell("reno", "sim"), None);
    }

    /// The short plans cover every pair of values that some run of it could have; the full one has every rate, RTT and buffer.
    #[test]
    fn plans_cover_what_they_say() {
        let pairs = |regimes: &mut dyn Iterator<Item = Regime>| -> BTreeSet<(usize, u8, usize, u8)> {
            let of = |one: Regime| (0..6).flat_map(move |a| (a + 1..6).map(move |b| (a, one.0[a], b, one.0[b])));
            regimes.flat_map(of).collect()
        };
        for effort in [Effort::Brief, Effort::Quick] {
            let plan = Plan::new(effort, &[None; 6]);
            let fits = |regime: &Regime| regime.case(effort).duration.is_ok();
            let run = pairs(&mut plan.cases.iter().filter(|case| case.duration.is_ok()).map(|case| case.regime));
            assert_eq!(run, pairs(&mut Regime::all().filter(fits)));
            let corners: BTreeSet<[u8; 2]> =
                plan.cases.iter().map(|case| [case.regime.0[0], case.regime.0[1]]).collect();
            assert_eq!(corners.len(), 30, "a rate and an RTT are run or said not to be");
        }
        let full = Plan::new(Effort::Full, &[None; 6]);
        let map: BTreeSet<[u8; 3]> =
            full.cases.iter().map(|case| [case.regime.0[0], case.regime.0[1], case.regime.0[2]]).collect();
        assert_eq!(map.len(), 150);
        let only = Plan::new(Effort::Full, &Regime::parse("rate=20M,flows=1").unwrap());
        assert!(!only.cases.is_empty() && only.cases.iter().all(|case| full.cases.contains(case)));
        let one = regime("rate=20M,rtt=50ms,buffer=0.1,flows=100@1s,path=ack64,mtu=9000");
        assert_eq!(Plan::new(Effort::Quick, &one.0.map(Some)).cases, [one.case(Effort::Quick)]);
    }

    /// Reno keeps every bound where theory says what it does, and the bounds are not met by standing still.
    #[test]
    fn reno_is_inside_where_theory_speaks_of_it() {
        for text in [
            "rate=20M,rtt=50ms,buffer=1,flows=1,path=clean,mtu=1200",
            "rate=20M,rtt=50ms,buffer=0,flows=1,path=clean,mtu=1200",
            "rate=20M,rtt=50ms,buffer=10,flows=2,path=loss1,mtu=1500",
            "rate=1M,rtt=600ms,buffer=1,flows=10@20ms,path=ack10,mtu=1200",
            "rate=64k,rtt=2s,buffer=10,flows=1,path=jitter,mtu=1200",
        ] {
            let judged = assessment("reno", text);
            assert_eq!(judged.assessment, Assessment::Inside, "{text}: {judged:?}");
            assert!(judged.bounds.iter().any(|bound| bound.kind == Kind::Utilisation && bound.limit > 0.02), "{text}");
        }
    }

    /// The mutant: Copa as its paper has it heeds no loss. Where no queue can form it sends without end, a run of it is
    /// ended, and every such regime lights up, alone on a slow link too.
    #[test]
    fn copa_without_a_backstop_lights_up() {
        for text in [
            "rate=20M,rtt=50ms,buffer=0,flows=1,path=clean,mtu=1200",
            "rate=64k,rtt=50ms,buffer=4p,flows=1,path=clean,mtu=1200",
            "rate=20M,rtt=50ms,buffer=1,flows=100,path=clean,mtu=1200",
        ] {
            let judged = assessment("copa:profile=paper", text);
            assert_eq!(judged.assessment, Assessment::Outside, "{text}: {judged:?}");
            assert!(judged.broken.iter().any(|broken| broken.kind == Kind::Loss), "{text}: {judged:?}");
        }
        let Measured::Run { ended: Some(ended), sent, .. } =
            run("copa:profile=paper", "rate=20M,rtt=50ms,buffer=0,flows=1,path=clean,mtu=1200")
        else {
            panic!("it is not ended")
        };
        assert!(ended.contains("packets were sent where") && sent < 200_000, "{ended}");
    }

    /// Equal cells read the same to the bit.
    #[test]
    fn a_run_repeats() {
        let text = "rate=1M,rtt=50ms,buffer=1,flows=2@20ms,path=reordering,mtu=1200";
        assert_eq!(run("cubic", text), run("cubic", text));
    }

    /// A stack that cannot run a controller says so.
    #[test]
    fn what_a_stack_lacks_is_not_run() {
        let case = regime("rate=20M,rtt=50ms,buffer=1,flows=1,path=clean,mtu=1200").case(Effort::Quick);
        let cell = case.cell("rapid", "quinn").unwrap();
        let read = measure(&cell, &case.regime, &|_| false).unwrap().read;
        let judged = judge(("rapid", "quinn"), &case, Some(&read), None);
        assert_eq!(judged.assessment, Assessment::NotRun);
        assert!(judged.reason.contains("quinn"), "{}", judged.reason);
        assert_eq!(judge(("rapid", "quinn"), &case, None, None).reason, "it is not done yet");
    }

    /// Each stands in the *Known limits* of the pages of its controllers.
    #[test]
    fn known_limits_stand_in_the_pages() {
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for limit in known_limits() {
            for name in limit.controllers {
                let name = name.split('@').next().expect("a first part");
                let entry = Algorithm::ALL.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("{name}"));
                let (_, limits) =
                    entry.page.split_once("## Known limits").unwrap_or_else(|| panic!("{name}: no limits"));
                assert!(joined(limits).contains(&joined(limit.says)), "{name}: {}", limit.says);
            }
        }
    }
}
