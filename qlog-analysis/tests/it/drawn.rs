//! What is drawn is what is measured: each line, summed or integrated over time, comes to the measure beside it, on every
//! trace at hand and on 10⁴ random ones.

use windlass_qlog_analysis::metrics::LimitedBy;
use windlass_qlog_analysis::read::{Options, open};
use windlass_qlog_analysis::series::{ConnectionSeries, Quantity, UNKNOWN, columns, read_series};

use crate::disorder::Random;

/// Room for all points of all traces at hand.
const ROOM: usize = 1 << 20;

/// Each value of a lane with its duration, s.
fn held(series: &ConnectionSeries, quantity: Quantity) -> Vec<(i64, f64)> {
    let points = series.points(quantity);
    let ends = points.iter().skip(1).map(|point| point.time).chain([series.span.1]);
    points.iter().zip(ends).map(|(point, to)| (point.value, (to - point.time) as f64 * 1e-9)).collect()
}

/// The same as it is drawn on columns, of which each is so long.
fn drawn(series: &ConnectionSeries, quantity: Quantity, number: usize) -> (Vec<(i64, f64)>, f64) {
    let drawn = columns(series.points(quantity), series.span.0..series.span.1, number);
    let column = (series.span.1 - series.span.0) as f64 * 1e-9 / number as f64;
    (drawn.iter().map(|run| (run.value, (run.to - run.from) as f64 * 1e-9)).collect(), column)
}

fn time(held: &[(i64, f64)], value: i64) -> f64 {
    held.iter().filter(|held| held.0 == value).map(|(_, time)| time).sum()
}

fn share(held: &[(i64, f64)], value: i64) -> f64 {
    let all: f64 = held.iter().map(|(_, time)| time).sum();
    100.0 * time(held, value) / all
}

/// The mean over time of values that hold until the next.
fn mean(series: &ConnectionSeries, quantity: Quantity) -> Option<f64> {
    let points = series.points(quantity);
    let ends = points.iter().skip(1).map(|point| point.time).chain([series.span.1]);
    let (mut area, mut weight) = (0.0, 0.0);
    for (point, to) in points.iter().zip(ends) {
        area += point.value as f64 * (to - point.time) as f64;
        weight += (to - point.time) as f64;
    }
    let last = points.last()?.value as f64;
    Some(if weight > 0.0 { area / weight } else { last })
}

fn last(series: &ConnectionSeries, quantity: Quantity) -> Option<u64> {
    series.points(quantity).last().map(|point| point.value as u64)
}

#[track_caller]
fn same(drawn: f64, measured: f64, what: &str) {
    let allowed = 1e-6 * (1.0 + drawn.abs().max(measured.abs()));
    assert!((drawn - measured).abs() <= allowed, "{what}: drawn {drawn}, measured {measured}");
}

