//! The page about each controller, for `windlass explain` and for the book, whose
//! pages are the same text.

mod generate;
mod links;
mod page;

pub use generate::{BookError, generate};
pub use page::{Explained, explain, params, profiles, runs_on};
