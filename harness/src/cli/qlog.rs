//! `windlass qlog`: what can be done with qlog files.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use windlass_qlog_analysis::lint::{Profile, Report, lint};

use super::CliError;
use super::error::print;

/// Work with qlog files
#[derive(Debug, clap::Args)]
pub(super) struct Qlog {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Lint(Lint),
}

/// Say what is wrong with qlog files, where, and what would fix it
#[derive(Debug, clap::Args)]
struct Lint {
    /// Files, directories (searched for .sqlog and .qlog), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What to hold them against [default: qvis for a file of its time, the IETF drafts otherwise]
    #[arg(long, value_enum)]
    profile: Option<Against>,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Against {
    /// The IETF drafts
    Ietf,
    /// What qvis needs
    Qvis,
}

impl From<Against> for Profile {
    fn from(against: Against) -> Profile {
        match against {
            Against::Ietf => Profile::Ietf,
            Against::Qvis => Profile::Qvis,
        }
    }
}

impl Qlog {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.command {
            Command::Lint(command) => command.run(),
        }
    }
}

impl Lint {
    fn run(&self) -> Result<(), CliError> {
        let mut files = Vec::new();
        for path in &self.paths {
            collect(path, &mut files)?;
        }
        let mut wrong = 0;
        for file in &files {
            let report = self.one(file)?;
            wrong += usize::from(report.errors() > 0);
            let shown = file.display().to_string();
            print(&if self.json { json(&shown, &report) } else { format!("{shown}: {report}\n") })?;
        }
        match wrong {
            0 => Ok(()),
            _ => Err(CliError::Failed(format!("{wrong} of {} files with errors", files.len()))),
        }
    }

    fn one(&self, path: &Path) -> Result<Report, CliError> {
        let unreadable = |error: io::Error| CliError::Usage(format!("cannot read {}: {error}", path.display()));
        let mut reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::new(io::stdin()))
        } else {
            Box::new(BufReader::new(File::open(path).map_err(unreadable)?))
        };
        let profile = match self.profile {
            Some(against) => against.into(),
            None => guess(&mut reader).map_err(unreadable)?,
        };
        Ok(lint(reader, profile))
    }
}

fn json(file: &str, report: &Report) -> String {
    let value = serde_json::json!({
        "file": file,
        "errors": report.errors(),
        "warnings": report.warnings(),
        "report": report,
    });
    format!("{value}\n")
}

/// The profile a file seems to be written in: before the IETF era a header tells a
/// `qlog_version`. Nothing is consumed.
fn guess(reader: &mut dyn BufRead) -> io::Result<Profile> {
    let start = reader.fill_buf()?;
    let start = String::from_utf8_lossy(&start[..start.len().min(4096)]);
    let early = start.contains("\"qlog_version\"") && !start.contains("\"file_schema\"");
    Ok(if early { Profile::Qvis } else { Profile::Ietf })
}

/// `path`, or the qlog files under it in order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let unreadable = |error: io::Error| CliError::Usage(format!("cannot read {}: {error}", path.display()));
    let mut entries = std::fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>())
        .map_err(unreadable)?;
    entries.sort();
    let before = files.len();
    for entry in entries {
        let is_qlog = entry.extension().is_some_and(|extension| extension == "sqlog" || extension == "qlog");
        if entry.is_dir() {
            // An empty directory below the one asked for is no mistake.
            let _ = collect(&entry, files);
        } else if is_qlog {
            files.push(entry);
        }
    }
    if files.len() == before {
        return Err(CliError::Usage(format!("no .sqlog or .qlog file in {}", path.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn tells_the_eras_apart_without_consuming() {
        for (text, profile) in [
            ("\u{1e}{\"qlog_version\":\"0.3\"}\n", Profile::Qvis),
            ("\u{1e}{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"}\n", Profile::Ietf),
        ] {
            let mut reader = text.as_bytes();
            assert_eq!(guess(&mut reader).unwrap(), profile);
            let mut rest = String::new();
            reader.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, text);
        }
    }

    #[test]
    fn a_directory_is_searched_and_an_empty_one_is_a_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let mut files = Vec::new();
        assert!(collect(directory.path(), &mut files).is_err());
        for name in ["b.sqlog", "a.qlog", "c.txt"] {
            std::fs::write(inner.join(name), "").unwrap();
        }
        collect(directory.path(), &mut files).unwrap();
        assert_eq!(files, [inner.join("a.qlog"), inner.join("b.sqlog")]);
    }
}
