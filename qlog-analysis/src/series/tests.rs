use proptest::prelude::*;

use super::*;
use crate::metrics::tests::file;

fn line(most: usize, values: &[i64]) -> (Vec<Point>, u64) {
    let mut line = Line::new(most);
    for (time, &value) in values.iter().enumerate() {
        line.add(time as i64, value);
    }
    line.finish()
}

proptest! {
    #[test]
    fn a_line_keeps_its_bound_and_its_extremes(values in prop::collection::vec(-50_i64..50, 1..600), most in 4_usize..64) {
        let (points, values_seen) = line(most, &values);
        prop_assert_eq!(values_seen, values.len() as u64);
        prop_assert!(points.len() <= most + 2, "{} points", points.len());
        prop_assert!(points.is_sorted_by_key(|point| point.time));
        for point in &points {
            prop_assert_eq!(values[point.time as usize], point.value, "a value that was values_seen, at its time");
        }
        let of = |values: &mut dyn Iterator<Item = i64>| values.fold((i64::MAX, i64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        prop_assert_eq!(of(&mut points.iter().map(|point| point.value)), of(&mut values.iter().copied()));
        if values.len() <= most {
            prop_assert_eq!(points.len(), values.len(), "every one while there is room");
        }
    }

    #[test]
    fn what_is_visible_is_bounded_and_has_the_extremes_of_every_column(
        values in prop::collection::vec(-50_i64..50, 1..600), columns in 1_usize..40, from in 0_i64..500, span in 1_i64..600,
    ) {
        let points: Vec<Point> = values.iter().enumerate().map(|(time, &value)| Point { time: time as i64, value }).collect();
        let series = visible(&points, from..from + span, columns);
        prop_assert!(series.len() <= 3 * (columns + 2) + 2, "{}", series.len());
        prop_assert!(series.is_sorted_by_key(|point| point.time));
        let within = |point: &&Point| (from..from + span).contains(&point.time);
        let inside: Vec<i64> = points.iter().filter(within).map(|point| point.value).collect();
        for extreme in [inside.iter().min(), inside.iter().max()].into_iter().flatten() {
            prop_assert!(series.iter().any(|point| point.value == *extreme));
        }
    }
}

#[test]
fn values_stand_for_more_as_the_line_goes_on() {
    let values: Vec<i64> = (0..40).map(|i| if i == 21 { 99 } else { i % 2 }).collect();
    let (points, values_seen) = line(8, &values);
    assert_eq!(values_seen, 40);
    assert!(points.len() <= 8, "{points:?}");
    assert!(points.contains(&Point { time: 21, value: 99 }), "the spike is there: {points:?}");
}

const SENT: [&str; 2] = [
    r#"{"time":0,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0},"raw":{"length":1250},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"length":1000}}]}}"#,
    r#"{"time":10,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"raw":{"length":1250},"frames":[{"frame_type":"stream","stream_id":0,"offset":1000,"raw":{"length":1000}}]}}"#,
];
const ACKED: &str = r#"{"time":50,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":9},"raw":{"length":40},"frames":[{"frame_type":"ack","acked_ranges":[[0]]}]}}"#;
const LOST: &str =
    r#"{"time":60,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":1}}}"#;
const METRICS: &str = r#"{"time":70,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000,"bytes_in_flight":777,"latest_rtt":33,"pacing_rate":8000}}"#;
const STATE: &str = r#"{"time":80,"name":"quic:congestion_state_updated","data":{"new":"recovery"}}"#;

fn only(records: &[&str]) -> ConnectionSeries {
    let options = Options { jobs: 1, ..Options::default() };
    let (_, mut series) = read_series(file(records).as_slice(), &options, 100).unwrap();
    assert_eq!(series.len(), 1);
    series.remove(0)
}

fn points_of(series: &ConnectionSeries, quantity: Quantity) -> Vec<(i64, i64)> {
    series.points(quantity).iter().map(|point| (point.time / 1_000_000, point.value)).collect()
}

#[test]
fn what_is_not_logged_is_worked_out() {
    let series = only(&[SENT[0], SENT[1], ACKED, LOST, STATE]);
    assert_eq!(points_of(&series, Quantity::Sent), [(0, 1250), (10, 2500)]);
    assert_eq!(points_of(&series, Quantity::Delivered), [(50, 1000)]);
    assert_eq!(points_of(&series, Quantity::InFlight), [(0, 1250), (10, 2500), (50, 1250), (60, 0)]);
    assert_eq!(points_of(&series, Quantity::LatestRtt), [(50, 50_000_000)]);
    assert_eq!(points_of(&series, Quantity::Lost), [(60, 1)]);
    assert_eq!(points_of(&series, Quantity::State), [(80, 0)]);
    assert_eq!((series.states.as_slice(), series.span), (&["recovery".to_owned()][..], (0, 80_000_000)));
    assert_eq!(series.measured.measures.packets_sent, Some(2));
}

#[test]
fn states_beyond_the_limit_are_one() {
    let state = |n: usize| {
        format!(r#"{{"time":{n},"name":"quic:congestion_state_updated","data":{{"new":"state {}"}}}}"#, n % 5000)
    };
    let records: Vec<String> = (0..20_000).map(state).collect();
    let series = only(&records.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(series.states.len(), 65);
    assert_eq!((series.states[63].as_str(), series.states[64].as_str()), ("state 63", "other"));
    let about = About::new("file", &series, 0);
    // The meter has one more: the time before the first.
    assert_eq!((about.states.len(), about.time_in_states_s.len()), (65, 66));
}

#[test]
fn logged_values_take_precedence() {
    let series = only(&[SENT[0], SENT[1], ACKED, METRICS]);
    assert_eq!(points_of(&series, Quantity::InFlight), [(70, 777)]);
    assert_eq!(points_of(&series, Quantity::LatestRtt), [(70, 33_000_000)]);
    assert_eq!(points_of(&series, Quantity::Cwnd), [(70, 12_000)]);
    assert_eq!(points_of(&series, Quantity::PacingRate), [(70, 8000)]);
    assert!(series.points(Quantity::Ssthresh).is_empty());
}

#[test]
fn a_rate_is_growth_over_time() {
    let second = 1_000_000_000;
    let points: Vec<Point> = [(0, 100), (second / 2, 300), (second, 300), (5 * second / 2, 900)]
        .map(|(time, value)| Point { time, value })
        .to_vec();
    assert_eq!((at(&points, -1), at(&points, 0), at(&points, second)), (None, Some(100), Some(300)));
    let rates = rate(&points, 0..3 * second, second);
    assert_eq!(rates, [(second / 2, 300.0), (3 * second / 2, 0.0), (5 * second / 2, 600.0)]);
}

#[test]
fn the_smoothed_rtt_from_before_any_sample_is_not_drawn() {
    let smoothed = |time: u32, also: &str| {
        format!(r#"{{"time":{time},"name":"quic:recovery_metrics_updated","data":{{"smoothed_rtt":333{also}}}}}"#)
    };
    let first = smoothed(0, r#","min_rtt":0,"latest_rtt":0"#);
    let series = only(&[&first, SENT[0], ACKED, &smoothed(90, "")]);
    assert_eq!(points_of(&series, Quantity::SmoothedRtt), [(90, 333_000_000)], "a sample may come to it");
    let series = only(&[&first, &smoothed(20, r#","latest_rtt":333"#)]);
    assert_eq!(points_of(&series, Quantity::SmoothedRtt), [], "an initial RTT is no sample, even called the latest");
    let series = only(&[&smoothed(0, r#","min_rtt":333"#), &smoothed(20, r#","min_rtt":40,"latest_rtt":41"#)]);
    assert_eq!(points_of(&series, Quantity::MinRtt), [(20, 40_000_000)], "some stacks guess it too");
}
