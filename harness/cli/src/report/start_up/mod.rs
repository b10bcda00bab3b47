//! The page of start-up: a table for each path.

use serde::Serialize;

use super::frame::Page;
use windlass_lab::grid::CODE;
use windlass_lab::start_up::{Measured, Results, SIZES, Spread};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// What is shown of a run; `null` where it has no such thing.
#[derive(Serialize)]
struct Answer<'a> {
    filled_s: Option<f64>,
    lost: Option<u64>,
    queue_peak: Option<f64>,
    completed_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl<'a> Answer<'a> {
    fn of(read: &'a Measured) -> Answer<'a> {
        Answer {
            filled_s: read.filled_s(),
            lost: read.lost(),
            queue_peak: read.queue_peak(),
            completed_s: read.completed_s(),
            reason: read.reason(),
        }
    }
}

/// The page of `results`.
#[must_use]
pub fn page(results: &Results) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        scheme: String,
        stack: &'a str,
        place: String,
        turn: u64,
        /// Of a flow that fills the path, then of each size of transfers: alone, and beside a rival.
        answers: Vec<[Option<Answer<'a>>; 2]>,
    }
    #[derive(Serialize)]
    struct Turns<'a> {
        scheme: String,
        stack: &'a str,
        place: String,
        ran: usize,
        filled_s: Option<Spread>,
        lost: Option<Spread>,
    }
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'a str,
        code: &'a str,
        sizes: [u64; 4],
        rows: Vec<Line<'a>>,
        /// Empty where each is run once.
        turns: Vec<Turns<'a>>,
    }
    let rows = results.rows.iter().map(|row| {
        let asked = [None].into_iter().chain(SIZES.map(Some));
        let both = |transfer| [false, true].map(|rival| row.answer(transfer, rival).map(Answer::of));
        Line {
            scheme: row.scheme.to_string(),
            stack: &row.stack,
            place: row.place.to_string(),
            turn: row.turn,
            answers: asked.map(both).collect(),
        }
    });
    let turns = results.turns().map(|of| Turns {
        scheme: of.first.scheme.to_string(),
        stack: &of.first.stack,
        place: of.first.place.to_string(),
        ran: of.ran,
        filled_s: of.filled_s,
        lost: of.lost,
    });
    let repeated = results.rows.iter().any(|row| row.turn > 1);
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        code: CODE,
        sizes: SIZES,
        rows: rows.collect(),
        turns: turns.filter(|_| repeated).collect(),
    };
    let page = Page {
        title: "Start-up",
        skip: "Skip to the tables",
        contents: "Paths",
        noscript: "The tables of this page are built by its own script from the data it contains. \
            Allow scripts, or read start-up.csv beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    page.holding("start-up", &all)
}

#[cfg(test)]
mod tests {
    use windlass_lab::start_up::{Link, Place, Question, Row, Scheme};

    use super::*;
    use crate::report::frame::{unpacked, written};

    #[test]
    fn the_page_holds_every_number_and_asks_for_nothing() {
        let run = Measured::Run { filled_s: Some(0.5), lost: 7, queue_peak: 21.0, completed_s: None };
        let not = Measured::Not { not_run: "</script>".to_owned() };
        let answers = vec![
            (Question { transfer: None, rival: false }, Some(run)),
            (Question { transfer: Some(10_000), rival: true }, Some(not)),
        ];
        let place = Place { link: Link::Steady, rate_mbps: 50.0, rtt_ms: 100, buffer_bdp: 0.1 };
        let row = Row { scheme: Scheme::read("cubic+resume"), stack: "sim".to_owned(), place, turn: 1, answers };
        let html = page(&Results { rows: vec![row] });
        let packed = html.split_once("id=\"start-up\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(&unpacked(packed)).unwrap();
        let row = &data["rows"][0];
        assert_eq!(
            (&row["scheme"], &row["place"]),
            (&"cubic+resume".into(), &"50 Mbit/s, RTT 100 ms, buffer 0.1 BDP".into())
        );
        assert_eq!((&row["answers"][0][0]["lost"], &row["answers"][0][1]), (&7.into(), &serde_json::Value::Null));
        assert_eq!(row["answers"][1][1]["reason"], "</script>");
        assert_eq!(data["turns"].as_array().unwrap().len(), 0);
        assert!(!html.contains("{{"), "every slot is filled");
        let own = written(&SCRIPTS);
        assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
    }
}
