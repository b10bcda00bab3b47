use windlass_qlog_analysis::read::Options;
use windlass_qlog_analysis::series::read_series;

use super::*;

fn series() -> ConnectionSeries {
    let trace = "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\"trace\":{\"title\":\"</script><b>\"}}\n\
        \x1e{\"time\":0,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"congestion_window\":12000}}\n\
        \x1e{\"time\":5,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"congestion_window\":13000}}\n";
    read_series(trace.as_bytes(), &Options::default(), 100).unwrap().1.remove(0)
}

#[test]
fn the_page_says_of_how_many_values_the_points_are_made() {
    let mut trace = String::from("\x1e{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{}}\n");
    for time in 0..100 {
        let data = format!("{{\"cwnd\":{}}}", 12_000 + time * 7 % 50);
        trace.push_str(&format!("\x1e{{\"time\":{time},\"name\":\"recovery:metrics_updated\",\"data\":{data}}}\n"));
    }
    let series = read_series(trace.as_bytes(), &Options::default(), 20).unwrap().1.remove(0);
    let points = series.lines[0].1.len();
    assert!((10..=20).contains(&points), "{points}");
    let html = page("t", &[Section::new("a.sqlog", series, 0)], None);
    assert!(html.contains(&format!(r#""lines":[{{"name":"congestion_window","points":{points},"values":100}}]"#)));
}

#[test]
fn the_page_holds_what_was_drawn_and_asks_for_nothing() {
    let mut section = Section::new("a/b.sqlog", series(), 3);
    section.call("b".to_owned());
    let html = page("t", &[section], None);
    assert!(html.contains("id=\"traces\"") && html.contains("id=\"lines-0\""));
    assert!(html.contains(r#""lines":[{"name":"congestion_window","points":2,"values":2}]"#));
    assert!(!html.contains("</script><b>"), "a title cannot break out");
    let own = super::super::frame::written(&[&LINES[..], &HELD, &SECTION, &SCRIPTS].concat());
    assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
    for slot in ["title", "skip", "contents", "noscript", "style", "data", "scripts"] {
        assert!(!html.contains(&format!("{{{{{slot}}}}}")), "{slot} is filled");
    }
}
