//! Golden traces, identification and response functions.

mod golden;
mod identify;
mod response;
