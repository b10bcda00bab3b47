//! The page about each controller, for `windlass explain` and for the book, whose
//! pages are the same text; and the source of the book: the pages of `docs/` and one for every controller.

mod page;

use std::path::{Path, PathBuf};
use std::{fs, io};

use rayon::prelude::*;
use windlass_adapter::NamedController;
use windlass_controllers::Entry;
use windlass_lab::golden::Picture;
use windlass_lab::output::{Folder, Owned, StoreError};

use page::relinked;
pub use page::{Explained, explain, params, profiles, runs_on};

/// The line of `SUMMARY.md` that the controllers' pages take the place of.
const PLACE: &str = "<!-- controllers -->";
const SUMMARY: &str = "SUMMARY.md";
/// The file by which a directory is known as a book.
const SETTINGS: &str = "book.toml";
/// The page of all controllers.
const CATALOGUE: &str = "controllers.md";

/// Why the book could not be written.
#[derive(thiserror::Error)]
pub enum BookError {
    /// A file or directory cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The summary leaves no place for the controllers.
    #[error("{} has no line {PLACE:?} for the controllers' pages", .0.display())]
    NoPlace(PathBuf),
    /// A controller's page could not be made.
    #[error("the page of {name}: {reason}")]
    Page {
        /// Name of the controller.
        name: &'static str,
        /// The error, for printing.
        reason: String,
    },
}

impl std::fmt::Debug for BookError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, BookError> {
    result.map_err(|source| BookError::File { path: path.to_owned(), source })
}

/// Writes the source of the book into the directory `out`: what is in `docs`, the guide to
/// contributing beside it, and a page with a picture for every controller. An earlier book
/// is replaced.
///
/// # Errors
/// `docs` is not that of a book, or `out` cannot be written or holds something else.
pub fn generate(docs: &Path, out: &Path) -> Result<(), BookError> {
    // The catalogue's page is in no directory of sources.
    let is_book = |settings: &Path| settings.is_file() && settings.with_file_name(CATALOGUE).is_file();
    let owned = Owned { marker: SETTINGS, is_marker: &is_book, is_entry: &|_| true };
    let folder = Folder::owned(out, &owned, &[docs])?;
    copy(docs, folder.path(), Path::new("docs"))?;
    let guide = docs.join("../CONTRIBUTING.md");
    let text = at(&guide, fs::read_to_string(&guide))?;
    write(&folder.path().join("contributing.md"), &relinked(&text, Path::new("")))?;
    write_controllers(folder.path())?;
    Ok(folder.finish()?)
}

fn write(path: &Path, text: &str) -> Result<(), BookError> {
    at(path, fs::write(path, text))
}

/// Copies the files of `docs`, whose place in the repository is `place`, and of the
/// directories in it; Markdown with its links as the book needs them.
fn copy(docs: &Path, to: &Path, place: &Path) -> Result<(), BookError> {
    at(to, fs::create_dir_all(to))?;
    for entry in at(docs, fs::read_dir(docs))? {
        let from = at(docs, entry)?.path();
        let Some(name) = from.file_name() else { continue };
        let to = to.join(name);
        if from.is_dir() {
            copy(&from, &to, &place.join(name))?;
        } else if from.extension().is_some_and(|extension| extension == "md") {
            write(&to, &relinked(&at(&from, fs::read_to_string(&from))?, place))?;
        } else {
            at(&to, fs::copy(&from, &to))?;
        }
    }
    Ok(())
}

fn write_controllers(book: &Path) -> Result<(), BookError> {
    let dir = book.join("controllers");
    at(&dir, fs::create_dir_all(&dir))?;
    let all: Vec<_> = NamedController::all().collect();
    all.par_iter().try_for_each(|entry| write_page(entry, &dir))?;
    write(&book.join(CATALOGUE), &catalogue())?;
    let path = book.join(SUMMARY);
    let summary = at(&path, fs::read_to_string(&path))?;
    if !summary.lines().any(|line| line == PLACE) {
        return Err(BookError::NoPlace(path));
    }
    let mut lines = String::from("- [The catalogue](controllers.md)");
    for entry in all {
        lines.push_str(&format!("\n  - [{name}](controllers/{name}.md)", name = entry.name));
    }
    write(&path, &summary.replacen(PLACE, &lines, 1))
}

fn write_page(entry: &Entry<NamedController>, dir: &Path) -> Result<(), BookError> {
    let wrong = |reason| BookError::Page { name: entry.name, reason };
    let picture = format!("{}.svg", entry.name);
    let explained = explain(&entry.default, entry.name, &picture).map_err(wrong)?;
    let svg = Picture::new(&explained.trace, &explained.scenario).svg().map_err(|error| wrong(error.to_string()))?;
    write(&dir.join(picture), &svg)?;
    write(&dir.join(format!("{}.md", entry.name)), &explained.markdown)
}

/// The page of all controllers.
fn catalogue() -> String {
    let mut text = format!(
        "# The catalogue\n\n{} controllers. Each page is what `windlass explain NAME` prints; the picture on it is \
         the controller's golden trace. What a step costs is in [the speed tables](benchmarks.md).\n\n\
         | controller | what it does | runs on | state of a flow, bytes |\n| --- | --- | --- | --: |\n",
        NamedController::all().count()
    );
    for entry in NamedController::all() {
        text.push_str(&format!(
            "| [{name}](controllers/{name}.md) | {} | {} | {} |\n",
            entry.summary,
            runs_on(entry.default.needs()).join(", "),
            entry.state_size,
            name = entry.name,
        ));
    }
    text
}