/// Holds the lines of a connection, kept with at most `most` points, against its measures. Returns how many of them.
fn check(series: &ConnectionSeries, name: &str, most: usize) -> usize {
    // The lines of a path go on until its connection ends, and its measures do not.
    if series.path.is_some() {
        return 0;
    }
    let measures = &series.measured.measures;
    let mut checked = 0;
    let states = held(series, Quantity::State);
    for (name_of_state, &measured) in &measures.states {
        let index = series.states.iter().position(|state| state == name_of_state).map_or(UNKNOWN, |index| index as i64);
        same(time(&states, index), measured, &format!("{name}: time in {name_of_state}"));
    }
    let mut limits = held(series, Quantity::LimitedBy);
    limits.retain(|held| held.0 != UNKNOWN);
    assert_eq!(limits.is_empty(), measures.limited.is_none(), "{name}: limited by");
    if let Some(limited) = measures.limited {
        let measured = [limited.window, limited.application, limited.flow_control, limited.pacer];
        for (by, measured) in LimitedBy::ALL.into_iter().zip(measured) {
            same(share(&limits, by as i64), measured, &format!("{name}: limited by {}", by.name()));
        }
    }
    let app_limited = held(series, Quantity::AppLimited);
    if let Some(measured) = measures.app_limited.filter(|_| app_limited.iter().any(|held| held.1 > 0.0)) {
        same(share(&app_limited, 1), measured, &format!("{name}: limited by the application, as logged"));
    }
    checked += measures.states.len() + limits.len().min(4) + app_limited.len().min(1);
    for (quantity, held) in
        [(Quantity::State, &states), (Quantity::LimitedBy, &limits), (Quantity::AppLimited, &app_limited)]
    {
        let (drawn, column) = drawn(series, quantity, 700);
        for value in 0..4 {
            let (drawn, held) = (time(&drawn, value), time(held, value));
            assert!(
                (drawn - held).abs() <= 6.0 * column,
                "{name}: {} {value} for {held} s on {drawn} s",
                quantity.name()
            );
        }
    }
    let counts = [
        (Quantity::Sent, measures.bytes_sent),
        (Quantity::Lost, measures.packets_lost),
        (Quantity::Marked, measures.marks),
        (Quantity::Blocked, measures.blocked),
    ];
    for (quantity, measured) in counts {
        assert_eq!(last(series, quantity).unwrap_or(0), measured.unwrap_or(0), "{name}: {}", quantity.name());
    }
    for (quantity, measured) in
        [(Quantity::Delivered, measures.goodput), (Quantity::Received, measures.received_goodput)]
    {
        // Both are rates over the same time.
        if let (Some(throughput), Some(bytes)) = (measures.throughput, measures.bytes_sent) {
            let drawn = last(series, quantity).unwrap_or(0) as f64 / bytes as f64 * throughput;
            same(drawn, measured.unwrap_or(0.0), &format!("{name}: {}", quantity.name()));
            checked += 1;
        }
    }
    let levels = [
        (Quantity::Cwnd, measures.cwnd, 1.0),
        (Quantity::InFlight, measures.in_flight, 1.0),
        (Quantity::PacingRate, measures.pacing_rate, 1e-6),
    ];
    for (quantity, measured, unit) in levels {
        let points = series.points(quantity);
        if points.len() < most / 2
            && let Some((drawn, measured)) = mean(series, quantity).zip(measured)
        {
            let extreme = |value: Option<i64>| value.unwrap() as f64 * unit;
            same(drawn * unit, measured.mean, &format!("{name}: mean {}", quantity.name()));
            same(extreme(points.iter().map(|point| point.value).min()), measured.min, quantity.name());
            same(extreme(points.iter().map(|point| point.value).max()), measured.max, quantity.name());
            checked += 1;
        }
    }
    let several = series.measured.paths.len() > 1;
    if let Some(rtt) = measures.rtt.filter(|_| !several) {
        let (_, points, values) = series.lines.iter().find(|line| line.0 == Quantity::LatestRtt).unwrap();
        assert_eq!(*values, rtt.samples, "{name}: RTT samples");
        if points.len() as u64 == *values {
            let sum: f64 = points.iter().map(|point| point.value as f64 * 1e-6).sum();
            same(sum / points.len() as f64, rtt.mean, &format!("{name}: mean RTT"));
            checked += 1;
        }
    }
    checked
}

#[test]
fn the_lines_of_recorded_traces_come_to_their_measures() {
    let mut checked = 0;
    for path in crate::recorded::all() {
        for most in [ROOM, 200] {
            let Ok((_, found)) =
                open(&path).map_err(drop).and_then(|input| read_series(input, &Options::default(), most).map_err(drop))
            else {
                continue;
            };
            let name = path.file_name().unwrap().to_string_lossy();
            checked += found.iter().map(|series| check(series, &name, most)).sum::<usize>();
        }
    }
    assert!(checked > 200, "{checked} lines");
}

