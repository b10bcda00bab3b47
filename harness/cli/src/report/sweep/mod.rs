//! The page of a sweep: heat maps over two of its axes, and the command that runs a cell again.

use serde::Serialize;

use super::frame::Page;
use windlass_lab::grid::CODE;
use windlass_lab::sweep::{Collected, MEASURES, Plan};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// Means over seeds that a page shows at most.
const MOST: usize = 50_000;

/// The page of what was collected of the plan that the user calls `path`; `None` where it would be too large.
#[must_use]
pub fn page(plan: &Plan, collected: &Collected, path: &str) -> Option<String> {
    #[derive(Serialize)]
    struct Axis<'a> {
        name: &'a str,
        values: Vec<String>,
    }
    #[derive(Serialize)]
    struct Group<'a> {
        /// Numbers of its values.
        at: Vec<usize>,
        /// Number of its first cell, from 1.
        cell: usize,
        done: usize,
        failed: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
        means: &'a [Option<(f64, Option<f64>)>],
    }
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'a str,
        code: &'a str,
        plan: &'a str,
        seeds: &'a [u64],
        missing: usize,
        measures: [&'a str; MEASURES.len()],
        axes: Vec<Axis<'a>>,
        groups: Vec<Group<'a>>,
    }
    if collected.groups.len() > MOST {
        return None;
    }
    let scenarios = (0..plan.scenarios()).map(|number| plan.scenario_name(number).to_owned());
    let mut axes = vec![Axis { name: "scenario", values: scenarios.collect() }];
    axes.extend(
        plan.axes
            .iter()
            .map(|axis| Axis { name: &axis.key, values: (0..axis.values.len()).map(|nth| axis.label(nth)).collect() }),
    );
    axes.push(Axis { name: "controller", values: plan.controllers.clone() });
    axes.push(Axis { name: "stack", values: plan.stacks.clone() });
    let groups = collected.groups.iter().map(|group| {
        let of = plan.settings(group.first);
        let at = [of.scenario].into_iter().chain(of.values).chain([of.controller, of.stack]);
        Group {
            at: at.collect(),
            cell: group.first + 1,
            done: group.done,
            failed: group.failed,
            reason: group.reason.as_deref(),
            means: &group.means,
        }
    });
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        code: CODE,
        plan: path,
        seeds: &plan.seeds,
        missing: collected.missing,
        measures: MEASURES.map(|(name, _)| name),
        axes,
        groups: groups.collect(),
    };
    let page = Page {
        title: "Sweep",
        skip: "Skip to the map",
        contents: "Parts",
        noscript: "The maps of this page are built by its own script from the data it contains. \
            Allow scripts, or read runs.csv beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    Some(page.holding("sweep", &all))
}

#[cfg(test)]
mod tests {
    use windlass_lab::sweep::Group;

    use super::*;
    use crate::report::frame::{unpacked, written};

    #[test]
    fn the_page_holds_every_mean_and_asks_for_nothing() {
        let text =
            "controllers = [\"reno\", \"cubic\"]\nscenario = \"clean-link\"\n[axes]\n\"dumbbell.rtt_ms\" = [10, 20]";
        let plan = Plan::parse("plan.toml", text).unwrap();
        let group = |first: usize| Group {
            first,
            done: 1,
            failed: 1,
            reason: Some("</script>".to_owned()),
            means: vec![Some((7.5, Some(0.25))), None],
        };
        let collected = Collected { groups: (0..4).map(group).collect(), missing: 3, ..Collected::default() };
        let html = page(&plan, &collected, "plan.toml").unwrap();
        let packed = html.split_once("id=\"sweep\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(&unpacked(packed)).unwrap();
        let group = &data["groups"][3];
        assert_eq!((&group["at"], &group["cell"]), (&serde_json::json!([0, 1, 1, 0]), &4.into()));
        assert_eq!((&group["means"], &group["reason"]), (&serde_json::json!([[7.5, 0.25], null]), &"</script>".into()));
        assert_eq!(data["axes"][1], serde_json::json!({ "name": "dumbbell.rtt_ms", "values": ["10", "20"] }));
        assert!(!html.contains("{{"), "every slot is filled");
        let own = written(&SCRIPTS);
        assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("fetch("), "no address in the page");
        let many = Collected { groups: vec![collected.groups[0].clone(); MOST + 1], ..collected };
        assert_eq!(page(&plan, &many, "plan.toml"), None);
    }
}
