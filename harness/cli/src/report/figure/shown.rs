//! What figures show, and in which colours: read from what the pages show.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plotters::style::RGBColor;
use serde::Deserialize;
use windlass_lab::plot::INK;
use windlass_qlog_analysis::series::Quantity;

use crate::report::{frame, traces};

/// The pages' panels and lanes.
#[derive(Deserialize, Default)]
pub(super) struct Shown {
    /// By its name, how a quantity is called and scaled.
    pub quantities: BTreeMap<String, Label>,
    /// From the top.
    pub panels: Vec<Panel>,
    /// Below the panels, from the top.
    pub lanes: Vec<Lane>,
    states: BTreeMap<String, String>,
    other_states: Vec<String>,
    /// The state of most of the time, which leaves the panels as they are.
    pub untinted: String,
}

#[derive(Deserialize)]
pub(super) struct Label {
    pub label: String,
    pub scale: f64,
}

#[derive(Deserialize)]
pub(super) struct Panel {
    pub title: String,
    /// Whether its axis begins at 0: `true`, or `"auto"`.
    zero: serde_json::Value,
    /// Whether losses stand on its main line.
    #[serde(default)]
    pub marked: bool,
    /// Whether it has a place on paper.
    #[serde(default)]
    pub paper: bool,
    pub lines: Vec<Line>,
}

#[derive(Deserialize)]
pub(super) struct Line {
    of: String,
    /// What it is called where it is a rate.
    #[serde(rename = "as")]
    pub rate: Option<String>,
    #[serde(default)]
    kind: String,
    colour: String,
    #[serde(default)]
    width: f64,
}

#[derive(Deserialize)]
pub(super) struct Lane {
    of: String,
    pub name: String,
    /// Whether it says why it is empty.
    #[serde(default)]
    pub always: bool,
    #[serde(default)]
    colour: String,
    /// Of its values, in their order.
    #[serde(default)]
    colours: Vec<Option<String>>,
}

/// What the pages show.
pub(super) static SHOWN: LazyLock<Shown> = LazyLock::new(|| {
    let json = traces::SHOWN.split_once('=').map_or("", |(_, json)| json.trim().trim_end_matches(';'));
    // The tests read it.
    serde_json::from_str(json).unwrap_or_default()
});

fn quantity(name: &str) -> Option<Quantity> {
    Quantity::ALL.into_iter().find(|quantity| quantity.name() == name)
}

/// The light colour of that name in the pages' style.
pub(super) fn colour(name: &str) -> RGBColor {
    let named = format!("--{name}: light-dark(#");
    let hex = frame::STYLE.split_once(&named).and_then(|(_, rest)| u32::from_str_radix(rest.get(..6)?, 16).ok());
    hex.map_or(INK, |hex| RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8))
}

impl Panel {
    pub(super) fn zero(&self) -> bool {
        self.zero == true
    }
}

impl Line {
    pub(super) fn quantity(&self) -> Option<Quantity> {
        quantity(&self.of)
    }

    pub(super) fn label(&self) -> Option<&'static Label> {
        SHOWN.quantities.get(&self.of)
    }

    pub(super) fn colour(&self) -> RGBColor {
        colour(&self.colour)
    }

    /// Pixels.
    pub(super) fn width(&self) -> u32 {
        self.width.round().max(1.0) as u32
    }

    /// Whether its points are samples instead of values that hold.
    pub(super) fn sampled(&self) -> bool {
        self.kind == "samples"
    }
}

impl Lane {
    pub(super) fn quantity(&self) -> Option<Quantity> {
        quantity(&self.of)
    }

    /// The colour of its ticks.
    pub(super) fn colour(&self) -> RGBColor {
        colour(&self.colour)
    }

    /// The colour of a value; `None` where it is not drawn.
    pub(super) fn colour_of(&self, value: usize) -> Option<RGBColor> {
        self.colours.get(value)?.as_deref().map(colour)
    }
}

/// The colour of each of a trace's `states`, in any figure the same.
pub(super) fn state_colours(states: &[String]) -> Vec<RGBColor> {
    let mut others = SHOWN.other_states.iter().cycle();
    let mut named = |state| SHOWN.states.get(state).or_else(|| others.next()).map_or(INK, |name| colour(name));
    states.iter().map(|state| named(state.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_the_pages_show_is_known_here() {
        let lines = || SHOWN.panels.iter().flat_map(|panel| &panel.lines);
        assert!(SHOWN.panels.iter().filter(|panel| panel.paper).count() >= 3 && SHOWN.lanes.len() == 6);
        assert!(lines().all(|line| line.quantity().is_some() && line.label().is_some()));
        assert!(SHOWN.lanes.iter().all(|lane| lane.quantity().is_some()));
        let lanes = SHOWN.lanes.iter().flat_map(|lane| lane.colours.iter().flatten().chain([&lane.colour]));
        let states = SHOWN.states.values().chain(&SHOWN.other_states);
        for name in lines().map(|line| &line.colour).chain(lanes).chain(states).filter(|name| !name.is_empty()) {
            assert!(frame::STYLE.contains(&format!("--{name}: light-dark(#")), "{name}");
        }
        assert_eq!(colour("line-1"), RGBColor(0, 0x72, 0xb2));
        let colours = state_colours(&["a", "recovery", "b"].map(str::to_owned));
        assert_eq!(colours, ["line-6", "line-2", "line-7"].map(colour));
    }
}