/// A trace of random events; clocks step back, packets are acknowledged twice or without being sent.
fn random_trace(random: &mut Random) -> Vec<u8> {
    let mut text = String::from(
        "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n",
    );
    let (mut now, mut next, mut read) = (0_i64, 0, 0);
    // The fields that this trace logs at all.
    let logs: Vec<bool> = (0..12).map(|_| random.below(4) > 0).collect();
    for _ in 0..10 + random.below(90) {
        now += match random.below(8) {
            0 => 0,
            1 => -(random.below(3) as i64),
            2 => 200 + random.below(2000) as i64,
            _ => random.below(30) as i64,
        };
        let (name, data) = match random.below(10) {
            0..4 => {
                let blocked =
                    if logs[0] && random.below(9) == 0 { r#",{"frame_type":"data_blocked","limit":9000}"# } else { "" };
                let (number, offset) = (next, 1000 * next);
                next += 1;
                (
                    "transport:packet_sent",
                    format!(
                        r#""header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":1000}}{blocked}]"#
                    ),
                )
            }
            4..7 => {
                let to = random.below(next.max(1) as usize);
                let from = to.saturating_sub(random.below(6));
                let (number, offset) = (read, 500 * read);
                read += 1;
                let ce = if logs[1] { format!(r#","ce":{}"#, random.below(9)) } else { String::new() };
                let data = if logs[2] {
                    format!(r#",{{"frame_type":"stream","stream_id":1,"offset":{offset},"length":500}}"#)
                } else {
                    String::new()
                };
                (
                    "transport:packet_received",
                    format!(
                        r#""header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":80}},"frames":[{{"frame_type":"ack","ack_delay":0,"acked_ranges":[[{from},{to}]]{ce}}}{data}]"#
                    ),
                )
            }
            7 if logs[3] => {
                let number = random.below(next.max(1) as usize);
                ("recovery:packet_lost", format!(r#""header":{{"packet_type":"1RTT","packet_number":{number}}}"#))
            }
            7 | 8 => {
                let mut fields = Vec::new();
                let mut add = |index: usize, name: &str, value: String| {
                    if logs[index] && random.below(2) == 0 {
                        fields.push(format!(r#""{name}":{value}"#))
                    }
                };
                let values: Vec<i64> = [20_000, 20_000, 80, 80, 9_000_000, 3, 40]
                    .map(|most| now.unsigned_abs() as i64 * 7919 % most + 1)
                    .into();
                add(4, "cwnd", values[0].to_string());
                add(5, "bytes_in_flight", values[1].to_string());
                add(6, "latest_rtt", values[2].to_string());
                add(6, "smoothed_rtt", values[3].to_string());
                add(7, "pacing_rate", values[4].to_string());
                add(8, "app_limited", (values[5] == 1).to_string());
                add(11, "lost_packets", values[6].to_string());
                ("recovery:metrics_updated", fields.join(","))
            }
            _ if logs[9] => {
                let new = ["slow_start", "recovery", "congestion_avoidance", "application_limited"][random.below(4)];
                ("recovery:congestion_state_updated", format!(r#""new":"{new}""#))
            }
            _ => ("x:y", String::new()),
        };
        text += &format!("\u{1e}{{\"time\":{now},\"name\":\"{name}\",\"data\":{{{data}}}}}\n");
    }
    text.into_bytes()
}

#[test]
fn the_lines_of_random_traces_come_to_their_measures() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut checked = 0;
    for number in 0..10_000 {
        let trace = random_trace(&mut random);
        let most = if number % 2 == 0 { ROOM } else { 16 };
        let (_, found) = read_series(trace.as_slice(), &Options { jobs: 1, ..Options::default() }, most).unwrap();
        for series in &found {
            checked += std::panic::catch_unwind(|| check(series, &format!("trace {number}"), most))
                .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&trace)));
        }
    }
    assert!(checked > 100_000, "{checked} lines");
}
