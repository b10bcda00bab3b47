//! `windlass sweep slurm`: the script that runs a sweep on a cluster.

use std::path::PathBuf;

use super::super::CliError;
use super::super::error::print;
use super::{Place, absolute, extent, left, progress};
use windlass_lab::output::replace;
use windlass_lab::sweep::{Share, status};

const TEMPLATE: &str = include_str!("slurm.sh");

/// CPU time that a share is to take unless the user says how many there are, s: long against the start of a task, short against
/// the time that clusters grant.
const OF_A_SHARE: f64 = 1800.0;

/// Tasks that an array has at most where nobody has set Slurm's `MaxArraySize`.
const MOST_SHARES: f64 = 1000.0;

/// Write a script that runs the cells as a job array of Slurm and submits again what is missing
///
/// `bash DIR/sweep.sh` on a login node submits it. The plan, DIR and this program have to be where every node finds them.
#[derive(Debug, clap::Args)]
pub(super) struct Slurm {
    #[command(flatten)]
    place: Place,
    /// Shares, each a task of the array [default: as many as take half an hour of CPU each, 1000 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    shards: Option<u64>,
    /// Cores of a task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=4096))]
    cpus: u64,
    /// How often what is missing is submitted at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// An option of sbatch for the tasks, such as --sbatch=--partition=short; may be given several times
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl Slurm {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let (plan, store, out) = self.place.open()?;
        let status = status(&plan, &store, Share::WHOLE);
        let reckoned = (status.left_s / OF_A_SHARE).ceil().clamp(1.0, MOST_SHARES) as u64;
        let shards = self.shards.unwrap_or(reckoned).min(plan.count() as u64);
        let logs = out.join("slurm");
        // Slurm makes no directory for what tasks print.
        std::fs::create_dir_all(&logs)
            .map_err(|error| CliError::Failed(format!("cannot make {}: {error}", logs.display())))?;
        let script = out.join("sweep.sh");
        let program = std::env::current_exe()
            .map_err(|error| CliError::Failed(format!("cannot tell where this program is: {error}")))?;
        let cpus = format!("--cpus-per-task={}", self.cpus);
        let options = [vec![cpus], self.sbatch.clone()].concat();
        let named = |path: PathBuf| path.display().to_string();
        let to = named(absolute(&out)?);
        let mut place = vec![named(absolute(&self.place.plan)?), "--out".to_owned(), to.clone()];
        place.extend(self.place.shared.words()?);
        let text = TEMPLATE
            .replace("@WINDLASS@", &quoted(&named(program)))
            .replace("@PLACE@", &words(&place))
            .replace("@OUT@", &quoted(&to))
            .replace("@SCRIPT@", &quoted(&named(absolute(&script)?)))
            .replace("@SHARDS@", &shards.to_string())
            .replace("@ROUNDS@", &self.rounds.to_string())
            .replace("@OPTIONS@", &words(&options));
        replace(&script, text)?;
        print(&format!(
            "{}\n{}\n{}{shards} shares of {} CPUs; submit: bash {}\n",
            extent(&plan, Share::WHOLE),
            progress(&status),
            left(&status, self.cpus as usize * shards as usize),
            self.cpus,
            script.display()
        ))
    }
}

/// `texts` as words of a shell.
fn words(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" ")
}

/// `text` as a word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
