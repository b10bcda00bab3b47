//! Results as tables, and the files of a table that is written bit by bit, as CSV and as Parquet.

use std::path::Path;

use super::{Metrics, Results, Run, Standing, Status, Table};
use crate::output::{OutputFile, StoreError};

use windlass_simulator::outcome::{FlowOutcome, QueueOutcome};

/// Names of the tables, which are the stems of their files.
pub(super) const NAMES: [&str; 6] = ["ranking", "runs", "flows", "queues", "flow_series", "queue_series"];

/// The tables `ranking`, `runs`, `flows`, `queues`, `flow_series` and `queue_series`.
#[must_use]
pub fn tables(results: &Results) -> Vec<Table> {
    let [runs, flows, queues] = run_tables(&results.runs);
    let series = [flow_series(&flows_of(&results.runs)), queue_series(&queues_of(&results.runs))];
    [ranking(&results.ranking), runs, flows, queues].into_iter().chain(series).collect()
}

/// The tables `runs`, `flows` and `queues`, a row for each, in the order of the runs.
#[must_use]
pub fn run_tables(rows: &[Run]) -> [Table; 3] {
    [runs(rows), flow_table(&flows_of(rows)), queue_table(&queues_of(rows))]
}

fn flows_of(runs: &[Run]) -> Vec<(&Run, &FlowOutcome)> {
    runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect()
}

fn queues_of(runs: &[Run]) -> Vec<(&Run, &QueueOutcome)> {
    runs.iter().flat_map(|run| run.queues.iter().map(move |queue| (run, queue))).collect()
}

fn word(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn ranking(rows: &[Standing]) -> Table {
    let each = || rows.iter();
    Table::new("ranking")
        .text("controller", each().map(|s| word(&s.controller)))
        .text("stack", each().map(|s| word(&s.stack)))
        .count("rank", each().map(|s| s.rank.map(u64::from)))
        .number("score", each().map(|s| s.score))
        .number("utilisation", each().map(|s| s.utilisation))
        .number("rtt_ratio", each().map(|s| s.rtt_ratio))
        .number("rtt_p95_ratio", each().map(|s| s.rtt_p95_ratio))
        .number("loss", each().map(|s| s.loss))
        .number("fairness", each().map(|s| s.fairness))
        .count("runs_done", each().map(|s| Some(s.runs_done.into())))
        .count("runs_planned", each().map(|s| Some(s.runs_planned.into())))
        .text("reasons", each().map(|s| word(&s.reasons.join("; "))))
        .text("collapses", each().map(|s| word(&s.collapses.join("; "))))
}

/// The columns that say which run a row belongs to.
fn identified<'a>(table: Table, runs: impl Iterator<Item = &'a Run> + Clone) -> Table {
    table
        .text("scenario", runs.clone().map(|r| word(&r.scenario)))
        .text("controller", runs.clone().map(|r| word(&r.controller)))
        .text("stack", runs.map(|r| word(&r.stack)))
}

fn runs(rows: &[Run]) -> Table {
    let number = |pick: fn(&Metrics) -> Option<f64>| rows.iter().map(move |r| r.metrics.as_ref().and_then(pick));
    identified(Table::new("runs"), rows.iter())
        .text("status", rows.iter().map(|r| word(r.status.name())))
        .text("reason", rows.iter().map(|r| r.reason.clone()))
        .number("score", number(|m| m.score))
        .number("goodput_mbps", number(|m| Some(m.goodput_mbps)))
        .number("utilisation", number(|m| m.utilisation))
        .number("rtt_mean_ms", number(|m| m.rtt_mean_ms))
        .number("rtt_p95_ms", number(|m| m.rtt_p95_ms))
        .number("base_rtt_ms", number(|m| m.base_rtt_ms))
        .number("rtt_ratio", number(|m| m.rtt_ratio))
        .number("rtt_p95_ratio", number(|m| m.rtt_p95_ratio))
        .number("loss", number(|m| m.loss))
        .number("fairness", number(|m| m.fairness))
}

fn flow_table(rows: &[(&Run, &FlowOutcome)]) -> Table {
    let each = || rows.iter().map(|(_, flow)| flow);
    identified(Table::new("flows"), rows.iter().map(|(run, _)| *run))
        .text("flow", each().map(|f| word(&f.name)))
        .text("flow_controller", each().map(|f| word(&f.controller)))
        .number("start_s", each().map(|f| Some(f.start_s)))
        .number("stop_s", each().map(|f| Some(f.stop_s)))
        .number("goodput_mbps", each().map(|f| Some(f.goodput_mbps)))
        .count("packets_sent", each().map(|f| Some(f.packets_sent)))
        .count("packets_lost", each().map(|f| Some(f.packets_lost)))
        .count("packets_marked", each().map(|f| Some(f.packets_marked)))
        .count("congestion_events", each().map(|f| Some(f.congestion_events)))
        .number("rtt_mean_ms", each().map(|f| f.rtt_mean_ms))
        .number("rtt_p95_ms", each().map(|f| f.rtt_p95_ms))
        .number("rtt_min_ms", each().map(|f| f.rtt_min_ms))
        .number("cwnd_mean_packets", each().map(|f| Some(f.cwnd_mean_packets)))
        .text("sha256", each().map(|f| f.sha256.clone()))
}

