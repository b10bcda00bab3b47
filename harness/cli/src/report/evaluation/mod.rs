//! The report of an evaluation.
//!
//! The page embeds the text of `results.json`, compressed, and builds every table and plot
//! from it, so it cannot show other numbers.

use super::frame::{Data, Page, packed};

const SCRIPTS: [&str; 4] = [
    include_str!("js/data.js"),
    include_str!("js/selection.js"),
    include_str!("js/plots.js"),
    include_str!("js/page.js"),
];

/// The report titled `title` over the text of `results.json`.
#[must_use]
pub fn page(title: &str, results_json: &str) -> String {
    let results = packed(results_json.as_bytes());
    let page = Page {
        title,
        skip: "Skip to the results",
        contents: "Scenarios",
        noscript: "The tables and plots of this page are built by its own script from the results it contains. \
            Allow scripts, or read results.json and the CSV files beside it.",
        style: "",
        scripts: &SCRIPTS,
        data: &[Data::Packed { id: "results", text: &results }],
        asks: false,
    };
    page.html()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_lab::results::Results;
    use windlass_lab::testkit::sample;

    fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
        let (_, rest) = text.split_once(from).expect(from);
        rest.split_once(to).expect(to).0
    }

    #[test]
    fn the_page_contains_exactly_the_results() {
        let results = sample();
        let json = results.to_json().unwrap();
        let html = page(&results.title, &json);
        let embedded = crate::report::frame::unpacked(between(&html, "id=\"results\">", "</script>"));
        assert_eq!(embedded, json);
        assert_eq!(serde_json::from_str::<Results>(&embedded).unwrap(), results);
        assert!(html.len() < json.len() + 150_000);
    }

    #[test]
    fn texts_cannot_break_out_of_their_place() {
        let html = page("<b>&\"title\"", "{\"x\":\"</script><script>alert(1)</script>\"}");
        assert!(html.contains("<title>&lt;b&gt;&amp;&quot;title&quot; – windlass</title>"));
        assert!(!html.contains("alert(1)</script>"));
    }

    #[test]
    fn the_page_is_whole_and_asks_for_nothing() {
        let html = page("t", "{}");
        assert!(!html.contains("{{"), "every slot is filled");
        let own = crate::report::frame::written(&SCRIPTS);
        assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
        assert!(html.trim_end().ends_with("</html>"));
        assert!(html.len() < 150_000, "scripts and style are small: {}", html.len());
    }
}
