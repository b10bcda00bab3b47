//! qlog as Arrow columns, and as Parquet datasets of them.
//!
//! [`Tables`] takes the events of [`windlass_qlog_analysis::read`] and gives Arrow record
//! batches: packets, recovery metrics, all other events, numbers that controllers tell of
//! themselves. `trace` and `seq` say in which order events stood, over all tables, so nothing
//! is lost of what the readers know; what they do not know is counted in a table of its own.
//! [`Dataset`] writes traces into a directory of Parquet files, partitioned by controller,
//! stack and scenario. Memory is that of some ten thousand rows, whatever the trace.

mod connections;
mod dataset;
mod error;
mod labels;
mod rows;
mod schema;
#[cfg(feature = "sql")]
pub mod sql;
mod tables;
mod write;

pub use connections::{connections, sharing};
pub use dataset::{Added, Dataset};
pub use error::Error;
pub use labels::{Labels, PARTITIONS, UNKNOWN};
pub use schema::Table;
pub use tables::Tables;
pub use write::single;
