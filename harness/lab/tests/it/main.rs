//! Identification, response functions, and counts of traces.

mod answers;
mod counts;
mod identify;
mod response;
