//! `windlass qlog identify`: which controller a trace shows.

use std::path::Path;

use rayon::prelude::*;

use super::files::{Again, Files};
use super::replay::{failed, opener};
use crate::cli::CliError;
use crate::cli::error::{print, shown};
use crate::cli::text::{Align, aligned};
use windlass_lab::replay::{Identified, LossSource, identify};
use windlass_qlog_analysis::escape;

/// Identify the controllers that explain the congestion window of traces best, with scores
///
/// Every controller of the catalogue, with default parameters and the stack's initial
/// window, runs on the events of the sender, once from beginning to end and once started
/// anew at each loss or mark; its window is compared with the one the stack logged. The
/// trace has to have packets with ACK frames and a congestion window.
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
            identify(&opener(&file), self.connection.as_deref()).map_err(|error| failed(file.path(), &error))
        };
        let pool = self.files.pool()?;
        let found: Vec<_> = pool.install(|| files.par_iter().map(|file| one(file)).collect());
        for (file, identified) in files.iter().zip(found) {
            let identified = identified?;
            print(&if self.json { self.json(file, &identified) } else { self.text(file, &identified) })?;
        }
        Ok(())
    }

    fn text(&self, file: &Path, found: &Identified) -> String {
        let mut text = format!("{}: ", shown(file));
        if !found.connection.is_empty() {
            text.push_str(&format!("connection {}, ", escape::line(&found.connection)));
        }
        text.push_str(&format!("{} ACK frames, {} losses or marks answered", found.compared, found.epochs));
        if found.others > 0 {
            text.push_str(&format!(", {} other connections (--connection)", found.others));
        }
        if found.losses_from == LossSource::Detected {
            text.push_str("; the trace logs no lost packets, RFC 9002's thresholds found them");
        }
        text.push('\n');
        let heads = [
            ("score", Align::Right),
            ("off by %", Align::Right),
            ("throughout %", Align::Right),
            ("by epoch %", Align::Right),
            ("controller", Align::Left),
        ];
        // A mean |ln| as the factor it stands for.
        let percent = |distance: f64| format!("{:.1}", 100.0 * (libm::exp(distance) - 1.0));
        let rows: Vec<Vec<String>> = found
            .guesses
            .iter()
            .take(self.top)
            .map(|guess| {
                vec![
                    format!("{:.1}", guess.score),
                    percent(guess.distance),
                    percent(guess.whole),
                    guess.by_epoch.map_or_else(|| "–".to_owned(), percent),
                    guess.controllers.join(" = "),
                ]
            })
            .collect();
        for line in aligned(&heads, &rows) {
            text.push_str(&format!("{line}\n"));
        }
        text
    }

    fn json(&self, file: &Path, found: &Identified) -> String {
        let guesses: Vec<_> = found.guesses.iter().take(self.top).collect();
        let value = serde_json::json!({
            "file": file.display().to_string(),
            "connection": found.connection,
            "ack_frames": found.compared,
            "epochs": found.epochs,
            "losses_detected": found.losses_from == LossSource::Detected,
            "guesses": guesses,
        });
        format!("{value}\n")
    }
}
