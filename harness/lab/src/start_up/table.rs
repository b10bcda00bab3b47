//! Results, and their table.

use super::measure::Measured;
use super::plan::{Place, Question, Scheme};
use crate::results::Table;

/// A scheme on a stack at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// How its flows start up.
    pub scheme: Scheme,
    /// The stack; `sim` is the simulator.
    pub stack: String,
    /// The bottleneck.
    pub place: Place,
    /// Its turn, from 1 on; a repetition on real sockets, and the only one in virtual time.
    pub turn: u64,
    /// Each question with what was read off.
    pub answers: Vec<(Question, Option<Measured>)>,
}

impl Row {
    /// What was read off where `transfer` bytes were asked for, alone or beside a rival; `None` if it was not run.
    #[must_use]
    pub fn answer(&self, transfer: Option<u64>, rival: bool) -> Option<&Measured> {
        let asked = Question { transfer, rival };
        self.answers.iter().find(|(question, _)| *question == asked).and_then(|(_, read)| read.as_ref())
    }
}

impl Measured {
    /// See [`Measured::Run::filled_s`].
    #[must_use]
    pub fn filled_s(&self) -> Option<f64> {
        if let Measured::Run { filled_s, .. } = self { *filled_s } else { None }
    }

    /// Packets lost; `None` if it was not run.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        if let Measured::Run { lost, .. } = self { Some(*lost) } else { None }
    }

    /// Packets that waited at most; `None` if it was not run.
    #[must_use]
    pub fn queue_peak(&self) -> Option<f64> {
        if let Measured::Run { queue_peak, .. } = self { Some(*queue_peak) } else { None }
    }

    /// See [`Measured::Run::completed_s`].
    #[must_use]
    pub fn completed_s(&self) -> Option<f64> {
        if let Measured::Run { completed_s, .. } = self { *completed_s } else { None }
    }

    /// Why it was not run.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        if let Measured::Not { not_run } = self { Some(not_run) } else { None }
    }
}

/// What a command yields.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// By place, stack and scheme.
    pub rows: Vec<Row>,
}

/// A line for each run.
#[must_use]
pub fn table(results: &Results) -> Table {
    let lines: Vec<(&Row, &Question, Option<&Measured>)> = results
        .rows
        .iter()
        .flat_map(|row| row.answers.iter().map(move |(question, read)| (row, question, read.as_ref())))
        .collect();
    let read = |read: fn(&Measured) -> Option<f64>| lines.iter().map(move |line| line.2.and_then(read));
    Table::new("start-up")
        .text("scheme", lines.iter().map(|line| Some(line.0.scheme.to_string())))
        .text("stack", lines.iter().map(|line| Some(line.0.stack.clone())))
        .text("link", lines.iter().map(|line| Some(line.0.place.link.name().to_owned())))
        .number("rate_mbps", lines.iter().map(|line| Some(line.0.place.rate_mbps)))
        .number("rtt_ms", lines.iter().map(|line| Some(f64::from(line.0.place.rtt_ms))))
        .number("buffer_bdp", lines.iter().map(|line| Some(line.0.place.buffer_bdp)))
        .count("transfer_bytes", lines.iter().map(|line| line.1.transfer))
        .count("turn", lines.iter().map(|line| Some(line.0.turn)))
        .count("rivals", lines.iter().map(|line| Some(u64::from(line.1.rival))))
        .number("filled_s", read(Measured::filled_s))
        .count("lost", lines.iter().map(|line| line.2.and_then(Measured::lost)))
        .number("queue_peak", read(Measured::queue_peak))
        .number("completed_s", read(Measured::completed_s))
        .text("reason", lines.iter().map(|line| line.2.and_then(Measured::reason).map(str::to_owned)))
}
