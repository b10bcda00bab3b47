//! Identification, response functions, and counts of traces.

mod counts;
mod identify;
mod response;
