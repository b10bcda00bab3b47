//! `windlass qlog identify`: which controller a trace shows.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use super::files::{Again, Files, readable};
use super::replay::{failed, opener};
use crate::cli::CliError;
use crate::cli::error::{print, shown};
use crate::cli::text::{Align, aligned};
use windlass_lab::replay::{
    Answer, Classification, Guess, Identified, LossSource, OneSender, Windows, answer, of_one_sender,
};
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::identify::{Declared, Match, NEARER};

/// Identify the congestion controller of traces: by its name, its window, or the arrival of its packets
///
/// A name, or a congestion state that one controller alone has, is taken from the trace. Else every
/// controller of the catalogue, with default parameters and the stack's initial window, runs on the
/// events of the sender, once from beginning to end and once started anew at each loss or mark, and
/// its window is compared with the one the stack logged; this needs a sender's trace with packets,
/// ACK frames and a congestion window. Else the arrival of data packets is compared with that of
/// flows whose controllers are known; this needs 1000 packets over 100 round trips, of either end.
/// What is too far from all is unknown.
///
/// One trace often says too little. Of several that one sender made, best over different networks,
/// --one-sender joins what each shows.
#[derive(Debug, clap::Args)]
pub(super) struct Identify {
    #[command(flatten)]
    files: Files,
    /// How many controllers to print
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// All traces are of one sender: one answer, from what each of them shows
    #[arg(long)]
    one_sender: bool,
    /// The connection to identify, by its name or as #N for the Nth trace of a file from 0
    /// [default: the one that sends most]
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Print one JSON object per file, or with --one-sender one of all
    #[arg(long)]
    json: bool,
}

impl Identify {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?;
        if self.one_sender && files.len() < 2 {
            let text = format!("--one-sender joins several traces, and {} is one", shown(&files[0]));
            return Err(CliError::Usage(text));
        }
        let one = |file: &Path| {
            let file = Again::at(file)?;
            answer(&opener(&file), self.connection.as_deref()).map_err(|error| failed(file.path(), &error))
        };
        let pool = self.files.pool()?;
        let found: Vec<_> =
            pool.install(|| files.par_iter().map(|file| one(file).map(|answer| (file.clone(), answer))).collect());
        let (files, found): (Vec<PathBuf>, Vec<Answer>) = readable(found)?.into_iter().unzip();
        if self.one_sender {
            return self.one_sender(&files, &found);
        }
        for (file, identified) in files.iter().zip(found) {
            print(&if self.json {
                format!("{}\n", self.json(file, &identified))
            } else {
                self.text(file, &identified)
            })?;
        }
        Ok(())
    }

    fn one_sender(&self, files: &[PathBuf], found: &[Answer]) -> Result<(), CliError> {
        let joined = of_one_sender(found).map_err(|error| {
            let [one, other] = error.traces.map(|at| shown(&files[at]));
            let (told, differently) = (escape::line(&error.one), escape::line(&error.other));
            CliError::Failed(format!(
                "these traces are not of one sender: {one} tells the controller {told}, {other} tells {differently}"
            ))
        })?;
        print(&if self.json {
            self.json_of_all(files, found, &joined)
        } else {
            self.text_of_all(files, found, &joined)
        })
    }

    fn text_of_all(&self, files: &[PathBuf], found: &[Answer], joined: &OneSender) -> String {
        let of = found.len();
        let mut text = format!("{of} traces of one sender: {}\n", answered(&joined.classification));
        if let Some(declared) = &joined.declared {
            text.push_str(&declaration(declared));
        }
        match &joined.by_window {
            Some(windows) => {
                text.push_str(&format!(
                    "  by window, {} of {of} traces: {}",
                    windows.traces,
                    classified(windows.named())
                ));
                text.push_str(&format!(
                    "; {} ACK frames, {} losses or marks answered\n",
                    windows.compared, windows.epochs
                ));
                text.push_str(&self.table(&windows.guesses));
            }
            None => text.push_str("  by window: cannot be said, no trace shows windows of its sender\n"),
        }
        match &joined.by_arrivals {
            Some((arrived, number)) => {
                text.push_str(&arrivals(&format!("by arrivals, {number} of {of} traces"), arrived))
            }
            None => text.push_str("  by arrivals: cannot be said, no trace shows enough of them\n"),
        }
        for (file, one) in files.iter().zip(found) {
            text.push_str(&format!("  {}: {}{}\n", shown(file), answered(&one.classification), connection(one)));
        }
        text
    }

    fn json_of_all(&self, files: &[PathBuf], found: &[Answer], joined: &OneSender) -> String {
        let mut value = head(&joined.classification, joined.declared.as_ref());
        if let Some(Windows { traces, compared, epochs, guesses }) = &joined.by_window {
            value["windows_of"] = (*traces).into();
            value["ack_frames"] = (*compared).into();
            value["epochs"] = (*epochs).into();
            value["guesses"] = serde_json::json!(guesses.iter().take(self.top).collect::<Vec<_>>());
        }
        if let Some((found, number)) = &joined.by_arrivals {
            value["arrivals_of"] = (*number).into();
            value["arrivals"] = self.json_of_arrivals(found);
        }
        value["traces"] = files.iter().zip(found).map(|(file, one)| self.json(file, one)).collect();
        format!("{value}\n")
    }

    fn text(&self, file: &Path, found: &Answer) -> String {
        let mut text = format!("{}: {}{}\n", shown(file), answered(&found.classification), connection(found));
        if let Some(declared) = &found.declared {
            text.push_str(&declaration(declared));
        }
        match &found.by_window {
            Ok(found) => text.push_str(&self.windows(found)),
            Err(missing) => text.push_str(&format!("  by window: cannot be said, {missing}\n")),
        }
        match &found.by_arrivals {
            Ok(found) => text.push_str(&arrivals("by arrivals", found)),
            Err(reason) => text.push_str(&format!("  by arrivals: cannot be said, {reason}\n")),
        }
        if found.others > 0 {
            text.push_str(&format!("  {} other connections (--connection)\n", found.others));
        }
        text
    }

    fn windows(&self, found: &Identified) -> String {
        let mut text = format!(
            "  by window: {}; {} ACK frames, {} losses or marks answered",
            classified(found.named()),
            found.compared,
            found.epochs
        );
        if found.losses_from == LossSource::Detected {
            text.push_str("; the trace logs no lost packets, RFC 9002's thresholds found them");
        }
        text.push('\n');
        text.push_str(&self.table(&found.guesses));
        text
    }

    /// The first `--top` guesses.
    fn table(&self, guesses: &[Guess]) -> String {
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
        let rows: Vec<Vec<String>> = guesses
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
        aligned(&heads, &rows).into_iter().map(|line| format!("  {line}\n")).collect()
    }

    fn json(&self, file: &Path, found: &Answer) -> Value {
        let mut value = head(&found.classification, found.declared.as_ref());
        value["file"] = file.display().to_string().into();
        value["connection"] = found.connection.as_str().into();
        value["end"] = found.end.name().into();
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
            Ok(found) => value["arrivals"] = self.json_of_arrivals(found),
            Err(reason) => value["arrivals_refused"] = reason.as_str().into(),
        }
        value
    }

    fn json_of_arrivals(&self, found: &Match) -> Value {
        let nearest = found.nearest.iter().take(self.top);
        let nearest = nearest.map(|(name, distance)| serde_json::json!({"controller": name, "distance": distance}));
        serde_json::json!({
            "controller": found.controller,
            "margin": found.margin,
            "lost_too_little": found.lost_too_little,
            "nearest": nearest.collect::<Vec<_>>(),
        })
    }
}

