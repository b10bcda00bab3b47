//! The figure of harm: a matrix of all controllers for each place and measure.

use serde::Serialize;

use super::frame::Page;
use windlass_lab::grid::CODE;
use windlass_lab::harm::{PLACES, Results};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// Harm to goodput and to delay, percent.
type Percent = Option<(i32, i32)>;

/// The page of `results`, one for each stack.
#[must_use]
pub fn page(results: &[Results]) -> String {
    #[derive(Serialize)]
    struct Stack<'a> {
        stack: &'a str,
        /// Names of those that are deployed.
        against: String,
        controllers: &'a [String],
        sentences: Vec<String>,
        /// By place, who is harmed and who does it: to goodput and to delay, percent; `null` where it was not run.
        harm: Vec<Vec<Vec<Percent>>>,
        /// By place: what those that are deployed do to each other, percent.
        bounds: Vec<Percent>,
    }
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'a str,
        code: &'a str,
        places: Vec<String>,
        stacks: Vec<Stack<'a>>,
    }
    let percent = |harm: windlass_lab::harm::Harm| {
        let whole = |share: f64| (100.0 * share).round() as i32;
        (whole(harm.goodput), whole(harm.delay))
    };
    let stacks = results.iter().map(|one| {
        let numbers = 0..one.controllers.len();
        let row = |place, to| numbers.clone().map(|by| one.harm(place, to, by).ok().map(percent)).collect();
        Stack {
            stack: &one.stack,
            against: one.deployed_names(),
            controllers: &one.controllers,
            sentences: numbers.clone().map(|number| one.sentence(number)).collect(),
            harm: (0..PLACES.len()).map(|place| numbers.clone().map(|to| row(place, to)).collect()).collect(),
            bounds: (0..PLACES.len()).map(|place| one.bound(place).ok().map(percent)).collect(),
        }
    });
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        code: CODE,
        places: PLACES.iter().map(ToString::to_string).collect(),
        stacks: stacks.collect(),
    };
    let page = Page {
        title: "Harm",
        skip: "Skip to the matrix",
        contents: "Stacks",
        noscript: "The matrix of this page is drawn by its own script from the data it contains. \
            Allow scripts, or read harm.csv beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    page.holding("harm", &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::frame::{unpacked, written};
    use windlass_lab::harm::DEPLOYED;

    #[test]
    fn the_page_holds_every_pair_and_asks_for_nothing() {
        let results = Results {
            stack: "sim".to_owned(),
            controllers: DEPLOYED.map(str::to_owned).into(),
            against: DEPLOYED.map(str::to_owned).into(),
            ..Results::default()
        };
        let html = page(&[results]);
        let packed = html.split_once("id=\"harm\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(&unpacked(packed)).unwrap();
        assert_eq!(data["places"].as_array().unwrap().len(), 8);
        assert_eq!(data["places"][7], "50 Mbit/s, 4 BDP, FQ-CoDel");
        assert_eq!(data["stacks"][0]["harm"][7][1][0], serde_json::Value::Null);
        assert_eq!(data["stacks"][0]["sentences"][0], "Not known: it is not done yet.");
        assert!(!html.contains("{{"), "every slot is filled");
        let own = written(&SCRIPTS);
        assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
    }
}
