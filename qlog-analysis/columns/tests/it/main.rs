//! The crate from outside: what is in the tables, in the directory, and in answers to SQL.

mod dataset;
mod lossless;
#[cfg(feature = "sql")]
mod sql;
