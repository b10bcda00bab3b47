//! qlog as Arrow columns, and as Parquet datasets of them.
//!
//! [`Tables`] takes the events of [`windlass_qlog_analysis::read`] and gives Arrow record
//! batches: packets, recovery metrics, all other events, controllers' state
//! variables. `trace` and `seq` say in which order events stood, over all tables, so nothing
//! is lost of what the readers know; what they do not know is counted in a table of its own.
//! [`Dataset`] writes traces into a directory of Parquet files, partitioned by controller,
//! stack and scenario; its memory is that of some ten thousand rows, whatever the trace. [`Loaded`] holds a file's tables in
//! memory.

use std::io;
use std::path::{Path, PathBuf};

use windlass_qlog_analysis::read::ReadError;

mod connections;
mod dataset;
mod filling;
mod labels;
mod rows;
mod schema;
#[cfg(feature = "sql")]
pub mod sql;
mod tables;

pub use arrow::array::RecordBatch;
pub use connections::{Row, connections, sharing};
pub use dataset::{Added, Dataset, single};
pub use filling::{Loaded, measures};
pub use labels::{Labels, PARTITIONS, UNKNOWN};
pub use schema::Table;
pub use tables::Tables;

/// Error of writing rows.
#[derive(thiserror::Error)]
pub enum Error {
    /// The trace could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something cannot be created, written or moved.
    #[error("cannot write to {path}: {source}", path = .path.display())]
    Unwritable {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operation.
        source: io::Error,
    },
    /// The directory holds what is no dataset.
    #[error(
        "{dir} holds {entry:?}, which is no part of a dataset; expected a new or empty directory, or a dataset to add to",
        dir = .dir.display()
    )]
    Occupied {
        /// Path of the directory.
        dir: PathBuf,
        /// The entry that is no part of a dataset.
        entry: String,
    },
    /// Columns could not be put together.
    #[error("cannot build columns: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
    /// A Parquet file could not be written.
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

/// Its text, since that is what `?` in `main` prints.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// That `path` cannot be written.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Unwritable { path, source }
    }
}
