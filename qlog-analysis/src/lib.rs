//! Reads qlog, says what is wrong with it, measures it, gives it another form.

pub mod capture;
pub mod connections;
pub mod convert;
pub mod escape;
pub mod flight;
pub mod identify;
pub mod json;
pub mod lint;
pub mod metrics;
pub mod model;
pub mod read;
pub mod series;
