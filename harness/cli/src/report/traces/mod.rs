//! The page of qlog traces: what each connection did over time.
//!
//! The page holds every point of every line, packed; its script decodes them into typed
//! arrays and draws of each pixel column the least, the largest and the last value. On
//! zooming in it draws the range that is visible anew, down to single events.

use serde::Serialize;
use windlass_qlog_analysis::series::{About, ConnectionSeries, HeldEvents};

use super::frame::{Data, Page, packed};

pub(super) const STYLE: &str = include_str!("page.css");
/// What figures show: JSON behind the name that scripts know it by.
pub(super) const SHOWN: &str = include_str!("js/shown.js");
/// Scripts that know what lines of traces are and how they are drawn.
pub(super) const LINES: [&str; 5] = [
    SHOWN,
    include_str!("js/decode.js"),
    include_str!("js/quantities.js"),
    include_str!("js/ends.js"),
    include_str!("js/panels.js"),
];
/// The scripts of a trace's section.
pub(super) const SECTION: [&str; 12] = [
    include_str!("js/query.js"),
    include_str!("js/packets.js"),
    include_str!("js/find.js"),
    include_str!("js/sequence.js"),
    include_str!("js/packetization.js"),
    include_str!("js/multiplexing.js"),
    include_str!("js/statistics.js"),
    include_str!("js/requests.js"),
    include_str!("js/events.js"),
    include_str!("js/endpoints.js"),
    include_str!("js/address.js"),
    include_str!("js/section.js"),
];
/// The script of pages that hold traces.
pub(super) const HELD: [&str; 1] = [include_str!("js/data.js")];
/// The script that draws traces over each other.
pub(super) const OVERLAY: &str = include_str!("js/overlay.js");
const SCRIPTS: [&str; 4] =
    [OVERLAY, include_str!("js/compare.js"), include_str!("js/list.js"), include_str!("js/page.js")];

/// A connection as the page holds it.
#[derive(Clone, Debug)]
pub struct Section {
    about: About,
    packed: String,
    packets: Option<String>,
    events: Option<String>,
}

impl Section {
    /// A connection of `file`, whose events could be read but for `bad_records`.
    #[must_use]
    pub fn new(file: &str, series: ConnectionSeries, bad_records: u64) -> Section {
        let packets = series.packets.as_ref().map(|packets| packed(&packets.encode()));
        // Of texts and finite numbers this cannot fail.
        let json = |events: &HeldEvents| serde_json::to_vec(&events.rows).unwrap_or_default();
        let events = series.events.as_ref().map(|events| packed(&json(events)));
        Section { about: About::new(file, &series, bad_records), packed: packed(&series.encode()), packets, events }
    }

    /// The file it is from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.about.file
    }

    /// Whether it is a connection as a whole, and not one of its paths.
    #[must_use]
    pub fn is_connection(&self) -> bool {
        self.about.path.is_none()
    }

    /// Its connection, where the trace names one.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.about.group
    }

    /// Where it was taken, as qlog spells it.
    #[must_use]
    pub fn vantage(&self) -> &str {
        self.about.vantage
    }

    /// What it is called on the page.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Puts it on a clock that others share: when it begins, s, and by how much its own is ahead, s.
    pub fn align(&mut self, (later_s, ahead_s): (f64, Option<f64>)) {
        (self.about.later_s, self.about.ahead_s) = (later_s, ahead_s);
    }

    /// Calls it `name` on the page.
    pub fn call(&mut self, name: String) {
        self.about.name = name;
    }
}

/// The HTML page titled `title`, with a section for each connection, and the name and text of a trace that it gives back.
#[must_use]
pub fn page(title: &str, sections: &[Section], trace: Option<(&str, &[u8])>) -> String {
    let scripts: Vec<&str> = LINES.into_iter().chain(HELD).chain(SECTION).chain(SCRIPTS).collect();
    let shared = trace.map(|(name, text)| (serde_json::Value::from(name).to_string(), packed(text)));
    data(&sections.iter().collect::<Vec<_>>(), &[], |data| {
        let shared = shared.iter().flat_map(|(name, text)| {
            [Data::Json { id: "shared-name", text: name }, Data::Packed { id: "shared", text }]
        });
        let data: Vec<Data<'_>> = data.iter().copied().chain(shared).collect();
        let page = Page {
            title,
            skip: "Skip to the traces",
            contents: "Traces",
            noscript: "The tables and plots of this page are built by its own script from the data it contains. \
                Allow scripts, or use `windlass qlog metrics` and `windlass qlog report --svg`.",
            style: STYLE,
            scripts: &scripts,
            data: &data,
            asks: false,
        };
        page.html()
    })
}

/// Gives `use_it` the data of traces, and `more` JSON under ids of its own.
pub(super) fn data<T>(sections: &[&Section], more: &[(&str, &str)], use_it: impl FnOnce(&[Data<'_>]) -> T) -> T {
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'static str,
        traces: Vec<&'a About>,
    }
    let all =
        All { windlass: env!("CARGO_PKG_VERSION"), traces: sections.iter().map(|section| &section.about).collect() };
    // Texts and numbers only: this cannot fail.
    let json = serde_json::to_string(&all).unwrap_or_default();
    let ids: Vec<String> = (0..sections.len()).map(|i| format!("lines-{i}")).collect();
    let mut data = vec![Data::Json { id: "traces", text: &json }];
    data.extend(more.iter().map(|&(id, text)| Data::Json { id, text }));
    data.extend(ids.iter().zip(sections).map(|(id, section)| Data::Packed { id, text: &section.packed }));
    let packet_ids: Vec<String> = (0..sections.len()).map(|i| format!("packets-{i}")).collect();
    let packets = packet_ids.iter().zip(sections).filter_map(|(id, section)| Some((id, section.packets.as_ref()?)));
    data.extend(packets.map(|(id, text)| Data::Packed { id, text }));
    let event_ids: Vec<String> = (0..sections.len()).map(|i| format!("events-{i}")).collect();
    let events = event_ids.iter().zip(sections).filter_map(|(id, section)| Some((id, section.events.as_ref()?)));
    data.extend(events.map(|(id, text)| Data::Packed { id, text }));
    use_it(&data)
}

#[cfg(test)]
mod tests {
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
}