/// First fields of an object.
fn head(classification: &Classification, declared: Option<&Declared>) -> Value {
    let named = classification.named();
    serde_json::json!({
        "controller": named.map(|(controller, _)| controller),
        "by": named.map(|(_, by)| by),
        "declared": declared.map(|declared| &declared.text),
    })
}

fn answered(classification: &Classification) -> String {
    let known = |(controller, by)| format!("{}, by {}", escape::line(controller), described(by));
    classification.named().map_or_else(|| classified(None).to_owned(), known)
}

fn classified(name: Option<&str>) -> &str {
    name.unwrap_or("unknown")
}

fn connection(found: &Answer) -> String {
    if found.connection.is_empty() {
        return String::new();
    }
    format!(" (connection {})", escape::line(&found.connection))
}

fn declaration(declared: &Declared) -> String {
    let what = if declared.by_state { "the congestion state" } else { "the controller" };
    format!("  the trace tells {what} {:?}\n", declared.text)
}

fn described(by: &str) -> &str {
    match by {
        "trace" => "what the trace tells",
        "window" => "its window",
        _ => "the arrival of its packets",
    }
}

fn arrivals(by: &str, found: &Match) -> String {
    let named = classified(found.controller.as_deref());
    let nearest: Vec<String> =
        found.nearest.iter().take(3).map(|(name, distance)| format!("{name} {distance:.2}")).collect();
    let nearest = nearest.join(", ");
    if found.lost_too_little {
        return format!(
            "  {by}: unknown, since less than a packet of 10 000 was lost after start-up; distances {nearest}\n"
        );
    }
    format!(
        "  {by}: {named}; distances {nearest}, unknown from {:.2} on, and above {NEARER} of the next\n",
        found.margin
    )
}
