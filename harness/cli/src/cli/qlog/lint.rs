//! `windlass qlog lint`: mistakes in qlog files.

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::lint::{Profile, Report, lint};

use super::files::{Files, decompressed, readable};
use crate::cli::CliError;
use crate::cli::error::{print, unreadable};

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
        let one = |path: &PathBuf| {
            let report = self.one(path)?;
            let file = path.display().to_string();
            print(&if self.json { json(&file, &report) } else { format!("{}: {report}\n", escape::line(&file)) })?;
            Ok(report.errors() > 0)
        };
        match readable(files.iter().map(one))?.into_iter().filter(|&wrong| wrong).count() {
            0 => Ok(()),
            wrong => Err(CliError::Failed(format!("{wrong} of {} files with errors", files.len()))),
        }
    }

    fn one(&self, path: &Path) -> Result<Report, CliError> {
        let mut reader = decompressed(path)?;
        let mut start = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut start).map_err(|error| unreadable(path, &error))?;
        let profile = self.profile.map_or_else(|| guess(&start), Profile::from);
        Ok(lint(BufReader::new(Cursor::new(start).chain(reader)), profile))
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

/// Bytes at the start of a file that tell its profile.
const HEAD: u64 = 1 << 16;

/// What only headers and events before the IETF drafts have.
const EARLY: [&str; 6] =
    ["\"qlog_version\"", "\"qlog_format\"", "\"event_fields\"", "\"transport:", "\"recovery:", "\"connectivity:"];

/// The profile that the start of a file seems to be written in: headers of the IETF drafts have a
/// `file_schema`.
fn guess(start: &[u8]) -> Profile {
    let start = String::from_utf8_lossy(start);
    let early = !start.contains("\"file_schema\"") && EARLY.iter().any(|word| start.contains(word));
    if early { Profile::Qvis } else { Profile::Ietf }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_guessed_by_the_header() {
        let late = format!("{{\"traces\":[{{\"title\":\"{}\",\"event_fields\":[]}}]}}", "x".repeat(9000));
        for (text, profile) in [
            ("\u{1e}{\"qlog_version\":\"0.3\"}\n", Profile::Qvis),
            ("{\"traces\":[{\"events\":[{\"name\":\"transport:packet_sent\"}]}]}", Profile::Qvis),
            (late.as_str(), Profile::Qvis),
            ("\u{1e}{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"}\n", Profile::Ietf),
            ("\u{1e}{\"file_schema\":\"urn:x\",\"qlog_version\":\"0.3\"}\n", Profile::Ietf),
        ] {
            assert_eq!(guess(text.as_bytes()), profile, "{text}");
        }
    }
}
