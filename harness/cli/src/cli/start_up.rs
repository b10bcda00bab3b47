//! `windlass start-up`: what the first round trips of a flow cost, and what they bring.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::batch::{carry_out_asked, total};
use super::error::print;
use super::text::{Align, aligned};
use super::{CliError, choice};
use crate::report::start_up;
use windlass_lab::grid::{Cell, Store};
use windlass_lab::output::replace;
use windlass_lab::start_up::{
    BUFFERS, Link, Measured, Place, Question, RATE_MBPS, RTTS_MS, Results, Row, SIZES, Scheme, Spread, Turns, measure,
    table,
};
use windlass_stacks::stack::Runner;

/// Compare start-up schemes: time to fill a path, what is lost, how long short transfers take
///
/// A link of 50 Mbit/s, buffers from 0.1 to 100 BDP, RTTs of 20, 100 and 600 ms; with 100 ms and 1 BDP a policer, batches as of Wi-Fi
/// and a cellular link, too; alone and beside a flow that was there before.
/// Runs that are done are kept, so that an interrupted command goes on where it stopped.
#[derive(Debug, clap::Args)]
pub(super) struct StartUp {
    /// Schemes, separated by commas: a controller with its parameters, `cubic:slow_start=search`, or one with `+resume` behind it,
    /// whose flows know their path; `native:cubic` is a stack's own [default: cubic with each start-up]
    #[arg(value_name = "SCHEME")]
    schemes: Vec<String>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',', default_value = "sim")]
    stack: Vec<String>,
    /// In real time over UDP sockets: how soon a flow alone fills the path, and what it loses, in --turns turns
    #[arg(long)]
    wire: bool,
    /// With --wire, how often each flow is run, all of them in turn; the table shows medians, with their 95 % intervals from six turns on
    #[arg(long, value_name = "N", default_value_t = 10, requires = "wire", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    turns: u64,
    /// Only these links, of steady, policer, batches and cellular
    #[arg(long, value_name = "LINK", value_delimiter = ',')]
    link: Vec<String>,
    /// Only these RTTs, ms, of 20, 100 and 600
    #[arg(long, value_name = "MS", value_delimiter = ',')]
    rtt: Vec<u32>,
    /// Only these buffers, BDP, of 0.1, 1, 10 and 100
    #[arg(long, value_name = "BDP", value_delimiter = ',')]
    buffer: Vec<f64>,
    /// Rates of the link, Mbit/s; with several, tables show means over them. Where a window that doubles meets the path's end is by chance:
    /// 25,27.3,29.7,32.4,35.4,38.6,42,45.9 are eight steps of one doubling
    #[arg(long, value_name = "MBPS", value_delimiter = ',', default_values_t = [RATE_MBPS])]
    rate: Vec<f64>,
    /// Runs at the same time [default: one per core, or one with --wire]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Directory for the runs, start-up.csv and start-up.html
    #[arg(long, value_name = "DIR", default_value = "target/windlass/start-up")]
    out: PathBuf,
}

impl StartUp {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let schemes = self.schemes()?;
        let mut stacks = choice::stacks(&self.stack)?;
        if self.wire {
            stacks = choice::on_wire(&stacks)?;
        }
        let links = choice::some_of("--link", &self.link, Link::ALL, |link| link.name().to_owned())?;
        let rtts = choice::some_of("--rtt", &self.rtt, RTTS_MS, |rtt| *rtt)?;
        let buffers = choice::some_of("--buffer", &self.buffer, BUFFERS, |buffer| *buffer)?;
        let places = Place::all(&links, &rtts, &buffers, &self.rate);
        if let Some(rate) = self.rate.iter().find(|rate| !(0.1..=100_000.0).contains(*rate)) {
            return Err(CliError::Usage(format!("--rate {rate}: expected a rate in Mbit/s, 0.1 to 100000")));
        }
        if places.is_empty() {
            let message = "no path has all of these; links other than steady have --rtt 100 and --buffer 1".to_owned();
            return Err(CliError::Usage(message));
        }
        let results = self.carry_out(&places, &schemes, &stacks)?;
        let csv = self.out.join("start-up.csv");
        replace(&csv, table(&results).csv()?)?;
        let html = self.out.join("start-up.html");
        replace(&html, start_up::page(&results))?;
        print(&if self.wire { turns(&results) } else { tables(&results) })?;
        print(&format!("report: {}; every number: {}\n", html.display(), csv.display()))
    }

    fn schemes(&self) -> Result<Vec<Scheme>, CliError> {
        let typed: Vec<String> = match &self.schemes[..] {
            [] => Scheme::DEFAULT.map(str::to_owned).into(),
            some => some.to_vec(),
        };
        let mut schemes = Vec::new();
        for text in typed.iter().flat_map(|text| choice::split(text)) {
            let scheme = Scheme::read(&text);
            if choice::is_ours(&scheme.controller) {
                choice::controller(&scheme.controller)?;
            } else if scheme.resumes {
                let message =
                    format!("{scheme}: a stack's own controller does not resume; expected it without +resume");
                return Err(CliError::Usage(message));
            }
            if !schemes.contains(&scheme) {
                schemes.push(scheme);
            }
        }
        Ok(schemes)
    }

    /// Runs what is missing and gathers all of it.
    fn carry_out(&self, places: &[Place], schemes: &[Scheme], stacks: &[Runner]) -> Result<Results, CliError> {
        let store: Store<Measured> = Store::open(&self.out)?;
        let mut cells: Vec<Cell> = Vec::new();
        let mut asked: HashMap<String, (Place, Question)> = HashMap::new();
        let (questions, turns) = if self.wire { (vec![Question::FILL], self.turns) } else { (Question::all(), 1) };
        for turn in 1..=turns {
            for (place, scheme, stack) in combined(places, schemes, stacks) {
                for question in &questions {
                    let cell = question.cell(&place, scheme, stack.name(), turn);
                    asked.insert(cell.scenario.clone(), (place, *question));
                    cells.push(cell);
                }
            }
        }
        let jobs = if self.wire { self.jobs.max(1) } else { self.jobs };
        let tally = carry_out_asked(&cells, &asked, &store, jobs, |cell, (place, question), stop| {
            measure(cell, place, question, stop)
        })?;
        print(&total(&tally))?;
        let row = |(place, scheme, stack): (Place, &Scheme, &Runner), turn| {
            let answer = |question: &Question| {
                let cell = question.cell(&place, scheme, stack.name(), turn);
                (*question, store.get(&cell.key()).map(|record| record.read))
            };
            let answers = questions.iter().map(answer).collect();
            Row { scheme: scheme.clone(), stack: stack.name().to_owned(), place, turn, answers }
        };
        let rows = combined(places, schemes, stacks).flat_map(|of| (1..=turns).map(move |turn| row(of, turn)));
        Ok(Results { rows: rows.collect() })
    }
}

