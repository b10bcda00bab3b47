use windlass_qlog_analysis::read::Options;
use windlass_qlog_analysis::series::read_series;

use super::panels::Drawing;
use super::*;

fn series(events: &str) -> ConnectionSeries {
    let header = "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\"trace\":{}}\n";
    read_series(format!("{header}{events}").as_bytes(), &Options::default(), 1000).unwrap().1.remove(0)
}

fn event(time: u32, name: &str, data: &str) -> String {
    format!("\x1e{{\"time\":{time},\"name\":\"quic:{name}\",\"data\":{{{data}}}}}\n")
}

#[test]
fn a_figure_has_panels_lanes_units_and_a_legend() {
    let events = [
        event(0, "congestion_state_updated", r#""new":"slow_start""#),
        event(0, "recovery_metrics_updated", r#""congestion_window":12000,"latest_rtt":40,"smoothed_rtt":41"#),
        event(500, "packet_lost", r#""header":{"packet_type":"1RTT","packet_number":1}"#),
        event(500, "congestion_state_updated", r#""new":"recovery""#),
        event(1000, "recovery_metrics_updated", r#""congestion_window":6000"#),
    ];
    let series = series(&events.concat());
    assert!(drawable(&series));
    let svg = svg("the trace", &series).unwrap();
    for text in [
        "the trace",
        "Window, kB",
        "congestion window",
        "Round-trip time, ms",
        "smoothed",
        "Time, s",
        "slow start",
        "recovery",
        "lost",
        "CE",
        "not logged",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(
        !svg.contains("Rate, Mbit/s") && !svg.contains("slow start threshold"),
        "nothing that the trace does not have"
    );
}

#[test]
fn a_trace_without_time_is_not_drawable() {
    assert!(!drawable(&series(&event(0, "recovery_metrics_updated", r#""congestion_window":12000"#))));
    let states =
        [event(0, "congestion_state_updated", r#""new":"a""#), event(9, "congestion_state_updated", r#""new":"b""#)];
    assert!(!drawable(&series(&states.concat())));
}

#[test]
fn every_value_lies_on_its_axis() {
    let panel = |values: &[f64]| Panel {
        title: "Round-trip time, ms",
        zero: false,
        marked: false,
        lines: vec![Drawing {
            name: "latest",
            colour: INK,
            width: 1,
            dots: true,
            points: values.iter().map(|&value| (0.0, value)).collect(),
        }],
    };
    for values in [&[40.0, 45.0][..], &[0.0], &[1.0, 90.0], &[-5.8e12], &[-1.0, 2.0]] {
        let (low, high) = range(&panel(values));
        assert!(low < high && values.iter().all(|value| (low..=high).contains(value)), "{values:?}: {low} to {high}");
    }
}
