use super::*;
use crate::report::frame::{unpacked, written};
use windlass_lab::regimes::{Effort, Kind, Regime};

fn results() -> Results {
    let regime = |text: &str| Regime(Regime::parse(text).unwrap().map(Option::unwrap));
    let run = regime("rate=20M,rtt=50ms,buffer=1,flows=1,path=clean,mtu=1200").case(Effort::Quick);
    let not = regime("rate=100G,rtt=2s,buffer=1,flows=1,path=clean,mtu=1200").case(Effort::Quick);
    let reason = not.duration.clone().unwrap_err();
    let broken =
        Broken { kind: Kind::Loss, value: Some(0.96), limit: 0.02, source: "</script>".to_owned(), known_limit: None };
    let judged =
        |assessment, reason: &str, broken| Judged { assessment, reason: reason.to_owned(), bounds: Vec::new(), broken };
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
