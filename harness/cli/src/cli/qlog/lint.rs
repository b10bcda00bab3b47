//! `windlass qlog lint`: mistakes in qlog files.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use windlass_qlog_analysis::lint::{Profile, Report, lint};

use super::files::{Files, decompressed, unreadable};
use crate::cli::CliError;
use crate::cli::error::print;

/// Check qlog files: what is wrong, where, and how to fix it
#[derive(Debug, clap::Args)]
pub(super) struct Lint {
    #[command(flatten)]
    files: Files,
    /// Rules to check against [default: qvis for files of draft 0.3 and before, ietf otherwise]
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
    /// Version 0.3 as qvis needs it
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

impl Lint {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?;
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
        let mut reader = BufReader::new(decompressed(path)?);
        let profile = match self.profile {
            Some(against) => against.into(),
            None => guess(&mut reader).map_err(|error| unreadable(path, &error))?,
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

/// The profile a file seems to be written in: headers before the IETF drafts have a
/// `qlog_version`. Nothing is consumed.
fn guess(reader: &mut dyn BufRead) -> io::Result<Profile> {
    let start = reader.fill_buf()?;
    let start = String::from_utf8_lossy(&start[..start.len().min(4096)]);
    let early = start.contains("\"qlog_version\"") && !start.contains("\"file_schema\"");
    Ok(if early { Profile::Qvis } else { Profile::Ietf })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn guesses_the_schema_version_without_consuming() {
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
}
