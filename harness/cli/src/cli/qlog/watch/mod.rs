//! `windlass qlog watch`: traces while they are written, as a page and as lines.

mod events;
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use console::Term;
use windlass_lab::output::in_progress;
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::metrics::Measured;
use windlass_qlog_analysis::read::{Options, ReadError, Search, open, twice};
use windlass_qlog_analysis::series::{ConnectionSeries, read_series};

use super::name::unique;
use super::report::most_points;
use crate::cli::CliError;
use crate::cli::batch::interrupt;
use crate::cli::error::{print, shown, unprintable};
use crate::report::live::{LiveTrace, page};
use server::{State, serve};

/// Time between two reads of the files.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Reads in a row at which a file has to be missing until it is gone: one may be written anew.
const GONE: u32 = 4;

/// A file is read anew no sooner than after this many times what the last reading took.
const REST: u32 = 4;

/// Follow traces while they are written, on a page and in the terminal
///
/// The page is served on the loopback interface alone and follows the files as they grow; the
/// terminal shows a line for each connection. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub(super) struct Watch {
    /// A trace, or a directory whose traces, present and to come, are followed
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,
    /// Port to serve the page on; 0: any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

/// A file that is followed.
#[derive(Default)]
struct Followed {
    /// Where it is now, while it is being written.
    at: PathBuf,
    /// Looks at which it was missing since it was last there.
    missing: u32,
    /// Length and time of change when it was last read.
    seen: Option<(u64, Option<std::time::SystemTime>)>,
    /// Time from which it may be read again.
    next: Option<Instant>,
    connections: Vec<ConnectionSeries>,
    bad_records: u64,
    /// Why it cannot be read, if it cannot.
    problem: Option<String>,
    /// Whether it was read since its connections were printed.
    fresh: bool,
}

