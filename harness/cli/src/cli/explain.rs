//! `windlass explain`: all there is to say of one controller.

use std::path::PathBuf;

use super::error::print;
use super::markdown::rendered;
use super::text::width;
use super::{CliError, choice};
use crate::book::explain;
use windlass_lab::golden::Picture;

/// Explain a controller: what it does, its states, parameters, signals and limits, and a
/// picture of it at work
#[derive(Debug, clap::Args)]
pub(super) struct Explain {
    /// The controller, as NAME or NAME:parameter=value,…
    #[arg(value_name = "NAME")]
    name: String,
    /// Write the picture into this file, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the page as Markdown, as it is in the book
    #[arg(long)]
    markdown: bool,
}

impl Explain {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let algorithm = choice::controller(&self.name)?;
        let file = self.svg.as_ref().map_or_else(String::new, |file| file.display().to_string());
        let explained = explain(&algorithm, &self.name, &file).map_err(CliError::Failed)?;
        let picture = Picture::new(&explained.trace, &explained.scenario);
        if let Some(file) = &self.svg {
            let svg = picture.svg().map_err(|error| CliError::Failed(format!("cannot draw: {error}")))?;
            std::fs::write(file, svg)
                .map_err(|error| CliError::Failed(format!("cannot write {}: {error}", file.display())))?;
        }
        let width = width();
        print(&if self.markdown {
            explained.markdown
        } else {
            rendered(&explained.markdown, &picture.text(width), width)
        })
    }
}
