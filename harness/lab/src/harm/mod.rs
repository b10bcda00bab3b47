//! Harm: what every controller does to every other (Ware, Mukerjee, Seshan and Sherry, *Beyond Jain's Fairness Index*,
//! HotNets 2019).
//!
//! The harm to a measure is the share of it that a flow loses by another flow beside it: of what is better if there is more,
//! goodput, (solo − with)/solo; of what is better if there is less, the RTT, (with − solo)/with. A controller is safe to deploy
//! beside another if it does no more harm than what is deployed already: here, than Reno and CUBIC do to each other.
//!
//! A run has two flows and gives the harm of each to the other; runs of one flow give what they have alone.

mod plan;
mod results;

pub use plan::{PLACES, Place, Queue, pair, solo};
pub use results::{DEPLOYED, Harm, Results, Safety, csv};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc9743::{Measured, Numbers, measure};
    use windlass_simulator::scenario::Scenario;

    fn run(own: f64, rtt_ms: f64, other: Option<(f64, f64)>) -> Measured {
        Measured::Run(Numbers {
            own_mbps: own,
            other_mbps: other.map(|other| other.0),
            jain: 1.0,
            sent: 1,
            lost: 0,
            wasted: 0.0,
            rtt_ms: Some(rtt_ms),
            other_rtt_ms: other.map(|other| other.1),
            cwnd: 10.0,
            dropped: 0.0,
            queue_ms: 0.0,
            short_s: None,
            frame_ms: None,
        })
    }

    /// Reno and CUBIC, and a third that takes so much of the ten both have, at every place.
    fn results(taken: f64) -> Results {
        let mut results = Results {
            controllers: ["reno", "cubic", "own"].map(str::to_owned).into(),
            against: DEPLOYED.map(str::to_owned).into(),
            ..Results::default()
        };
        for place in 0..PLACES.len() {
            for number in 0..3 {
                results.solo.insert((place, number), run(10.0, 60.0, None));
                results.pairs.insert((place, number, number), run(5.0, 80.0, Some((5.0, 80.0))));
            }
            results.pairs.insert((place, 0, 1), run(4.0, 80.0, Some((6.0, 80.0))));
            for number in 0..2 {
                results.pairs.insert((place, number, 2), run(10.0 - taken, 80.0, Some((taken, 80.0))));
            }
        }
        results
    }

    /// Ware et al. 2019 §3: (solo − with)/solo of goodput, (with − solo)/with of the RTT.
    #[test]
    fn harm_is_a_share_of_what_a_flow_has_alone() {
        let results = results(7.0);
        assert_eq!(results.harm(0, 0, 2), Ok(Harm { goodput: 0.7, delay: 0.25 }));
        assert_eq!(results.harm(0, 2, 0).unwrap().goodput, 0.3);
        assert_eq!(results.bound(0), Ok(Harm { goodput: 0.6, delay: 0.25 }));
    }

    #[test]
    fn who_does_more_than_is_done_already_is_not_safe() {
        assert!(matches!(results(6.0).safety(2), Safety::Safe(_)));
        let Safety::Unsafe { places: 8, queued: 4, to, is_delay: false, .. } = results(9.0).safety(2) else {
            panic!("{:?}", results(9.0).safety(2));
        };
        assert_eq!(to, "reno");
        for number in 0..2 {
            assert!(matches!(results(9.0).safety(number), Safety::Safe(_)), "what bounds others");
        }
        let mut missing = results(9.0);
        missing.pairs.remove(&(3, 1, 2));
        assert_eq!(missing.sentence(2), "Not known: it is not done yet.");
    }

    /// Ware et al. 2019 §4: the bound is the harm of what is deployed; beside another incumbent it is another.
    #[test]
    fn the_bound_is_the_harm_of_those_that_are_deployed() {
        let mut against = Results { against: vec!["own".to_owned()], ..results(9.0) };
        assert_eq!(against.bound(0), Ok(Harm { goodput: 0.5, delay: 0.25 }), "own to itself");
        for number in 0..2 {
            assert!(matches!(against.safety(number), Safety::Safe(Harm { goodput, .. }) if goodput < 0.11));
        }
        assert!(against.sentence(0).starts_with("Safe to deploy against own: it takes at most 10 % of"));
        let three = Results { against: ["a", "b", "c"].map(str::to_owned).into(), ..Results::default() };
        assert_eq!(three.deployed_names(), "a, b and c");
        against.pairs.retain(|(_, first, second), _| *first == 2 || *second == 2);
        assert!(matches!(against.safety(0), Safety::Safe(_)), "pairs of others are not asked for");
    }

    #[test]
    fn every_run_is_a_scenario_and_csv_has_a_line_for_each_that_is_harmed() {
        for place in &PLACES {
            for cell in [solo(place, "bbr", "sim"), pair(place, "bbr", "nf-tcp", "sim")] {
                Scenario::read(&cell.name, &cell.scenario, Some(&cell.controller))
                    .unwrap_or_else(|error| panic!("{error}"));
            }
        }
        let csv = csv(&[results(9.0)]);
        assert_eq!(csv.lines().count(), 1 + 2 * 8 * 3);
        assert!(csv.contains("\n,goodput,8,1,tail-drop,reno,0.50,0.60,0.90\n"), "{csv}");
    }

    /// A flow that gives way does next to no harm; one that ignores losses does much.
    #[test]
    fn measured_harm_has_the_order_of_the_controllers() {
        let place = PLACES[0];
        let read = |cell| measure(&cell, place.packet_time(), &|_| false).unwrap().read;
        let names = ["reno", "ledbat++", "bbr:loss_threshold=1,beta=1"];
        let mut results = Results { controllers: names.map(str::to_owned).into(), ..Results::default() };
        results.solo.insert((0, 0), read(solo(&place, names[0], "sim")));
        for number in 0..3 {
            results.pairs.insert((0, 0, number), read(pair(&place, names[0], names[number], "sim")));
        }
        let [own, background, greedy] = [0, 1, 2].map(|by| results.harm(0, 0, by).unwrap().goodput);
        assert!(background < 0.2 && background < own && own < greedy, "{background} {own} {greedy}");
    }
}