fn queue_table(rows: &[(&Run, &QueueOutcome)]) -> Table {
    let each = || rows.iter().map(|(_, queue)| queue);
    identified(Table::new("queues"), rows.iter().map(|(run, _)| *run))
        .text("queue", each().map(|q| word(&q.name)))
        .number("limit_packets", each().map(|q| Some(q.limit_packets)))
        .count("packets_forwarded", each().map(|q| Some(q.packets_forwarded)))
        .count("packets_dropped", each().map(|q| Some(q.packets_dropped)))
        .count("packets_lost_at_random", each().map(|q| Some(q.packets_lost_at_random)))
        .count("packets_marked", each().map(|q| Some(q.packets_marked)))
        .number("utilisation", each().map(|q| Some(q.utilisation)))
        .number("mean_packets", each().map(|q| Some(q.mean_packets)))
        .number("max_packets", each().map(|q| Some(q.max_packets)))
}

fn flow_series(flows: &[(&Run, &FlowOutcome)]) -> Table {
    let rows: Vec<(&Run, &FlowOutcome, usize)> =
        flows.iter().flat_map(|&(run, flow)| (0..flow.series.time_s.len()).map(move |i| (run, flow, i))).collect();
    let each = || rows.iter().map(|&(_, flow, i)| (&flow.series, i));
    identified(Table::new("flow_series"), rows.iter().map(|(run, ..)| *run))
        .text("flow", rows.iter().map(|(_, flow, _)| word(&flow.name)))
        .number("time_s", each().map(|(s, i)| s.time_s.get(i).copied()))
        .number("cwnd_packets", each().map(|(s, i)| s.cwnd_packets.get(i).copied()))
        .number("rtt_ms", each().map(|(s, i)| s.rtt_ms.get(i).copied().flatten()))
        .number("goodput_mbps", each().map(|(s, i)| s.goodput_mbps.get(i).copied()))
}

fn queue_series(queues: &[(&Run, &QueueOutcome)]) -> Table {
    let rows: Vec<(&Run, &QueueOutcome, usize)> =
        queues.iter().flat_map(|&(run, queue)| (0..queue.series.time_s.len()).map(move |i| (run, queue, i))).collect();
    let each = || rows.iter().map(|&(_, queue, i)| (&queue.series, i));
    identified(Table::new("queue_series"), rows.iter().map(|(run, ..)| *run))
        .text("queue", rows.iter().map(|(_, queue, _)| word(&queue.name)))
        .number("time_s", each().map(|(s, i)| s.time_s.get(i).copied()))
        .number("packets", each().map(|(s, i)| s.packets.get(i).copied()))
}

impl Status {
    /// The word for it in files: `done`, `unsupported` or `failed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Unsupported => "unsupported",
            Status::Failed => "failed",
        }
    }
}

/// The files of a table of which the rows come in parts. Dropped before [`TableFile::finish`], what was there before is there
/// still.
pub struct TableFile {
    name: &'static str,
    csv: csv::Writer<OutputFile>,
    #[cfg(feature = "parquet")]
    parquet: parquet::arrow::ArrowWriter<OutputFile>,
}

impl TableFile {
    /// The files in `out`, which is made if need be, of tables with the name and the columns of `table`: `NAME.csv`, and with the
    /// feature `parquet` also `NAME.parquet`.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn open(out: &Path, table: &Table) -> Result<TableFile, StoreError> {
        std::fs::create_dir_all(out).map_err(|source| StoreError::Unwritable { path: out.to_owned(), source })?;
        let file = |ending: &str| OutputFile::open::<&Path>(&out.join(format!("{}.{ending}", table.name)), &[]);
        let mut csv = csv::Writer::from_writer(file("csv")?);
        table.write_head(&mut csv).map_err(|error| failed(table.name, &error))?;
        Ok(TableFile {
            name: table.name,
            csv,
            #[cfg(feature = "parquet")]
            parquet: super::parquet::writer(table, file("parquet")?).map_err(|error| failed(table.name, &error))?,
        })
    }

    /// Adds the rows of `table`.
    ///
    /// # Errors
    /// They cannot be written, or its columns are others.
    pub fn write(&mut self, table: &Table) -> Result<(), StoreError> {
        #[cfg(feature = "parquet")]
        {
            let batch = super::parquet::batch(table).map_err(|error| failed(self.name, &error))?;
            self.parquet.write(&batch).map_err(|error| failed(self.name, &error))?;
        }
        table.write_rows(&mut self.csv).map_err(|error| failed(self.name, &error))
    }

    /// Puts the files into their places.
    ///
    /// # Errors
    /// They cannot be written, or not moved there.
    pub fn finish(self) -> Result<(), StoreError> {
        #[cfg(feature = "parquet")]
        self.parquet.into_inner().map_err(|error| failed(self.name, &error))?.finish()?;
        self.csv.into_inner().map_err(|error| failed(self.name, &error))?.finish()
    }
}

fn failed(table: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Table { table: table.to_owned(), reason: error.to_string() }
}
