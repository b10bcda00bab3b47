//! Start-up: what the first round trips of a flow cost, and what they bring, by scheme, link, buffer and RTT.
//!
//! A [`Scheme`] is a controller, and whether its flows [resume](windlass_controllers::parts::careful_resume) a known path.
//! [`Question`]s are what is asked of each on each [`Place`]: how long a flow takes to fill the path and what it loses, and
//! how long transfers of four sizes take, each alone and beside a flow that was there before. [`measure`] runs one. On real
//! sockets, where no run repeats, the first is asked again and again, by turns, and [`Spread`]s are what is known then.

mod measure;
mod plan;
mod table;
mod turns;

pub use measure::{Measured, measure};
pub use plan::{BUFFERS, Link, Place, Question, RATE_MBPS, RTTS_MS, SIZES, Scheme};
pub use table::{Results, Row, table};
pub use turns::{Spread, Turns};

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_simulator::outcome::{FlowOutcome, FlowSeries, Outcome};
    use windlass_simulator::scenario::Scenario;

    const PLACE: Place = Place { link: Link::Steady, rate_mbps: RATE_MBPS, rtt_ms: 100, buffer_bdp: 1.0 };
    const SOLO: Question = Question::FILL;

    fn run(text: &str, question: Question) -> Measured {
        let (scheme, place) = (Scheme::read(text), PLACE);
        measure(&question.cell(&place, &scheme, "sim", 1), &place, &question, &|_| false).unwrap().read
    }

    #[test]
    fn a_scheme_is_a_controller_that_may_resume() {
        let plain = Scheme::read("cubic:slow_start=search");
        assert_eq!((plain.controller.as_str(), plain.resumes), ("cubic:slow_start=search", false));
        let resumes = Scheme::read("reno:iw=4+resume");
        assert_eq!((resumes.controller.as_str(), resumes.resumes), ("reno:iw=4", true));
        for text in Scheme::DEFAULT {
            assert_eq!(Scheme::read(text).to_string(), text);
        }
    }

    #[test]
    fn every_question_at_every_place_is_a_scenario() {
        for place in Place::all(&Link::ALL, &RTTS_MS, &BUFFERS, &[RATE_MBPS]) {
            for question in Question::all() {
                for text in Scheme::DEFAULT {
                    let scheme = Scheme::read(text);
                    let cell = question.cell(&place, &scheme, "sim", 1);
                    let scenario = Scenario::read(&cell.name, &cell.scenario, Some(&cell.controller)).unwrap();
                    let flow = &scenario.flows[0];
                    assert_eq!((flow.name.as_str(), flow.transfer_bytes), ("asked", question.transfer));
                    assert_eq!((flow.resume.is_some(), scenario.flows.len() > 1), (scheme.resumes, question.rival));
                }
            }
        }
    }

    /// What tells the links apart: a policer lets nothing wait, batches and a cellular link delay what finds them empty.
    #[test]
    fn every_link_is_what_it_is_called() {
        let transfer = Question { transfer: Some(10_000), rival: false };
        let of = |link| {
            let place = Place { link, ..PLACE };
            let asked = |question: Question| {
                let scheme = Scheme::read("cubic");
                measure(&question.cell(&place, &scheme, "sim", 1), &place, &question, &|_| false).unwrap().read
            };
            let (filling, short) = (asked(SOLO), asked(transfer));
            assert_eq!(filling.reason(), None, "{place}");
            (filling.lost().unwrap(), filling.queue_peak().unwrap(), short.completed_s().unwrap())
        };
        let [steady, policer, batches, cellular] = Link::ALL.map(of);
        assert!(policer.0 > 0 && policer.1 < 0.1 * steady.1, "{policer:?} {steady:?}");
        assert!(batches.2 > steady.2 + 1e-3, "{batches:?} {steady:?}");
        assert!(cellular.0 != steady.0, "{cellular:?} {steady:?}");
    }

    #[test]
    fn other_links_have_one_place_each() {
        let others = Place::all(&Link::ALL[1..], &RTTS_MS, &BUFFERS, &[RATE_MBPS]);
        let shown: Vec<String> = others.iter().map(Place::to_string).collect();
        let rest = "RTT 100 ms, buffer 1 BDP";
        let expected = ["policer, RTT 100 ms, bucket 1 BDP", &format!("batches, {rest}"), &format!("cellular, {rest}")];
        assert_eq!(shown, expected.map(|path| format!("50 Mbit/s, {path}")));
        assert_eq!(Place::all(&Link::ALL, &[20], &BUFFERS, &[25.0, 50.0]).len(), 2 * BUFFERS.len());
    }

    /// A flow of one point every 10 ms that starts at 1 s.
    fn outcome(goodput_mbps: &[f64]) -> Outcome {
        let time_s: Vec<f64> = (1..=goodput_mbps.len()).map(|nth| 1.0 + nth as f64 / 100.0).collect();
        let series = FlowSeries { time_s, goodput_mbps: goodput_mbps.to_vec(), ..FlowSeries::default() };
        let flow = FlowOutcome { start_s: 1.0, stop_s: 2.5, completed: true, series, ..FlowOutcome::default() };
        let (scenario, stack) = ("test".to_owned(), "sim".to_owned());
        Outcome { scenario, stack, seed: 1, duration_s: 3.0, flows: vec![flow], queues: Vec::new() }
    }

    #[test]
    fn a_path_is_filled_after_a_round_trip_at_nine_tenths_of_it() {
        let spec = Scenario::read("test", &SOLO.scenario(&PLACE, &Scheme::read("reno")), Some("reno")).unwrap();
        let spec = &spec.flows[0];
        let full = RATE_MBPS * f64::from(spec.packet_bytes - spec.header_bytes) / f64::from(spec.wire_bytes());
        let filled = |goodput: &[f64], question| Measured::of(&outcome(goodput), spec, &PLACE, &question).filled_s();
        let ramp = [vec![0.1 * full; 20], vec![0.901 * full; 20]].concat();
        assert!((filled(&ramp, SOLO).unwrap() - 0.30).abs() < 1e-9, "ten points of a hundredth of a second");
        assert_eq!(filled(&[0.89 * full; 40], SOLO), None);
        let half = filled(&[0.46 * full; 40], Question { rival: true, ..SOLO }).unwrap();
        assert!((half - 0.1).abs() < 1e-9, "of half of it: {half}");
        assert_eq!(filled(&[full; 9], SOLO), None, "less than a round trip");
        let read = Measured::of(&outcome(&ramp), spec, &PLACE, &SOLO);
        assert_eq!((read.completed_s(), read.lost(), read.reason()), (Some(1.5), Some(0), None));
    }

    /// What the page is for: a path that is known is filled sooner.
    #[test]
    fn a_flow_that_resumes_fills_the_path_in_half_the_time() {
        let [fresh, resumed] = ["cubic", "cubic+resume"].map(|text| run(text, SOLO));
        let [fresh_s, resumed_s] = [&fresh, &resumed].map(|read| read.filled_s().unwrap());
        assert!(resumed_s <= 0.5 * fresh_s, "{resumed_s} s, else {fresh_s} s");
        let transfer = Question { transfer: Some(1_000_000), rival: true };
        assert!(run("cubic+resume", transfer).completed_s().unwrap() < run("cubic", transfer).completed_s().unwrap());
    }

    #[test]
    fn what_cannot_run_says_why() {
        let read = run("native:cubic", SOLO);
        assert!(
            read.reason().is_some_and(|reason| reason.contains("sim has no controller \"cubic\" of its own")),
            "{read:?}"
        );
        assert_eq!((read.filled_s(), read.lost(), read.queue_peak(), read.completed_s()), (None, None, None, None));
    }

    #[test]
    fn the_table_has_a_line_for_each_run() {
        let run = Measured::Run { filled_s: None, lost: 3, queue_peak: 5.0, completed_s: Some(0.25) };
        let answers = vec![(SOLO, Some(run)), (Question { transfer: Some(10_000), rival: true }, None)];
        let row = Row { scheme: Scheme::read("cubic+resume"), stack: "sim".to_owned(), place: PLACE, turn: 1, answers };
        let csv = String::from_utf8(table(&Results { rows: vec![row] }).csv().unwrap()).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "scheme,stack,link,rate_mbps,rtt_ms,buffer_bdp,transfer_bytes,turn,rivals,filled_s,lost,queue_peak,completed_s,reason"
        );
        assert_eq!(
            &lines[1..],
            ["cubic+resume,sim,steady,50,100,1,,1,0,,3,5,0.25,", "cubic+resume,sim,steady,50,100,1,10000,1,1,,,,,"]
        );
    }
}
