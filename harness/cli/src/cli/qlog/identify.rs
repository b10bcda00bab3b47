//! `windlass qlog identify`: which controller a trace shows.

use std::path::Path;

use rayon::prelude::*;

use super::files::{Again, Files};
use super::replay::{failed, opener};
use crate::cli::CliError;
use crate::cli::error::{print, shown};
use crate::cli::text::{Align, aligned};
use windlass_lab::replay::{Answer, Identified, LossSource, answer};
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::identify::{Match, NEARER};

/// Identify the congestion controller of traces: by its name, its window, or the arrival of its packets
///
/// A name, or a congestion state that one controller alone has, is taken from the trace. Else every
/// controller of the catalogue, with default parameters and the stack's initial window, runs on the
/// events of the sender, once from beginning to end and once started anew at each loss or mark, and
/// its window is compared with the one the stack logged; this needs a sender's trace with packets,
/// ACK frames and a congestion window. Else the arrival of data packets is compared with that of
/// flows whose controllers are known; this needs 1000 packets over 100 round trips, of either end.
/// What is too far from all is unknown.
#[derive(Debug, clap::Args)]
pub(super) struct Identify {
    #[command(flatten)]
    files: Files,
    /// How many controllers to print
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// The connection to identify, by its name or as #N for the Nth trace of a file from 0
    /// [default: the one that sends most]
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
}

impl Identify {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?;
        let one = |file: &Path| {
            let file = Again::at(file)?;
            answer(&opener(&file), self.connection.as_deref()).map_err(|error| failed(file.path(), &error))
        };
        let pool = self.files.pool()?;
        let found: Vec<_> = pool.install(|| files.par_iter().map(|file| one(file)).collect());
        for (file, identified) in files.iter().zip(found) {
            let identified = identified?;
            print(&if self.json { self.json(file, &identified) } else { self.text(file, &identified) })?;
        }
        Ok(())
    }

    fn text(&self, file: &Path, found: &Answer) -> String {
        let mut text = format!("{}: ", shown(file));
        match found.classification.named() {
            Some((controller, by)) => text.push_str(&format!("{}, by {}", escape::line(controller), described(by))),
            None => text.push_str("unknown"),
        }
        if !found.connection.is_empty() {
            text.push_str(&format!(" (connection {})", escape::line(&found.connection)));
        }
        text.push('\n');
        if let Some(declared) = &found.declared {
            let what = if declared.by_state { "the congestion state" } else { "the controller" };
            text.push_str(&format!("  the trace tells {what} {:?}\n", declared.text));
        }
        match &found.by_window {
            Ok(found) => text.push_str(&self.windows(found)),
            Err(missing) => text.push_str(&format!("  by window: cannot be said, {missing}\n")),
        }
        match &found.by_arrivals {
            Ok(found) => text.push_str(&arrivals(found)),
            Err(reason) => text.push_str(&format!("  by arrivals: cannot be said, {reason}\n")),
        }
        if found.others > 0 {
            text.push_str(&format!("  {} other connections (--connection)\n", found.others));
        }
        text
    }

    fn windows(&self, found: &Identified) -> String {
        let classification = found.named().unwrap_or("unknown");
        let mut text = format!(
            "  by window: {classification}; {} ACK frames, {} losses or marks answered",
            found.compared, found.epochs
        );
        if found.losses_from == LossSource::Detected {
            text.push_str("; the trace logs no lost packets, RFC 9002's thresholds found them");
        }
        text.push('\n');
        let heads = [
            ("score", Align::Right),
            ("off by %", Align::Right),
            ("throughout %", Align::Right),
            ("by epoch %", Align::Right),
            ("by model %", Align::Right),
            ("controller", Align::Left),
        ];
        // A mean |ln| as the factor it stands for.
        let percent = |distance: f64| format!("{:.1}", 100.0 * (libm::exp(distance) - 1.0));
        let optional = |distance: Option<f64>| distance.map_or_else(|| "–".to_owned(), percent);
        let rows: Vec<Vec<String>> = found
            .guesses
            .iter()
            .take(self.top)
            .map(|guess| {
                vec![
                    format!("{:.1}", guess.score),
                    percent(guess.distance),
                    percent(guess.whole),
                    optional(guess.by_epoch),
                    optional(guess.by_model),
                    guess.controllers.join(" = "),
                ]
            })
            .collect();
        for line in aligned(&heads, &rows) {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }

    fn json(&self, file: &Path, found: &Answer) -> String {
        let named = found.classification.named();
        let mut value = serde_json::json!({
            "file": file.display().to_string(),
            "connection": found.connection,
            "end": found.end.name(),
            "controller": named.map(|(controller, _)| controller),
            "by": named.map(|(_, by)| by),
            "declared": found.declared.as_ref().map(|declared| &declared.text),
        });
        match &found.by_window {
            Ok(found) => {
                value["ack_frames"] = found.compared.into();
                value["epochs"] = found.epochs.into();
                value["losses_detected"] = (found.losses_from == LossSource::Detected).into();
                value["guesses"] = serde_json::json!(found.guesses.iter().take(self.top).collect::<Vec<_>>());
            }
            Err(missing) => value["window_refused"] = missing.to_string().into(),
        }
        match &found.by_arrivals {
            Ok(found) => {
                let nearest = found.nearest.iter().take(self.top);
                let nearest =
                    nearest.map(|(name, distance)| serde_json::json!({"controller": name, "distance": distance}));
                value["arrivals"] = serde_json::json!({
                    "controller": found.controller,
                    "margin": found.margin,
                    "nearest": nearest.collect::<Vec<_>>(),
                });
            }
            Err(reason) => value["arrivals_refused"] = reason.as_str().into(),
        }
        format!("{value}\n")
    }
}

fn described(by: &str) -> &str {
    match by {
        "trace" => "what the trace tells",
        "window" => "its window",
        _ => "the arrival of its packets",
    }
}

fn arrivals(found: &Match) -> String {
    let named = found.controller.as_deref().unwrap_or("unknown");
    let nearest: Vec<String> =
        found.nearest.iter().take(3).map(|(name, distance)| format!("{name} {distance:.2}")).collect();
    format!(
        "  by arrivals: {named}; distances {}, unknown from {:.2} on, and above {NEARER} of the next\n",
        nearest.join(", "),
        found.margin
    )
}
