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
