//! The report: one self-contained HTML file.
//!
//! The page embeds the text of `results.json` and builds every table and plot from it,
//! so it cannot show other numbers. It asks the network for nothing; its
//! content-security policy forbids it to.

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("js/data.js"),
    include_str!("js/theme.js"),
    include_str!("js/table.js"),
    include_str!("js/selection.js"),
    include_str!("js/plots.js"),
    include_str!("js/page.js"),
];

/// The report titled `title` over the text of `results.json`.
#[must_use]
pub fn page(title: &str, results_json: &str) -> String {
    let scripts = format!("(() => {{\n\"use strict\";\n{}\n}})();\n", SCRIPTS.join("\n"));
    let mut html = String::with_capacity(results_json.len() + 5_500_000);
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        html.push_str(before);
        let Some((slot, after)) = after.split_once("}}") else { break };
        match slot {
            "title" => html.push_str(&escape(title)),
            "style" => html.push_str(STYLE),
            "results" => html.push_str(&embeddable(results_json)),
            "scripts" => html.push_str(&scripts),
            "plotly" => html.push_str(&plotly()),
            _ => {}
        }
        rest = after;
    }
    html.push_str(rest);
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that may stand inside a `script` element: `<` can only occur within strings,
/// where its escape means the same.
fn embeddable(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// The plotting library's script element. The crate gives it together with a second
/// one for formulas, which the report has no use for.
fn plotly() -> String {
    const END: &str = "</script>";
    let sources = plotly::Plot::offline_js_sources();
    match sources.find(END) {
        Some(end) => sources[..end + END.len()].to_owned(),
        None => sources,
    }
}

#[cfg(test)]
mod tests;