/// By place, stack and scheme.
fn combined<'a>(
    places: &'a [Place],
    schemes: &'a [Scheme],
    stacks: &'a [Runner],
) -> impl Iterator<Item = (Place, &'a Scheme, &'a Runner)> {
    let of = move |place: Place| {
        stacks.iter().flat_map(move |stack| schemes.iter().map(move |scheme| (place, scheme, stack)))
    };
    places.iter().copied().flat_map(of)
}

/// A table for each place, of several rates one with their means; in a column beside a rival the same behind a stroke.
fn tables(results: &Results) -> String {
    use Align::{Left, Right};
    let mut text = String::from(
        "filled: s to 90 % of the path, of half of it beside a rival; lost, queue: packets in 30 round trips; then ms until transfers are complete;\n\
        each alone / beside a flow that was there before\n",
    );
    let paths = results.rows.chunk_by(|a, b| a.place.path() == b.place.path());
    for rows in paths {
        let rates: BTreeSet<String> = rows.iter().map(|row| row.place.rate_mbps.to_string()).collect();
        match rates.len() {
            1 => text.push_str(&format!("\n{}\n", rows[0].place)),
            several => text.push_str(&format!("\n{}: means of {several} rates\n", rows[0].place.path())),
        }
        let sizes = SIZES.map(size);
        let mut heads = vec![("scheme", Left), ("stack", Left), ("filled", Right), ("lost", Right), ("queue", Right)];
        heads.extend(sizes.iter().map(|size| (size.as_str(), Right)));
        let firsts = rows.iter().take(rows.len() / rates.len());
        let like = |first: &Row| -> Vec<&Row> {
            rows.iter().filter(|row| (&row.scheme, &row.stack) == (&first.scheme, &first.stack)).collect()
        };
        let lines: Vec<Vec<String>> = firsts.map(|first| line(first, &like(first))).collect();
        text.extend(aligned(&heads, &lines).iter().map(|line| format!("{line}\n")));
    }
    text
}

/// A table for each place, with medians of turns and their intervals.
fn turns(results: &Results) -> String {
    use Align::{Left, Right};
    let mut text = String::from(
        "filled: s to 90 % of the path; lost: packets in 30 round trips; medians, and their 95 % intervals, of the turns that ran\n",
    );
    let heads = [("scheme", Left), ("stack", Left), ("turns", Right), ("filled", Right), ("lost", Right)];
    let all: Vec<Turns<'_>> = results.turns().collect();
    for of in all.chunk_by(|a, b| a.first.place == b.first.place) {
        text.push_str(&format!("\n{}\n", of[0].first.place));
        let line = |Turns { first, ran, filled_s, lost }: &Turns<'_>| {
            vec![first.scheme.to_string(), first.stack.clone(), ran.to_string(), spread(*filled_s, 2), spread(*lost, 0)]
        };
        let lines: Vec<Vec<String>> = of.iter().map(line).collect();
        text.extend(aligned(&heads, &lines).iter().map(|line| format!("{line}\n")));
    }
    text
}

/// `0.85 (0.84 to 0.91)`.
fn spread(spread: Option<Spread>, digits: usize) -> String {
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.digits$}"));
    let Some(Spread { median, interval }) = spread else { return shown(None) };
    let ends = interval.map(|(low, high)| format!(" ({} to {})", shown(low), shown(high)));
    shown(median) + &ends.unwrap_or_default()
}

/// `10 kB`.
fn size(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{} kB", bytes / 1000) } else { format!("{} MB", bytes / 1_000_000) }
}

/// The line of `first` and its like at other rates.
fn line(first: &Row, rows: &[&Row]) -> Vec<String> {
    let both = |transfer: Option<u64>, digits: usize, read: &dyn Fn(&Measured) -> Option<f64>| {
        let one = |rival| {
            let values: Vec<f64> = rows.iter().filter_map(|row| row.answer(transfer, rival).and_then(read)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            match values.len() {
                0 => "–".to_owned(),
                some if some < rows.len() => format!("{mean:.digits$} ({some} of {})", rows.len()),
                _ => format!("{mean:.digits$}"),
            }
        };
        format!("{} / {}", one(false), one(true))
    };
    let mut cells = vec![
        first.scheme.to_string(),
        first.stack.clone(),
        both(None, 2, &Measured::filled_s),
        both(None, 0, &|read| read.lost().map(|lost| lost as f64)),
        both(None, 0, &Measured::queue_peak),
    ];
    let completed = |read: &Measured| read.completed_s().map(|s| 1e3 * s);
    cells.extend(SIZES.map(|bytes| both(Some(bytes), 0, &completed)));
    cells
}
