//! The page of regimes: a map of each controller, and what is outside of its bounds.

use serde::Serialize;

use super::frame::Page;
use windlass_lab::grid::CODE;
use windlass_lab::regimes::{AXES, Assessment, Broken, Case, Effort, Judged, Measured, Results, Row};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// The page of `results`, runs of that effort.
#[must_use]
pub fn page(results: &Results, effort: Effort) -> String {
    #[derive(Serialize)]
    struct One<'a> {
        /// Numbers of its values.
        at: [u8; 6],
        /// Number of its assessment.
        assessment: usize,
        #[serde(skip_serializing_if = "str::is_empty")]
        reason: &'a str,
        #[serde(skip_serializing_if = "<[Broken]>::is_empty")]
        broken: &'a [Broken],
    }
    #[derive(Serialize)]
    struct Controller<'a> {
        controller: &'a str,
        stack: &'a str,
        cells: Vec<One<'a>>,
    }
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'a str,
        code: &'a str,
        option: &'static str,
        axes: Vec<(&'a str, &'a [&'a str])>,
        assessments: [&'a str; 4],
        rows: Vec<Controller<'a>>,
    }
    let number = |assessment| Assessment::ALL.iter().position(|one| *one == assessment).unwrap_or_default();
    fn cells<'a>(row: &'a Row, number: &dyn Fn(Assessment) -> usize) -> Vec<One<'a>> {
        let one = |((case, _), judged): &'a ((Case, Option<Measured>), Judged)| One {
            at: case.regime.0,
            assessment: number(judged.assessment),
            reason: &judged.reason,
            broken: &judged.broken,
        };
        row.judged.iter().map(one).collect()
    }
    let rows = results.rows.iter().map(|row| Controller {
        controller: &row.controller,
        stack: &row.stack,
        cells: cells(row, &number),
    });
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        code: CODE,
        option: effort.option(),
        axes: AXES.iter().map(|axis| (axis.name, axis.values)).collect(),
        assessments: Assessment::ALL.map(Assessment::name),
        rows: rows.collect(),
    };
    let page = Page {
        title: "Regimes",
        skip: "Skip to the maps",
        contents: "Controllers",
        noscript: "The maps and tables of this page are built by its own script from the data it contains. \
            Allow scripts, or read regimes.csv beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    page.holding("regimes", &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::frame::{unpacked, written};
    use windlass_lab::regimes::{Effort, Kind, Regime};

    fn results() -> Results {
        let regime = |text: &str| Regime(Regime::parse(text).unwrap().map(Option::unwrap));
        let run = regime("rate=20M,rtt=50ms,buffer=1,flows=1,path=clean,mtu=1200").case(Effort::Quick);
        let not = regime("rate=100G,rtt=2s,buffer=1,flows=1,path=clean,mtu=1200").case(Effort::Quick);
        let reason = not.duration.clone().unwrap_err();
        let broken = Broken {
            kind: Kind::Loss,
            value: Some(0.96),
            limit: 0.02,
            source: "</script>".to_owned(),
            known_limit: None,
        };
        let judged = |assessment, reason: &str, broken| Judged {
            assessment,
            reason: reason.to_owned(),
            bounds: Vec::new(),
            broken,
        };
        Results {
            rows: vec![Row {
                controller: "copa".to_owned(),
                stack: "sim".to_owned(),
                judged: vec![
                    ((run, None), judged(Assessment::Outside, "", vec![broken])),
                    ((not, None), judged(Assessment::NotRun, &reason, Vec::new())),
                ],
            }],
        }
    }

    /// Assessments, bounds and the reason of what is not run are in the page, which asks for nothing.
    #[test]
    fn the_page_holds_every_assessment() {
        let html = page(&results(), Effort::Quick);
        let packed = html.split_once("id=\"regimes\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(&unpacked(packed)).unwrap();
        let cells = &data["rows"][0]["cells"];
        assert_eq!(data["assessments"][cells[0]["assessment"].as_u64().unwrap() as usize], "outside");
        assert_eq!((cells[0]["at"][0].as_u64(), cells[0]["broken"][0]["value"].as_f64()), (Some(2), Some(0.96)));
        assert!(cells[1]["reason"].as_str().unwrap().contains("round trips"));
        assert!(!html.contains("{{"), "every slot is filled");
        let own = written(&SCRIPTS);
        assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
    }
}
