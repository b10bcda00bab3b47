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
    for path in crate::read_recorded::all() {
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

/// What a random trace has and logs at all.
struct Shape {
    vantage: &'static str,
    /// Paths, each with packet numbers of its own or all with the same.
    paths: u64,
    own_numbers: bool,
    /// Whether it goes on with an earlier connection: 0-RTT data comes first.
    resumed: bool,
    /// Events and fields that are logged.
    logs: [bool; 16],
    /// CE marks of each path.
    marks: [u64; 3],
    /// Next packet number of each path and space, of what is sent and of what is received.
    sent: [[u64; 2]; 3],
    received: [[u64; 2]; 3],
    /// Bytes of data so far, either way.
    data: [u64; 2],
}

impl Shape {
    fn random(random: &mut Random) -> Shape {
        let paths = if random.below(3) == 0 { 1 + random.below(3) as u64 } else { 1 };
        Shape {
            vantage: ["server", "client"][random.below(2)],
            paths,
            own_numbers: random.below(2) == 0,
            resumed: random.below(4) == 0,
            logs: std::array::from_fn(|_| random.below(4) > 0),
            marks: [0; 3],
            sent: [[0; 2]; 3],
            received: [[0; 2]; 3],
            data: [0; 2],
        }
    }

    /// A path, the place of its numbers, and what a header or metrics say of it.
    fn path(&self, random: &mut Random) -> (u64, usize, String) {
        let path = random.below(self.paths as usize) as u64;
        let named = if self.paths > 1 { format!(r#","path_id":{path}"#) } else { String::new() };
        (path, if self.own_numbers { path as usize } else { 0 }, named)
    }

    /// A packet sent or received: the frames of both ends' data, limits, and of what is received acknowledgements with ECN counts.
    fn packet(&mut self, random: &mut Random, sent: bool) -> String {
        let (path, numbers, named) = self.path(random);
        let early = self.sent[numbers][1] + self.received[numbers][1] < 4;
        let kind = match random.below(4) {
            0 if early => "initial",
            1 if early && self.resumed && (sent == (self.vantage == "client")) => "0RTT",
            _ => "1RTT",
        };
        let space = usize::from(kind != "initial");
        let counts = if sent { &mut self.sent } else { &mut self.received };
        let number = counts[numbers][space];
        counts[numbers][space] += 1;
        let mut frames = Vec::new();
        let bytes = 200 + random.below(1200) as u64;
        if space == 1 && (sent || self.logs[2]) && random.below(5) > 0 {
            let length = bytes - 100;
            let back = if random.below(12) == 0 { length.min(self.data[usize::from(sent)]) } else { 0 };
            let data = &mut self.data[usize::from(sent)];
            let (stream, offset) = (if sent { 0 } else { 1 }, *data - back);
            *data = offset + length;
            frames
                .push(format!(r#"{{"frame_type":"stream","stream_id":{stream},"offset":{offset},"length":{length}}}"#));
        }
        if self.logs[0] && random.below(9) == 0 {
            let limit = self.data[1] + random.below(9000) as u64;
            frames.push(match random.below(3) {
                0 => format!(r#"{{"frame_type":"max_data","maximum":{limit}}}"#),
                1 => format!(r#"{{"frame_type":"max_stream_data","stream_id":0,"maximum":{limit}}}"#),
                _ => format!(r#"{{"frame_type":"data_blocked","limit":{limit}}}"#),
            });
        }
        let next = self.sent[numbers][space];
        if !sent && next > 0 && random.below(3) > 0 {
            let to = random.below(next as usize) as u64;
            let from = to.saturating_sub(random.below(6) as u64);
            let marks = &mut self.marks[path as usize];
            *marks += random.below(3) as u64 / 2;
            let ecn = if self.logs[1] { format!(r#","ect0":{},"ect1":0,"ce":{marks}"#, next) } else { String::new() };
            let (kind, of) = if self.own_numbers && self.paths > 1 && random.below(2) == 0 {
                ("path_ack", format!(r#","path_id":{path}"#))
            } else {
                ("ack", String::new())
            };
            frames.push(format!(
                r#"{{"frame_type":"{kind}"{of},"ack_delay":{},"acked_ranges":[[{from},{to}]]{ecn}}}"#,
                random.below(4)
            ));
        }
        if frames.is_empty() {
            frames.push(r#"{"frame_type":"ping"}"#.to_owned());
        }
        format!(
            r#""header":{{"packet_type":"{kind}","packet_number":{number}{named}}},"raw":{{"length":{bytes}}},"frames":[{}]"#,
            frames.join(",")
        )
    }

    fn metrics(&self, random: &mut Random) -> String {
        let mut fields = Vec::new();
        let mut add = |index: usize, name: &str, most: usize| {
            let value = 1 + random.below(most);
            if self.logs[index] && random.below(2) == 0 {
                fields.push(format!(r#""{name}":{value}"#));
            }
        };
        add(4, "cwnd", 20_000);
        add(5, "bytes_in_flight", 20_000);
        add(6, "latest_rtt", 80);
        add(6, "smoothed_rtt", 80);
        add(6, "min_rtt", 80);
        add(13, "ssthresh", 20_000);
        add(7, "pacing_rate", 9_000_000);
        add(11, "lost_packets", 40);
        if self.logs[8] && random.below(2) == 0 {
            fields.push(format!(r#""app_limited":{}"#, random.below(3) == 0));
        }
        let named = self.path(random).2;
        fields.join(",") + if fields.is_empty() { named.trim_start_matches(',') } else { &named }
    }

    /// The name and the data of an event.
    fn event(&mut self, random: &mut Random) -> (&'static str, String) {
        match random.below(20) {
            0..8 => ("transport:packet_sent", self.packet(random, true)),
            8..14 => ("transport:packet_received", self.packet(random, false)),
            14 if self.logs[3] => {
                let (_, numbers, named) = self.path(random);
                let number = random.below(self.sent[numbers][1].max(1) as usize);
                let data = format!(r#""header":{{"packet_type":"1RTT","packet_number":{number}{named}}}"#);
                ("recovery:packet_lost", data)
            }
            14..17 => ("recovery:metrics_updated", self.metrics(random)),
            17 if self.logs[9] => {
                let new = ["slow_start", "recovery", "congestion_avoidance", "application_limited"][random.below(4)];
                ("recovery:congestion_state_updated", format!(r#""new":"{new}""#))
            }
            18 if self.logs[10] => {
                let side = ["local", "remote"][random.below(2)];
                let data = format!(r#""initiator":"{side}","initial_max_data":{}"#, 1000 + random.below(90_000));
                ("transport:parameters_set", data)
            }
            19 if self.logs[12] && self.paths == 1 => {
                ("connectivity:migration_state_updated", r#""new":"migration_complete""#.to_owned())
            }
            _ => ("x:y", String::new()),
        }
    }
}

/// A trace of random events; clocks step back, packets are acknowledged twice or without being sent.
fn random_trace(random: &mut Random) -> Vec<u8> {
    let mut shape = Shape::random(random);
    let mut text = format!(
        "\u{1e}{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{{\"vantage_point\":{{\"type\":\"{}\"}}}}}}\n",
        shape.vantage
    );
    // What is before the first event is before the axis.
    let (mut now, mut first) = (0_i64, None);
    for _ in 0..10 + random.below(90) {
        now += match random.below(8) {
            0 => 0,
            1 => -(random.below(3) as i64),
            2 => 200 + random.below(2000) as i64,
            _ => random.below(30) as i64,
        };
        now = now.max(*first.get_or_insert(now));
        let (name, data) = shape.event(random);
        text += &format!("\u{1e}{{\"time\":{now},\"name\":\"{name}\",\"data\":{{{data}}}}}\n");
    }
    text.into_bytes()
}

/// `WINDLASS_DRAWN` traces where that is set.
#[test]
fn the_lines_of_random_traces_come_to_their_measures() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let wanted = std::env::var("WINDLASS_DRAWN").map_or(10_000, |text| text.parse().unwrap());
    let (mut checked, mut kinds) = (0, std::collections::BTreeMap::new());
    for number in 0..wanted {
        let trace = random_trace(&mut random);
        let most = if number % 2 == 0 { ROOM } else { 16 };
        let (_, found) = read_series(trace.as_slice(), &Options { jobs: 1, ..Options::default() }, most).unwrap();
        for series in &found {
            checked += std::panic::catch_unwind(|| check(series, &format!("trace {number}"), most))
                .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&trace)));
            for (quantity, _, _) in &series.lines {
                *kinds.entry(quantity.name()).or_insert(0) += 1;
            }
            *kinds.entry("of a path").or_insert(0) += usize::from(series.path.is_some());
        }
    }
    assert!(checked > 7 * wanted, "{checked} lines of {wanted} traces");
    let missing: Vec<_> = Quantity::ALL.iter().filter(|quantity| !kinds.contains_key(quantity.name())).collect();
    assert!(missing.is_empty() && kinds["of a path"] > wanted / 10, "never drawn: {missing:?}; {kinds:?}");
}
