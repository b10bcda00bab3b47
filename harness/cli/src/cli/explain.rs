//! `windlass explain`, the page of one controller, and `windlass book`, the source of the book
//! with all of them.

use std::path::{Path, PathBuf};

use super::error::print;
use super::markdown::rendered;
use super::text::width;
use super::{CliError, choice};
use crate::book::{explain, generate};
use windlass_lab::golden::Picture;
use windlass_lab::output::OutputFile;

/// Explain a controller: what it does, its states, parameters, signals and limits, with a
/// picture of its congestion window
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
        let output = self.svg.as_deref().map(|path| OutputFile::open::<&Path>(path, &[])).transpose()?;
        let explained = explain(&algorithm, &self.name, &file).map_err(CliError::Failed)?;
        let picture = Picture::new(&explained.trace, &explained.scenario);
        if let Some(output) = output {
            let svg = picture.svg().map_err(|error| CliError::Failed(format!("cannot draw: {error}")))?;
            output.finish_with(svg)?;
        }
        let width = width();
        print(&if self.markdown {
            explained.markdown
        } else {
            rendered(&explained.markdown, &picture.text(width), width)
        })
    }
}

/// Write the source of the book: the pages of docs/ and a page for every controller
#[derive(Debug, clap::Args)]
pub(super) struct Book {
    /// The directory to write; an earlier book in it is replaced
    #[arg(long, value_name = "DIR", default_value = "target/book")]
    out: PathBuf,
    /// The pages that are not about one controller
    #[arg(long, value_name = "DIR", default_value = "docs")]
    docs: PathBuf,
}

impl Book {
    pub(super) fn run(&self) -> Result<(), CliError> {
        generate(&self.docs, &self.out).map_err(|error| CliError::Failed(format!("cannot write the book: {error}")))?;
        let out = self.out.display();
        print(&format!("book: {out}; `mdbook build {out}` makes it HTML\n"))
    }
}
