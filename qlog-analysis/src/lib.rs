//! Reads qlog, says what is wrong with it, measures it.

pub mod connections;
pub mod flight;
pub mod json;
pub mod lint;
pub mod metrics;
pub mod model;
pub mod read;
pub mod series;
