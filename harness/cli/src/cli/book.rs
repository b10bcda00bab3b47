//! `windlass book`: the source of the book.

use std::path::PathBuf;

use super::CliError;
use super::error::print;
use crate::book::generate;

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
