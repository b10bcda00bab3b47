//! Identification and response functions.

mod identify;
mod response;
