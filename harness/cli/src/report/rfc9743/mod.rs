//! The page of RFC 9743: a matrix of criteria and paths for each controller, and every number.

use serde::Serialize;

use super::frame::Page;
use windlass_lab::grid::CODE;
use windlass_lab::rfc9743::{Assessment, Effort, NOT_APPLICABLE, Results};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// The page of `results`, runs of that effort.
#[must_use]
pub fn page(results: &Results, effort: Effort) -> String {
    #[derive(Serialize)]
    struct One<'a> {
        criterion: &'a str,
        section: &'a str,
        about: &'a str,
        source: &'a str,
        path: &'a str,
        path_section: &'a str,
        path_about: &'a str,
        assessment: &'a str,
        value: Option<f64>,
        text: String,
    }
    #[derive(Serialize)]
    struct Controller<'a> {
        controller: &'a str,
        stack: &'a str,
        answers: Vec<One<'a>>,
    }
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'a str,
        code: &'a str,
        quick: bool,
        seeds: usize,
        words: [&'a str; 5],
        not_applicable: [(&'a str, &'a str, &'a str); 3],
        rows: Vec<Controller<'a>>,
    }
    let rows = results.rows.iter().map(|row| {
        let one = |(question, answer): &(_, _)| -> One<'_> {
            let windlass_lab::rfc9743::Question { criterion, path } = *question;
            let answer: &windlass_lab::rfc9743::Answer = answer;
            One {
                criterion: criterion.name,
                section: criterion.section,
                about: criterion.about,
                source: criterion.limit.source(),
                path: path.name,
                path_section: path.section,
                path_about: path.about,
                assessment: answer.assessment.name(),
                value: answer.value.map(|value| value.mean),
                text: answer.text(question),
            }
        };
        Controller { controller: &row.controller, stack: &row.stack, answers: row.answers.iter().map(one).collect() }
    });
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        code: CODE,
        quick: effort == Effort::Quick,
        seeds: effort.seeds().count(),
        words: Assessment::ALL.map(Assessment::name),
        not_applicable: NOT_APPLICABLE,
        rows: rows.collect(),
    };
    let page = Page {
        title: "RFC 9743",
        skip: "Skip to the tables",
        contents: "Controllers",
        noscript: "The tables of this page are built by its own script from the data it contains. \
            Allow scripts, or read rfc9743.csv beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    page.holding("rfc9743", &all)
}

#[cfg(test)]
mod tests {
    use windlass_lab::compare::Sample;
    use windlass_lab::rfc9743::{Answer, Criterion, Path, Question, Row};

    use super::*;
    use crate::report::frame::{unpacked, written};

    #[test]
    fn the_page_holds_every_answer_and_asks_for_nothing() {
        let question = |criterion| Question {
            criterion: Criterion::named(criterion).unwrap(),
            path: Path::named("tail-drop").unwrap(),
        };
        let met = Answer {
            assessment: Assessment::Met,
            value: Some(Sample { count: 3, mean: 0.98, deviation: Some(0.01) }),
            half_width: Some(0.02),
            limit: Some(0.75),
            standard: "reno",
            reason: String::new(),
        };
        let not_run = Answer {
            assessment: Assessment::NotRun,
            value: None,
            half_width: None,
            limit: None,
            standard: "",
            reason: "</script>".to_owned(),
        };
        let answers = vec![(question("fairness"), met), (question("queue"), not_run)];
        let row = Row { controller: "copa".to_owned(), stack: "sim".to_owned(), answers };
        let html = page(&Results { rows: vec![row] }, Effort::Quick);
        let packed = html.split_once("id=\"rfc9743\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(&unpacked(packed)).unwrap();
        let answers = &data["rows"][0]["answers"];
        assert_eq!(answers[0]["text"], "0.980 ± 0.0200 (at least 0.750, by reno's)");
        assert_eq!((&answers[1]["text"], &answers[1]["value"]), (&"</script>".into(), &serde_json::Value::Null));
        assert!(!html.contains("{{"), "every slot is filled");
        let own = written(&SCRIPTS);
        assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
    }
}