impl Watch {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let shown = shown(&self.path);
        if let Err(error) = Search::default().add(&self.path)
            && in_progress(&self.path).is_empty()
        {
            return Err(CliError::Usage(format!("cannot watch {shown}: {error}")));
        }
        let stop = interrupt()?;
        let state = Arc::new(Mutex::new(State::default()));
        let title = format!("{shown}, as it is written");
        let address = serve(self.port, page(&title), Arc::clone(&state))
            .map_err(|error| CliError::Failed(format!("cannot serve the page on port {}: {error}", self.port)))?;
        print(&format!("watching {shown}: http://{address}/ (Ctrl-C ends it)\n"))?;
        let mut files: BTreeMap<PathBuf, Followed> = BTreeMap::new();
        let mut ids: Vec<(PathBuf, usize)> = Vec::new();
        let mut screen = Screen::new();
        while !stop.load(Ordering::Relaxed) {
            let before = files.len();
            self.find(&mut files);
            let most = most_points(files.len());
            let mut any = files.len() < before;
            for followed in files.values_mut() {
                any |= followed.look(most);
            }
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if any {
                update_page(&mut files, &mut ids, &mut state);
            }
            state.waiting = waiting(&self.path, &files);
            drop(state);
            if any {
                screen.show(&lines(&files))?;
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Follows the traces that are there by now, by their final names, and no longer those that are gone.
    fn find(&self, files: &mut BTreeMap<PathBuf, Followed>) {
        files.values_mut().for_each(|followed| followed.missing += 1);
        let mut there = |path: PathBuf, at: PathBuf| {
            let followed = files.entry(path).or_default();
            (followed.at, followed.missing) = (at, 0);
        };
        let traces = |path: &Path| {
            let mut search = Search::default();
            // A directory may be gone for a moment.
            let _ = search.add(path);
            search.files().to_vec()
        };
        traces(&self.path).into_iter().for_each(|path| there(path.clone(), path));
        // What a command is writing takes the place of what it wrote before.
        for (dir, becomes) in in_progress(&self.path) {
            for at in traces(&dir) {
                if let Ok(rest) = at.strip_prefix(&dir) {
                    there(becomes.join(rest), at.clone());
                }
            }
        }
        files.retain(|_, followed| followed.missing < GONE);
    }
}

impl Followed {
    /// Reads the file if it has changed and had its rest; whether it was read.
    fn look(&mut self, most: usize) -> bool {
        let Ok(data) = fs::metadata(&self.at) else { return false };
        let seen = Some((data.len(), data.modified().ok()));
        if self.seen == seen || data.len() == 0 || self.next.is_some_and(|next| Instant::now() < next) {
            return false;
        }
        self.seen = seen;
        let began = Instant::now();
        let options = Options::default();
        let open = || open(&self.at).map_err(ReadError::from);
        let read = twice(open, &options, |input, options| read_series(input, options, most));
        let read = read.map_err(|error: ReadError| error.to_string());
        match read {
            Ok((summary, connections)) => {
                self.connections = connections;
                // The record that is being written is not whole yet.
                self.bad_records = summary.bad_records.saturating_sub(1);
                self.problem = None;
            }
            // What was read before stays: a file may be written anew.
            Err(problem) => self.problem = Some(problem),
        }
        self.next = Some(Instant::now() + began.elapsed() * REST);
        self.fresh = true;
        true
    }
}

/// Gives the page the files that were read anew. A connection keeps its id.
fn update_page(files: &mut BTreeMap<PathBuf, Followed>, ids: &mut Vec<(PathBuf, usize)>, state: &mut State) {
    let mut names = names(files).into_iter();
    state.version += 1;
    let mut present = Vec::new();
    for (path, followed) in files {
        let file = path.display().to_string();
        for (number, series) in followed.connections.iter().enumerate() {
            let name = names.next().unwrap_or_default();
            let key = (path.clone(), number);
            let id = ids.iter().position(|known| *known == key).unwrap_or_else(|| {
                ids.push(key);
                ids.len() - 1
            });
            present.push(id);
            let known = state.traces.iter().position(|trace| trace.id == id);
            if let Some(place) = known.filter(|_| !followed.fresh) {
                state.traces[place].at.clone_from(&followed.at);
                continue;
            }
            let file = (file.as_str(), followed.at.as_path());
            let trace = LiveTrace::new((id, state.version), name, file, series, followed.bad_records);
            match known {
                Some(place) => state.traces[place] = trace,
                None => state.traces.push(trace),
            }
        }
        followed.fresh = false;
    }
    state.traces.retain(|trace| present.contains(&trace.id));
}

/// What the connections of all files are called, in their order.
fn names(files: &BTreeMap<PathBuf, Followed>) -> Vec<String> {
    let all: Vec<(String, &str, &str)> = files
        .iter()
        .flat_map(|(path, followed)| {
            let file = path.display().to_string();
            followed.connections.iter().map(move |series| {
                let Measured { group, trace, .. } = &series.measured;
                (file.clone(), group.as_str(), trace.vantage.name())
            })
        })
        .collect();
    unique(all.iter().map(|(file, group, vantage)| (file.as_str(), *group, *vantage)))
}

/// What is waited for, where nothing can be shown yet.
fn waiting(path: &Path, files: &BTreeMap<PathBuf, Followed>) -> Option<String> {
    if files.values().any(|followed| !followed.connections.is_empty()) {
        return None;
    }
    let problem = files.values().find_map(|followed| followed.problem.as_ref());
    Some(match problem {
        Some(problem) => format!("nothing to show yet: {problem}"),
        None => format!("waiting for events in {}", shown(path)),
    })
}

/// A line for each connection.
fn lines(files: &BTreeMap<PathBuf, Followed>) -> Vec<String> {
    let names = names(files);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let connections = files.values().flat_map(|followed| &followed.connections);
    let mut lines: Vec<String> =
        names.iter().zip(connections).map(|(name, series)| line(name, width, series)).collect();
    for (path, followed) in files.iter().filter(|(_, followed)| followed.connections.is_empty()) {
        if let Some(problem) = &followed.problem {
            lines.push(format!("{}: {problem}", path.display()));
        }
    }
    lines.iter().map(|line| escape::line(line).into_owned()).collect()
}

/// A connection in a line; what is unknown is a dash.
fn line(name: &str, width: usize, series: &ConnectionSeries) -> String {
    use windlass_qlog_analysis::metrics::Measures;
    use windlass_qlog_analysis::series::Quantity;
    let measure = |wanted: &str| {
        let column = Measures::COLUMNS.iter().find(|(name, _)| *name == wanted);
        column.and_then(|(_, get)| get(&series.measured.measures))
    };
    let number = |value: Option<f64>, digits: usize, unit: &str| {
        value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}{unit}"))
    };
    let latest = |quantity, scale: f64| series.points(quantity).last().map(|point| point.value as f64 * scale);
    let seconds = series.span.1.saturating_sub(series.span.0) as f64 / 1e9;
    let rtt = latest(Quantity::SmoothedRtt, 1e-6).or(latest(Quantity::LatestRtt, 1e-6));
    format!(
        "{name:width$}  {seconds:8.2} s  sent {}  lost {}  window {}  RTT {}  goodput {}",
        number(measure("packets_sent"), 0, ""),
        number(measure("loss_percent"), 2, " %"),
        number(latest(Quantity::Cwnd, 1e-3), 1, " kB"),
        number(rtt, 1, " ms"),
        number(measure("goodput_mbps").or(measure("received_goodput_mbps")), 2, " Mbit/s"),
    )
}

/// Lines that are written over those before on a terminal, as the system's terminals have it, and else below them if they
/// changed.
struct Screen {
    terminal: Option<Term>,
    shown: Vec<String>,
}

impl Screen {
    fn new() -> Screen {
        let terminal = std::io::stdout().is_terminal().then(Term::stdout);
        Screen { terminal, shown: Vec::new() }
    }

    fn show(&mut self, lines: &[String]) -> Result<(), CliError> {
        match &self.terminal {
            Some(terminal) => self.write_over(terminal, lines).map_err(|error| unprintable(&error))?,
            None => {
                let new = lines.iter().filter(|line| !self.shown.contains(line));
                print(&new.flat_map(|line| [line, "\n"]).collect::<String>())?;
            }
        }
        self.shown = lines.to_vec();
        Ok(())
    }

    fn write_over(&self, terminal: &Term, lines: &[String]) -> std::io::Result<()> {
        terminal.move_cursor_up(self.shown.len())?;
        let columns = usize::from(terminal.size().1);
        for line in lines {
            terminal.clear_line()?;
            let line: String = escape::line(line).chars().take(columns.saturating_sub(1)).collect();
            terminal.write_line(&line)?;
        }
        terminal.flush()
    }
}
